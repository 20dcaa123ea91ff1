"""Margins: how many people share the values of each set of so many attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.grouping import Codes, Counts, group

DENSE = 1 << 16
"""Combinations that are counted by their place, however few the classes are."""
SPARSE = 4
"""How many times more combinations than classes may be counted so; of more, those that occur are numbered."""


class Margin(NamedTuple):
    """A set of attributes, by their places: the combination of values that each class has, and the people who have each
    combination. Numbers may have gaps, and nobody has those."""

    places: tuple[int, ...]
    combinations: NDArray[np.int64]
    people: Counts


def margins(classes: Classes, size: int) -> Iterator[Margin]:
    """The margins of every set of so many attributes. A set shares the work of the attributes that it begins with.

    Example:
        >>> from shoal.core.classes import summarize
        >>> columns = [np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)]
        >>> [(each.places, each.people.tolist()) for each in margins(summarize(["a", "b"], columns, [2, 2]), 1)]
        [((0,), [2, 1]), ((1,), [1, 2])]
    """
    widths = [int(codes.max(initial=0)) + 1 for codes in classes.keys]
    dense = max(DENSE, SPARSE * len(classes))

    def extended(places: tuple[int, ...], codes: NDArray[np.int64], width: int) -> Iterator[Margin]:
        if len(places) == size:
            yield Margin(places, codes, _people(classes, codes, width))
            return
        for place in range(places[-1] + 1 if places else 0, len(widths) - (size - len(places)) + 1):
            joint, wide = codes * widths[place] + classes.keys[place], width * widths[place]
            if wide > dense:
                numbers = group([codes.astype(np.int32), classes.keys[place]], [width, widths[place]], index=True)
                joint, wide = numbers.index.astype(np.int64), len(numbers.counts)
            yield from extended((*places, place), joint, wide)

    yield from extended((), np.zeros(len(classes), np.int64), 1)


def least_shared(classes: Classes, size: int) -> Counts:
    """For each class, the fewest people who share its values of some set of so many attributes."""
    least = np.full(len(classes), np.iinfo(np.int64).max)
    for margin in margins(classes, size):
        np.minimum(least, margin.people[margin.combinations], out=least)
    return least


def _people(classes: Classes, combinations: NDArray[np.int64], width: int) -> Counts:
    """How many people each combination has. Whoever is in several classes that have it counts once."""
    if classes.people is None:
        # Sums of records are whole numbers, which doubles hold exactly.
        return np.bincount(combinations, classes.sizes, minlength=width).astype(np.int64)
    owners: Codes = combinations[classes.people.owners].astype(np.int32)
    pairs = group([owners, classes.people.values], [width, len(classes.people.population)])
    return np.bincount(pairs.keys[0], minlength=width).astype(np.int64)
