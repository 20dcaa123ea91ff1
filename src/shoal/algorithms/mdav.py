"""MDAV microaggregation (Domingo-Ferrer and Mateo-Sanz, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from typing_extensions import Doc

from shoal.algorithms._clustering import Clustering
from shoal.algorithms._records import Records, portions
from shoal.core.grouping import Codes
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Mdav(Clustering):
    """Takes the record farthest from the average of those that are left, makes a cluster of it and the k - 1 records
    nearest to it, does the same with the record farthest from that one, and begins again; numeric attributes
    are published as the mean of their cluster.

    Made for numeric attributes, whose distance is their difference over the table's range, squared. Others take
    part as in MDAV-generic: their distance is the squared cost of the common ancestor, their average the commonest
    value, and they are published as nodes of their hierarchy. Time grows as n²/k.

    Does not protect against more than the models of the policy do. A published mean is no value of a person, and
    tells nothing of how far the values of the class lie apart.

    Reference: J. Domingo-Ferrer, V. Torra, Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, 2005.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 22, 23, 60, 64, 65]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm=Mdav())
        >>> sorted(set(release.frame["age"]))
        [21.66666667, 63.0]
    """

    numeric: Annotated[
        Literal["given", "interval", "hierarchy", "mean"], Doc("how numeric attributes are published")
    ] = "mean"

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        from shoal.kernels.microaggregation import maximum_distance

        remaining, owners = records.counts.copy(), np.full(len(records), -1, dtype=np.int32)
        clusters = 0
        for _, end in portions(len(records), run, "making clusters"):
            # The time of a round is in proportion to what is left, so what is done grows as the square.
            spare = int(len(records) * (1 - end / len(records)) ** 0.5)
            clusters = maximum_distance(
                records.points, records.counts, remaining, owners, clusters, records.costs, records.policy.least,
                spare, run.flag,
            )  # fmt: skip
        owners[owners < 0] = clusters
        return owners, {}
