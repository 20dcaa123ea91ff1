"""Cells hidden until every combination of values of so many columns has enough records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.suppression._patterns import Patterns
from shoal.core.classes import Classes
from shoal.core.grouping import Codes, group
from shoal.core.margins import margins
from shoal.core.run import Run

MOST_ROUNDS = 100
"""Rounds after which it gives up; each hides more."""


class CombinationSearch:
    """Tuples that hide a column of each combination that is too rare, until none is. Hidden cells are values of their
    own, so that what is hidden has to be frequent enough as well."""

    def __init__(self, patterns: Patterns, wanted: Mapping[int, int]) -> None:
        self.patterns, self.wanted = patterns, wanted
        self.hidden = np.zeros(patterns.keys.shape, np.bool_)
        self.bound = 0.0

    def run(self, listed: Sequence[NDArray[np.bool_]], run: Run) -> NDArray[np.bool_] | None:
        """Which cells are hidden of each tuple, one row a column; None where it did not come to an end."""
        sets, rare = self._rare()
        self._hit(listed, sets, rare)
        for place in range(MOST_ROUNDS):
            run.report(place / MOST_ROUNDS, "hiding cells of rare combinations")
            sets, rare = self._rare()
            if not rare.any():
                self._show_again(run)
                return self.hidden
            before = int(self.hidden.sum())
            self._hide_more(sets, rare)
            if int(self.hidden.sum()) == before:
                break
        return None

    def _rare(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The sets of columns that are looked at, one a row, and which tuples have a combination there that is too
        rare."""
        shown = np.where(self.hidden, np.int32(0), self.patterns.keys + np.int32(1))
        names = tuple(str(place) for place in range(len(shown)))
        classes = Classes(names, shown, self.patterns.sizes)
        sets, rare = [], []
        for size, least in self.wanted.items():
            for margin in margins(classes, size):
                sets.append(np.isin(np.arange(len(shown)), margin.places))
                rare.append(margin.people[margin.combinations] < least)
        return np.stack(sets), np.stack(rare)

    def _hit(self, listed: Sequence[NDArray[np.bool_]], sets: NDArray[np.bool_], rare: NDArray[np.bool_]) -> None:
        """Hides the cheapest columns that have one of each rare combination of a tuple. No release hides less: what is
        too rare in the table is no more frequent in it."""
        tuples = np.flatnonzero(rare.any(axis=0))
        bits = np.packbits(rare[:, tuples], axis=0)
        kinds = group([row.astype(np.int32) for row in bits], index=True)
        firsts = np.full(kinds.keys.shape[1], -1, np.int64)
        firsts[kinds.index[::-1]] = np.arange(len(tuples))[::-1]
        cases = rare[:, tuples[firsts]]
        chosen = np.full(cases.shape[1], -1, np.int64)
        for place, mask in enumerate(listed):
            left = np.flatnonzero(chosen < 0)
            if not len(left):
                break
            missed = ~(sets & mask).any(axis=1)
            chosen[left[~cases[missed][:, left].any(axis=0)]] = place
        masks = np.stack([*listed, np.isfinite(self.patterns.weights)], axis=1)[:, chosen]
        prices = self.patterns.cost(np.where(chosen < 0, listed[-1][:, None], masks))
        self.bound = float(prices[kinds.index] @ self.patterns.sizes[tuples])
        self.hidden[:, tuples] = masks[:, kinds.index]

    def _hide_more(self, sets: NDArray[np.bool_], rare: NDArray[np.bool_]) -> None:
        """Hides one column more of each tuple with a rare combination: the one that is in most of them. Where all that
        is rare is hidden already, tuples that hide most of it hide all of it."""
        tuples = np.flatnonzero(rare.any(axis=0))
        some, hidden = rare[:, tuples], self.hidden[:, tuples]
        demand = sets.T.astype(np.float64) @ some
        wanted = demand + demand.sum(axis=1, keepdims=True) / (1 + demand.sum())
        scores = np.where(hidden | (demand == 0), -1.0, wanted / self.patterns.payable[:, None])
        columns = scores.argmax(axis=0)
        free = (scores.max(axis=0) > 0) & np.isfinite(self.patterns.weights[columns])
        more = self.hidden.copy()
        more[columns[free], tuples[free]] = True
        for place in np.flatnonzero(some[:, ~free].any(axis=1)).tolist():
            self._join(more, np.flatnonzero(sets[place]))
        self.hidden = self.patterns.with_followers(more)

    def _join(self, hidden: NDArray[np.bool_], columns: NDArray[np.int64]) -> None:
        """Hides columns of as many more tuples as it takes, those that hide most of them already."""
        if not np.isfinite(self.patterns.weights[columns]).all():
            return
        shown = (~hidden[columns] * self.patterns.weights[columns, None]).sum(axis=0)
        order = np.argsort(shown, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.patterns.sizes[order]), self.wanted[len(columns)])) + 1
        hidden[columns[:, None], order[:enough]] = True

    def _show_again(self, run: Run) -> None:
        """Shows what need not be hidden after all: more was hidden than the last round asks for. Column by column, as
        many tuples as possible show theirs, as long as no combination becomes too rare."""
        order = np.argsort(-(self.hidden @ self.patterns.sizes), kind="stable")
        for place, column in enumerate(order.tolist()):
            run.report(place / len(order), "showing cells again")
            without = self.hidden.copy()
            without[column] = False
            some = self.hidden[column] & ~self.patterns.with_followers(without)[column]
            before = [numbers for numbers, _ in self._combinations(column, self.hidden)]
            while some.any():
                trial = self.hidden.copy()
                trial[column, some] = False
                staying = some.copy()
                for numbers, (fresh, rare) in zip(before, self._combinations(column, trial), strict=True):
                    few = rare[fresh]
                    # Who is still hidden there needs those who hid with them.
                    needed = np.zeros(int(numbers.max(initial=0)) + 1, np.bool_)
                    needed[numbers[few & ~some]] = True
                    staying &= ~few & ~needed[numbers]
                if np.array_equal(staying, some):
                    self.hidden = trial
                    break
                some = staying

    def _combinations(self, column: int, hidden: NDArray[np.bool_]) -> Iterator[tuple[Codes, NDArray[np.bool_]]]:
        """For each set of columns with this one, the combination of each tuple, and which combinations are too rare."""
        shown = np.where(hidden, np.int32(0), self.patterns.keys + np.int32(1))
        others = [place for place in range(len(shown)) if place != column]
        for size, least in self.wanted.items():
            for chosen in combinations(others, size - 1):
                groups = group([shown[place] for place in (column, *chosen)], weights=self.patterns.sizes, index=True)
                yield groups.index, groups.counts < least


def wanted_margins(models: Sequence[Mapping[int, int]], columns: int) -> dict[int, int]:
    """For each number of columns, the least records of a combination, by all models together."""
    wanted: dict[int, int] = {}
    for margins_of_one in models:
        for size, least in margins_of_one.items():
            size = min(size, columns)
            wanted[size] = max(wanted.get(size, 1), least)
    return wanted
