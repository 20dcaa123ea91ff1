"""The optimal full-domain search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BeforeValidator
from typing_extensions import Doc

from shoal.algorithms._effort import cells, judging
from shoal.algorithms.full_domain._branch_and_bound import Branching
from shoal.algorithms.full_domain._checker import Checker
from shoal.algorithms.full_domain._local_search import Climbing
from shoal.algorithms.full_domain._outcome import infeasible, recoded
from shoal.algorithms.full_domain._parts import bound_parts
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run

PATIENCE = 20.0
CLIMBING_CHECKS = 6_000
"""What the local search may check: enough for several rounds from its best node, and the same at any load, so that the
score does not hang on a few seconds more or less."""

PARTS_CHECKS = 4_000
"""What may be checked to bound parts of the attributes."""

CLIMBING_SHARE = 0.7
"""The share of the time that it may take where even that is too much."""


def _by_column(entries: Any) -> Any:
    """Numbers by column: a mapping as it is; on the command line `age:2`, several joined by `|`."""
    if isinstance(entries, Mapping):
        return entries
    pairs = [entries] if isinstance(entries, str) else list(entries)
    return dict((pair.rpartition(":") if ":" in pair else (pair, "", ""))[::2] for pair in pairs)


@dataclass(frozen=True, kw_only=True)
class Optimal(Algorithm):
    """Finds the level of each attribute that loses least, and proves it, for any models and any suppression.

    Classes that break the policy are left out whole, as long as the budget lasts. The loss is the policy's objective,
    geometric loss unless another one is chosen. The search works on the distinct tuples, so a longer table costs
    nothing. It discards nodes only for reasons that hold for the models at hand: models that do not survive merging
    or suppression cost time, never the optimum.

    In a lattice of more than `anytime_above` nodes a local search goes first, and the search stops after a time
    limit (20 seconds unless another is given). The facts of the recoding then say how far the best node is from
    proven: `bound` is below every node's score, `gap` is what lies between, as a share of the score, and `course` has
    both after so many checked nodes. The local search is limited by checked nodes, so that its score does not hang on
    the load of the machine.

    That a release loses least tells something about the table. With `within`, one of the nodes that lose no more than
    this share of the way from the least loss to that of the top is drawn by the seed, so that a higher level may stand
    where a lower one would have done.

    Does not protect against more than the models of the policy do. Full-domain generalization publishes a whole
    column at one level, which loses more than local recoding such as Mondrian's.

    Reference: P. Samarati, Protecting respondents' identities in microdata release, 2001 (the lattice); R. Bayardo,
    R. Agrawal, Data privacy through optimal k-anonymization, 2005 (bounds).

    Example:
        >>> import shoal
        >>> data = shoal.read(
        ...     shoal.samples.adult(), quasi=["age", "sex", "race"], hierarchies=shoal.samples.hierarchies("adult")
        ... )
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="optimal", suppression=0.005)
        >>> release.recoding.facts["levels"], release.recoding.facts["proven"]
        ({'age': 0, 'sex': 0, 'race': 1}, True)
    """

    counts_people: ClassVar[bool] = True
    keeps_margins: ClassVar[bool] = True

    weights: Annotated[
        dict[str, float], BeforeValidator(_by_column), Doc("how much each column counts in the loss; 1 unless given")
    ] = field(default_factory=dict)
    least_levels: Annotated[
        dict[str, int], BeforeValidator(_by_column), Doc("the least level by column; 0 unless given")
    ] = field(default_factory=dict)
    greatest_levels: Annotated[
        dict[str, int], BeforeValidator(_by_column), Doc("the greatest level by column; the top unless given")
    ] = field(default_factory=dict)
    time_limit: Annotated[
        float | None, Gt(0), Doc("seconds after which the best node so far is taken; a faster machine may get further")
    ] = None
    check_limit: Annotated[
        int | None, Ge(1), Doc("checked nodes after which the best so far is taken; the same on every machine")
    ] = None
    within: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("how far from the least loss towards that of the top a node may be that is drawn; 0: the best is taken"),
    ] = 0.0
    anytime_above: Annotated[
        int, Ge(0), Doc("the number of nodes above which a local search goes first and time is limited")
    ] = 1_000_000

    def effort(self, dataset: Dataset, policy: Policy) -> float:
        nodes = Lattice.of(dataset.hierarchies).size
        checked = nodes if self.check_limit is None else min(nodes, self.check_limit)
        return checked * (0.05 * cells(dataset) + judging(dataset, policy))

    @property
    def seed_protects(self) -> bool:
        return self.within > 0

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        lattice = Lattice.of(dataset.hierarchies, self.least_levels, self.greatest_levels)
        checker = Checker(dataset, policy, run, self.weights)
        search = Branching(checker, lattice, within=self.within)
        large = lattice.size > self.anytime_above
        seconds = self.time_limit
        if large and seconds is None and self.check_limit is None:
            seconds = PATIENCE
        most = self.check_limit or inf
        limited = run.part(seconds=seconds)
        if large:
            climbing = limited.part(
                seconds=CLIMBING_SHARE * seconds if seconds else None, between=(0.0, CLIMBING_SHARE)
            )
            Climbing(checker, search, policy.seed).run(climbing, most=min(most / 2, CLIMBING_CHECKS))
            left = most - len(checker.verdicts)
            bound_parts(checker, lattice, limited.part(), most=min(left / 4, PARTS_CHECKS))
        search.run(limited.part(between=(CLIMBING_SHARE if large else 0.0, 1.0)), most=most)
        best = search.best
        if best is None:
            raise infeasible(checker, lattice, proven=search.proven)
        if self.within:
            near = search.near()
            best = near[int(np.random.default_rng(policy.seed).integers(len(near)))]
        bound = min(max(search.bound, checker.floor(lattice.least)), best.score)  # which rounding may put above it
        nodes = {"infeasible": search.excluded}
        course = {"course": search.course} if large else {}
        gap = 0.0 if best.score == bound else (best.score - bound) / abs(best.score)
        if search.proven:
            nodes["bounded"] = max(0, lattice.size - len(checker.verdicts) - search.excluded)
        facts = {"proven": search.proven, "bound": bound, "gap": gap, **course}
        return recoded(checker, lattice, best, {"pruned": nodes}, **facts)
