"""Counts, sums and means estimated from what is published, whatever the form.

Within a group, a form publishes *parts*: columns whose values stand together for a record. Which row of one part
belongs to which row of another is not told, so every way to put them together is taken as equally likely; within a cell
that stands for several values, so is each of them. Then the mean and the variance of a count have closed forms, and
what no way of putting rows together can exceed is a certain bound. A part may show more rows of a group than the group
has records: then some of them are nobody's, and nothing says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.errors import NotDefined
from shoal.utility.conditions import Condition
from shoal.utility.published_labels import Labels

Measure = Literal["count", "sum", "mean"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a query gives: an estimate, its standard error, and what is certain.

    `error` is the standard deviation over all tables that would look like this when published, each as likely as the
    other; `low` and `high` hold for every such table. A figure that the form does not allow is None, and `how` says
    why. The `records` are those that are published; those that were `left_out` are in no figure. Where there are survey
    weights, `weighted` is the same figure of the population.
    """

    measure: Measure
    value: float | None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    records: int = 0
    left_out: int = 0
    how: str = ""
    weighted: float | None = None


@dataclass(frozen=True, eq=False)
class PublishedPart:
    """Rows of columns that stand together: `groups[i]` is the group of row `i`, which counts `weights[i]` records, and
    `codes[name][i]` its place among the labels of a column."""

    groups: Codes
    weights: Counts
    codes: Mapping[str, Codes]
    labels: Mapping[str, Labels]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a part that can meet the conditions on it: chance, surely, and the value that is summed. `shown` is
    how many rows the part has of each group, whether they meet them or not."""

    groups: Codes
    weights: Counts
    chance: Floats
    sure: NDArray[np.bool_]
    shown: Counts
    low: Floats = field(default_factory=lambda: np.zeros(0))
    middle: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))

    def total(self, entries: Floats | NDArray[np.bool_], groups: int) -> Floats:
        return np.bincount(self.groups, weights=self.weights * entries, minlength=groups).astype(np.float64)


def estimate(
    parts: Sequence[PublishedPart], sizes: Counts, measure: Measure, column: str | None, conditions: Sequence[Condition]
) -> Estimate:
    """The estimate from parts whose groups have `sizes` records; conditions and the column are each in one of them."""
    with np.errstate(over="ignore", invalid="ignore"):  # of huge numbers, whose figures are not told then
        answer = _estimate(parts, sizes, measure, column, conditions)
    if answer.value is not None and not np.isfinite(answer.value):
        raise NotDefined(f"the numbers of column {column!r} are too large for a {measure}")
    return answer


def _estimate(
    parts: Sequence[PublishedPart], sizes: Counts, measure: Measure, column: str | None, conditions: Sequence[Condition]
) -> Estimate:
    if column is not None:
        conditions = (*conditions, Condition(column=column, missing=False))
    names = {column, *(condition.column for condition in conditions)}
    concerned = [part for part in parts if names & set(part.codes)]
    # The part with the column that is summed comes first: its rows carry the values.
    concerned.sort(key=lambda part: column not in part.codes)
    if not concerned:
        records = int(sizes.sum())
        return Estimate(measure="count", value=float(records), error=0.0, low=float(records), high=float(records))
    rows = [_matching_rows(part, column, conditions, len(sizes)) for part in concerned]
    if any(bool(np.any(each.shown < sizes)) for each in rows):
        raise NotDefined("the tables of the release do not agree on how many records its groups have")
    first, others = rows[0], rows[1:]
    groups = len(sizes)
    # How likely a row of the first part is a record at all, and how likely two of them are.
    shares, pairs = sizes / np.maximum(first.shown, 1), _pairs(sizes) / np.maximum(_pairs(first.shown), 1)
    pairs[first.shown <= 1] = 1.0
    for each in others:
        met = each.total(each.chance, groups)
        shares *= met / np.maximum(each.shown, 1)
        pairs *= (met**2 - each.total(each.chance**2, groups)) / np.maximum(_pairs(each.shown), 1)
    if measure == "count":
        nothing = np.zeros(len(first.chance))
        value, _, variance, _, _ = _moments(first, nothing, nothing, shares, pairs)
        low, high = (float(bound.sum()) for bound in _count_bounds(rows, sizes))
        return Estimate(measure="count", value=value, error=_root(variance), low=low, high=high)
    spread = (first.high - first.low) ** 2 / 12
    count, total, of_count, of_total, both = _moments(first, first.middle, spread, shares, pairs)
    if measure == "sum":
        least, most = _sum_bounds(rows, sizes)
        return Estimate(measure="sum", value=total, error=_root(of_total), low=least, high=most)
    if count <= 0:
        return Estimate(measure="mean", value=None, how="no record can meet the conditions")
    mean = total / count
    variance = (of_total - 2 * mean * both + mean**2 * of_count) / count**2
    least, most = _mean_bounds(rows, sizes)
    return Estimate(measure="mean", value=mean, error=_root(variance), low=least, high=most)


def _root(variance: float) -> float | None:
    return float(np.sqrt(max(variance, 0.0))) if np.isfinite(variance) else None


def _pairs(counts: Counts) -> Floats:
    """How many ordered pairs there are of so many."""
    return counts * (counts - 1.0)


def _matching_rows(part: PublishedPart, column: str | None, conditions: Sequence[Condition], count: int) -> _Rows:
    shown = np.bincount(part.groups, weights=part.weights, minlength=count).astype(np.int64)
    chance, (sure, possible) = np.ones(len(part.weights)), np.ones((2, len(part.weights)), np.bool_)
    own = [condition for condition in conditions if condition.column in part.codes]
    for condition in own:
        meaning = condition.meaning(part.labels[condition.column])
        codes = part.codes[condition.column]
        chance = chance * meaning.chance[codes]
        sure &= meaning.sure[codes]
        possible &= meaning.possible[codes]
    rows = np.flatnonzero(possible)
    groups, weights = part.groups[rows], part.weights[rows]
    if column is None or column not in part.codes:
        return _Rows(groups, weights, chance[rows], sure[rows], shown)
    labels = part.labels[column]
    low, high = labels.ends
    hidden = labels.unknown
    for condition in own:
        if condition.column == column and condition.numeric:
            bounds = condition.bounds(labels)
            low, high = np.maximum(low, float(bounds.low)), np.minimum(high, float(bounds.high))
    middle = (low + high) / 2
    if hidden.any():  # what is hidden can be anything
        low, high = np.where(hidden, -np.inf, low), np.where(hidden, np.inf, high)
    codes = part.codes[column][rows]
    return _Rows(groups, weights, chance[rows], sure[rows], shown, low[codes], middle[codes], high[codes])


def _moments(
    rows: _Rows, values: Floats, spread: Floats, shares: Floats, pairs: Floats
) -> tuple[float, float, float, float, float]:
    """Mean of the count and of the sum, variance of each, and their covariance, over all groups.

    `shares` is, for each group, the chance that a row is a record and meets the conditions on the other parts, `pairs`
    the chance that two of them are and do.
    """
    groups = len(shares)
    p = rows.chance
    spread = np.where(np.isfinite(spread), spread, 0.0)
    ones, sums, squares = (rows.total(entries, groups) for entries in (p, p * values, p * (values**2 + spread)))
    own = [rows.total(entries, groups) for entries in (p**2, p**2 * values, p**2 * values**2)]
    count, total = ones * shares, sums * shares
    of_count = count + (ones**2 - own[0]) * pairs - count**2
    both = total + (ones * sums - own[1]) * pairs - count * total
    of_total = squares * shares + (sums**2 - own[2]) * pairs - total**2
    return float(count.sum()), float(total.sum()), float(of_count.sum()), float(of_total.sum()), float(both.sum())


def _count_bounds(rows: Sequence[_Rows], sizes: Counts) -> tuple[Counts, Counts]:
    """For each group, the fewest and the most records that meet every condition: so many must coincide (Fréchet). Of
    rows that may be nobody's, those that meet the conditions are the first to be."""
    groups = len(sizes)
    surely = [np.maximum(each.total(each.sure, groups) - (each.shown - sizes), 0) for each in rows]
    possibly = [each.total(np.ones(len(each.weights)), groups) for each in rows]
    low = np.maximum(sum(surely) - (len(rows) - 1) * sizes, 0)
    return low.astype(np.int64), np.minimum.reduce([*possibly, sizes]).astype(np.int64)


