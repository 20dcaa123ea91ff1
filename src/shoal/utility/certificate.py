"""Certificate: a proven bound on the loss of every partition of a table, and so how far a release is from the best.

No search can try all partitions of a table into classes of k records. But their loss can be bounded from below. Give
every record a *price*, such that k records which could be published alike are never worth more together than publishing
them alike costs. Then the records of any class are worth no more than the class costs, because of a class of k or more
the dearest k are worth the most each; and the sum of all prices is at most the loss of any partition.

To start with, a record's price is what the cheapest set of k records with it costs. Then prices grow. Where a box (one
node or interval for each attribute) holds records whose dearest k are worth w and cost c, prices in it may grow by the
factor c/w; every price grows by the least factor of the boxes that it lies in. Each round keeps the rule, whatever the
prices were before, so that every round ends with a proof.

Boxes are one combination of levels at a time, and all intervals of one numeric attribute. Intervals of further numeric
attributes lie in windows of a few lengths, whose cost is that of the shortest interval that they stand for. Where there
are too many combinations, prices are kept below what the ones that are left out cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.costs import Costs, loss_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.loss import quantities
from shoal.core.run import Run

SECONDS = 30.0
"""For how long prices grow by default."""

ROOM = 1 << 25
"""Places that the orders of points may take up together; it limits the number of combinations."""

GROWTH = 1.6
"""The most that a price grows in a round; boxes that allow more need not be looked at."""

ENOUGH = 5e-4
"""Growth of the bound in a round, as a share of it, below which more rounds are not worth their time."""

WINDOWS = 8
"""Lengths of windows of a further numeric attribute."""

HALVINGS = 40
"""Of the range in which the limit is looked for up to which combinations are few enough."""

WIDEST = 2**62
"""Numbers of groups below it fit into a machine word."""

SAFE = 1 - 1e-9
"""By this factor the bound is lowered, which is more than rounding in its sums can amount to."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """No partition of the table into classes of `least` or more loses less than `bound`, by the metric LM.

    Whatever else a policy asks for makes partitions lose more, never less. `rounds` is how often prices grew,
    `finished` whether they could hardly grow any more.
    """

    bound: float
    least: int
    rounds: int
    finished: bool

    def gap(self, loss: float) -> float:
        """The share of a release's loss that a better one could save at the most."""
        return (loss - self.bound) / loss if loss > self.bound else 0.0


@dataclass(frozen=True)
class _Option:
    """One way to put the leaves of an attribute into nodes, and what a node of each leaf costs."""

    nodes: Codes
    charges: Floats


def certify(dataset: Dataset, least: int, run: Run) -> Certificate:
    """The bound for classes of `least` records or more; it grows until the run's time is over."""
    summary = dataset.summary
    if least < 2 or not len(summary):
        return Certificate(bound=0.0, least=least, rounds=0, finished=True)
    intervals = [hierarchy.ordered for hierarchy in summary.hierarchies]
    costs = loss_costs(summary.hierarchies, list(summary.keys), intervals)
    prices = _Prices(summary, costs, intervals, least, run)
    rounds, finished = 0, False
    while not finished and not run.expired:
        before = prices.worth
        prices.grow()
        rounds += 1
        finished = prices.worth <= before * (1 + ENOUGH)
        run.report(max(run.share, rounds / (rounds + 4)), "bounding the loss")
    cells = max(dataset.records * len(intervals), 1)
    return Certificate(bound=prices.worth * SAFE / cells, least=least, rounds=rounds, finished=finished)


