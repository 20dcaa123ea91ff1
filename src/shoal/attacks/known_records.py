"""Known records: whoever knows a few people's true values undoes what was done to everybody's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.attacks._estimation import Estimation
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.run import Run

EXACT = 1e-6
"""How far two distances may differ that are the same, in standard deviations."""
SLACK = 1e-12
"""How far the square of a distance may be off by rounding, as a share of the largest square."""
PAIRS = 1 << 16
"""Pairs of records whose distances are held at once: as many as fit into the cache of a core."""
MOST_WAYS = 100
"""Beginnings that are followed from one record; where values are few, many records are equally far away."""


@dataclass(frozen=True, kw_only=True)
class KnownRecords(Estimation):
    """Knows the true values of a few people, fits the affine map that takes their published values to the true ones,
    and applies it to everybody else's.

    Whatever moved all records by one matrix, as `rotation` and `random-projection` do, is undone exactly as soon as one
    person more is known than there are columns. With `linked=false` the attacker does not know which records these
    people are, and finds them by the distances between them, which a rotation keeps; it then knows the means and
    standard deviations of the columns as well. The people who are known count as not found.

    A value counts as found when the estimate is off by at most `within` standard deviations of its column; the risk of
    a record is the share of its values that are found. The detail has the error of the estimates (`rmse`) beside that
    of the published values (`noise`), and how many people were `known` and located.

    Does not use columns that were not changed. Records that lack one of the values are left alone. Against noise that
    is drawn for each value, `linear-estimation` is stronger. It needs the release as it was made, because a file does
    not tell which record became which. The figure is a lower bound.

    Reference: K. Liu, C. Giannella, H. Kargupta, An attacker's view of distance preserving maps for privacy preserving
    data mining, 2006.

    Example:
        >>> import numpy, polars, shoal
        >>> values = numpy.random.default_rng(1).normal(size=(200, 3))
        >>> data = shoal.read(polars.DataFrame(values, schema=["a", "b", "c"]), quasi=["a", "b", "c"])
        >>> release = shoal.anonymize(data, algorithm="rotation")
        >>> linear, known = shoal.attack(data, release, "linear-estimation", "known-records:linked=false")
        >>> round(known.success, 2), linear.success < 0.3  # all but the 4 who are known
        (0.98, True)
    """

    known: Annotated[int | None, Ge(1), Doc("people whose values are known; by default one more than columns")] = None
    linked: Annotated[bool, Doc("whether it is known which published records are theirs")] = True

    examples: ClassVar[Examples] = ({}, {"known": 3, "linked": False, "threshold": 0.2})
    knowledge: ClassVar[str] = "the true values of a few people"

    def estimates(self, before: Floats, after: Floats, run: Run) -> tuple[Floats, dict[str, Any]]:
        count = min(before.shape[1] + 1 if self.known is None else self.known, len(before))
        # Records stand in the order of a keyed hash, so the first are as good as any.
        rows = np.arange(count) if self.linked else located(before[:count], after, run)
        estimates = np.zeros_like(before)
        if rows is not None:
            map_, *_ = np.linalg.lstsq(_affine(after[rows]), before[:count], rcond=None)
            estimates = _affine(after) @ map_
        estimates[:count] = 0.0  # the mean
        return estimates, {"known": count, "located": 0 if rows is None else count}


def located(people: Floats, records: Floats, run: Run) -> NDArray[np.int64] | None:
    """Records that are as far from one another as people are, one for each person; None where there are none.

    Example:
        >>> people = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
        >>> located(people, np.array([[9.0, 9.0], [1.0, 4.0], [5.0, 1.0], [1.0, 1.0]]), Run()).tolist()
        [3, 1, 2]
    """
    apart = np.linalg.norm(people[:, None] - people[None], axis=2)
    for first in _beginnings(records, apart[0, 1:], run):
        run.check()
        ways: list[list[int]] = [[first]]
        from_first = np.linalg.norm(records - records[first], axis=1)
        for person in range(1, len(people)):
            fitting = np.flatnonzero(np.abs(from_first - apart[0, person]) <= EXACT)
            longer = []
            for way in ways:
                fits = fitting[~np.isin(fitting, way)]
                for at in range(1, person):
                    gaps = np.linalg.norm(records[fits] - records[way[at]], axis=1)
                    fits = fits[np.abs(gaps - apart[at, person]) <= EXACT]
                longer += [[*way, record] for record in fits.tolist()]
            ways = longer[:MOST_WAYS]
            if not ways:
                break
        else:
            return np.array(ways[0])
    return None


def _beginnings(records: Floats, distances: Floats, run: Run) -> Iterator[int]:
    """The records that have another one at each of some distances, in order, and a few more: squares of distances are
    rounded. Every record is compared with every other, so the time grows with the square of their number."""
    squares = (records**2).sum(axis=1)
    slack = SLACK * max(1.0, float(squares.max(initial=0.0)))
    low = np.maximum(distances - EXACT, 0.0) ** 2 - slack
    high = (distances + EXACT) ** 2 + slack
    step = max(1, PAIRS // max(len(records), 1))
    for begin in range(0, len(records), step):
        run.report(begin / len(records), "comparing the distances of records")
        block = slice(begin, begin + step)
        gaps = squares[block, None] + squares - 2 * records[block] @ records.T
        left = np.arange(len(gaps))
        for least, most in zip(low, high, strict=True):
            inside = (gaps >= least) & (gaps <= most)
            kept = inside.any(axis=1)
            gaps, left = gaps[kept], left[kept]
        yield from (begin + left).tolist()


def _affine(values: Floats) -> Floats:
    return np.column_stack([values, np.ones(len(values))])