def _sum_bounds(rows: Sequence[_Rows], sizes: Counts) -> tuple[float | None, float | None]:
    forced, optional = _chosen(rows, sizes, least=True)
    low = forced.sum() + np.minimum(optional, 0).sum()
    forced, optional = _chosen(rows, sizes, least=False)
    return _finite(low), _finite(forced.sum() + np.maximum(optional, 0).sum())


def _mean_bounds(rows: Sequence[_Rows], sizes: Counts) -> tuple[float | None, float | None]:
    ends = []
    for least in (True, False):
        forced, optional = _chosen(rows, sizes, least=least)
        optional = np.sort(optional) if least else np.sort(optional)[::-1]
        totals = forced.sum() + np.append(0, np.cumsum(optional))
        counts = len(forced) + np.arange(len(totals))
        means = totals[counts > 0] / counts[counts > 0]
        ends.append(_finite((means.min() if least else means.max()) if len(means) else np.nan))
    return ends[0], ends[1]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _chosen(rows: Sequence[_Rows], sizes: Counts, *, least: bool) -> tuple[Floats, Floats]:
    """The values that must be among the matching records where their sum is least (or greatest), and those that may.

    With one part, the rows that surely meet the conditions must. With several, or with rows that may be nobody's, of
    each group the fewest that coincide must, taken from the end that makes the sum least; then up to the most that can.
    """
    first = rows[0]
    values = np.repeat(first.low if least else first.high, first.weights)
    if len(rows) == 1 and np.array_equal(first.shown, sizes):
        sure = np.repeat(first.sure, first.weights)
        return values[sure], values[~sure]
    fewest, most = _count_bounds(rows, sizes)
    groups = np.repeat(first.groups, first.weights)
    order = np.lexsort((values if least else -values, groups))
    groups, values = groups[order], values[order]
    rank = np.arange(len(groups)) - np.searchsorted(groups, groups)
    return values[rank < fewest[groups]], values[(rank >= fewest[groups]) & (rank < most[groups])]
