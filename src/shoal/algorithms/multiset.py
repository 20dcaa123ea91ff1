"""Multiset generalization of any partition."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import InstanceOf
from typing_extensions import Doc

from shoal.algorithms._partition import partition
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.core.codebook import Codebook
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import group
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.publishing.decision import people_of


@dataclass(frozen=True, kw_only=True)
class Multiset(Algorithm):
    """Takes the classes of another algorithm and publishes each quasi-identifier of a class as the multiset of its
    values: `{20:1,23:2}` where a generalization shows [20-23].

    Hides people as well as the generalization of the same classes does, whatever model holds: records of a class stay
    equal in every quasi-identifier. The columns are counted apart, so which values of a class belong to one person is
    not told. Counts, means and distributions of single columns are exact.

    Does not protect against whoever knows that single values are rare: a multiset names the extreme ones, which
    an interval or a node may not.

    Reference: T. Li, N. Li, J. Zhang, I. Molloy, Slicing: a new approach for privacy preserving data publishing, 2012,
    who compare with it; how a cell is written is ours.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [20, 23, 24, 27], "sex": list("FFMM")})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="multiset:base=k-member", seed=1)
        >>> release.frame.row(0)
        ('{20:1,23:1,24:1,27:1}', '{F:2,M:2}')
    """

    base: Annotated[InstanceOf[Algorithm], Doc("the algorithm that makes the classes")] = field(
        default_factory=Mondrian
    )

    examples: ClassVar[Examples] = ({}, {"base": KMember()})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        plan, facts = partition(self.base, dataset, policy, run)
        shown = np.flatnonzero(plan.owners >= 0)
        owners, people = plan.owners[shown], people_of(dataset, plan)[:, shown]
        weights = None if plan.by_record else dataset.summary.sizes[shown]
        books = []
        for tree, column in zip(dataset.hierarchies, people, strict=True):
            groups = group([owners, column], [plan.count, tree.size], weights=weights)
            classes, leaves = groups.keys
            books.append(Codebook.of_multisets(tree, classes, leaves, groups.counts, plan.count))
        cells = np.tile(np.arange(plan.count, dtype=np.int32), (len(books), 1))
        return Recoding(replace(plan, cells=cells, codebooks=tuple(books)), form="multisets", facts=facts)
