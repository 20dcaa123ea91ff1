"""Hidden cells that may stand for any value: as few as it takes until enough records match every record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.suppression._patterns import Patterns
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.core.run import Run
from shoal.errors import ParameterError

WIDEST = 14
"""Quasi-identifiers up to which every set of them is looked at."""


class WildcardSearch:
    """Hides cells of one record after the other that too few match yet.

    A record hides what gives others the most matches for its price: as many cells as `most` says, or as many as it
    needs itself where that is more. Of each tuple the first records are hidden.
    """

    def __init__(self, patterns: Patterns, k: int, most: int) -> None:
        columns = len(patterns.keys)
        if columns > WIDEST:
            raise ParameterError(
                f"wildcards: cells are hidden in up to {WIDEST} quasi-identifiers, and there are {columns}; ask for "
                "k-anonymity, which implies it"
            )
        self.patterns, self.k, self.most = patterns, k, most
        self.keys = patterns.keys.astype(np.int16 if int(patterns.keys.max(initial=0)) < 1 << 15 else np.int32)
        self.left = patterns.sizes.astype(np.float64)
        self.matches = patterns.sizes.copy()
        self.open_tuples = np.zeros(0, np.int64)
        few = int(self.left[self.left < k].sum())
        self.count, self.hidden_tuples, self.hidden_masks = 0, *np.zeros((2, few), np.int64)
        self.hidden_keys = np.zeros((columns, few), self.keys.dtype)
        members = (np.arange(1 << columns)[None] >> np.arange(columns)[:, None] & 1).astype(np.bool_)
        closed = (patterns.with_followers(members) == members).all(axis=0)
        allowed = closed & ~members[~np.isfinite(patterns.weights)].any(axis=0)
        self.prices: Floats = np.where(allowed, patterns.cost(members), np.inf)
        self.sizes: Counts = members.sum(axis=0)

    def run(self, tuples: Codes, run: Run) -> NDArray[np.bool_]:
        """Which cells are hidden of each record, one row a column; `tuples` has the tuple of each record."""
        order = np.lexsort((-self._helpful(), self.patterns.sizes))
        order = order[self.patterns.sizes[order] < self.k]
        for place, each in enumerate(order.tolist()):
            while self.left[each] and self.matches[each] < self.k:
                self._hide(each)
            if place % 64 == 0:
                run.report(place / len(order), "hiding cells")
        return self._masks(tuples)

    def _hide(self, each: int) -> None:
        """Hides cells of one record of a tuple."""
        columns = len(self.keys)
        differing = _differing(self.keys[:, each], self.keys)
        beside = _differing(self.keys[:, each], self.hidden_keys[:, : self.count]) & ~self.hidden_masks[: self.count]
        agreeing = np.bincount(differing, self.left, minlength=1 << columns)
        agreeing += np.bincount(beside, minlength=1 << columns)
        open_tuples = self._open()
        lacking = self.left[open_tuples] * np.maximum(self.k - self.matches[open_tuples], 0)
        gains = _of_subsets(np.bincount(differing[open_tuples], lacking, minlength=1 << columns), columns)
        enough = np.isfinite(self.prices) & (_of_subsets(agreeing, columns) >= self.k)
        needed = self.prices[enough].min()
        choices = np.flatnonzero(enough & ((self.sizes <= self.most) | (self.prices <= needed)) & (self.sizes > 0))
        # What helps nobody else, all of which is equally good, is chosen by its price.
        mask = int(choices[np.argmax((gains[choices] + LEAST_GAIN) / self.prices[choices])])
        matched = (differing & ~mask) == 0
        matched[each] = False  # they matched before
        self.matches[matched] += 1
        self.left[each] -= 1
        self.hidden_keys[:, self.count] = self.keys[:, each]
        self.hidden_tuples[self.count], self.hidden_masks[self.count] = each, mask
        self.count += 1

    def _open(self) -> NDArray[np.int64]:
        """The tuples that too few records match; now and then those that have enough by now are dropped."""
        if self.count % 64 == 0:
            self.open_tuples = np.flatnonzero((self.matches < self.k) & (self.left > 0))
        return self.open_tuples

    def _helpful(self) -> Floats:
        """For each tuple, how many matches it gives to others at most by the cheapest sets of columns that help it."""
        lacking = self.patterns.sizes * np.maximum(self.k - self.patterns.sizes, 0)
        helpful, prices = np.zeros(len(lacking)), np.where(lacking > 0, np.inf, 0.0)
        for hidden in self.patterns.listing():
            price = float(self.patterns.cost(hidden[:, None])[0])
            if not np.any(prices >= price):
                break
            groups = self.patterns.alike(hidden, np.arange(len(lacking)))
            here = (groups.counts >= self.k)[groups.index] & (prices >= price)
            prices[here] = price
            helpful[here] = np.maximum(helpful, np.bincount(groups.index, lacking)[groups.index])[here]
        return helpful

    def _masks(self, tuples: Codes) -> NDArray[np.bool_]:
        masks = np.zeros((len(self.keys), len(tuples)), np.bool_)
        starts = np.searchsorted(tuples, np.arange(len(self.left)))
        taken = np.zeros(len(self.left), np.int64)
        for each, mask in zip(self.hidden_tuples[: self.count], self.hidden_masks[: self.count], strict=True):
            masks[:, starts[each] + taken[each]] = mask >> np.arange(len(self.keys)) & 1
            taken[each] += 1
        return masks

    def bound(self) -> float:
        """What every release costs at least: what the record needs that needs most. The last of the k records that
        match it agrees with it only once every cell is hidden, in one of the two, in which they differ."""
        needs = [0.0]
        for each in np.flatnonzero(self.patterns.sizes < self.k)[:MOST_BOUNDED].tolist():
            prices = self.prices_of(_differing(self.keys[:, each], self.keys))
            order = np.argsort(prices, kind="stable")
            place = np.searchsorted(np.cumsum(self.patterns.sizes[order]), self.k)
            needs.append(float(prices[order][place]))
        return max(needs)

    def prices_of(self, masks: NDArray[np.int64]) -> Floats:
        """What hiding columns costs, without those that are hidden along with them."""
        prices: Floats = np.zeros(len(masks))
        for place, weight in enumerate(self.patterns.payable):
            prices += weight * (masks >> place & 1)
        return prices


LEAST_GAIN = 1e-3
"""What hiding cells counts at least, in matches."""
MOST_BOUNDED = 500
"""Tuples that the bound looks at."""


def _differing(one: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int64]:
    """The columns in which tuples differ from one of them, as bits."""
    bits, more = np.zeros((2, keys.shape[1]), np.uint16)
    for place, column in enumerate(keys):
        np.left_shift(column != one[place], place, out=more, dtype=np.uint16, casting="unsafe")
        bits |= more
    return bits.astype(np.int64)


def _of_subsets(counts: NDArray[Any], columns: int) -> Floats:
    """For each set of columns, the sum over its subsets."""
    sums = counts.astype(np.float64)
    for place in range(columns):
        halves = sums.reshape(-1, 2, 1 << place)
        halves[:, 1] += halves[:, 0]
    return sums
