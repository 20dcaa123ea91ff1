"""Patterns: which columns of a record are hidden, what that costs, and which records then read alike.

A pattern is a set of hidden columns. Records that agree in all other columns read alike once they are hidden by it. All
of this works on distinct tuples, whose counts say how many records each has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts, Groups, group
from shoal.core.hierarchy import Floats
from shoal.core.run import Run

MOST_PATTERNS = 1024
"""Patterns that are looked at one by one, the cheapest first; columns are hidden one after the other from there on."""

MOST_LOOKS = 1 << 25
"""Tuples times patterns that are looked at one by one."""

FEWEST_PATTERNS = 64
"""Patterns that are looked at one by one, however many tuples there are."""

NEVER = 1e6
"""How many times all other columns together a column is worth that is never hidden."""

Judge = Callable[[Codes, Counts], NDArray[np.bool_]]
"""Which groups satisfy the policy: given the group of each tuple, negative for none, and the size of each group."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """What there is to hide. `keys` has the distinct tuples and `sizes` how many records each has; hiding a cell of
    column `j` costs `weights[j]`, and hides the columns `follows[j]` as well. An infinite weight is never paid."""

    keys: Codes
    sizes: Counts
    weights: Floats
    follows: NDArray[np.bool_]

    @property
    def payable(self) -> Floats:
        """The weights, where what is never paid costs more than everything else together."""
        finite = np.where(np.isfinite(self.weights), self.weights, 0.0)
        return np.where(np.isfinite(self.weights), self.weights, NEVER * (1 + finite.sum()))

    def with_followers(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Hidden columns, one row a column, with those that are hidden along with them."""
        return hidden | (self.follows.T.astype(np.int64) @ hidden.astype(np.int64) > 0)

    def cost(self, hidden: NDArray[np.bool_]) -> Floats:
        """What hidden columns cost, one row a column."""
        paid: Floats = np.where(hidden, self.payable[:, None], 0.0).sum(axis=0)
        return paid

    def listing(self) -> list[NDArray[np.bool_]]:
        """Patterns from the cheapest up, as many as can be looked at one by one."""
        columns = [j for j in np.argsort(self.weights, kind="stable") if np.isfinite(self.weights[j])]
        most = int(np.clip(MOST_LOOKS // max(len(self.sizes), 1), FEWEST_PATTERNS, MOST_PATTERNS))
        listed: list[NDArray[np.bool_]] = []
        known: set[bytes] = set()
        # Subsets by their weight: the last column of one is replaced by the next, or the next one joins.
        heap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        while heap and len(listed) < most:
            weight, chosen = heappop(heap)
            hidden = np.zeros(len(self.weights), np.bool_)
            hidden[[columns[place] for place in chosen]] = True
            closed = self.with_followers(hidden[:, None])[:, 0]
            if closed.tobytes() not in known:
                known.add(closed.tobytes())
                listed.append(closed)
            last = chosen[-1] if chosen else -1
            if last + 1 < len(columns):
                step = float(self.weights[columns[last + 1]])
                heappush(heap, (weight + step, (*chosen, last + 1)))
                if chosen:
                    heappush(heap, (weight + step - float(self.weights[columns[last]]), (*chosen[:-1], last + 1)))
        stacked = np.stack(listed, axis=1)
        if heap:  # no other pattern is cheaper than what is listed: those that hide more by their links may be dearer
            listed = [listed[place] for place in np.flatnonzero(self.cost(stacked) <= weight + 1e-9)]
            stacked = np.stack(listed, axis=1)
        values = np.log([len(np.unique(column)) for column in self.keys])
        # Of equally dear patterns, those that hide most put most records together.
        order = np.lexsort((-(values @ stacked), np.round(self.cost(stacked), 9)))
        return [listed[place] for place in order]

    def alike(self, hidden: NDArray[np.bool_], tuples: NDArray[np.int64]) -> Groups:
        """The groups of some tuples that read alike once columns are hidden."""
        shown = [column[tuples] for column in self.keys[~hidden]]
        if not shown:
            return Groups(
                np.zeros((0, 1), np.int32), np.array([self.sizes[tuples].sum()]), np.zeros(len(tuples), np.int32)
            )
        return group(shown, weights=self.sizes[tuples], index=True)

    def bound(self, patterns: Sequence[NDArray[np.bool_]], least: int, spared: int, run: Run) -> float:
        """What every release costs at least in which each class has at least so many records, when so many records
        may be left out.

        A class that hides some columns has at least `least` records, all of which pay for them. Where only `a` records
        that read alike are of too small tuples, each of these bears at least `least / a` times the price: others were
        hidden for their sake. A record bears the least of that over all patterns that help it.
        """
        needy = self.sizes < least
        everybody = np.arange(len(self.sizes))
        prices = np.where(needy, np.inf, 0.0)
        for place, hidden in enumerate(patterns):
            price = float(self.cost(hidden[:, None])[0])
            if not np.any(prices > price):
                break
            groups = self.alike(hidden, everybody)
            few = np.bincount(groups.index, weights=self.sizes * needy, minlength=len(groups.counts))
            shares = np.where(groups.counts >= least, price * np.maximum(1.0, least / np.maximum(few, 1)), np.inf)
            prices = np.where(needy, np.minimum(prices, shares[groups.index]), 0.0)
            run.report(place / len(patterns), "proving a bound")
        dearest = float(self.cost(patterns[-1][:, None])[0])
        # What no listed pattern helps costs more than all of them.
        prices = np.minimum(prices, dearest)
        order = np.argsort(-prices, kind="stable")
        before = np.append(0, np.cumsum(self.sizes[order]))[:-1]
        counted = self.sizes[order] - np.clip(spared - before, 0, self.sizes[order])
        return float(prices[order] @ counted)

    def assigned(self, patterns: Sequence[NDArray[np.bool_]], least: int, judge: Judge | None, run: Run) -> Assigned:
        """Tuples hidden by the first pattern by which enough of those that are left read alike. From the last pattern
        on, one column after the other is hidden; what is left in the end has everything hidden, and may be too
        little."""
        search = _Assignment(self, least, judge)
        for hidden in patterns:
            search.take(hidden)
            if not len(search.left):
                break
            run.report(1 - len(search.left) / len(self.sizes), "hiding cells")
        hidden = patterns[0]
        while len(search.left) and np.any(~hidden & np.isfinite(self.weights)):
            hidden = self._one_more(hidden, search.left)
            search.take(hidden)
            run.check()
        if len(search.left):
            search.take(np.isfinite(self.weights), whatever=True)
        return Assigned(search.owners, np.stack(search.hidden, axis=1))

    def _one_more(self, hidden: NDArray[np.bool_], tuples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A pattern with one more column: the one that leaves the fewest different tuples for its weight."""
        tried = []
        for column in np.flatnonzero(~hidden & np.isfinite(self.weights)).tolist():
            more = hidden.copy()
            more[column] = True
            more = self.with_followers(more[:, None])[:, 0]
            tried.append((len(self.alike(more, tuples).counts) * float(self.weights[column]), column, more))
        return min(tried, key=lambda entry: entry[:2])[2]


@dataclass(frozen=True, eq=False)
class Assigned:
    """The group of each tuple, or record, and the columns that each group hides, one row a column."""

    owners: Codes
    hidden: NDArray[np.bool_]


class _Assignment:
    """Groups of tuples that read alike, pattern by pattern, and the tuples that are left."""

    def __init__(self, patterns: Patterns, least: int, judge: Judge | None) -> None:
        self.patterns, self.least, self.judge = patterns, least, judge
        self.left = np.arange(len(patterns.sizes))
        self.owners = np.full(len(patterns.sizes), -1, np.int32)
        self.hidden: list[NDArray[np.bool_]] = []

    def take(self, hidden: NDArray[np.bool_], *, whatever: bool = False) -> None:
        """Puts together what is left and reads alike with these columns hidden, where it is enough."""
        groups = self.patterns.alike(hidden, self.left)
        holds = (groups.counts >= self.least) | whatever
        if self.judge is not None and not whatever and holds.any():
            index = np.full(len(self.owners), -1, np.int32)
            index[self.left] = groups.index
            holds &= self.judge(index, groups.counts)
        if not holds.any():
            return
        numbers = np.cumsum(holds).astype(np.int32) - 1 + len(self.hidden)
        here = holds[groups.index]
        self.owners[self.left[here]] = numbers[groups.index[here]]
        self.hidden.extend([hidden] * int(holds.sum()))
        self.left = self.left[~here]
