"""Assignment linkage: every record is one person's, and nobody has two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.adversary.rates import wilson
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.displacement import Coordinate, Displacement
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined

Places = NDArray[np.int64]
Bands = tuple[Places, Places, Places]

PORTION = 256
COMPARED = 400_000_000
"""Pairs that are looked at, at most; of larger tables, fewer records are linked."""
REMEMBERED = 6_000_000
"""Pairs that are kept at once, at most; where more are left, each record is linked on its own."""
BEST, LIKELY = 64, 10.0
"""Where values were not exchanged, how many pairs are kept of each record, and how much less likely, as a logarithm,
than the best one."""
TABLE = 1 << 24
"""Numbers up to which a table says which there are."""
ROUNDS = 100
"""Rounds in which the chances of records and of people are brought to one."""
SAME = 1e-9
"""How much less, as a share, a chance may be and still count as equal."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Records and people that can belong together, and how likely each pair is, as a logarithm."""

    records: Places
    people: Places
    logs: Floats

    def __len__(self) -> int:
        return len(self.records)

    def where(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Some of them."""
        return Pairs(self.records[chosen], self.people[chosen], self.logs[chosen])


@dataclass(frozen=True, kw_only=True)
class AssignmentLinkage(Attack):
    """Knows the true quasi-identifiers of everybody, the algorithm and its parameters, and links all records at once:
    each is one person's, and nobody has two.

    The algorithm says how far a value moves, and so which people a record can be: within so many ranks after rank
    swapping, within the noise after noise, exactly those of the same rank where ranks stay. After rank swapping, values
    have traded places in pairs: if a record is a person's, then the record with that person's value is the one of the
    person whose value the record has. What contradicts that is ruled out, again and again. Then every pair gets a
    chance, so that the chances of each record and of each person sum to one (Sinkhorn's balancing), and each record is
    linked with the likeliest person; among equally likely ones at random.

    Uses quasi-identifiers that were not changed, too, unless `beside` is false. `detail` has as `candidates` how many
    people a record can be on average, and as `left` how many after ruling out.

    Does not use sensitive or plain columns. It needs the release as it was made, because a file does not tell which
    record became which. Other ways may link more, so the figure is a lower bound. Of a large table, as many records as
    can be compared in seconds are linked, each on its own, and there is an interval.

    Reference: J. Nin, J. Herranz, V. Torra, Rethinking rank swapping to decrease disclosure risk, 2008 (ranks);
    W. Winkler, Matching and record linkage, 1995 (one-to-one assignment).

    Example:
        >>> import numpy, polars, shoal
        >>> numbers = numpy.random.default_rng(1).normal(size=(200, 2))
        >>> data = shoal.read(polars.DataFrame(numbers, schema=["a", "b"]), quasi=["a", "b"])
        >>> release = shoal.anonymize(data, algorithm="rank-swapping:share=0.1")
        >>> near, assigned = shoal.attack(data, release, "distance-linkage", "assignment-linkage")
        >>> near.success < 0.2, assigned.success > 0.9
        (True, True)
    """

    threshold: Annotated[Share, Doc("the chance above which a record counts as exposed")] = 0.2
    beside: Annotated[bool, Doc("also go by the quasi-identifiers that were not changed")] = True
    seed: Annotated[int, Ge(0), Doc("of what is drawn from a large table")] = 0

    examples: ClassVar[Examples] = ({}, {"threshold": 0.5, "beside": False})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        masked = PerturbedColumns.of(dataset, release)
        moved = None if release.method is None else release.method.displacement(masked.before, masked.after)
        if moved is None:
            raise NotDefined("the algorithm does not say how far a value moved, so nothing tells whose record is whose")
        if self.beside:
            moved = replace(moved, coordinates=(*moved.coordinates, *_unchanged_columns(dataset, release)))
        records = dataset.records
        wanted = _records_to_link(moved, records, np.random.default_rng(self.seed))
        links = link(moved, wanted, records, run)
        sampled = len(wanted) < records
        return self.attempt_over(
            links.chances,
            baseline=1 / records,
            knew="the true quasi-identifiers of everybody in the table, and the algorithm",
            meaning="how often the person that a record is linked with is the one whose record it is",
            lower_bound=True,
            interval=wilson(float(links.chances.sum()), len(wanted)).interval if sampled else None,
            detail={"candidates": links.candidates, "left": links.left, "records": len(wanted)},
        )


def _unchanged_columns(dataset: Dataset, release: Release) -> Iterator[Coordinate]:
    """The quasi-identifiers that were published as they are."""
    assert release.recoding is not None
    names = [name for name in dataset.schema.quasi if name not in release.recoding.changed]
    for codes in dataset.table.listing((), names, release.seed) if names else ():
        numbers = codes.astype(np.float64)
        yield Coordinate.of(numbers, numbers, 0.5)


def _bands(coordinate: Coordinate) -> Bands:
    """People in order, and for each record the first of them that it can be and the first after them."""
    order = np.argsort(coordinate.people[0], kind="stable")
    low, high = coordinate.records
    first = np.searchsorted(coordinate.people[1][order], low - coordinate.reach, side="left")
    last = np.searchsorted(coordinate.people[0][order], high + coordinate.reach, side="right")
    return order, first, np.maximum(last, first)


def _narrowest(moved: Displacement) -> tuple[Bands, *tuple[Coordinate, ...]]:
    """The bands of the coordinate by which a record can be the fewest people, and the other coordinates in that
    order."""
    bands = [_bands(each) for each in moved.coordinates]
    widths = [int((last - first).sum()) for _, first, last in bands]
    order = sorted(range(len(bands)), key=widths.__getitem__)
    return (bands[order[0]], *(moved.coordinates[place] for place in order[1:]))


def _records_to_link(moved: Displacement, records: int, generator: np.random.Generator) -> Places:
    """The records that are linked: all, or as many as can be compared."""
    _, first, last = _narrowest(moved)[0]
    most = int(COMPARED // max(int((last - first).sum()) / records, 1))
    if records <= most:
        return np.arange(records)
    return np.sort(generator.choice(records, max(most, 1), replace=False))


@dataclass(frozen=True, eq=False)
class Links:
    """For each record the chance that it is linked with its own person, and how many people a record can be, on
    average, at first and after ruling out."""

    chances: Floats
    candidates: float
    left: float


def link(moved: Displacement, wanted: Places, records: int, run: Run) -> Links:
    """Links the wanted records; record `i` is person `i`, which only the holder knows."""
    portions: list[Pairs] = []
    alone, fitting, left = np.zeros(records), 0, 0
    for pairs in _fitting(moved, wanted, run.part(between=(0.0, 0.6))):
        fitting += len(pairs)
        if moved.exchanged:
            pairs = pairs.where(_answerable(moved, pairs))
        elif any(each.spread is not None for each in moved.coordinates):
            pairs = _likely(pairs)
        left += len(pairs)
        alone += _own(pairs, np.exp(pairs.logs), records)
        if left <= REMEMBERED:
            portions.append(pairs)
    candidates = fitting / len(wanted)
    if left > REMEMBERED or len(wanted) < records:
        return Links(alone[wanted], candidates, left / len(wanted))
    names = ("records", "people", "logs")
    pairs = Pairs(*(np.concatenate([getattr(each, name) for each in portions]) for name in names))
    pairs = _consistent(moved, pairs, records, run)
    chances = np.exp(pairs.logs - _greatest(pairs.logs, pairs.records, records)[pairs.records])
    for _ in range(ROUNDS):
        run.check()
        chances /= np.bincount(pairs.records, weights=chances, minlength=records)[pairs.records]
        chances /= np.bincount(pairs.people, weights=chances, minlength=records)[pairs.people]
    return Links(_own(pairs, chances, records), candidates, len(pairs) / records)


def _own(pairs: Pairs, chances: Floats, count: int) -> Floats:
    """For each record, the chance that a random one of its likeliest people is its own."""
    best = chances >= _greatest(chances, pairs.records, count)[pairs.records] * (1 - SAME)
    ties = np.bincount(pairs.records[best], minlength=count)
    right = pairs.records[best & (pairs.records == pairs.people)]
    own = np.zeros(count)
    own[right] = 1 / ties[right]
    return own


def _greatest(values: Floats, places: Places, count: int) -> Floats:
    """The greatest of the values at each place; nothing where there is none."""
    greatest = np.full(count, -np.inf)
    np.maximum.at(greatest, places, values)
    return greatest


def _fitting(moved: Displacement, wanted: Places, run: Run) -> Iterator[Pairs]:
    """All pairs of a wanted record and a person that can belong together, portion by portion of the records."""
    (people, first, last), *others = _narrowest(moved)
    inside = wanted[np.argsort(first[wanted], kind="stable")]
    for begin in range(0, len(inside), PORTION):
        run.report(begin / len(inside), "comparing records with people")
        some = inside[begin : begin + PORTION]
        start, stop = int(first[some].min()), int(last[some].max())
        here = people[start:stop]
        places = np.arange(start, stop)
        fits = (first[some][:, None] <= places) & (places < last[some][:, None])
        for each in others[:1]:  # most of what fits by one does not by two
            low, high = (ends[some][:, None] for ends in each.records)
            fits &= (low - each.reach <= each.people[1][here]) & (each.people[0][here] <= high + each.reach)
        rows, columns = np.nonzero(fits)
        rows, columns = some[rows], here[columns]
        for each in others[1:]:
            fits = each.fits(rows, columns)
            rows, columns = rows[fits], columns[fits]
        logs = sum((each.logarithm(rows, columns) for each in moved.coordinates), np.zeros(len(rows)))
        yield Pairs(rows, columns, logs)


def _likely(pairs: Pairs) -> Pairs:
    """The likeliest pairs of each record; those of a record stand together."""
    if not len(pairs):
        return pairs
    fresh = np.append(True, np.diff(pairs.records) != 0)
    greatest = np.maximum.reduceat(pairs.logs, np.flatnonzero(fresh))
    pairs = pairs.where(pairs.logs >= greatest[np.cumsum(fresh) - 1] - LIKELY)
    order = np.lexsort((-pairs.logs, pairs.records))
    records = pairs.records[order]
    best = np.zeros(len(order), np.bool_)
    best[order[np.arange(len(order)) - np.searchsorted(records, records) < BEST]] = True
    return pairs.where(best)


def _answerable(moved: Displacement, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs say nothing impossible of another one: where a value is one record's and one person's only, that
    record and that person must be able to belong together, too."""
    possible = np.ones(len(pairs), np.bool_)
    for records, people in moved.exchanged:
        before, after = people[pairs.people], records[pairs.records]
        single = _single(records)[before], _single(people)[after]
        known = (single[0] >= 0) & (single[1] >= 0) & possible
        for each in moved.coordinates:
            possible[known] &= each.fits(single[0][known], single[1][known])
    return possible


def _single(codes: Places) -> Places:
    """For each code, where it is when it is in one place only; else -1."""
    places = np.full(int(codes.max()) + 2, -1)
    places[codes] = np.arange(len(codes))
    places[: len(counts := np.bincount(codes))][counts > 1] = -1
    return places


def _among(wanted: Places, there: Places, count: int) -> NDArray[np.bool_]:
    """Which numbers, all below `count`, are among others."""
    if count <= TABLE:
        known = np.zeros(count, np.bool_)
        known[there] = True
        return known[wanted]
    ordered = np.sort(there)
    places = np.minimum(np.searchsorted(ordered, wanted), max(len(ordered) - 1, 0))
    return np.equal(ordered[places], wanted)


def _consistent(moved: Displacement, pairs: Pairs, records: int, run: Run) -> Pairs:
    """The pairs that are left when everything is ruled out that contradicts the rest: a pair needs another one that
    answers it in every column whose values were exchanged, and who is certain is nobody else."""
    while True:
        run.check()
        count_before = len(pairs)
        for codes, others in moved.exchanged:
            count = int(max(codes.max(), others.max())) + 1
            after, before = codes[pairs.records], others[pairs.people]
            answered = _among(before * count + after, after * count + before, count * count)
            if not answered.all():
                pairs = pairs.where(answered)
        for mine, theirs in ((pairs.records, pairs.people), (pairs.people, pairs.records)):
            certain = np.bincount(mine, minlength=records)[mine] == 1
            settled = np.zeros(records, np.bool_)
            settled[theirs[certain]] = True
            possible = certain | ~settled[theirs]
            if not possible.all():
                pairs = pairs.where(possible)
                break
        if len(pairs) == count_before:
            return pairs
