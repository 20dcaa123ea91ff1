"""The tables of a release as forms read them, and what was known when they were made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.core.classes import Classes, Histogram, joined
from shoal.core.codebook import Cells, Codebook, cells_of_entries, merged_cells
from shoal.core.contracts.table import Published
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.recoding import Plan, Recoding
from shoal.core.schema import Schema
from shoal.errors import InputError, NotDefined, UnknownValuesError, VerificationError


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """The people of the whole table: how many there are, and how many have each value of a sensitive attribute."""

    count: int
    populations: Mapping[str, Counts]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PublishedTables:
    """The tables of a release by their parts, with their schema and what is known of the table they were made from.

    `records` counts that table, `populations` its sensitive values and, where it has a person column, `crowd` its
    people. The `recoding` is known where the release was made here; of one that was read from a file there is none.
    """

    tables: Mapping[str, Published]
    schema: Schema
    records: int
    recoding: Recoding | None = None
    populations: Mapping[str, Counts] = field(default_factory=dict)
    crowd: Crowd | None = None

    @property
    @abstractmethod
    def seed(self) -> int:
        """What decided what was chosen at random; only the holder knows it."""

    @property
    def published(self) -> Published:
        """The main table."""
        return self.tables[""]

    @property
    def plan(self) -> Plan | None:
        """The plan that was carried out, where there was one and it is known."""
        return None if self.recoding is None else self.recoding.plan

    def grouped(
        self, part: str, keys: Sequence[str], *, count: str | None = None, person: str | None = None
    ) -> Classes:
        """The classes of a table by some of its columns, with the sensitive attributes that it holds."""
        table = self.tables[part]
        sensitive = [(name, self.schema[name].hierarchy) for name in self.schema.sensitive if name in table.names]
        trees = dict(sensitive)
        classes = table.group(keys, sensitive, count=count, person=person)
        if self.schema.strict:
            classes = joined(
                classes,
                lambda others, name: table.group(
                    (*keys, *others), [(name, trees[name])], count=count, person=person
                ),
            )  # fmt: skip
        histograms = tuple(self._among_all(histogram) for histogram in classes.sensitive)
        return replace(classes, sensitive=histograms, records=self.records)

    def _among_all(self, histogram: Histogram) -> Histogram:
        """A histogram of the release beside the counts of the whole table."""
        name, people = histogram.column, histogram.people
        if people is not None and self.crowd is not None:
            population = self.crowd.populations.get(name, people.population)
            people = replace(people, population=population, count=self.crowd.count)
        return replace(histogram, population=self.populations.get(name, histogram.population), people=people)

    def cells_of(self, people: Classes) -> Cells:
        """How precise the published quasi-identifiers of classes of the main table are.

        A release that was made here knows by its plan; of one that was read from a file the labels are understood
        through the hierarchies.
        """
        plan = self.plan
        if plan is None:
            books = tuple(self.codebook(name) for name in people.attributes)
            return cells_of_entries(books, people.keys)
        chosen = np.flatnonzero(plan.published)
        cells = cells_of_entries(plan.codebooks, plan.cells[:, chosen])
        return merged_cells(cells, self.placement(plan, people)[chosen], len(people))

    def placement(self, plan: Plan, people: Classes) -> Codes:
        """For each class of a plan, the one of the published classes that it is; negative: it is not published."""
        chosen = np.flatnonzero(plan.published)
        shown = []
        for name, book, cells in zip(people.attributes, plan.codebooks, plan.cells, strict=True):
            places = self.published.places(name)
            shown.append(places[cells[chosen]])
            if int(shown[-1].min(initial=0)) < 0:
                raise VerificationError("a class that was decided on is not among the published ones")
            self._check_labels(name, book, places, np.unique(cells[chosen]))
        radices = [len(self.published.labels(name)) for name in people.attributes]
        tuples = group(shown, radices, index=True)
        if tuples.keys.shape != people.keys.shape or not np.array_equal(tuples.keys, people.keys):
            raise VerificationError("the published classes are not those that were decided on")
        owners: Codes = np.full(plan.count, -1, np.int32)
        owners[chosen] = tuples.index
        return owners

    def _check_labels(self, name: str, book: Codebook, places: Codes, entries: Codes) -> None:
        """Raises unless entries of a codebook, which are the labels at some places, read as they were meant to."""
        labels = self.published.labels(name)
        hierarchy = self.schema[name].hierarchy
        if book.raw and hierarchy is not None:
            hierarchy.leaves(labels)
        for entry in entries.tolist():
            shown, meant = labels[places[entry]], book.labels[entry]
            if book.raw and hierarchy is not None:  # as it came, which may be another spelling
                same = hierarchy.leaf(shown) in (None, book.low[entry])
            else:
                same = shown == meant or (book.numeric and None not in (shown, meant) and float(shown) == float(meant))
            if not same:
                raise VerificationError(f"column {name!r}: a class is published as something else than was decided")

    def raw_cells_of(self, people: Classes) -> Cells:
        """The cells of classes whose quasi-identifiers are published as they are."""
        leaves = np.stack(
            [self.leaves_of(name)[keys] for name, keys in zip(people.attributes, people.keys, strict=True)]
        )
        return Cells(leaves, leaves, np.zeros_like(leaves), np.zeros(leaves.shape))

    def hierarchy_of(self, name: str) -> Hierarchy:
        """The hierarchy through which the published values of a column are understood."""
        hierarchy = self.schema[name].hierarchy
        if hierarchy is None:
            raise NotDefined(f"column {name!r} has no hierarchy, so its published values cannot be understood")
        return hierarchy

    def leaves_of(self, name: str, part: str | None = None) -> Codes:
        """The leaf of each label of a column that is published as it is, in the first table that holds it or in a
        part."""
        hierarchy = self.hierarchy_of(name)
        table = self.holding(name) if part is None else self.tables[part]
        leaves = hierarchy.leaves(table.labels(name))
        if None in leaves:
            raise unknown_values(name, leaves.count(None))
        return np.array(leaves, np.int32)

    def codebook(self, name: str) -> Codebook:
        """What the published labels of a column stand for, by its hierarchy."""
        book = Codebook.parsed(self.hierarchy_of(name), self.published.labels(name))
        if isinstance(book, int):
            raise unknown_values(name, book)
        return book

    def holding(self, name: str) -> Published:
        """The table that holds a column."""
        for table in self.tables.values():
            if name in table.names:
                return table
        raise InputError(f"no table of the release has the column {name!r}")


def unknown_values(name: str, count: int) -> UnknownValuesError:
    """Says that a column of a release cannot be understood."""
    return UnknownValuesError(
        f"column {name!r} of the release has {count} distinct values that its hierarchy does not know; "
        "give the hierarchies that the release was made with"
    )
