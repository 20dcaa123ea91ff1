"""How a table is opened, and what is said of its columns before it is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import FILLED, Column, Kind, Missing, Role, Schema
from shoal.core.values import Values

HierarchyFor = Callable[[Values, Role], Hierarchy]
"""Gives a column its hierarchy once its distinct values are known."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How a file or a frame is opened.

    `delimiter`, `encoding` and `format` of a file are found out unless they are given; `missing` has the spellings of a
    missing value besides the empty one; `sheet` is that of a workbook. With `rename_duplicates`, names that occur more
    than once are numbered; else they are refused. With `neutralize`, texts that a spreadsheet would take for a formula
    get an apostrophe in front.
    """

    delimiter: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    format: str | None = None
    sheet: str | None = None
    rename_duplicates: bool = False
    neutralize: bool = False


AS_IT_IS = Opening()


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is said of the columns of a table.

    Every column has a role; attributes are taken in the order of the roles. The `kinds` of columns, and the `formats`
    of their dates or numbers, are found out unless they are given; a missing value counts as a value unless
    `missing_rules` say otherwise. Few whole numbers in one of the `possible_codes` are taken as codes, not quantities.
    Columns that are only `known` are encoded, and records are hashed as if they were not.
    """

    roles: Mapping[str, Role]
    hierarchy_for: HierarchyFor
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing_rules: Mapping[str, Missing] = field(default_factory=dict)
    strict: bool = False
    household_variables: tuple[str, ...] = ()
    possible_codes: Collection[str] = ()
    known: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, columns: Iterable[Column], hierarchy_for: HierarchyFor, *, roles: Mapping[str, Role] | None = None,
        strict: bool = False, household_variables: tuple[str, ...] = (), known: frozenset[str] = frozenset(),
    ) -> Description:  # fmt: skip
        """Columns as they were read before, but for their hierarchies, and for their roles where others are given."""
        every = {column.name: column for column in columns}
        encoded = [column for column in every.values() if column.hierarchy is not None]
        return cls(
            roles={name: column.role if roles is None else roles[name] for name, column in every.items()},
            hierarchy_for=hierarchy_for,
            kinds={column.name: column.kind for column in encoded},
            formats={column.name: column.form for column in encoded if column.form is not None},
            missing_rules={column.name: column.missing for column in encoded},
            strict=strict,
            household_variables=household_variables,
            known=known,
        )

    def rule(self, name: str) -> Missing:
        """What becomes of records without a value; nobody can be without a person, a household or a weight."""
        given = self.missing_rules.get(name, Missing.VALUE)
        return Missing.REFUSE if self.roles[name] in FILLED else given

    def hierarchy(self, values: Values) -> Hierarchy:
        """The hierarchy of a column."""
        return self.hierarchy_for(values, self.roles[values.column])

    def column(self, values: Values, hierarchy: Hierarchy) -> Column:
        """A column that was encoded."""
        name = values.column
        return Column(
            name=name, role=self.roles[name], kind=values.kind, form=values.form, hierarchy=hierarchy,
            missing=self.missing_rules.get(name, Missing.VALUE),
        )  # fmt: skip

    def schema(self, names: Sequence[str], encoded: Mapping[str, Column]) -> Schema:
        """The schema of a table with such columns; those that were not encoded stay as they are."""
        columns = [
            encoded.get(name)
            or Column(
                name=name, role=self.roles[name], kind=self.kinds.get(name, Kind.TEXT),
                missing=self.missing_rules.get(name, Missing.VALUE),
            )
            for name in names
        ]  # fmt: skip
        return Schema(tuple(columns), tuple(self.roles), self.strict, self.household_variables)
