"""Release: what is published, how it came to be, and the policy that it satisfies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shoal.core.classes import Classes, Histogram, joined
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.form import Cells, Form, View
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Published
from shoal.core.decision import check_same
from shoal.core.finding import IN_RECORDS, Finding, Findings
from shoal.core.formatting import in_html
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.intervals import Numbers, shown_as
from shoal.core.policy import Policy
from shoal.core.recoding import Codebook, Recoding, Spelling
from shoal.core.schema import Kind, Schema
from shoal.errors import InputError, NotDefined, PeopleUnknown, VerificationError

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """The people of the whole table: how many there are, and how many have each value of a sensitive attribute."""

    count: int
    populations: Mapping[str, Counts]


@dataclass(frozen=True, eq=False, repr=False)
class Members:
    """Who is in which published class: `classes`, whose keys are positions in the `labels` of the quasi-identifiers."""

    labels: tuple[Sequence[str | None], ...]
    classes: Classes

    def among(self, classes: Classes, labels: Sequence[Sequence[str | None]]) -> Classes:
        """The people of the same classes as they are read again, which have the same records and sensitive values."""
        columns = [
            _translation(here, there)[keys] for keys, here, there in zip(classes.keys, labels, self.labels, strict=True)
        ]
        found = group(columns, [len(known) + 1 for known in self.labels], index=True)
        if not np.array_equal(found.keys, self.classes.keys) or len(classes) != len(self.classes):
            raise VerificationError("the published classes are not those in which people were counted")
        assert found.index is not None
        places: Codes = np.empty(len(classes), np.int32)
        places[found.index] = np.arange(len(classes), dtype=np.int32)
        counted = self.classes.rolled(places, classes.keys)
        check_same(classes, counted)
        return counted


def _translation(labels: Sequence[str | None], known: Sequence[str | None]) -> Codes:
    """The position of labels among those that are known; past their end: unknown."""
    places = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, len(known)) for label in labels], np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What is handed out: one or more tables in a form, and where they came from.

    `records` counts the table that it was made from; `notes` are sentences for the holder. The `view` reads the
    published values; nothing that the algorithm believed goes into it. Where the table has a person column, `crowd`
    counts its people, and `members` says in which published class they are, unless pseudonyms do. The `method` made it,
    which its manifest states; a release that was made here has the table as its `origin`.
    """

    form: Form
    tables: Mapping[str, Published]
    schema: Schema
    records: int
    engine: Engine
    policy: Policy | None = None
    recoding: Recoding | None = None
    populations: Mapping[str, Counts] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    stated_spellings: Mapping[str, Spelling] = field(default_factory=dict)
    crowd: Crowd | None = None
    members: Members | None = None
    notes: tuple[str, ...] = ()
    origin: Dataset | None = None
    method: Algorithm | None = None

    def __repr__(self) -> str:
        parts = "" if len(self.tables) == 1 else f" in {len(self.tables)} tables"
        return f"Release({type(self.form).__name__}, {self.published.records:,} of {self.records:,} records{parts})"

    def _repr_html_(self) -> str:
        shown = {name for table in self.tables.values() for name in table.names}
        rows = [
            (column.name, str(column.role), "yes" if column.name in shown else "no") for column in self.schema.columns
        ]
        return in_html(("column", "role", "published"), rows, repr(self))

    @property
    def published(self) -> Published:
        """The main table."""
        return self.tables[""]

    @property
    def claims(self) -> bool:
        """Whether it promises that a privacy model holds."""
        return self.policy is not None and bool(self.policy.models)

    @property
    def seed(self) -> int:
        """What decided what was chosen at random; only the holder knows it."""
        return self.policy.seed if self.policy is not None else 0

    @property
    def hulls(self) -> Mapping[str, str]:
        """How the ranges of each quasi-identifier follow from the records of a class, as its `Recoding` has it or its
        manifest states it."""
        return self.recoding.hulls if self.recoding is not None else self.provenance.get("hulls", {})

    @property
    def suppressed(self) -> int:
        """How many records were left out."""
        return self.records - self.published.records

    @property
    def frame(self) -> Any:
        """The main table as the type that came in."""
        return self.published.frame()

    @property
    def frames(self) -> dict[str, Any]:
        """Every table by its part, as the type that came in."""
        return {part: table.frame() for part, table in self.tables.items()}

    def frame_with(self, *, numbers: Numbers) -> Any:
        """The main table with its numeric quasi-identifiers as `bounds` (`age.low`, `age.high` in the place of `age`),
        as their `midpoint`, or as the `intervals` that they are published as.

        All of it is read from the published labels, so it tells nothing that the release does not.
        """
        columns = [name for name in self.schema.quasi if self.schema[name].kind is Kind.NUMERIC]
        return shown_as(self.frame, columns, numbers)

    @cached_property
    def view(self) -> View:
        """What an attacker can read from it."""
        return self.form.view(self)

    @property
    def classes(self) -> Classes:
        """The records that nobody can tell apart by the published quasi-identifiers."""
        return self.view.people()

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

    @cached_property
    def spellings(self) -> Mapping[str, Spelling]:
        """How each column is published, as far as that is known: by the plan, or by what the manifest states."""
        if self.recoding is None or self.recoding.plan is None:
            return self.stated_spellings
        plan = self.recoding.plan
        cells = plan.cells[:, plan.published]
        raw = {
            column.name
            for sheet in self.form.sheets(self.schema, pseudonyms=False)
            for column in sheet.columns
            if column.what == "raw"
        }
        trees = {column.name: column.hierarchy for column in self.schema.columns}
        return {
            book.column: "values" if book.column in raw else book.spelling(np.unique(entries), tree.labels[0])
            for book, entries in zip(plan.codebooks, cells, strict=True)
            if (tree := trees.get(book.column)) is not None  # a column may have been dropped since
        }

    def _among_all(self, histogram: Histogram) -> Histogram:
        """A histogram of the release beside the counts of the whole table."""
        name, people = histogram.column, histogram.people
        if people is not None and self.crowd is not None:
            population = self.crowd.populations.get(name, people.population)
            people = replace(people, population=population, count=self.crowd.count)
        return replace(histogram, population=self.populations.get(name, histogram.population), people=people)

    def in_people(self, classes: Classes) -> Classes:
        """Classes of the main table with the people in them, where the table has a person column.

        Pseudonyms tell whose a record is; without them the plan does, which only the holder has. Raises
        `PeopleUnknown` where neither is there.
        """
        if self.schema.person is None:
            return classes
        if classes.attributes != self.schema.quasi:
            raise PeopleUnknown("this form does not say whose records are in a group")
        return self._in_people

    @cached_property
    def _in_people(self) -> Classes:
        person, quasi = self.schema.person, self.schema.quasi
        if person in self.published.names:
            return self.grouped("", quasi, person=person)
        if self.members is None:
            raise PeopleUnknown(f"people cannot be counted without the column {person!r}, which the release lacks")
        return self.members.among(self.view.people(), [self.published.labels(name) for name in quasi])

    def with_members(self, classes: Classes) -> Self:
        """The release when its classes of the main table are known to have the people of such ones."""
        labels = tuple(self.published.labels(name) for name in self.schema.quasi)
        held = self.view.people()
        check_same(held, classes)
        return replace(
            self, members=Members(labels, replace(classes, attributes=held.attributes, keys=held.keys, hierarchies=()))
        )

    def cells_of(self, people: Classes) -> Cells:
        """How precise the published quasi-identifiers of classes of the main table are.

        A release that was made here knows by its plan; of one that was read from a file the labels are understood
        through the hierarchies.
        """
        if self.recoding is None or self.recoding.plan is None:
            books = tuple(self.understood(name) for name in people.attributes)
            return spread(books, people.keys)
        plan = self.recoding.plan
        chosen = np.flatnonzero(plan.published)
        return merged_cells(spread(plan.codebooks, plan.cells[:, chosen]), self.placed(people)[chosen], len(people))

    def placed(self, people: Classes) -> Codes:
        """For each class of the plan, the one of the published classes that it is; negative: it is not published."""
        assert self.recoding is not None and self.recoding.plan is not None
        plan = self.recoding.plan
        chosen = np.flatnonzero(plan.published)
        shown = []
        for name, book, cells in zip(people.attributes, plan.codebooks, plan.cells, strict=True):
            places = self.published.places(name)
            shown.append(places[cells[chosen]])
            if int(shown[-1].min(initial=0)) < 0:
                raise VerificationError("a class that was decided on is not among the published ones")
            self._check_labels(name, book, places, np.unique(cells[chosen]))
        radices = [len(self.published.labels(name)) for name in people.attributes]
        found = group(shown, radices, index=True)
        if found.keys.shape != people.keys.shape or not np.array_equal(found.keys, people.keys):
            raise VerificationError("the published classes are not those that were decided on")
        assert found.index is not None
        owners: Codes = np.full(plan.count, -1, np.int32)
        owners[chosen] = found.index
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

    def understood(self, name: str) -> Codebook:
        """What the published labels of a column stand for, by its hierarchy."""
        book = Codebook.parsed(self.hierarchy_of(name), self.published.labels(name))
        if isinstance(book, int):
            raise unknown_values(name, book)
        return book

    def verify(self, policy: Policy, *, as_far_as_known: bool = False) -> Findings:
        """Each model of a policy and the suppression budget, measured on the published values.

        Where people are counted, a file may not tell whose its records are. Then this raises, or, `as_far_as_known`,
        holds records against what a class of so many people has at least.
        """
        budget = policy.budget(self.records)
        left_out = Finding(
            name="suppressed", value=self.suppressed, bound=budget, holds=0 <= self.suppressed <= budget,
            how="records of the table less records of the release", unit="records",
        )  # fmt: skip
        measured = (self._measured(model, as_far_as_known) for model in policy.models)
        return Findings((*measured, *self.view.agreement(), left_out))

    def _measured(self, model: Model, as_far_as_known: bool) -> Finding:
        judged = self.view.judged_by(model)
        try:
            return model.measure(self.in_people(judged))
        except PeopleUnknown as reason:
            if not as_far_as_known:
                raise
            if not model.growth_monotone:
                return Finding(name=model.level, value=None, bound=model.bound, how=f"not defined: {reason}")
            found = model.measure(judged)
            how, claim = f"{found.how}; counted in records: {reason}", f"{found.claim}{IN_RECORDS}"
            return replace(found, how=how, claim=claim)

    def people_agree(self, stated: int) -> bool:
        """Whether the release has as many people as is stated, and no more than the crowd, of any value."""
        classes = self.in_people(self.view.people())
        found = people_in(classes)
        agree = found == stated and (self.crowd is None or found <= self.crowd.count)
        for histogram in classes.sensitive:
            people = histogram.people
            assert people is not None
            pairs = group([histogram.values, people.codes], [len(people.population), int(people.codes.max()) + 1])
            shown = np.bincount(pairs.keys[0], minlength=len(people.population))
            agree &= bool(np.all(shown <= people.population)) and int(people.population.max()) <= people.count
        return agree

    def counts_agree(self) -> Finding:
        """Whether the counts of sensitive values that a manifest states can be those of the table, or are those of the
        release, whichever the policy's models ask for."""
        holds = True
        for histogram in self.view.groups().sensitive:
            shown = occurring(histogram)
            total = self.records if self.compares_with_table() else int(shown.sum())
            holds &= int(histogram.population.sum()) == total and bool(np.all(shown <= histogram.population))
        return Finding(
            name="counts-agree", value="yes" if holds else "no", holds=holds,
            how="sensitive values in the file, held against their counts in the manifest",
        )  # fmt: skip

    def compares_with_table(self) -> bool:
        """Whether a model compares with the whole table."""
        return self.policy is None or any(model.by_population for model in self.policy.models)

    def holding(self, name: str) -> Published:
        """The table that holds a column."""
        for table in self.tables.values():
            if name in table.names:
                return table
        raise InputError(f"no table of the release has the column {name!r}")


