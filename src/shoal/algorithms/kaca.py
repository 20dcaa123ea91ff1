"""KACA: k-anonymity by clustering in attribute hierarchies (Li, Wong, Fu and Pei, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, Numeric
from shoal.algorithms._merging import merged
from shoal.algorithms._records import Records
from shoal.core.costs import climbing_costs
from shoal.core.grouping import Codes
from shoal.core.parameters import Examples
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Kaca(ClusteringAlgorithm):
    """Begins with the classes of equal records. As long as a class breaks the policy, it merges with the class nearest
    to it; nothing else is ever merged.

    The distance of two classes is the distortion that their merger adds: how far all their records climb in the
    hierarchies, where steps close to the top weigh more (`whd` measures a release by the same distance). Numbers that
    are published as intervals climb by the length of the interval over the table's range. Classes take turns in the
    order of their values; the published method draws the next one at random.

    Classes of equal records that are large enough stay as they are, so it loses little where many records are equal,
    and much where hardly any are: then it begins with single records and joins them in pairs.

    Does not protect against more than the models of the policy do, and does not find the least loss.

    Reference: J. Li, R. Wong, A. Fu, J. Pei, Achieving k-anonymity by clustering in attribute hierarchical structures,
    2006; Anonymization by local recoding in data with attribute hierarchical taxonomies, 2008.

    Example:
        >>> import shoal
        >>> folder = shoal.samples.hierarchies("patients-mst")
        >>> table = shoal.samples.patients_mst().drop("id")
        >>> data = shoal.read(table, quasi=["gender", "age", "zip"], hierarchies=folder)
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm=Kaca())
        >>> release.verify(release.policy)["k"].value
        3
    """

    numeric: Numeric = "given"
    beta: Annotated[float, Ge(0), Doc("how much more steps close to the top cost; 0: all steps cost the same")] = 1.0

    examples: ClassVar[Examples] = ({}, {"beta": 0.0, "numeric": "interval"})

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        dataset, intervals = records.dataset, [output != "hierarchy" for output in records.outputs]
        costs = climbing_costs(dataset.hierarchies, dataset.extent, intervals, self.beta)
        owners, mergers = merged(replace(records, costs=costs), records.tuples, run)
        return owners, {"climbed": mergers}
