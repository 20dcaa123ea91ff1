"""Releases of the same people, with who is where in each: what was published before, and several side by side.

People are told apart across tables by a keyed hash: of the person column, of an identifier that is different in every
record, or, where there is none, of the quasi-identifiers and sensitive values together. The records of somebody who has
several are told apart by a further hash, of those columns together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Histogram
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.published_tables import PublishedTables
from shoal.errors import NotDefined, quoted

Hashes = NDArray[np.uint64]
NOWHERE = -1
"""The class of whoever is in no class of a release: left out, or not in the table then."""
STEP = np.uint64(0x9E3779B97F4A7C15)
"""Tells records apart whose hashes are equal."""


@dataclass(frozen=True, eq=False, repr=False)
class PublishedValues:
    """The published values of a sensitive attribute: group `owners[e]` has `texts[values[e]]`, `counts[e]` times."""

    texts: tuple[str | None, ...]
    owners: Codes
    values: Codes
    counts: Counts

    @classmethod
    def of(cls, histogram: Histogram) -> PublishedValues:
        tree = histogram.hierarchy
        if tree is None:
            raise NotDefined("the sensitive values of this release cannot be understood without their hierarchy")
        shown, values = np.unique(histogram.values, return_inverse=True)
        texts = tuple(tree.labels[0][shown].tolist())
        joint = group(
            [histogram.owners.astype(np.int32), values.astype(np.int32)], [len(histogram.starts), max(len(texts), 1)],
            weights=histogram.counts,
        )  # fmt: skip
        return cls(texts, joint.keys[0], joint.keys[1], joint.counts)

    @property
    def sizes(self) -> Counts:
        """The published values of each group."""
        return np.bincount(self.owners, weights=self.counts).astype(np.int64)

    @property
    def widths(self) -> Counts:
        """The different published values of each group."""
        return np.bincount(self.owners).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a release promises: nobody hides among fewer than `k`, and groups have at least `l` different values of
    every sensitive attribute, or what `columns` says for one of them; 1 promises nothing."""

    k: int = 1
    l: int = 1  # noqa: E741
    columns: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, models: Sequence[Model]) -> Promise:
        columns: dict[str | None, int] = {}
        for model in models:
            if model.needs_sensitive:
                name = getattr(model, "column", None)
                columns[name] = max(columns.get(name, 1), model.variety)
        every = columns.pop(None, 1)
        return cls(
            k=max([model.least for model in models if model.identity], default=1), l=every,
            columns={name: least for name, least in columns.items() if name is not None},
        )  # fmt: skip

    def values_of(self, column: str) -> int:
        """How many different values of a sensitive attribute are promised."""
        return max(self.l, self.columns.get(column, 1))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocatedRelease:
    """A release and, for each record of the table that it was made from, the hash that tells whose it is (`ids`), the
    class of those who cannot be told apart (`classes`; None where the form has none) and the group that tells about
    sensitive values (`groups`); negative: it was left out.

    `values` has what groups are published with. `linking` names the columns that are published as they are, by which
    somebody may tell which rows of two releases belong together, and `shown` every column that it publishes. With
    `several`, people may have several records, and `records` has the hash that tells which each is.
    """

    name: str
    ids: Hashes
    classes: Codes | None
    groups: Codes
    values: Mapping[str, PublishedValues]
    linking: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    promise: Promise = field(default_factory=Promise)
    several: bool = False
    records: Hashes | None = None
    release: PublishedTables | None = None

    def __repr__(self) -> str:
        return f"LocatedRelease({self.name!r}, {len(self.ids):,} records)"

    def has(self, column: str) -> bool:
        """Whether it publishes a column, in whatever role."""
        return column in self.values or column in self.shown or column in self.linking


@dataclass(frozen=True)
class Naming:
    """The columns by which people are told `apart` across tables, and those by which the `records` of one person are;
    none where every record is a person."""

    apart: tuple[str, ...]
    records: tuple[str, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset) -> Naming:
        schema = dataset.schema
        if schema.person is not None:
            return cls((schema.person,), _record_columns(dataset, (schema.person,)))
        for name in schema.identifiers:
            if dataset.table.count_repeats(name) == 0:
                return cls((name,))
        return cls((*schema.quasi, *schema.sensitive))

    def hashes(self, dataset: Dataset, key: int, seed: int) -> tuple[Hashes, Hashes | None]:
        """Of each record, as in the `listing`, the hash that tells whose it is and, where people may have several
        records, the one that tells which it is."""
        schema = dataset.schema
        several = bool(self.records) or schema.person is not None
        columns = self.records or (_record_columns(dataset, self.apart) if several else ())
        lacking = [column for column in (*self.apart, *columns) if column not in schema.names]
        if lacking:
            raise NotDefined(f"people are told apart by the column {quoted(lacking[0])}, which the table lacks")
        people = dataset.table.digests(self.apart, key, schema.quasi, seed)
        if not several:
            return _apart(people), None
        return people, _apart(dataset.table.digests(columns, key, schema.quasi, seed))


