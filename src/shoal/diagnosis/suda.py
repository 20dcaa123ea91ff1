"""SUDA2: which few values of a record nobody else has, scored by how few they are.

A *minimal sample unique* (MSU) of a record is a set of its values that only one person has, and no smaller set of which
only one person has. The fewer values it takes, the easier somebody is found, and the likelier a record that is unique
in the sample is unique in the population as well.

Sets of columns are walked after all of their subsets, each refined from a smaller one. A record that one set tells
apart is left out of the sets that are refined from it, so that little is left to look at.

References: M. Elliot, A. Manning, R. Ford, A computational algorithm for handling the special uniques problem, 2002;
A. Manning, D. Haglin, J. Keane, A recursive search algorithm for statistical disclosure assessment, 2008;
M. Elliot and others, SUDA: a program for detecting special uniques, 2005.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.forks import import_polars
from shoal.core.formatting import counted, percent, printable
from shoal.core.grouping import Codes, group
from shoal.core.run import Run
from shoal.diagnosis.families import mask_of
from shoal.diagnosis.weighted_rows import Partition, Partitions, WeightedRows
from shoal.errors import ParameterError, unknown_columns

if TYPE_CHECKING:
    import polars as pl

Convention = Literal["original", "ihsn"]
FRACTION = 0.01
"""The share of the population that is in the sample, where neither weights nor anybody says."""
MOST_SETS = 1 << 16
"""Sets of columns that are looked at, at most."""
BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""Of the distribution of DIS scores."""

