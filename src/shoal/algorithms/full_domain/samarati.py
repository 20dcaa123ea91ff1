"""Samarati's algorithm (2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.algorithms.full_domain._checker import Checker
from shoal.algorithms.full_domain._outcome import infeasible, recoded
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError

MOST_NODES = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Samarati(Algorithm):
    """Binary search over the height of the lattice for the lowest level vector that satisfies the policy.

    The suppression budget is the algorithm's MaxSup. Of the vectors at the least height it takes the one that leaves
    out fewest records, and of those the one with the lowest objective (loss unless another one is chosen).

    Halving the heights is sound when a vector's generalizations satisfy whatever it satisfies: for k-anonymity and
    distinct l-diversity with any budget, for other models that survive merging without suppression. Elsewhere the
    vector satisfies the policy, and a lower one may too.

    Does not protect against more than the models of the policy do, and does not find the least loss: the steps of
    all hierarchies count alike, however much they lose.

    Reference: P. Samarati, Protecting respondents' identities in microdata release, 2001.

    Example:
        >>> import shoal
        >>> data = shoal.read(
        ...     shoal.samples.adult(), quasi=["age", "sex", "race"], hierarchies=shoal.samples.hierarchies("adult")
        ... )
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="samarati", suppression=0.005)
        >>> release.recoding.facts["levels"], release.recoding.facts["height"]
        ({'age': 1, 'sex': 0, 'race': 0}, 1)
    """

    counts_people: ClassVar[bool] = True
    keeps_margins: ClassVar[bool] = True

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        lattice = Lattice.of(dataset.hierarchies)
        if lattice.size > MOST_NODES:
            raise ParameterError(
                f"Samarati's algorithm visits whole heights of the lattice, and {lattice.size:,} nodes are too many; "
                "use the optimal search"
            )
        checker = Checker(dataset, policy, run)
        low, high = lattice.lowest, lattice.height
        tried: list[dict[str, Any]] = []
        while low < high:
            middle = (low + high) // 2
            reached = any(checker.check(node).feasible for node in lattice.at(middle))
            tried.append({"height": middle, "reached": reached})
            low, high = (low, middle) if reached else (middle + 1, high)
            share = 1 - (high - low + 1) / (lattice.height - lattice.lowest + 1)
            run.report(share, f"{len(checker.verdicts):,} nodes checked")
        feasible = [verdict for node in lattice.at(high) if (verdict := checker.check(node)).feasible]
        if not feasible:
            raise infeasible(checker, lattice, proven=checker.judge.monotone)
        best = min(feasible, key=lambda verdict: (verdict.suppressed, verdict.score, verdict.node))
        return recoded(checker, lattice, best, {}, height=high, heights=tried, minimal=checker.judge.monotone)
