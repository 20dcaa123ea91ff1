"""Datafly (Sweeney, 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.algorithms.full_domain._checker import Checker
from shoal.algorithms.full_domain._outcome import infeasible, recoded
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Datafly(Algorithm):
    """Generalizes the attribute with the most distinct values by one level, again and again, until the records that
    still break the policy fit into the suppression budget.

    Checks at most as many nodes as the hierarchies have levels together, so it is fast with any number of attributes.

    Does not protect against more than the models of the policy do, and does not find the least loss: it never looks
    at what a step loses.

    Reference: L. Sweeney, Guaranteeing anonymity when sharing medical data, the Datafly system, 1997.

    Example:
        >>> import shoal
        >>> data = shoal.read(
        ...     shoal.samples.adult(), quasi=["age", "sex", "race"], hierarchies=shoal.samples.hierarchies("adult")
        ... )
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="datafly", suppression=0.005)
        >>> release.recoding.facts["levels"]
        {'age': 1, 'sex': 0, 'race': 0}
    """

    counts_people: ClassVar[bool] = True
    keeps_margins: ClassVar[bool] = True

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        summary = dataset.summary
        lattice = Lattice.of(summary.hierarchies)
        checker = Checker(dataset, policy, run)
        distinct = [
            [len(np.unique(codes[keys])) for codes in tree.codes]
            for tree, keys in zip(summary.hierarchies, summary.keys, strict=True)
        ]
        node = lattice.least
        while not (verdict := checker.check(node)).feasible:
            free = [at for at, level in enumerate(node) if level < lattice.greatest[at]]
            if not free:
                raise infeasible(checker, lattice, proven=checker.judge.monotone)
            at = max(free, key=lambda attribute: (distinct[attribute][node[attribute]], -attribute))
            node = (*node[:at], node[at] + 1, *node[at + 1 :])
            run.report(sum(node) / lattice.height, f"{len(checker.verdicts):,} nodes checked")
        return recoded(checker, lattice, verdict, {})