Floats = NDArray[np.float64]
_NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Suda:
    """The minimal sample uniques of a table, and what follows from them. No value of the table is shown, unless
    `by_value` is asked for.

    A *row* is a distinct tuple of the columns or, where people may have several records, such a tuple of a person:
    `tuples` has the tuple of each. Row `rows[e]` has the MSU whose columns are the bits of `sets[e]`.
    """

    data: Dataset
    columns: tuple[str, ...]
    largest: int
    convention: Convention
    fraction: float
    classes: Classes
    tuples: Codes
    people: Codes
    rows: Codes
    sets: NDArray[np.uint64]

    def __repr__(self) -> str:
        return f"Suda({self.summary})"

    @property
    def summary(self) -> str:
        """The finding in a sentence."""
        exposed, everybody = self.exposed, self.everybody
        if not exposed:
            return f"nobody is singled out by {counted(self.largest, 'columns')} or fewer"
        first = max(self.contributions, key=self.contributions.__getitem__)
        return (
            f"{exposed:,} of {everybody} ({percent(exposed / self.headcount)}) are singled out by "
            f"{counted(self.largest, 'columns')} or fewer; {printable(first)} contributes most"
        )

    @property
    def headcount(self) -> int:
        """How many people there are, or records where it is not known whose they are."""
        people = self.classes.people
        return self.classes.records if people is None else int(np.count_nonzero(people.population))

    @property
    def everybody(self) -> str:
        return counted(self.headcount, "records" if self.classes.people is None else "people")

    @property
    def exposed(self) -> int:
        """How many of them have a score."""
        return int(np.count_nonzero(np.bincount(self.people[self.scores > 0])))

    @cached_property
    def worth(self) -> Mapping[int, float]:
        """The score of an MSU by the number of its columns."""
        return {size: scored(size, len(self.columns), self.largest, self.convention) for size in self.by_size}

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of columns of each MSU."""
        return np.bitwise_count(self.sets).astype(np.int64)

    @property
    def by_size(self) -> Mapping[int, int]:
        """How many MSUs there are of each number of columns."""
        counts = np.bincount(self._sizes, minlength=self.largest + 1)
        return {size: int(counts[size]) for size in range(1, self.largest + 1)}

    @cached_property
    def _worths(self) -> Floats:
        """The score of each MSU."""
        return np.array([0.0, *self.worth.values()])[self._sizes]

    @cached_property
    def scores(self) -> Floats:
        """The SUDA score of each row: the sum over its MSUs."""
        return np.bincount(self.rows, self._worths, minlength=len(self.tuples)).astype(np.float64)

    def shares(self, column: str) -> Floats:
        """Of each row, the sum over its MSUs that have a column."""
        having = (self.sets >> np.uint64(self.columns.index(column)) & np.uint64(1)).astype(np.bool_)
        return np.bincount(self.rows[having], self._worths[having], minlength=len(self.tuples)).astype(np.float64)

    @cached_property
    def risks(self) -> Floats:
        """The DIS-SUDA score of each row: the chance that a match with it is right, which is greater the greater its
        score is, and on average as the numbers of unique records and of pairs say (data intrusion simulation)."""
        positive = self.scores > 0
        risks = np.zeros(len(self.scores))
        if not positive.any():
            return risks
        pairs = 2 * int(np.count_nonzero(self.classes.headcounts == 2))
        raised = self.scores[positive] ** (1 + (8 - len(self.columns)) / 20)
        odds = pairs * (1 - self.fraction) / self.fraction / (raised * (1 / raised).sum())
        risks[positive] = 1 / (1 + odds)
        return risks

    @cached_property
    def contributions(self) -> Mapping[str, float]:
        """What share of all scores comes from MSUs that have a column. MSUs have several, so these add up to more
        than 1."""
        whole = float(self._worths.sum())
        return {name: float(self.shares(name).sum()) / whole if whole else 0.0 for name in self.columns}

    @property
    def bands(self) -> Mapping[str, int]:
        """How many people, or records, have a DIS score in each band; of somebody's records the worst counts."""
        worst = np.zeros(int(self.people.max(initial=-1)) + 1)
        np.maximum.at(worst, self.people, self.risks)
        places = np.searchsorted(BANDS, worst[np.bincount(self.people) > 0])
        labels = ["0", *(f"{low:g} to {high:g}" for low, high in pairwise(BANDS))]
        counts = np.bincount(places, minlength=len(labels))
        if self.classes.people is None:  # a row that is not unique stands for several records
            counts[0] += self.headcount - len(worst)
        return dict(zip(labels, counts.tolist(), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON holds them, without any value of the table."""
        return {
            "records": self.classes.records, "columns": list(self.columns), "largest": self.largest,
            "convention": self.convention, "fraction": self.fraction, "exposed": self.exposed,
            "uniques": {str(size): count for size, count in self.by_size.items()},
            "highest_score": float(self.scores.max(initial=0.0)), "highest_risk": float(self.risks.max(initial=0.0)),
            "contributions": dict(self.contributions), "bands": dict(self.bands),
        }  # fmt: skip

    def by_record(self) -> pl.DataFrame:
        """The SUDA score and the DIS score of each record, in the order of the table, and the share of its score that
        comes from MSUs with each of the columns."""
        encoded = [self.data.codes(name) for name in self.columns]
        if self.classes.people is not None:
            encoded.append(self.data.codes(self.classes.people.column))
        places = group(encoded, index=True).index
        scores = self.scores[places]
        divisor = np.where(scores > 0, scores, 1.0)
        shares = {f"{name} contribution": self.shares(name)[places] / divisor for name in self.columns}
        return _frame({"suda": scores, "dis": self.risks[places], **shares})

    def by_value(self, column: str) -> pl.DataFrame:
        """What share of a column's contribution each of its values has, the greatest first. It shows values of the
        table: it is for the holder alone."""
        if column not in self.columns:
            raise unknown_columns([column], self.columns)
        tree, shares = self.data.schema.hierarchy_of(column), self.shares(column)
        keys = self.classes.keys[self.columns.index(column)][self.tuples]
        totals = np.bincount(keys, shares, minlength=tree.size)
        there = np.flatnonzero(np.bincount(keys, minlength=tree.size))
        there = there[np.argsort(-totals[there], kind="stable")]
        return _frame({column: tree.labels[0][there].tolist(), "contribution": totals[there] / (totals.sum() or 1.0)})


def _frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    frame: pl.DataFrame = import_polars("a table of scores").DataFrame(columns)
    return frame


def scored(size: int, columns: int, largest: int, convention: Convention) -> float:
    """The score of an MSU of so many of the columns.

    Example:
        >>> [scored(size, 4, 3, "original") for size in (1, 2, 3)], [scored(size, 4, 3, "ihsn") for size in (1, 2, 3)]
        ([6.0, 2.0, 1.0], [1.75, 0.5, 0.25])
    """
    if convention == "original":
        return float(prod(columns - step for step in range(size, min(largest, columns - 1) + 1)))
    return (2.0 ** (columns - size) - 1) * factorial(size) * factorial(columns - size) / factorial(columns)


def suda(
    data: Dataset, classes: Classes, model: Model, *, largest: int | None, convention: Convention,
    fraction: float | None, ignore_missing: bool, run: Run,
) -> Suda:  # fmt: skip
    """The minimal sample uniques of classes over some columns of a table; the model tells what unique is."""
    columns = classes.attributes
    most = _checked(columns, largest, convention, fraction)
    rows = WeightedRows.of(classes, model, columns)
    owners, people = np.arange(len(rows), dtype=np.int32), np.arange(len(rows), dtype=np.int32)
    if classes.people is not None:
        owners, people = classes.people.owners.astype(np.int32), classes.people.values
    gaps = np.zeros(len(rows), np.uint64)
    for place, name in enumerate(columns if ignore_missing else ()):
        if data.schema.hierarchy_of(name).missing:  # it is the first leaf
            gaps |= (classes.keys[place][owners] == 0).astype(np.uint64) << np.uint64(place)
    search = _Search(rows, classes.headcounts[owners] == 1, gaps, most, run)
    search.run()
    found = Suda(data, columns, most, convention, fraction or FRACTION, classes, owners, people, *search.store.filled)
    if fraction is None and classes.weights is not None:
        return replace(found, fraction=min(found.headcount / float(classes.weights.sum()), 1.0))
    return found


def _checked(columns: tuple[str, ...], largest: int | None, convention: str, fraction: float | None) -> int:
    """The most columns of an MSU, once everything makes sense."""
    if len(columns) < 2:
        raise ParameterError("SUDA compares sets of columns; name at least two quasi-identifiers")
    if convention not in get_args(Convention):
        raise ParameterError(f"convention is one of {', '.join(get_args(Convention))}")
    if fraction is not None and not 0 < fraction <= 1:
        raise ParameterError("fraction is the share of the population that is in the table, more than 0 and at most 1")
    most = len(columns) - 1 if largest is None else largest
    if not 1 <= most <= len(columns):
        raise ParameterError(f"largest is a number of columns, from 1 to {len(columns)}")
    sets = sum(comb(len(columns), size) for size in range(1, most + 1))
    if sets > MOST_SETS:
        raise ParameterError(
            f"{len(columns)} columns have {sets:,} sets of {most} or fewer, and {MOST_SETS:,} are the most; "
            "lower largest, or name fewer columns"
        )
    return most


@dataclass(eq=False)
class _Search:
    """A walk over all sets of at most so many columns, each after all of its subsets."""

    rows: WeightedRows
    unique: NDArray[np.bool_]
    gaps: NDArray[np.uint64]
    """The columns that cannot be in an MSU of each row."""
    most: int
    watch: Run

    def run(self) -> None:
        values = [np.count_nonzero(np.bincount(column)) for column in self.rows.columns]
        # Columns with many values come first in a set: they leave little to refine.
        self.order: list[int] = np.argsort(np.negative(values), kind="stable").tolist()
        self.partitions = Partitions(self.rows, self.watch)
        self.store = _Store(len(self.rows))
        count = len(self.order)
        for place in range(count - 1, -1, -1):
            self._visit(self.partitions.whole(), (), place)
            self.watch.report(2.0**-place, f"{len(self.store):,} special uniques")

    def _visit(self, coarser: Partition, chosen: tuple[int, ...], place: int) -> None:
        self.watch.check()
        position = self.order[place]
        grown = (*chosen, position)
        if self.rows.heads:
            partition = self.partitions.refined(coarser, position)
        else:
            partition = self.partitions.refined(Partition(coarser.order, coarser.starts, _NONE), position)
        alone, mask = self._alone(partition), mask_of(grown)
        self.store.add(alone[self.gaps[alone] & np.uint64(mask) == 0], mask)
        if len(grown) < self.most and (len(partition.order) or self.rows.heads):
            for later in range(len(self.order) - 1, place, -1):
                self._visit(partition, grown, later)

    def _alone(self, partition: Partition) -> Codes:
        """Rows of a person whom the values of a set tell apart, as far as a coarser set did not."""
        if not self.rows.heads:
            # Rows of several people never come alone, and those that were alone before are not refined any more.
            return partition.lone[self.unique[partition.lone]]
        _, levels = self.rows.levels(partition)
        alone: Codes = np.flatnonzero((levels == 1)[partition.owners()]).astype(np.int32)
        return alone


class _Store:
    """The MSUs of each row, as chains: the last one of a row, and the one before each."""

    def __init__(self, rows: int) -> None:
        self.last = np.full(rows, -1, np.int64)
        self.rows: list[Codes] = []
        self.count = 0
        self._before, self._set = np.empty(1024, np.int64), np.empty(1024, np.uint64)

    def __len__(self) -> int:
        return self.count

    @property
    def filled(self) -> tuple[Codes, NDArray[np.uint64]]:
        rows = np.concatenate([_NONE, *self.rows])
        return rows, self._set[: self.count].copy()

    def add(self, candidates: Codes, mask: int) -> None:
        """Takes the rows that a set tells apart and none of its subsets does."""
        minimal, at = np.ones(len(candidates), np.bool_), self.last[candidates]
        pending = np.flatnonzero(at >= 0)
        outside = np.uint64(~mask & (2**64 - 1))
        while len(pending):
            inside = self._set[at[pending]] & outside == 0
            minimal[pending[inside]] = False
            pending = pending[~inside]
            at[pending] = self._before[at[pending]]
            pending = pending[at[pending] >= 0]
        rows = candidates[minimal]
        if not len(rows):
            return
        end = self.count + len(rows)
        if end > len(self._set):
            more = max(end, 2 * len(self._set)) - len(self._set)
            self._before = np.concatenate([self._before, np.empty(more, np.int64)])
            self._set = np.concatenate([self._set, np.empty(more, np.uint64)])
        self._before[self.count : end], self._set[self.count : end] = self.last[rows], mask
        self.last[rows] = np.arange(self.count, end)
        self.rows.append(rows)
        self.count = end
