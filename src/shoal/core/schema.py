"""Schema: what each column of a table is and what may be done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from shoal.core.hierarchy import Hierarchy
from shoal.errors import InputError, SchemaError, quoted, unknown_columns


class Role(StrEnum):
    """What a column means for privacy; an `entity` says whose the record is, where people have several, a `household`
    where that person lives, a `weight` how many people of the population it stands for, and what is to `drop` says
    nothing about people and is not published."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    PLAIN = "plain"
    ENTITY = "entity"
    HOUSEHOLD = "household"
    WEIGHT = "weight"
    DROP = "drop"


ENCODED = (Role.QUASI, Role.SENSITIVE, Role.ENTITY, Role.HOUSEHOLD, Role.WEIGHT)
"""The roles whose values are looked at; other columns are published as they are, or not at all."""


NAMING = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD)
"""The roles of columns that name people or households, of which nothing but pseudonyms is ever published."""
WITHHELD = (*NAMING, Role.WEIGHT, Role.DROP)
"""The roles of columns of which no value is published."""
FILLED = {
    Role.ENTITY: "nobody knows whose they are",
    Role.HOUSEHOLD: "nobody knows which household they belong to",
    Role.WEIGHT: "nobody knows how many people they stand for",
}
"""The roles of columns that must have a value in every record, and what a record without one leaves open."""


class Kind(StrEnum):
    """What a column's values are."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    DATE = "date"
    TEXT = "text"


class Missing(StrEnum):
    """What a missing value means: a value of its own, a reason to refuse, or a record to leave out."""

    VALUE = "value"
    REFUSE = "refuse"
    DROP = "drop"


def with_roles(names: Sequence[str], roles: Mapping[str, Role]) -> list[str]:
    """The columns of a table that an engine encodes; a table without any, but for whose its records are
    and what they weigh, is refused."""
    named = [name for name in names if roles[name] in ENCODED]
    if all(roles[name] in FILLED for name in named):
        raise SchemaError("no column has a role; name quasi-identifiers, and sensitive attributes where there are any")
    return named


def refused(name: str, role: Role, absent: int, records: int) -> InputError:
    """The error of a column that must not lack a value and does."""
    lacks = f"column {name!r} lacks a value in {absent:,} of {records:,} records"
    if role in FILLED:
        return InputError(f"{lacks}, so that {FILLED[role]}; fill them in or leave these records out")
    return InputError(f"{lacks}; its rule refuses that")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: its role, its kind, the format of its dates or numbers where it is none that needs no word, its
    hierarchy and its missing-value rule."""

    name: str
    role: Role
    kind: Kind
    form: str | None = None
    hierarchy: Hierarchy | None = None
    missing: Missing = Missing.VALUE


@dataclass(frozen=True)
class Notation:
    """What the values of a published column are, by which equal ones are known, and the format that dates among them
    are spelled in; None: ISO."""

    kind: Kind
    form: str | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in the table's order.

    `order` is the order in which roles were given. Attributes are always taken in that order, so that the order
    of the table's columns changes nothing. When the schema is `strict`, each sensitive attribute is protected also
    against whoever knows the other ones. The `household_variables` are said to be the same for all members of a
    household.
    """

    columns: tuple[Column, ...]
    order: tuple[str, ...] = ()
    strict: bool = False
    household_variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            twice = [f"{quoted(name)} ({count} times)" for name, count in Counter(names).items() if count > 1]
            raise SchemaError(f"column names occur more than once: {', '.join(twice)}; rename them")

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def _by_role(self) -> dict[Role, tuple[str, ...]]:
        order = self.order or self.names
        return {role: tuple(name for name in order if self[name].role is role) for role in Role}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise unknown_columns([name], self.names)
        return self._by_name[name]

    def named(self, role: Role) -> tuple[str, ...]:
        """The names of the columns that have a role."""
        return self._by_role[role]

    def without_role(self, names: Collection[str]) -> Schema:
        """The schema in which some columns are plain."""
        columns = (
            replace(column, role=Role.PLAIN, hierarchy=None) if column.name in names else column
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self.named(Role.SENSITIVE)

    @property
    def identifiers(self) -> tuple[str, ...]:
        return self.named(Role.IDENTIFIER)

    def hierarchy_of(self, name: str) -> Hierarchy:
        """The hierarchy of a column whose values are looked at."""
        hierarchy = self[name].hierarchy
        if hierarchy is None:
            raise SchemaError(f"column {name!r} has no hierarchy")
        return hierarchy

    @cached_property
    def notations(self) -> dict[str, Notation]:
        """How the values of quasi-identifiers and sensitive attributes are spelled where they are published."""
        return {name: Notation(self[name].kind, self[name].form) for name in (*self.quasi, *self.sensitive)}

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of the quasi-identifiers."""
        return tuple(tree for name in self.quasi if (tree := self[name].hierarchy) is not None)

    @property
    def person(self) -> str | None:
        """The column that says whose each record is; without one every record is a person of its own."""
        return next(iter(self.named(Role.ENTITY)), None)

    @property
    def household(self) -> str | None:
        """The column that says to which household the person of each record belongs, where there is one."""
        return next(iter(self.named(Role.HOUSEHOLD)), None)

    @property
    def owners(self) -> tuple[str, ...]:
        """The columns of people and households, as far as there are such."""
        return (*self.named(Role.ENTITY), *self.named(Role.HOUSEHOLD))

    @property
    def weight(self) -> str | None:
        """The column of survey weights; without one a record stands for nobody else."""
        return next(iter(self.named(Role.WEIGHT)), None)

    def with_columns(self, columns: Iterable[Column]) -> Schema:
        """The same schema with some columns described anew."""
        changed = {column.name: column for column in columns}
        return replace(self, columns=tuple(changed.get(column.name, column) for column in self.columns))


def roles(
    names: Iterable[str],
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str],
    identifiers: Iterable[str],
    person: Iterable[str] = (),
    household: Iterable[str] = (),
    weight: Iterable[str] = (),
    drop: Iterable[str] = (),
) -> dict[str, Role]:
    """The role of every column of a table, those that were given one first; an unknown name or a second role is an
    error."""
    assigned = dict.fromkeys(names, Role.PLAIN)
    given: dict[str, Role] = {}
    each = (
        (Role.QUASI, quasi), (Role.SENSITIVE, sensitive), (Role.IDENTIFIER, identifiers), (Role.ENTITY, person),
        (Role.HOUSEHOLD, household), (Role.WEIGHT, weight), (Role.DROP, drop),
    )  # fmt: skip
    for role, chosen in each:
        chosen = list(chosen)
        unknown = [name for name in chosen if name not in assigned]
        if unknown:
            raise unknown_columns(unknown, assigned)
        for name in chosen:
            if assigned[name] is not Role.PLAIN:
                raise SchemaError(f"column {name!r} was given twice: as {assigned[name]} and as {role}; choose one")
            assigned[name] = given[name] = role
    return {**given, **assigned}
