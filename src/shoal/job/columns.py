"""What a job says of columns: the role of each, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.job.kinds import DateFormatKind, NumberFormatKind
from shoal.job.option import option

if TYPE_CHECKING:
    from shoal.core.contracts.builder import Builder
    from shoal.core.schema import Kind, Missing, Role

TABLE = frozenset({"anonymize", "attack", "balance", "compare", "diagnose", "evaluate", "report"})
READING = TABLE | {"apply", "hierarchy"}
"""Commands that have the same options: those that open a table with roles, or any table."""


def plain_role() -> Role:
    """The role of a column that nothing is said of."""
    from shoal.core.schema import Role

    return Role.PLAIN


def _value() -> Missing:
    from shoal.core.schema import Missing

    return Missing.VALUE


@dataclass(frozen=True, kw_only=True)
class ColumnJob:
    """What a job says of one column."""

    role: Role = option(
        plain_role, "role",
        "Role of the column: identifier, quasi, sensitive, plain, entity, household, weight or drop.", public=True,
    )  # fmt: skip
    kind: Kind | None = option(
        None, "kind", "Kind of a column: COLUMN=numeric|categorical|date|text (default: detected). Repeatable.",
        READING, verbs="read", argument="kinds", public=True,
    )  # fmt: skip
    date_format: str | None = option(
        None, "date_format",
        "How a column writes dates: COLUMN=day-first|month-first|iso, or a pattern such as COLUMN=%d.%m.%y (default: "
        "detected). Repeatable.",
        READING, verbs="read", argument="date_formats", kind=DateFormatKind(), public=True,
    )  # fmt: skip
    number_format: str | None = option(
        None, "number_format",
        "How a column writes numbers: COLUMN=decimal-comma|decimal-point (default: detected). Repeatable.",
        READING, verbs="read", argument="number_formats", kind=NumberFormatKind(), public=True,
    )  # fmt: skip
    hierarchy: Builder | None = option(
        None, "hierarchy", "Hierarchy of a column: COLUMN=FILE or COLUMN=BUILDER:key=value,… Repeatable.",
        TABLE, verbs="read", argument="column_hierarchies", public=True, logged=False,
    )  # fmt: skip
    missing: Missing = option(
        _value, "missing",
        "What to do with missing values of a column: COLUMN=value|refuse|drop (default: value). Repeatable.",
        TABLE, flags="--missing-rule", verbs="read", argument="missing_rules", public=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns that have each role, as commands and Python take them; a job file has the role of each column."""

    quasi: tuple[str, ...] = option(
        (), "", "Quasi-identifiers: columns that outsiders may know, separated by commas.", TABLE, verbs="read"
    )
    sensitive: tuple[str, ...] = option(
        (), "", "Sensitive columns: what nobody should learn about a person, separated by commas.", TABLE, verbs="read"
    )
    identifiers: tuple[str, ...] = option(
        (), "", "Columns that name a person, such as a name or number, separated by commas; they are dropped.", TABLE,
        verbs="read",
    )  # fmt: skip
    person: str | None = option(
        None, "", "Column that identifies the person of each row; people are then counted instead of rows.", TABLE,
        verbs="read",
    )  # fmt: skip
    household: str | None = option(
        None, "", "Column that identifies the household of each person; it is dropped.", TABLE, verbs="read"
    )
    weight: str | None = option(
        None, "", "Column of survey weights: how many people of the population each row stands for; it is dropped.",
        TABLE, verbs="read",
    )  # fmt: skip
    drop: tuple[str, ...] = option(
        (), "", "Other columns to leave out of the release, separated by commas.", TABLE, verbs="read"
    )


def role_of(name: str) -> Role:
    """The role that a field of `Roles` lists the columns of."""
    from shoal.core.schema import Role

    return {
        "quasi": Role.QUASI, "sensitive": Role.SENSITIVE, "identifiers": Role.IDENTIFIER, "person": Role.ENTITY,
        "household": Role.HOUSEHOLD, "weight": Role.WEIGHT, "drop": Role.DROP,
    }[name]  # fmt: skip


SINGLE = {
    "person": "identify the person of a record",
    "household": "identify the household of a person",
    "weight": "say how many people a record stands for",
}
"""The roles that only one column can have, and what it does."""