class _Prices:
    """The price of each tuple, and the boxes that limit them."""

    def __init__(self, summary: Classes, costs: Costs, intervals: Sequence[bool], least: int, run: Run) -> None:
        from shoal.kernels.certificate import Family, SweptAttribute, cheapest

        keys, counts, hierarchies = summary.keys, summary.sizes, summary.hierarchies
        self.counts, self.costs, self.least, self.run = counts, costs, least, run
        numeric = [place for place, interval in enumerate(intervals) if interval]
        swept = max(numeric, key=lambda place: len(np.unique(keys[place])), default=-1)
        codes = keys[swept] if swept >= 0 else np.zeros(len(counts), np.int32)
        self.axis = SweptAttribute(swept, np.ascontiguousarray(codes))
        others = [place for place in range(len(keys)) if place != swept]
        beside = [keys[place] for place in others]
        options = [
            list(
                _windows(hierarchies[place], costs.spans[place])
                if intervals[place]
                else _levels(hierarchies[place], costs, costs.rows[place])
            )
            for place in others
        ]
        chosen, self.dearest = _combinations(options, beside, max(1, ROOM // len(counts)), float(len(keys)))
        self.prices = np.full(len(counts), self.dearest)
        self.families: list[Any] = []
        for number, combination in enumerate(chosen):
            bases, dearest = _bases(beside, combination, len(counts)), float(self.prices.max())
            if bases.min() >= dearest:
                continue
            order, starts = _group_points(beside, combination, self.axis.codes)
            family = Family(order, starts, bases[order[starts[:-1]]])
            cheapest(family, self.axis, costs, counts, least, dearest, self.prices, run.flag)
            self.families.append(family)
            run.report(0.2 * number / len(chosen), "bounding the loss")
            run.check()
        self.dearest = float(self.prices.max())

    @property
    def worth(self) -> float:
        """What all records are worth together."""
        return float(np.dot(self.prices, self.counts))

    def grow(self) -> None:
        """Every price grows by the least factor of the boxes that it lies in. What each thread finds is put together
        by the least, so their number changes nothing."""
        from shoal.kernels.certificate import headroom
        from shoal.kernels.threads import count

        def look(part: int) -> Floats:
            room = np.full(len(self.prices), GROWTH)
            for family in self.families[part::threads]:
                headroom(
                    family, self.axis, self.costs, self.counts, self.least, GROWTH, self.prices, room, self.run.flag
                )
            return room

        threads = count()
        with ThreadPoolExecutor(threads) as pool:
            room = np.minimum.reduce(list(pool.map(look, range(threads))))
        self.run.check()
        # Combinations that were left out cost at least what the dearest price is.
        self.prices = np.minimum(self.prices * room, self.dearest)


def _levels(hierarchy: Hierarchy, costs: Costs, first: int) -> Iterator[_Option]:
    """Each level of a hierarchy, whose nodes and charges begin at a place."""
    size = hierarchy.size
    for level in range(hierarchy.height + 1):
        row = slice(first + level * size, first + (level + 1) * size)
        yield _Option(costs.tree[row], costs.charges[row])


def _windows(hierarchy: Hierarchy, span: float) -> Iterator[_Option]:
    """Single values; then, for each of a few lengths, windows of twice that length in two rows, one shifted by half a
    window, so that every interval up to the length lies in one. They stand for intervals above the length before, and
    cost what that costs. Only the window that is everything hides whether a value is missing."""
    size, missing = hierarchy.size, int(hierarchy.missing)
    yield _Option(np.arange(size, dtype=np.int32), np.zeros(size))
    values = quantities(hierarchy)[missing:] / span
    gaps = np.diff(values)
    shortest = float(gaps[gaps > 0].min(initial=1.0))
    for step in range(WINDOWS - 1, 0, -1):
        length = 2.0**-step
        if length < shortest:
            continue
        for shift in (0.0, length):
            nodes = np.floor((values - values.min(initial=0.0) + shift) / (2 * length)).astype(np.int32)
            yield _Option(np.concatenate([np.zeros(missing, np.int32), nodes + 1]), np.full(size, shortest))
        shortest = length
    yield _Option(np.zeros(size, np.int32), np.full(size, shortest))


def _combinations(
    options: Sequence[Sequence[_Option]], keys: Sequence[Codes], wanted: int, highest: float
) -> tuple[list[tuple[_Option, ...]], float]:
    """Combinations of one option for each attribute, cheapest first, up to a number of them; and what every other one
    costs at least."""
    floors = [
        [float(option.charges[key].min(initial=np.inf)) for option in each]
        for each, key in zip(options, map(np.unique, keys), strict=True)
    ]

    def below(limit: float) -> list[tuple[float, tuple[int, ...]]]:
        """Those that may cost less; once there are too many, it does not matter which."""
        cheap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for each in floors:
            cheap = [
                (paid + floor, (*picked, at))
                for paid, picked in cheap
                for at, floor in enumerate(each)
                if paid + floor < limit
            ]
            if len(cheap) > wanted:
                break
        return cheap

    low = high = highest
    chosen = below(high)
    if len(chosen) > wanted:
        low = 0.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if len(below(middle)) > wanted else (middle, high)
        chosen = below(low)
    return [tuple(map(getitem, options, picked)) for _, picked in sorted(chosen)], low


def _bases(keys: Sequence[Codes], combination: Sequence[_Option], count: int) -> Floats:
    """What each point pays in the attributes of a combination, at least."""
    bases = np.zeros(count)
    for key, option in zip(keys, combination, strict=True):
        bases += option.charges[key]
    return bases


def _group_points(keys: Sequence[Codes], combination: Sequence[_Option], codes: Codes) -> tuple[Codes, Counts]:
    """The points of a combination by group, and by their code on the axis; and where groups begin."""
    groups, room = np.zeros(len(codes), np.int64), 1
    for key, option in zip(keys, combination, strict=True):
        size = int(option.nodes.max()) + 1
        if room * size > WIDEST:
            _, groups = np.unique(groups, return_inverse=True)
            room = len(codes)
        groups, room = groups * size + option.nodes[key], room * size
    order = np.lexsort((codes, groups))
    ordered = groups[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return order.astype(np.int32), np.append(starts, len(order)).astype(np.int64)
