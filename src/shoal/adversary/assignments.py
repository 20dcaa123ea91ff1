"""Assignments: the ways to put things into bins so that every bin is exactly full.

Who knows that the sensitive value determines another attribute must map every sensitive value to one value of that
attribute so that, in every group, the counts of the values that are mapped to one add up to the people who have it. The
values are things, the other attribute's values are bins, and a size is a vector: one number a group. Where the
other attribute determines the sensitive value it is the other way round.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats
from shoal.errors import VerificationError

DEEPEST = 400
"""Things of a component up to which assignments are counted: every thing is a step of the recursion."""


@dataclass(frozen=True, eq=False)
class Assignments:
    """What is known about the assignments of a component.

    `shares[i, b]` is the share of the assignments that put thing `i` into bin `b`, exact or estimated with the stated
    `error` (at 95 %); None when neither was possible. `possible` says where a thing may go as far as forced steps tell.
    `count` is the number of assignments, None when it is not known.
    """

    shares: Floats | None
    possible: NDArray[np.bool_]
    count: int | None
    error: float


def assignments(things: Counts, bins: Counts, *, nodes: int, draws: int, generator: np.random.Generator) -> Assignments:
    """The assignments of things to bins, both with a row each and a column a group: counted where a search of so many
    `nodes` does, else estimated from so many `draws`.

    Example:
        >>> things, bins = np.array([[1, 1], [1, 0], [1, 0]]), np.array([[1, 1], [1, 0], [1, 0]])
        >>> known = assignments(things, bins, nodes=100, draws=0, generator=np.random.default_rng(0))
        >>> known.count, known.shares.tolist()
        (2, [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]])
    """
    # Groups in which all counts are equal say the same.
    columns = np.unique(np.vstack([things, bins]), axis=1)
    things, bins = columns[: len(things)], columns[len(things) :]
    possible = possible_bins(things, bins)
    kinds, kind_of, sizes = np.unique(things, axis=0, return_inverse=True, return_counts=True)
    bin_kinds, bin_of, alike = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
    kind_of, bin_of = kind_of.reshape(-1), bin_of.reshape(-1)
    order = np.argsort(-kinds.sum(axis=1), kind="stable")
    search = _AssignmentSearch(kinds[order], sizes[order].tolist(), nodes)
    try:
        if len(things) > DEEPEST:
            raise _TooManyNodesError
        count, counts = search.count(bin_kinds, alike.tolist())
    except _TooManyNodesError:
        shares, error = _estimate(things, bins, kind_of, bin_of, draws, generator)
        return Assignments(shares, possible, None, error)
    if not count:
        raise VerificationError("no assignment of sensitive values fits the dependency: release and table differ")
    by_kind = np.empty((len(kinds), len(bin_kinds)))
    by_kind[order] = [[each / count for each in row] for row in counts]
    return Assignments(by_kind[kind_of][:, bin_of], possible, count, 0.0)


class _TooManyNodesError(Exception):
    """The search has more nodes than it may have."""


class _AssignmentSearch:
    """Counts assignments depth first. What is left to be done is remembered by what is left of the bins, whichever they
    are, and things of one kind are not told apart, so that each is looked at once."""

    def __init__(self, kinds: Counts, counts: list[int], nodes: int) -> None:
        self.kinds, self.counts, self.nodes = kinds, counts, nodes
        self.memory: dict[Any, int] = {}

    def count(self, bins: Counts, alike: list[int]) -> tuple[int, list[list[int]]]:
        """How many assignments there are, and how many of them put one thing of each kind into one bin of each kind."""
        rest = Counter({each.tobytes(): count for each, count in zip(bins, alike, strict=True)})
        rest.pop(np.zeros_like(bins[0]).tobytes(), None)
        counts = [
            [self._with(kind, each, rest) if bool(np.all(each >= self.kinds[kind])) else 0 for each in bins]
            for kind in range(len(self.kinds))
        ]
        return sum(times * count for times, count in zip(alike, counts[0], strict=True)), counts

    def _with(self, kind: int, full: Counts, rest: Counter[bytes]) -> int:
        return self._ways(0, self.counts[0] - (kind == 0), kind, _less(rest, full.tobytes(), full - self.kinds[kind]))

    def _ways(self, kind: int, left: int, single: int, rest: Counter[bytes]) -> int:
        """The ways to place what is left of a kind and all later kinds, of the kind `single` one less."""
        while left == 0:
            kind += 1
            if kind == len(self.kinds):
                return 1
            left = self.counts[kind] - (kind == single)
        if kind == len(self.kinds) - 1 or (kind == len(self.kinds) - 2 and single > kind and self.counts[-1] == 1):
            return self._forced(kind, left, rest)
        key = (kind, left, single if single > kind else -1, frozenset(rest.items()))
        if key in self.memory:
            return self.memory[key]
        self.nodes -= 1
        if self.nodes < 0:
            raise _TooManyNodesError
        size, ways = self.kinds[kind], 0
        for text, count in rest.items():
            room = np.frombuffer(text, size.dtype)
            if bool(np.all(room >= size)):
                ways += count * self._ways(kind, left - 1, single, _less(rest, text, room - size))
        self.memory[key] = ways
        return ways

    def _forced(self, kind: int, left: int, rest: Counter[bytes]) -> int:
        """The last kind goes where there is room for it: only which thing goes where is open."""
        size, ways = self.kinds[kind], factorial(left)
        at = int(np.argmax(size))
        for text, count in rest.items():
            room = np.frombuffer(text, size.dtype)
            times = int(room[at]) // int(size[at])
            if not np.array_equal(room, times * size):
                return 0
            ways //= factorial(times) ** count
        return ways


def _less(rest: Counter[bytes], text: bytes, room: Counts) -> Counter[bytes]:
    """What is left of the bins when one of them has less room."""
    after = rest.copy()
    after[text] -= 1
    if not after[text]:
        del after[text]
    if room.any():
        after[room.tobytes()] += 1
    return after


def possible_bins(things: Counts, bins: Counts) -> NDArray[np.bool_]:
    """Where things can go after every forced step: where they fit, where a thing has one place left it goes there, and
    a bin that needs everything that can still go there gets it. Sound: what it rules out is in no assignment."""
    room, settled = bins.copy(), np.zeros(len(things), dtype=np.bool_)
    fits = np.stack([(things <= each).all(axis=1) for each in bins], axis=1)
    while True:
        forced, place = _forced(things, room, fits, settled)
        if not forced.any():
            return fits
        fits[forced] = False
        fits[forced, place] = True
        room[place] -= things[forced].sum(axis=0)
        settled |= forced
        left = np.flatnonzero(fits[:, place] & ~settled)
        fits[left, place] = (things[left] <= room[place]).all(axis=1)


def _forced(
    things: Counts, room: Counts, fits: NDArray[np.bool_], settled: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], int]:
    """Things that have to go into one bin, and that bin; none when nothing is forced."""
    single, forced = fits.sum(axis=1) == 1, np.zeros(len(things), dtype=np.bool_)
    for place, wanted in enumerate(room):
        here = np.flatnonzero(fits[:, place] & ~settled)
        needed = (wanted > 0) & (things[here].sum(axis=0) == wanted)
        forced[here] = single[here] | things[here][:, needed].any(axis=1)
        if forced.any():
            return forced, place
    return forced, 0


def _estimate(
    things: Counts,
    bins: Counts,
    kind_of: NDArray[Any],
    bin_of: NDArray[Any],
    draws: int,
    generator: np.random.Generator,
) -> tuple[Floats | None, float]:
    """Shares from assignments drawn thing by thing among the bins with room for it, weighted by the choices there were.

    The error is that of the worst share, after the number of draws that equal weights would be worth.
    """
    order = np.argsort(-things.sum(axis=1), kind="stable")
    total, squares = 0.0, 0.0
    shares = np.zeros((len(things), len(bins)))
    shift = None
    for _ in range(draws):
        room, places, choices = bins.copy(), np.empty(len(things), np.int64), 0.0
        for thing in order.tolist():
            fitting = np.flatnonzero((room >= things[thing]).all(axis=1))
            if not len(fitting):
                break
            places[thing] = generator.choice(fitting)
            room[places[thing]] -= things[thing]
            choices += float(np.log(len(fitting)))
        else:
            shift = choices if shift is None else shift
            weight = float(np.exp(min(choices - shift, 500.0)))
            total, squares = total + weight, squares + weight * weight
            shares[np.arange(len(things)), places] += weight
    if not total:
        return None, 1.0
    # Things of one size, and bins of one size, have equal shares.
    kinds, bin_kinds = np.eye(int(kind_of.max()) + 1)[kind_of], np.eye(int(bin_of.max()) + 1)[bin_of]
    pooled = kinds.T @ shares @ bin_kinds / np.outer(kinds.sum(axis=0), bin_kinds.sum(axis=0)) / total
    return pooled[kind_of][:, bin_of], min(1.0, float(np.sqrt(squares)) / total)
