"""Schema: what each column of a table is and what may be done with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from shoal.core.hierarchy import Hierarchy
from shoal.errors import SchemaError, unknown_columns


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    PLAIN = "plain"


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
class Schema:
    """The columns of a table, in the table's order.

    `order` is the order in which roles were given. Attributes are always taken in that order, so that the order
    of the table's columns changes nothing. When the schema is `strict`, each sensitive attribute is protected also
    against whoever knows the other ones.
    """

    columns: tuple[Column, ...]
    order: tuple[str, ...] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise SchemaError(f"{len(names) - len(set(names))} column names occur more than once; rename them")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_columns([name], self.names)

    def named(self, role: Role) -> tuple[str, ...]:
        """The names of the columns that have a role."""
        return tuple(name for name in self.order or self.names if self[name].role is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self.named(Role.SENSITIVE)

    @property
    def identifiers(self) -> tuple[str, ...]:
        return self.named(Role.IDENTIFIER)

    def with_columns(self, columns: Iterable[Column]) -> Schema:
        """The same schema with some columns described anew."""
        changed = {column.name: column for column in columns}
        return replace(self, columns=tuple(changed.get(column.name, column) for column in self.columns))


def roles(
    names: Iterable[str], *, quasi: Iterable[str], sensitive: Iterable[str], identifiers: Iterable[str]
) -> dict[str, Role]:
    """The role of every column of a table, those that were given one first; an unknown name or a second role is an
    error."""
    assigned = dict.fromkeys(names, Role.PLAIN)
    given: dict[str, Role] = {}
    for role, chosen in ((Role.QUASI, quasi), (Role.SENSITIVE, sensitive), (Role.IDENTIFIER, identifiers)):
        chosen = list(chosen)
        unknown = [name for name in chosen if name not in assigned]
        if unknown:
            raise unknown_columns(unknown, assigned)
        for name in chosen:
            if assigned[name] is not Role.PLAIN:
                raise SchemaError(f"column {name!r} was given twice: as {assigned[name]} and as {role}; choose one")
            assigned[name] = given[name] = role
    return {**given, **assigned}
