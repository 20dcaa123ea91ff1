"""k-means with the adjustment stage of one-pass k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.algorithms._adjustment import adjusted
from shoal.algorithms._clustering import Clustering
from shoal.algorithms._records import Records, numbered
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.run import Run
from shoal.errors import MissingExtraError


@dataclass(frozen=True, kw_only=True)
class KMeans(Clustering):
    """Lloyd's k-means with ⌊n/k⌋ clusters, then clusters above k give up their farthest records, which go to the
    closest cluster below k.

    k-means needs coordinates. A numeric attribute is one, from 0 to 1; a missing value lies at its middle, one
    step aside. Any other attribute has one for each node of its hierarchy, scaled so that the squared distance of two
    values is the share of levels up to their common ancestor. The clusters come from scikit-learn.

    Does not protect against more than the models of the policy do, and loses more than k-member does: k-means knows
    nothing of k.

    Reference: S. Lloyd, Least squares quantization in PCM, 1982; the adjustment: J.-L. Lin, M.-C. Wei, An efficient
    clustering method for k-anonymization, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64], "sex": ["F", "M", "F", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=KMeans())
        >>> sorted(release.frame["age"])
        ['[21-22]', '[21-22]', '[61-64]', '[61-64]']
    """

    iterations: Annotated[int, Ge(1), Doc("rounds of k-means at most")] = 20

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        try:
            from sklearn.cluster import KMeans as Lloyd
        except ImportError:
            raise MissingExtraError("k-means", "learn") from None
        clusters = min(len(records) // records.policy.least, len(records.points))
        lloyd = Lloyd(
            clusters, init="random", n_init=1, max_iter=self.iterations, random_state=int(generator.integers(2**31))
        )
        labels = lloyd.fit_predict(coordinates(records), sample_weight=records.counts)
        run.report(0.5, "adjusting clusters")
        owners = adjusted(records, numbered(labels[records.tuples]), generator)
        return owners, {"iterations": int(lloyd.n_iter_)}


def coordinates(records: Records) -> Floats:
    """The distinct tuples as points of a Euclidean space."""
    parts = []
    for position, (hierarchy, output) in enumerate(zip(records.dataset.hierarchies, records.outputs, strict=True)):
        codes = records.points[:, position]
        if output == "hierarchy":
            for level in range(hierarchy.height):
                nodes = hierarchy.codes[level][codes]
                present, places = np.unique(nodes, return_inverse=True)
                parts.append(np.eye(len(present))[places] / np.sqrt(2 * hierarchy.height))
        else:
            assert hierarchy.values is not None
            missing = hierarchy.missing & (codes == 0)
            values = np.where(missing, np.nan, hierarchy.values[codes])
            known = values[~missing]
            least, span = (known.min(), known.max() - known.min()) if len(known) else (0.0, 0.0)
            scaled = np.where(missing, 0.5, (values - least) / (span if span > 0 else 1.0))
            parts.append(np.stack([scaled, missing.astype(np.float64)], axis=1))
    return np.ascontiguousarray(np.hstack(parts))