def _record_columns(dataset: Dataset, apart: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*apart, *dataset.schema.quasi, *dataset.schema.sensitive)))


def _apart(ids: Hashes) -> Hashes:
    """Hashes that are all different: records that are equal in what people are told apart by are numbered."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    fresh = np.append(True, ordered[1:] != ordered[:-1])
    firsts = np.flatnonzero(fresh)
    ranks = np.arange(len(ids)) - np.repeat(firsts, np.diff(np.append(firsts, len(ids))))
    numbered = np.empty_like(ids)
    numbered[order] = ordered + ranks.astype(np.uint64) * STEP
    return numbered


@dataclass(frozen=True, eq=False, repr=False)
class AlignedReleases:
    """Everybody who is in some release, and where: `places[r, p]` is the place of person `p` in release `r`, negative:
    nowhere; `present[r, p]` says whether the table of release `r` has the person at all.

    Of somebody who has several records in a release, each record stands there as a person does, and `owners[p]` says
    whose it is, by the number of the person.
    """

    ids: Hashes
    places: Codes
    present: NDArray[np.bool_]
    owners: NDArray[np.int64]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Whoever some release shows."""
        return np.asarray((self.places >= 0).any(axis=0))

    @property
    def moved(self) -> bool:
        """Whether somebody came or left between the releases."""
        return bool((self.present.any(axis=0) & ~self.present.all(axis=0)).any())

    def some(self, releases: Sequence[int]) -> AlignedReleases:
        """The same people in some of the releases."""
        chosen = list(releases)
        return AlignedReleases(self.ids, self.places[chosen], self.present[chosen], self.owners)

    def people(self, chosen: NDArray[np.bool_]) -> int:
        """How many people have one of the chosen records."""
        return len(np.unique(self.owners[chosen]))

    def spread(self, values: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[Any]:
        """Values of the chosen records, among all of them; nothing for the others."""
        column = np.zeros(len(chosen), values.dtype)
        column[chosen] = values
        return column

    def by_person(self, values: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[Any]:
        """For each person with a chosen record the greatest of the values of these records."""
        numbers, index = np.unique(self.owners[chosen], return_inverse=True)
        if len(numbers) == len(index):
            return values[chosen]
        greatest = np.zeros(len(numbers), values.dtype)
        np.maximum.at(greatest, index, values[chosen])
        return greatest


def followed_units(tables: Sequence[tuple[Hashes, Hashes | None]]) -> tuple[list[Hashes], NDArray[np.int64]]:
    """What is followed from table to table: people, and of those who have several records in some table each record.
    Also the number of the person of each, one table after the other."""
    people, numbers = np.unique(np.concatenate([ids for ids, _ in tables]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    if all(records is None for _, records in tables):
        return [ids for ids, _ in tables], numbers
    several, units, first = np.zeros(len(people), dtype=np.bool_), [], 0
    for ids, _ in tables:
        several |= np.bincount(numbers[first : first + len(ids)], minlength=len(people)) > 1
        first += len(ids)
    first = 0
    for ids, records in tables:
        here = numbers[first : first + len(ids)]
        units.append(ids if records is None else np.where(several[here], records, ids))
        first += len(ids)
    return units, numbers


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The earlier releases of a data set, how people are told apart in it (`by`), and the `key` of their hashes."""

    releases: tuple[LocatedRelease, ...]
    by: Naming
    key: int

    def people(self, dataset: Dataset, seed: int) -> Hashes:
        """Whose each record of a table is, in the order of the `listing`."""
        return self.by.hashes(dataset, self.key, seed)[0]

    def places(self, dataset: Dataset, seed: int) -> tuple[Codes, NDArray[np.bool_], Codes]:
        """For each earlier release and each record of a table, as in the `listing`: the class there, whether the record
        was in the table at all, and the group; negative: none."""
        tables = [*((each.ids, each.records) for each in self.releases), self.by.hashes(dataset, self.key, seed)]
        *earlier, ids = followed_units(tables)[0]
        classes, groups = np.full((2, len(self.releases), len(ids)), NOWHERE, np.int32)
        present = np.zeros(classes.shape, dtype=np.bool_)
        for row, (each, units) in enumerate(zip(self.releases, earlier, strict=True)):
            order = np.argsort(units, kind="stable")
            at = np.minimum(np.searchsorted(units[order], ids), len(order) - 1)
            there = units[order][at] == ids if len(order) else np.zeros(len(ids), dtype=np.bool_)
            present[row] = there
            groups[row, there] = each.groups[order][at[there]]
            if each.classes is not None:
                classes[row, there] = each.classes[order][at[there]]
        return classes, present, groups
