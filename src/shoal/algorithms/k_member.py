"""Greedy k-member clustering (Byun and others, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._growth import grown
from shoal.algorithms._merging import join_leftovers
from shoal.algorithms._records import Records
from shoal.core.grouping import Codes
from shoal.core.parameters import Examples
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class KMember(ClusteringAlgorithm):
    """Grows one cluster after the other: each begins with the record farthest from where the last one began, and
    takes the record that adds least loss until it has as many as the policy asks for.

    Records that are left over join the cluster to which they add least. Clusters that break another model of the
    policy merge with the neighbour to which that adds least. The search for the cheapest record goes through a
    tree of boxes and is exact; above 131,072 distinct tuples it looks at one block of the table at a time, and the
    facts of the recoding say so: `exact` is false.

    Does not protect against more than the models of the policy do, and does not find the least loss.

    Reference: J.-W. Byun, A. Kamra, E. Bertino, N. Li, Efficient k-anonymization using clustering techniques, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64], "sex": ["F", "M", "M", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=KMember())
        >>> sorted(release.frame["age"])
        ['[21-22]', '[21-22]', '[61-64]', '[61-64]']
    """

    examples: ClassVar[Examples] = ({}, {"refine": True, "publish": ("age=hierarchy",)})

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        start = int(records.tuples[generator.integers(len(records))])
        growth = grown(records, start, run)
        return join_leftovers(records, growth.owners, run), growth.facts
