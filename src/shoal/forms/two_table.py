"""Two tables: quasi-identifiers as they are, sensitive values by group (Xiao and Tao, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.contracts import Candidates, Cells, Form, Model, Sheet, Shown, View
from shoal.core.grouping import Codes
from shoal.core.release import Release
from shoal.core.schema import Role, Schema
from shoal.errors import NotDefined, SchemaError

GROUP, COUNT = "group", "count"


@dataclass(frozen=True, kw_only=True)
class TwoTable(Form):
    """The main table has the quasi-identifiers as they are and a group number; a second one says how often each group
    has each sensitive value.

    Which record of a group has which value is not told. Who is in the table is: the quasi-identifiers are precise, so
    nobody is hidden by it.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=1)
        >>> release.frames["sensitive"].columns, release.view.groups().sizes.tolist()
        (['group', 'disease', 'count'], [2, 2])
    """

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        if len(schema.sensitive) != 1:
            raise SchemaError(
                f"two tables take one sensitive attribute and the schema names {len(schema.sensitive)}; name one"
            )
        clashes = [name for name in (GROUP, COUNT) if name in schema.names]
        if clashes:
            raise SchemaError(f"the column {clashes[0]!r} has the name of one that this form adds; rename it")
        what = {Role.QUASI: "raw", Role.PLAIN: "raw", Role.IDENTIFIER: "pseudonym"}
        columns = tuple(
            Shown(name=column.name, what=what[column.role])  # type: ignore[arg-type]
            for column in schema.columns
            if column.role in what and (column.role is not Role.IDENTIFIER or pseudonyms)
        )
        group = Shown(name=GROUP, what="group")
        (value,) = schema.sensitive
        return (
            Sheet(part="", columns=(*columns, group)),
            Sheet(part="sensitive", columns=(group, Shown(name=value, what="raw"), Shown(name=COUNT, what="count"))),
        )

    def view(self, release: Release) -> TwoTableView:
        return TwoTableView(release)


@dataclass(frozen=True, eq=False)
class TwoTableView(View):
    """Exact people, and groups of sensitive values."""

    release: Release
    truthful: ClassVar[bool] = True

    @cached_property
    def _people(self) -> Classes:
        return self.release.grouped("", self.release.schema.quasi)

    def people(self) -> Classes:
        return self._people

    @cached_property
    def _groups(self) -> Classes:
        return self.release.grouped("sensitive", (GROUP,), count=COUNT)

    def groups(self) -> Classes:
        return self._groups

    def judged_by(self, model: Model) -> Classes:
        if model.identity and not model.by_size:
            raise NotDefined(
                f"{type(model).__name__} is about people and their values at once, which two tables keep apart"
            )
        return super().judged_by(model)

    @cached_property
    def _cells(self) -> Cells:
        return self.release.raw_cells_of(self._people)

    def cells(self) -> Cells:
        return self._cells

    def candidates(self, people: Codes) -> Candidates:
        """The groups that have a record with exactly the person's values, by how many they have."""
        within = self.release.grouped("", (*self.release.schema.quasi, GROUP))
        numbers = {label: place for place, label in enumerate(self.release.tables["sensitive"].labels(GROUP))}
        shown = [numbers[label] for label in self.release.tables[""].labels(GROUP)]
        # Classes stand in the order of their keys, so those of one tuple stand together.
        tuples = {tuple(leaves): place for place, leaves in enumerate(self._cells.low.T.tolist())}
        fresh = np.append(True, np.any(np.diff(within.keys[:-1], axis=1) != 0, axis=0))
        firsts = np.append(np.flatnonzero(fresh), len(fresh))
        counts, groups, chances = [], [], []
        for person in people.T.tolist():
            at = tuples.get(tuple(person))
            some = slice(0, 0) if at is None else slice(firsts[at], firsts[at + 1])
            sizes = within.sizes[some]
            counts.append(len(sizes))
            groups += [shown[place] for place in within.keys[-1, some]]
            chances += (sizes / max(sizes.sum(), 1)).tolist()
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        return Candidates(starts, np.array(groups, np.int32), np.array(chances, np.float64))
