"""Checking nodes of the lattice: which classes have to go, what that costs, and what it says about other nodes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal.algorithms.full_domain._tuples import Grouping, Tuples
from shoal.core.dataset import Dataset
from shoal.core.lattice import Node
from shoal.core.objective import CellObjective, CellTerms, ClassObjective, loss_terms
from shoal.core.policy import Policy
from shoal.errors import ParameterError, unknown_columns

CHARGES = {"nothing": 0, "one": 1, "entropy": 2}
ROUNDING = 1e-12
REMEMBERED = 1 << 23


class Verdict(NamedTuple):
    """What a node of the lattice is worth.

    `suppressed` records break the policy; every specialization of the node leaves out `lost` records or more, `unsure`
    of which may be any. A node that is not feasible may have no score. `base` and `extra` are an objective's that
    looks at classes.
    """

    node: Node
    classes: int
    suppressed: int
    lost: int
    unsure: int
    feasible: bool
    score: float
    base: float = 0.0
    extra: float = 0.0


class Bound(NamedTuple):
    """The least that a box of nodes can score, the attribute to split it by, and the bound of the upper part."""

    least: float
    attribute: int
    upper: float


class Checker:
    """Checks each node once, on the distinct tuples."""

    def __init__(self, dataset: Dataset, policy: Policy, weights: Mapping[str, float] | None = None) -> None:
        self.dataset, self.policy = dataset, policy
        self.records = dataset.records
        self.budget = policy.budget(dataset.records)
        self.tuples = Tuples(dataset.summary)
        self.judges = tuple(model for model in policy.models if not model.by_size)
        # Where people also agree on other sensitive attributes, records that join a class can break any model.
        strict = any(held.contexts is not None for held in dataset.summary.sensitive)
        self.sure_judges = tuple(model for model in self.judges if model.growth_monotone and not strict)
        self.unsure_judges = tuple(model for model in self.judges if model not in self.sure_judges)
        self.settled = all(model.suppression_monotone for model in policy.models)
        self.verdicts: dict[Node, Verdict] = {}
        self.closest: Verdict | None = None
        self._left_out: OrderedDict[Node, Any] = OrderedDict()
        self.objective = policy.objective
        self.terms = self._terms(policy.objective, weights or {})

    @property
    def monotone(self) -> bool:
        """Whether every generalization of a node that satisfies the policy satisfies it too.

        With records left out that takes models that a class cannot lose by growing.
        """
        merging = all(model.merge_monotone for model in self.policy.models)
        return not self.unsure_judges or (merging and self.settled and self.budget == 0)

    def _terms(self, objective: Any, weights: Mapping[str, float]) -> CellTerms | None:
        names = self.dataset.summary.attributes
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
        given = np.array([weights.get(name, 1.0) for name in names], dtype=np.float64)
        if (given < 0).any() or not np.isfinite(given).all() or given.sum() == 0:
            raise ParameterError("weights are numbers from 0 up, and one of them at least is above 0")
        if isinstance(objective, ClassObjective):
            if weights:
                raise ParameterError(
                    f"{type(objective).__name__} looks at class sizes, so weights of columns mean nothing to it; "
                    "leave them out or choose another objective, such as loss"
                )
            return None
        shares = given / given.sum()
        if objective is None:
            terms = loss_terms(self.dataset.summary, shares)
        elif isinstance(objective, CellObjective):
            terms = objective.terms(self.dataset.summary, shares)
        else:
            raise ParameterError(
                f"{type(objective).__name__} cannot be minimized over the lattice; choose an objective such as loss, "
                "loss-arithmetic, gcp, dm, dm-all, aecs, entropy, precision or height"
            )
        self._flatten(terms)
        return terms

    def _flatten(self, terms: CellTerms) -> None:
        """Costs as flat arrays, and as floors: the least that a cell costs at a level or above it."""
        held = self.tuples
        raw = held.raw
        self.nothing = np.zeros(int(held.leaf_counts.sum()), dtype=np.int64)
        self.whole = held.counted(Grouping(raw, raw.owners, raw.weights), np.ones(len(raw.weights), np.bool_))
        floors = [np.minimum.accumulate(costs[::-1], axis=0)[::-1] for costs in terms.costs]
        if terms.left_out == "one":
            floors = [np.minimum(floor, 1.0) for floor in floors]
        self.exact, self.floors = self._flat(terms.costs), self._flat(floors)

    def _flat(self, costs: Any) -> tuple[Any, Any, Any]:
        """By attribute and level the sum of the costs; all costs; by attribute and level the greatest one."""
        totals, greatest = np.zeros((2, *self.tuples.widths.shape))
        for position, (start, count) in enumerate(zip(self.tuples.leaf_starts, self.tuples.leaf_counts, strict=True)):
            totals[position, : len(costs[position])] = costs[position] @ self.whole[start : start + count]
            greatest[position, : len(costs[position])] = costs[position].max(axis=1)
        return totals, np.concatenate([part.ravel() for part in costs]), greatest

    def _bounded(self, low: Node, high: Node, left_out: Any, lost: int = 0, *, exact: bool) -> Bound:
        from shoal.kernels import lattice as kernel

        held, terms = self.tuples, self.terms
        assert terms is not None
        return Bound(*kernel.bound(
            np.array(low, dtype=np.int64), np.array(high, dtype=np.int64), left_out, lost,
            *(self.exact if exact else self.floors), held.leaf_counts, held.leaf_starts, held.codes, held.code_starts,
            held.widths, terms.offsets, terms.spans, terms.weights, terms.geometric, CHARGES[terms.left_out],
        ))  # fmt: skip

    def broken(self, found: Grouping) -> tuple[Any, Any, int]:
        """The classes that cannot be published, those of them no part of which can be published either, and how many
        records of the others have to go, however they are split."""
        sure = found.sizes < self.policy.least
        if not self.judges:
            return sure, sure, 0
        classes = self.tuples.classes(found)
        for model in self.sure_judges:
            sure = sure | ~model.holds(classes)
        broken = sure
        lost = np.zeros(len(sure), dtype=np.int64)
        for model in self.unsure_judges:
            holds, gone = model.judge(classes)
            broken = broken | ~holds
            if model.suppression_monotone:
                lost = np.maximum(lost, gone)
        return (broken if self.settled else self._settle(classes, broken)), sure, int(lost[~sure].sum())

    def _settle(self, classes: Any, broken: Any) -> Any:
        """Leaving classes out may break others: goes on until what is left satisfies the policy."""
        while not broken.all():
            kept = np.flatnonzero(~broken)
            index = np.full(len(broken), -1, dtype=np.int32)
            index[kept] = np.arange(len(kept), dtype=np.int32)
            holds = self.policy.holds(classes.rolled(index, np.zeros((0, len(kept)), np.int32)))
            if holds.all():
                break
            broken = broken.copy()
            broken[kept[~holds]] = True
        return broken

    def check(self, node: Node) -> Verdict:
        """The verdict on a node; a node is checked only once."""
        found = self.verdicts.get(node)
        if found is None:
            found = self._check(node)
            self.verdicts[node] = found
            if self.closest is None or found.suppressed < self.closest.suppressed:
                self.closest = found
        return found

    def _check(self, node: Node) -> Verdict:
        surveyed = None
        if self.terms is not None and not self.judges:
            surveyed = self.tuples.surveyed(node, self.policy.least, self.budget)
        return self._judged(node) if surveyed is None else self._by_size(node, *surveyed)

    def _by_size(self, node: Node, classes: int, small: int, records: int, counts: Any) -> Verdict:
        """The verdict when only sizes count and the objective adds up over cells."""
        feasible = records <= self.budget and records < self.records
        score = float("nan")
        if feasible:
            left_out = self._remembered(node, counts) if records else self.nothing
            score = self._bounded(node, node, left_out, exact=True).least
        return Verdict(node, classes - small, records, records, 0, feasible, score)

    def _judged(self, node: Node) -> Verdict:
        found = self.tuples.grouped(node)
        sizes = found.sizes
        broken, sure, unsure = self.broken(found)
        suppressed = int(sizes[broken].sum())
        lost = int(sizes[sure].sum()) + unsure
        feasible = suppressed <= self.budget and suppressed < self.records
        kept = len(sizes) - int(broken.sum())
        base = extra = 0.0
        score = float("nan")
        if self.terms is None:
            objective: Any = self.objective
            base = float(objective.base(sizes, self.records))
            extra = float(objective.extra(sizes[sure], self.records))
            at_once = extra if broken is sure else float(objective.extra(sizes[broken], self.records))
            score = float(objective.value(base + at_once, self.records))
        elif lost <= self.budget:
            left_out = self._counted(node, found, sure)
            if feasible:
                at_once = left_out if broken is sure else self.tuples.counted(found, broken)
                score = self._bounded(node, node, at_once, exact=True).least
        return Verdict(node, kept, suppressed, lost, unsure, feasible, score, base, extra)

    def _counted(self, node: Node, found: Grouping, sure: Any) -> Any:
        """The leaves of the records that are left out in every specialization of a node."""
        return self._remembered(node, self.tuples.counted(found, sure)) if sure.any() else self.nothing

    def _remembered(self, node: Node, counts: Any) -> Any:
        """Keeps counts as long as there is room; they can be had again."""
        self._left_out[node] = counts
        if len(self._left_out) * len(counts) > max(REMEMBERED, 64 * len(counts)):
            self._left_out.popitem(last=False)
        return counts

    def bound(self, low: Node, high: Node) -> Bound:
        """A score that no node from `low` to `high` can beat; the box must not have lost more than the budget."""
        verdict = self.check(high)
        if self.terms is None:
            objective: Any = self.objective
            total = self.check(low).base + verdict.extra
            attribute = self._widest(low, high)
            least = float(objective.value(total, self.records))
            return Bound(least, attribute, least)
        left_out = self._left_out.get(high)
        if left_out is None:
            left_out = self.nothing
            if verdict.lost > verdict.unsure:
                found = self.tuples.grouped(high)
                left_out = self._counted(high, found, self.broken(found)[1])
        return self._bounded(low, high, left_out, verdict.unsure, exact=False)

    def _widest(self, low: Node, high: Node) -> int:
        """The attribute whose last step merges most values."""
        widths = self.tuples.widths
        steps = [
            widths[position, last - 1] / widths[position, last] if last > first else -1.0
            for position, (first, last) in enumerate(zip(low, high, strict=True))
        ]
        return int(np.argmax(steps)) if max(steps) >= 0 else -1

    def floor(self, node: Node) -> float:
        """The least that a node and its generalizations can score, without a look at the classes."""
        if self.terms is None:
            return float("-inf")
        return self._bounded(node, node, self.nothing, exact=False).least

    def suppression(self, node: Node) -> Any:
        """Which distinct tuples a release at this node leaves out."""
        found = self.tuples.grouped(node)
        return self.tuples.spread(found, self.broken(found)[0])
