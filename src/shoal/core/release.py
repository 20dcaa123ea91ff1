"""Release: what is published, how it came to be, and the policy that it satisfies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Self

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.codebook import Codebook, Spelling
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.form import Form, View
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.finding import IN_RECORDS, Finding, Findings
from shoal.core.formatting import in_html
from shoal.core.grouping import Counts, group
from shoal.core.hierarchy import TOP
from shoal.core.households import differing_households
from shoal.core.intervals import Numbers, shown_as
from shoal.core.members import Members, check_same
from shoal.core.plain_risk import PlainRisk
from shoal.core.policy import Policy
from shoal.core.published_tables import PublishedTables
from shoal.core.schema import Kind
from shoal.errors import NotDefined, PeopleUnknown
from shoal.parsing.labels import number


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(PublishedTables):
    """What is handed out: one or more tables in a form, and where they came from.

    The `view` reads the published values; nothing that the algorithm believed goes into it. `notes` are sentences for
    the holder. Where the table has a person or a weight column, `members` says in which published class its people
    are, unless pseudonyms do. The `method` made it, which its manifest states; a release that was made here has the
    table as its `origin`.
    """

    form: Form
    engine: Engine
    policy: Policy | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    stated_spellings: Mapping[str, Spelling] = field(default_factory=dict)
    members: Members | None = None
    notes: tuple[str, ...] = ()
    origin: Dataset | None = None
    method: Algorithm | None = None

    def __repr__(self) -> str:
        parts = "" if len(self.tables) == 1 else f" in {len(self.tables)} tables"
        form, records = type(self.form).__name__.removesuffix("Form"), self.published.records
        plain = self.plain_risk
        but = f"; {plain.condition}" if plain is not None and plain.above else ""
        return f"Release({form}, {records:,} of {self.records:,} records{parts}{but})"

    def _repr_html_(self) -> str:
        shown = {name for table in self.tables.values() for name in table.names}
        rows = [
            (column.name, str(column.role), "yes" if column.name in shown else "no") for column in self.schema.columns
        ]
        warning = "" if self.plain_risk is None else self.plain_risk.warning
        return (f"<p><strong>{escape(warning)}</strong></p>" if warning else "") + in_html(
            ("column", "role", "published"), rows, repr(self)
        )

    @property
    def plain_risk(self) -> PlainRisk | None:
        """What its plain columns single out together, as far as that was looked at; None where it has none."""
        return PlainRisk.of(self.provenance.get("plain"), self.records, self.policy)

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

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The main table for whatever takes Arrow's PyCapsule interface: `polars.DataFrame(release)`,
        `pyarrow.table(release)`, `FROM release` in DuckDB."""
        return self.published.arrow().__arrow_c_stream__(requested_schema)

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

    def table_of(self, data: Dataset) -> Dataset:
        """The table with the roles that columns have in the release: a sensitive one that is hidden here and there has
        none."""
        plain = [name for name in data.schema.sensitive if name not in self.schema.sensitive]
        return data.without_role(plain) if plain and set(plain) <= set(self.schema.names) else data

    @property
    def classes(self) -> Classes:
        """The records that nobody can tell apart by the published quasi-identifiers."""
        return self.view.people()

    @cached_property
    def spellings(self) -> Mapping[str, Spelling]:
        """How each column is published, as far as that is known: by the plan, or by what the manifest states."""
        plan = self.plan
        if plan is None:
            return self.stated_spellings
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

    def codebook(self, name: str) -> Codebook:
        if self.spellings.get(name) == "means":
            raise NotDefined(
                f"column {name!r} is published as means, and the file does not say which values they are of"
            )
        return super().codebook(name)

    def in_people(self, classes: Classes) -> Classes:
        """Classes of the main table with the people in them, where the table has a person column, and the households,
        as far as they are known.

        Pseudonyms tell whose a record is; without them the plan does, which only the holder has. Raises
        `PeopleUnknown` where the table has people and neither is there.
        """
        if self.schema.person is None and (self.schema.household is None or classes.attributes != self.schema.quasi):
            return classes
        if classes.attributes != self.schema.quasi:
            raise PeopleUnknown("this form does not say whose records are in a group")
        return replace(self._in_people, hidden=classes.hidden)

    def in_households(self, classes: Classes) -> Classes:
        """The same; raises `PeopleUnknown` where it is not known which households are in a class."""
        classes, household = self.in_people(classes), self.schema.household
        if classes.households is None and household is not None:
            raise households_unknown(household)
        return classes

    def judged(self, model: Model) -> Classes:
        """The classes that a model judges, with the people or households that it counts."""
        classes = self.view.judged_by(model)
        if model.counts_population:
            return self.in_population(classes)
        return self.in_households(classes) if model.counts_households else self.in_people(classes)

    @cached_property
    def _in_people(self) -> Classes:
        person, household, quasi = self.schema.person, self.schema.household, self.schema.quasi
        known = None
        if self.members is not None:
            known = self.members.people(self.view.people(), [self.published.labels(name) for name in quasi])
        if person is None:
            classes = self.view.people()
        elif person in self.published.names:
            classes = self.grouped("", quasi, person=person)
        elif known is not None:
            classes = known
        else:
            raise PeopleUnknown(f"people cannot be counted without the column {person!r}, which the release lacks")
        if household in self.published.names:
            return replace(classes, households=self.published.group(quasi, (), person=household).people)
        return classes if known is None else replace(classes, households=known.households)

    def weighted(self) -> Classes:
        """The published classes with what their people stand for in the population, which only the holder knows."""
        if self.schema.weight is None:
            raise NotDefined("the table has no survey weights; name their column with --weight")
        people = self.view.people()
        known = self.members
        if known is None or known.classes.weights is None or people.attributes != self.schema.quasi:
            raise PeopleUnknown(
                "it is not known which records are in which published class, and so what a class weighs"
            )
        return known.people(people, [self.published.labels(name) for name in self.schema.quasi])

    def in_population(self, classes: Classes) -> Classes:
        """The published classes with what they stand for in the population: as the table tells it, or by their
        published weights, where these are the means of the classes."""
        name, stated = self.schema.weight, self.provenance.get("weights") or {"scaled": True}
        if name is None:
            raise PeopleUnknown("the release shows no survey weights, so it is not known what a class weighs")
        try:
            return self.weighted()
        except PeopleUnknown:
            if name not in self.published.names or stated["scaled"] or stated["base"]:
                raise
            rows = self.published.group((*self.schema.quasi, name), ())
            weights = np.array([np.nan if label is None else number(label) for label in self.published.labels(name)])
            owners = group(list(rows.keys[:-1]), index=True).index
            sums = np.bincount(owners, rows.sizes * weights[rows.keys[-1]], minlength=len(classes))
            return replace(classes, weights=sums.astype(np.float64), people=None)

    def with_members(self, classes: Classes) -> Self:
        """The release when its classes of the main table are known to have the people of such ones."""
        labels = tuple(self.published.labels(name) for name in self.schema.quasi)
        people = self.view.people()
        check_same(people, classes)
        return replace(
            self,
            members=Members(labels, replace(classes, attributes=people.attributes, keys=people.keys, hierarchies=())),
        )

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
        return Findings(
            (*measured, *self.view.agreement(), *self._household_agreement(), *self._ghost_agreement(), left_out)
        )

    def _household_agreement(self) -> Iterator[Finding]:
        """Whether each household variable is published alike for all members of a household, where it is known who
        they are."""
        names = self.schema.household_variables if self.origin is None else self.origin.household_variables
        try:
            classes = self.in_people(self.view.people()) if names else None
        except NotDefined:
            return
        if classes is None or classes.households is None or classes.attributes != self.schema.quasi:
            return
        shown = dict(zip(classes.attributes, classes.keys, strict=True))
        differing = {name: len(differing_households(classes, shown[name])) for name in names if name in shown}
        yield Finding(
            name="household-variables", value=sum(differing.values()), bound=0, holds=not any(differing.values()),
            how="households whose members show different values of a column that is the household's",
            unit="households", detail=differing,
        )  # fmt: skip

    def _ghost_agreement(self) -> Iterator[Finding]:
        """Whether columns that are linked to quasi-identifiers are hidden where one of these is, and only there."""
        stated = self.provenance.get("ghosts") or {}
        ghosts = self.recoding.ghosts if self.recoding is not None else stated
        wrong = dict.fromkeys(ghosts, 0)
        for name, keys in ghosts.items():
            rows = self.published.group((*keys, name), ())
            labels = [list(self.published.labels(column)) for column in rows.attributes]
            places = np.array([each.index(TOP) if TOP in each else -1 for each in labels])
            *hidden, star = rows.keys == places[:, None]
            wrong[name] = int(rows.sizes[np.logical_or.reduce(hidden) != star].sum())
        if ghosts:
            yield Finding(
                name="linked-columns", value=sum(wrong.values()), bound=0, holds=not any(wrong.values()),
                how="records in which a linked column is not hidden where its quasi-identifier is, or only there",
                unit="records", detail=wrong,
            )  # fmt: skip

    def _measured(self, model: Model, as_far_as_known: bool) -> Finding:
        model.check_attributes(self.schema.quasi)
        try:
            return model.measure(self.judged(model))
        except PeopleUnknown as reason:
            if not as_far_as_known:
                raise
            if not model.growth_monotone or model.counts_population:
                return Finding(name=model.level, value=None, bound=model.bound, how=f"not defined: {reason}")
            finding = model.measure(self.view.judged_by(model))
            how, claim = f"{finding.how}; counted in records: {reason}", f"{finding.claim}{IN_RECORDS}"
            unit = "records" if finding.unit in ("people", "households") else finding.unit
            return replace(finding, how=how, claim=claim, unit=unit)

    def people_agree(self, stated: int) -> bool:
        """Whether the release has as many people as is stated, and no more than the crowd, of any value."""
        classes = self.in_people(self.view.people())
        count = people_in(classes)
        agree = count == stated and (self.crowd is None or count <= self.crowd.count)
        for histogram in classes.sensitive:
            people = histogram.people
            if people is None:
                continue
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


def households_unknown(household: str | None) -> PeopleUnknown:
    return PeopleUnknown(f"households cannot be counted without the column {household!r}, which the release lacks")


def people_in(classes: Classes) -> int:
    """How many people are in some class."""
    if classes.people is None:
        raise PeopleUnknown("it is not known whose the records are")
    return len(np.unique(classes.people.values))


def occurring(histogram: Histogram) -> Counts:
    """How often each value occurs in the classes of a histogram."""
    # Sums of records are whole numbers, which doubles hold exactly.
    return np.bincount(histogram.values, histogram.counts, minlength=len(histogram.population)).astype(np.int64)
