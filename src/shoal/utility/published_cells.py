"""Published cells as shares of bins, in one table of any tool, which may have values that the original lacks.

What a column is cut into follows from the original table alone: every value is a bin, or, of numbers that have many
values, percentiles are. A cell that stands for several values stands for each of them alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release
from shoal.parsing.identity import are_plain_numbers, plain_number

MANY = 1 << 24
"""Pairs of cells up to which all are counted at once; numbers with noise have more, nearly all of which never occur."""


@dataclass(frozen=True, eq=False, repr=False)
class BinnedTable:
    """The distinct rows of a table with their `weights`: in each column, `owners` has the cell of a row, and `shares`
    how much of each cell lies in each bin, less than 1 where it holds a value that the original lacks."""

    owners: Mapping[str, Codes]
    shares: Mapping[str, Floats]
    weights: Floats

    def joint(self, one: str, other: str) -> Floats:
        """The share of the records in each pair of bins."""
        return self._counted(one, other, self.weights) / max(float(self.weights.sum()), 1.0)

    def joint_by(self, group: str, one: str, other: str) -> Floats:
        """The share of the records in each bin of a group column and each pair of bins."""
        by_cell = [
            self._counted(one, other, np.where(self.owners[group] == cell, self.weights, 0.0))
            for cell in range(len(self.shares[group]))
        ]
        shares: Floats = np.tensordot(self.shares[group].T, np.stack(by_cell), axes=1)
        return shares / max(float(self.weights.sum()), 1.0)

    def _counted(self, one: str, other: str, weights: Floats) -> Floats:
        left, right = self.shares[one], self.shares[other]
        if len(left) * len(right) > MANY:
            rows, others = self.owners[one], right[self.owners[other]].T * weights
            by_bin = [np.bincount(rows, weights=each, minlength=len(left)) for each in others]
            return np.asarray(left.T @ np.stack(by_bin, axis=1), np.float64)
        cells = self.owners[one].astype(np.int64) * len(right) + self.owners[other]
        pairs = np.bincount(cells, weights=weights, minlength=len(left) * len(right))
        counts: Floats = left.T @ pairs.reshape(len(left), len(right)) @ right
        return counts


def of_dataset(data: Dataset, names: Sequence[str], most: int) -> tuple[BinnedTable, dict[str, Codes]]:
    """A table in bins, and where the bins of each column begin among its leaves: numbers with more than `most` values
    are cut into so many percentiles."""
    rows = data.knowing(names).table.group(tuple(names), ())
    starts = {
        name: percentiles(tree, np.bincount(keys, rows.sizes, minlength=tree.size).astype(np.float64), most)
        for name, tree, keys in zip(names, rows.hierarchies, rows.keys, strict=True)
    }
    return _binned(rows, [_each_leaf(tree) for tree in rows.hierarchies], starts, rows.hierarchies), starts


def of_release(release: Release, starts: Mapping[str, Codes]) -> BinnedTable:
    """The main table of a release in the same bins."""
    rows = release.published.group(tuple(starts), ())
    trees = [release.hierarchy_of(name) for name in starts]
    ranges = [
        _with_other_numbers(tree, release.published.labels(name)) for tree, name in zip(trees, starts, strict=True)
    ]
    return _binned(rows, ranges, starts, trees)


def _binned(
    rows: Classes, ranges: Sequence[tuple[Codes, Codes]], starts: Mapping[str, Codes], trees: Sequence[Hierarchy]
) -> BinnedTable:
    """Rows whose cells stand for some ranges of leaves, in bins that begin at some leaves."""
    owners, shares = {}, {}
    single = all(np.array_equal(low, high) for low, high in ranges)
    for (name, begin), keys, (low, high), tree in zip(starts.items(), rows.keys, ranges, trees, strict=True):
        if single:  # each cell lies in one bin or in none, so that all cells of a bin count as one
            bins = np.where(low < 0, len(begin), np.searchsorted(begin, low, side="right") - 1)
            owners[name], shares[name] = bins[keys].astype(np.int32), np.eye(len(begin) + 1, len(begin))
        else:
            owners[name], shares[name] = keys, _in_bins((low, high), begin, tree.size)
    return BinnedTable(owners, shares, rows.sizes.astype(np.float64))


def percentiles(tree: Hierarchy, counts: Floats, most: int) -> Codes:
    """Where bins begin among the leaves of a column: each leaf is one, or, of more than `most` numbers, those with the
    same percentile by their mean rank are; the missing value has its own.

    Example:
        >>> tree = Hierarchy.from_paths("age", [("1", "*"), ("2", "*"), ("3", "*"), ("9", "*")])
        >>> percentiles(tree, np.array([1.0, 1.0, 1.0, 5.0]), 2).tolist()
        [0, 3]
    """
    first = int(tree.missing)
    if not tree.ordered or tree.size - first <= most:
        return np.arange(tree.size, dtype=np.int32)
    own = counts[first:]
    ranks = (np.cumsum(own) - (own - 1) / 2) / max(own.sum(), 1)
    places = np.minimum((most * ranks).astype(np.int64), most - 1)
    fresh = np.flatnonzero(np.diff(places, prepend=-1)) + first
    return np.append(np.arange(first), fresh).astype(np.int32)


def _with_other_numbers(tree: Hierarchy, labels: Sequence[str | None]) -> tuple[Codes, Codes]:
    """The same, where a number between two leaves counts as the greater one: so it falls between their percentiles."""
    low, high = tree.parse_all(labels)
    if tree.ordered:
        places, texts = np.flatnonzero(low < 0), [labels[place] or "" for place in np.flatnonzero(low < 0).tolist()]
        plain = are_plain_numbers(texts).to_pylist()
        numbers = [text if same else plain_number(text) for text, same in zip(texts, plain, strict=True)]
        kept = np.array([number is not None for number in numbers], bool)
        values = tree.numbers[int(tree.missing) :]
        leaves = np.searchsorted(values, np.array([float(number) for number in numbers if number is not None]))
        low[places[kept]] = high[places[kept]] = np.minimum(leaves, len(values) - 1) + int(tree.missing)
    return low, high


def _each_leaf(tree: Hierarchy) -> tuple[Codes, Codes]:
    leaves = np.arange(tree.size, dtype=np.int32)
    return leaves, leaves


def _in_bins(ranges: tuple[Codes, Codes], starts: Codes, size: int) -> Floats:
    """For each range of leaves, its share in each bin; nothing for what is no range."""
    first, last = ranges[0][:, None], ranges[1][:, None]
    ends = np.append(starts[1:], size) - 1
    inside = np.minimum(last, ends) - np.maximum(first, starts) + 1
    shares: Floats = np.where(first < 0, 0, np.clip(inside, 0, None)) / (last - first + 1)
    return shares
