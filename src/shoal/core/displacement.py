"""How far a perturbation moves values: what everybody knows who knows the algorithm and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

CERTAIN = 5.0
"""Deviations beyond which normal noise does not carry a value."""


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate:
    """One thing by which published records and people are compared.

    A record lies anywhere between the two `records`, a person anywhere between the two `people`, both ends included;
    they can belong together where these lie at most the `reach` apart. Where there is a `spread`, their difference is
    normal noise of that deviation, else every difference within the reach is as likely as any other; where they are
    `ranks`, a place has the width of one. What is missing lies apart from all else, because it stays missing.
    """

    records: tuple[Floats, Floats]
    people: tuple[Floats, Floats]
    reach: float
    spread: float | None = None
    ranks: bool = False

    @classmethod
    def of(cls, records: Floats, people: Floats, reach: float, spread: float | None = None) -> Coordinate:
        """Single numbers, not-a-number where missing."""
        return cls.between((records, records), (people, people), reach, spread)

    @classmethod
    def between(
        cls,
        records: tuple[Floats, Floats],
        people: tuple[Floats, Floats],
        reach: float,
        spread: float | None = None,
        *,
        ranks: bool = False,
    ) -> Coordinate:
        """Numbers between two, not-a-number where missing."""
        lowest = min((float(np.nanmin(part)) for part in (*records, *people) if not np.isnan(part).all()), default=0.0)
        apart = lowest - 3 * reach - 1
        (a, b), (c, d) = ((np.where(np.isnan(low), apart, low), np.where(np.isnan(low), apart, high))
                          for low, high in (records, people))  # fmt: skip
        return cls((a, b), (c, d), reach, spread, ranks)

    def fits(self, records: Codes, people: Codes) -> NDArray[np.bool_]:
        """Whether pairs of a record and a person can belong together."""
        low, high = (ends[records] for ends in self.records)
        first, last = (ends[people] for ends in self.people)
        return (low - self.reach <= last) & (first <= high + self.reach)

    def logarithm(self, records: Codes, people: Codes) -> Floats:
        """How likely it is that each person becomes each record, for pairs that fit, as a logarithm, up to a
        constant."""
        if self.ranks:
            low, high = self.people[0][people], self.people[1][people] + 1
            shares = _near(self.records[0][records], self.records[1][records] + 1, low, high, self.reach + 0.5)
            return np.log(np.maximum(shares / (high - low), 1e-300))
        if self.spread is None:
            return np.zeros(len(records))
        apart = (self.records[0][records] - self.people[0][people]) / self.spread
        return -(apart**2) / 2


@dataclass(frozen=True, eq=False, repr=False)
class Displacement:
    """All coordinates. When values are `exchanged`, the record that got the value of a person gave that person's record
    its own, column by column: `exchanged` has, for each column, the codes of the values of records and of people."""

    coordinates: tuple[Coordinate, ...]
    exchanged: tuple[tuple[Codes, Codes], ...] = ()


def _near(low: Floats, high: Floats, first: Floats, last: Floats, reach: float) -> Floats:
    """How large the part is of all pairs of a number from `low` to `high` and one from `first` to `last` that are at
    most so far apart.

    Example:
        >>> _near(*(np.array([number]) for number in (0.0, 1.0, 0.0, 3.0)), 1.0).tolist()
        [1.5]
    """

    def below(most: float) -> Floats:
        """The part whose difference is at most this."""
        ends = ((low, last, 1), (high, last, -1), (low, first, -1), (high, first, 1))
        return sum(
            (sign * np.maximum(most - (one - other), 0) ** 2 / 2 for one, other, sign in ends), np.zeros(len(low))
        )

    return below(reach) - below(-reach)


def ranks(column: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest rank that values have, or would have, in a column; not-a-number where missing.

    Example:
        >>> low, high = ranks(np.array([5.0, 3.0, 5.0, np.nan]), np.array([5.0, 3.0, np.nan]))
        >>> low.tolist(), high.tolist()
        ([1.0, 0.0, nan], [2.0, 0.0, nan])
    """
    ordered = np.sort(column[~np.isnan(column)])
    missing = np.isnan(values)
    low = np.searchsorted(ordered, values, side="left").astype(np.float64)
    high = np.maximum(np.searchsorted(ordered, values, side="right") - 1.0, low)
    low[missing] = high[missing] = np.nan
    return low, high


def coded(columns: Sequence[Floats]) -> list[Codes]:
    """The numbers of columns as codes, the same code for the same number; missing ones have a code of their own.

    Example:
        >>> [codes.tolist() for codes in coded([np.array([2.0, 1.0]), np.array([2.0, np.nan])])]
        [[1, 0], [1, 2]]
    """
    places = np.unique(np.concatenate(columns), return_inverse=True)[1]
    return np.split(places.astype(np.int64), np.cumsum([len(column) for column in columns])[:-1])