def people_in(classes: Classes) -> int:
    """How many people are in some class."""
    assert classes.people is not None
    return len(np.unique(classes.people.values))


def occurring(histogram: Histogram) -> Counts:
    """How often each value occurs in the classes of a histogram."""
    # Sums of records are whole numbers, which doubles hold exactly.
    return np.bincount(histogram.values, histogram.counts, minlength=len(histogram.population)).astype(np.int64)


def unknown_values(name: str, count: int) -> InputError:
    """Says that a column of a release cannot be understood."""
    return InputError(
        f"column {name!r} of the release has {count} distinct values that its hierarchy does not know; "
        "give the hierarchies that the release was made with"
    )


def spread(books: Sequence[Codebook], entries: Codes) -> Cells:
    """The cells of classes from the entries of their codebooks."""
    return Cells(
        *(
            np.stack([getattr(book, what)[cells] for book, cells in zip(books, entries, strict=True)])
            for what in ("low", "high", "levels", "lengths")
        )
    )


def merged_cells(cells: Cells, index: Codes, count: int) -> Cells:
    """The cells of classes that are published alike, as those of one: classes with the same mean need not have the same
    range."""
    low, high = np.full((2, len(cells.low), count), np.iinfo(np.int32).max, dtype=np.int32)
    high[:] = -1
    levels, lengths = np.zeros((len(low), count), np.int32), np.zeros((len(low), count))
    for place in range(len(low)):
        np.minimum.at(low[place], index, cells.low[place])
        np.maximum.at(high[place], index, cells.high[place])
        np.maximum.at(levels[place], index, cells.levels[place])
        np.maximum.at(lengths[place], index, cells.lengths[place])
    return Cells(low, high, levels, lengths)
