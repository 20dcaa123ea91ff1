"""Dataset: a table that an engine holds, with its schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.core.classes import Classes, Histogram, joined, summarize
from shoal.core.contracts.engine import Engine, broken_rule, check_parts
from shoal.core.contracts.table import EngineTable, Source
from shoal.core.formatting import in_html
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.households import check_households, homes_of, shared_attributes
from shoal.core.read_request import Description, HierarchyFor
from shoal.core.run import Run
from shoal.core.schema import WITHHELD, Role, Schema
from shoal.core.survey import Survey
from shoal.core.values import Values
from shoal.core.weights import check_weights, class_weights, weights_of
from shoal.errors import SchemaError
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and its schema. The rows stay with the engine; most questions need only the `summary`."""

    table: EngineTable
    schema: Schema
    engine: Engine
    notes: tuple[str, ...] = ()
    """What should be known about how columns were read; no value is in them."""
    checkpoint: Checkpoint | None = None
    """The state of the run that it was read for, where one is kept."""
    known: frozenset[str] = frozenset()
    """Columns without a role that are encoded all the same (`knowing`)."""

    def __repr__(self) -> str:
        named = (("quasi-identifiers", self.schema.quasi), ("sensitive", self.schema.sensitive))
        roles = ", ".join(f"{len(names)} {what}" for what, names in named if names)
        return f"Dataset({self.records:,} records, {len(self.schema.columns)} columns: {roles})"

    def _repr_html_(self) -> str:
        rows = [(column.name, str(column.role), str(column.kind)) for column in self.schema.columns]
        return in_html(("column", "role", "kind"), rows, repr(self))

    @classmethod
    def read(
        cls,
        engine: Engine,
        source: Source,
        description: Description,
        *,
        run: Run | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Dataset:
        """A source that was opened, read by its engine."""
        check_parts(engine, source, Source)
        table, schema = engine.read(source, description, run=run, checkpoint=checkpoint)
        check_parts(engine, table, EngineTable)
        if list(schema.names) != list(source.names):
            raise broken_rule(engine, "the schema must have the columns of the source, in their order")
        check_weights(schema, table)
        check_households(schema, table)
        return cls(table, schema, engine, checkpoint=checkpoint, known=description.known)

    @property
    def records(self) -> int:
        return self.table.records

    @cached_property
    def summary(self) -> Classes:
        """The distinct tuples of all quasi-identifiers, with counts and sensitive histograms."""
        if not self.schema.quasi:
            raise SchemaError("no quasi-identifier is named; name the columns that outsiders may know")
        return self.summarized(self.schema.quasi)

    def summarized(self, quasi: tuple[str, ...]) -> Classes:
        """The distinct tuples of some quasi-identifiers."""
        person = self.schema.person
        summary = self._completed(self.table.group(quasi, self.schema.sensitive, person=person))
        if not self.schema.strict:
            return summary
        return joined(summary, lambda others, name: self.table.group((*quasi, *others), (name,), person=person))

    def _completed(self, classes: Classes) -> Classes:
        """Classes of the table with what their records stand for, where there is a weight column, and the households in
        them, where a column says: to an engine, whose records are."""
        weights, household = class_weights(self.schema, self.table, classes.attributes), self.schema.household
        if household is not None:
            classes = replace(classes, households=self.table.group(classes.attributes, (), person=household).people)
        return classes if weights is None else replace(classes, weights=weights)

    @cached_property
    def homes(self) -> Codes | None:
        """The household of each person, by code, where both have a column."""
        household, person = self.schema.household, self.schema.person
        if household is None or person is None:
            return None
        return homes_of(self.table.group((household,), (), person=person))

    @cached_property
    def household_variables(self) -> tuple[str, ...]:
        """The quasi-identifiers that are the same for all members of a household: as declared, or else those that turn
        out to be."""
        if self.schema.household is None:
            return ()
        declared = self.schema.household_variables
        return tuple(name for name in self.schema.quasi if name in declared) or shared_attributes(self.summary)

    @property
    def margin(self) -> Classes:
        """Classes that tell the whole table's counts of sensitive values and of people: the summary where it is known,
        else, which takes next to no memory, those of one quasi-identifier."""
        if "summary" in vars(self) or not self.schema.quasi:
            return self.summary
        return self.table.group(self.schema.quasi[:1], self.schema.sensitive, person=self.schema.person)

    @property
    def people(self) -> int | None:
        """How many people the records are of, where a person column says."""
        people = self.margin.people
        return None if people is None else int(np.count_nonzero(people.population))

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of the quasi-identifiers."""
        return self.schema.hierarchies

    @property
    def outline(self) -> Classes:
        """The summary without its classes: the hierarchies, and the number of records."""
        quasi = self.schema.quasi
        return Classes(
            quasi, np.zeros((len(quasi), 0), np.int32), np.zeros(0, np.int64), (), self.hierarchies, self.records
        )

    @cached_property
    def occurring(self) -> tuple[Counts, ...]:
        """How many records have each leaf of each quasi-identifier: from the summary where it is known, else column by
        column, which takes next to no memory."""
        known, counts = "summary" in vars(self), []
        for at, tree in enumerate(self.hierarchies):
            classes = self.summary if known else self.table.group((tree.column,), ())
            keys = classes.keys[at if known else 0]
            # Sums of records are whole numbers, which doubles hold exactly.
            counts.append(np.bincount(keys, weights=classes.sizes, minlength=tree.size).astype(np.int64))
        return tuple(counts)

    @property
    def extent(self) -> Sequence[Codes]:
        """The leaves of each quasi-identifier that occur in the whole table: the length of a range is measured by the
        least and the greatest."""
        return [np.flatnonzero(counts).astype(np.int32) for counts in self.occurring]

    def group(self, attributes: tuple[str, ...]) -> Classes:
        """The classes over any columns that are encoded: quasi-identifiers and sensitive attributes."""
        if attributes and set(attributes) <= set(self.schema.quasi):
            return self.summary.select(attributes)
        return self._completed(self.table.group(attributes, (), person=self.schema.person))

    def listing(self, seed: int) -> tuple[Codes, ...]:
        """The sensitive codes of all records, as a plan by record orders them: by tuple, then by the keyed hash."""
        return self._listing(seed)[: len(self.schema.sensitive)]

    @property
    def _listed(self) -> tuple[str, ...]:
        weight = self.schema.weight
        return (*self.schema.sensitive, *self.schema.owners, *(() if weight is None else (weight,)))

    def _listing(self, seed: int) -> tuple[Codes, ...]:
        """The sensitive codes and, where there are such columns, the people, the households and the weights."""
        listing = self._listings.get(seed)
        if listing is None:
            listing = self.table.listing(self.schema.quasi, self._listed, seed)
            self._listings.clear()
            self._listings[seed] = listing
        return listing

    @cached_property
    def _listings(self) -> dict[int, tuple[Codes, ...]]:
        return {}

    def partitioned(self, index: Codes, classes: int, *, seed: int) -> Classes:
        """The classes of a partition: `index` has the class of each distinct tuple, or of each record as in the
        `listing`; negative: none."""
        if len(index) == len(self.summary):
            return self.summary.rolled(index, np.zeros((0, classes), np.int32))
        published = index >= 0
        listing = {name: codes[published] for name, codes in zip(self._listed, self._listing(seed), strict=True)}

        def owners(histogram: Histogram | None) -> tuple[str, Codes, int] | None:
            if histogram is None:
                return None
            return histogram.column, listing[histogram.column], len(histogram.population)

        person, household = owners(self.summary.people), owners(self.summary.households)
        sensitive = {
            whole.column: (whole.column, listing[whole.column], len(whole.population), whole.hierarchy)
            for whole in self.summary.sensitive
        }

        def grouped(others: tuple[str, ...], names: Iterable[str]) -> Classes:
            columns = [index[published], *(sensitive[name][1] for name in others)]
            radices = [classes, *(sensitive[name][2] for name in others)]
            return summarize(["class", *others], columns, radices, [sensitive[name] for name in names], person=person)

        parts = grouped((), sensitive)
        if household is not None:
            homes = summarize(["class"], [index[published]], [classes], person=household).people
            parts = replace(parts, households=homes)
        if self.schema.strict:
            parts = joined(parts, lambda others, name: grouped(others, [name]))
        histograms = tuple(map(Histogram.compared, parts.sensitive, self.summary.sensitive))
        weights = self.summary.weights
        if self.schema.weight is not None and person is None:
            each = weights_of(self.schema, self.schema.weight)[listing[self.schema.weight]]
            weights = np.bincount(index[published], each, minlength=classes).astype(np.float64)
        return replace(parts, sensitive=histograms, records=self.records, weights=weights)

    def knowing(self, names: Iterable[str]) -> Dataset:
        """The same table with further columns encoded, whatever their role; what was encoded is as it was, and so is
        the order in which records are listed."""
        lacking = {name for name in names if self.schema[name].hierarchy is None}
        if not lacking:
            return self
        columns = {name: self.schema[name] for name in self.schema.names}

        def hierarchy_for(values: Values, role: Role) -> Hierarchy:
            given = columns[values.column].hierarchy
            return given or Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)

        roles = {name: Role.SENSITIVE if name in lacking else column.role for name, column in columns.items()}
        return self._again(hierarchy_for, roles, strict=False, known=self.known | lacking)

    def without_role(self, names: Collection[str]) -> Dataset:
        """The same table in which some columns are plain."""
        roles = {name: Role.PLAIN if name in names else self.schema[name].role for name in self.schema.names}
        given = self.schema
        again = self._again(
            lambda values, role: given.hierarchy_of(values.column), roles, strict=given.strict, known=self.known
        )
        return replace(again, checkpoint=self.checkpoint)

    def _again(
        self, hierarchy_for: HierarchyFor, roles: Mapping[str, Role], *, strict: bool, known: frozenset[str]
    ) -> Dataset:
        """The same table, read again as it was but for roles and hierarchies."""
        # In the order in which roles were given, which is that of the quasi-identifiers.
        ordered = dict.fromkeys((*self.schema.order, *self.schema.names))
        columns = map(self.schema.__getitem__, ordered)
        shared = self.schema.household_variables
        described = Description.of(
            columns, hierarchy_for, roles=roles, strict=strict, household_variables=shared, known=known
        )
        return Dataset.read(self.engine, self.table.source, described)

    def remembering(self, name: str, texts: Iterable[str | None]) -> Dataset:
        """The same table with a sensitive column that also knows values that it does not have now."""
        given = self.schema.hierarchy_of(name)
        every_text = list(dict.fromkeys(texts))
        lacking = [text for text, leaf in zip(every_text, given.leaves(every_text), strict=True) if leaf is None]
        if not lacking:
            return self
        if given.height > 1:
            raise SchemaError(
                f"the hierarchy of column {name!r} lacks {len(lacking)} values of earlier releases; add a row for each"
            )
        columns = {column.name: column for column in self.schema.columns}

        def hierarchy_for(values: Values, role: Role) -> Hierarchy:
            if values.column != name:
                tree = columns[values.column].hierarchy
                return tree or Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
            added = [text for text in lacking if text is not None]
            every, numbers = [*values.texts.tolist(), *added], None
            if values.numbers is not None:
                numbers = np.append(values.numbers, values.quantities(added))
                order = np.argsort(numbers, kind="stable")
                every, numbers = [every[at] for at in order], numbers[order]
            tree = Hierarchy.flat(name, every, numbers)
            return tree.with_missing() if None in lacking else tree

        roles = {column: each.role for column, each in columns.items()}
        return self._again(hierarchy_for, roles, strict=self.schema.strict, known=self.known)

    def encoded_columns(self, seed: int) -> dict[str, tuple[Hierarchy, Codes]]:
        """Every column that is published, in the order of the table, encoded by its hierarchy; records as in the
        `listing`."""
        quasi = self.schema.quasi
        names = [column.name for column in self.schema.columns if column.role not in WITHHELD]
        known = self.knowing(names)
        others = [name for name in names if name not in quasi]
        codes = dict(zip(others, known.table.listing(quasi, others, seed), strict=True))
        for name, keys in zip(quasi, self.summary.keys, strict=True):
            codes[name] = np.repeat(keys, self.summary.sizes)
        return {name: (hierarchy, codes[name]) for name in names if (hierarchy := known.schema[name].hierarchy)}

    def survey(self, *, records: int, values: int, run: Run) -> Survey:
        """A look at the plain columns, which are counted, and at all others, which they may tell. It is made once:
        releases of one table have the same plain columns."""
        survey = self._surveys.get((records, values))
        if survey is None:
            plain = [column.name for column in self.schema.columns if column.role is Role.PLAIN]
            others = [column.name for column in self.schema.columns if column.role not in (Role.PLAIN, Role.DROP)]
            survey = self.table.survey([*plain, *others], plain, records=records, values=values, run=run)
            self._surveys[records, values] = survey
        return survey

    def people_alone(self, names: Sequence[str]) -> int:
        """How many people have a record that no other person agrees with in some columns, whatever their role. It is
        counted once: releases of one table have the same plain columns."""
        if tuple(names) not in self._people_alone:
            self._people_alone[tuple(names)] = self._count_people_alone(names)
        return self._people_alone[tuple(names)]

    def _count_people_alone(self, names: Sequence[str]) -> int:
        person = self.schema.person
        assert person is not None, "there is a person column"
        (owners,) = self.table.listing((), (person,), 0)
        digests = self.table.digests(names, 0, (), 0)
        combinations = np.unique(digests, return_inverse=True)[1].astype(np.int32)
        pairs = group([combinations, owners])
        alone = np.bincount(pairs.keys[0])[pairs.keys[0]] == 1
        return len(np.unique(pairs.keys[1][alone]))

    @cached_property
    def _people_alone(self) -> dict[tuple[str, ...], int]:
        return {}

    @cached_property
    def _surveys(self) -> dict[tuple[int, int], Survey]:
        return {}

    def codes(self, name: str) -> Codes:
        """A column as integers: the leaves of its hierarchy, row by row."""
        return self.table.codes(name)
