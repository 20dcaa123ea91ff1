"""The table of a session, looked at once: every column encoded, so that roles can change without reading it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal import registry
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Hierarchy
from shoal.core.households import check_households
from shoal.core.read_request import Description, Opening
from shoal.core.run import Run
from shoal.core.schema import FILLED, Kind, Role, refused
from shoal.core.values import Values
from shoal.core.weights import check_weights
from shoal.errors import InputError, ShoalError
from shoal.job.arguments import arguments
from shoal.job.columns import ColumnJob
from shoal.job.job import Job

PREVIEWED = 8
"""Records that a preview shows."""


@dataclass(frozen=True, eq=False)
class Look:
    """Every column of a table. `doubts` are questions about how a column is read that somebody has to answer before it
    can have a role; `unreadable` columns cannot have one."""

    data: Dataset
    doubts: Mapping[str, str]
    unreadable: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return self.data.schema.names

    def with_roles(self, columns: Mapping[str, ColumnJob], household_variables: tuple[str, ...] = ()) -> Dataset:
        """The table as somebody reads it who gives the columns these roles, and says that some are the same for a whole
        household; nothing is read again."""
        schema = self.data.schema
        roles = {name: columns[name].role if name in columns else Role.PLAIN for name in schema.names}
        for name, role in roles.items():
            hierarchy = schema[name].hierarchy
            if role in FILLED and hierarchy is not None and hierarchy.missing:
                raise refused(name, role, int((self.data.codes(name) == 0).sum()), self.data.records)
        chosen = tuple(replace(column, role=roles[column.name]) for column in schema.columns)
        schema = replace(schema, columns=chosen, household_variables=household_variables)
        check_households(schema, self.data.table)
        check_weights(schema, self.data.table)
        return replace(self.data, schema=schema)

    def preview(self) -> list[list[str]]:
        """The first records, for whoever asks to see them. Missing values are empty."""
        columns = []
        for name in self.names:
            hierarchy = self.data.schema[name].hierarchy
            if hierarchy is None:
                columns.append(["…"] * min(PREVIEWED, self.data.records))
                continue
            codes = self.data.codes(name)[:PREVIEWED]
            columns.append([str(hierarchy.labels[0][code] or "") for code in codes])
        return [list(row) for row in zip(*columns, strict=True)]


def look_at(job: Job, run: Run) -> Look:
    """Looks at every column of a job's table."""
    if job.input is None:
        raise InputError("choose a table first")
    engine = job.engine or registry.engine()
    run.report(0.1, "opening the file")
    opened = engine.open(job.input, Opening(**arguments(job, "open")))
    run.report(0.2, "reading the columns")
    try:
        return _encode(engine, opened, job, opened.names, {})
    except ShoalError:  # some column cannot be read: find out which
        values = engine.profile(opened).values
        unreadable = {name: reason for name, reason in values.items() if isinstance(reason, str)}
        if not unreadable or len(unreadable) == len(values):
            raise
        run.check()
        return _encode(engine, opened, job, [name for name in opened.names if name not in unreadable], unreadable)


def _encode(engine: Any, opened: Any, job: Job, names: Any, unreadable: Mapping[str, str]) -> Look:
    doubts: dict[str, str] = {}
    readable = set(names)

    def hierarchy_for(values: Values, role: Role) -> Hierarchy:
        if values.doubt is not None:
            doubts[values.column] = values.doubt
        return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)

    described = {name: column for name, column in job.columns.items() if name in readable}
    description = Description(
        roles={name: Role.QUASI if name in readable else Role.PLAIN for name in opened.names},
        hierarchy_for=hierarchy_for,
        kinds={name: column.kind for name, column in described.items() if column.kind},
        formats={
            name: form for name, column in described.items() if (form := column.date_format or column.number_format)
        },
        possible_codes=[name for name in readable if name not in described or described[name].hierarchy is None],
    )
    return Look(Dataset.read(engine, opened, description), doubts, unreadable)


def kind_of(look: Look, name: str) -> Kind:
    """What a column's values are."""
    return look.data.schema[name].kind


def distinct(look: Look, name: str) -> int:
    """How many different values a column has, the missing one apart."""
    hierarchy = look.data.schema[name].hierarchy
    return 0 if hierarchy is None else int(hierarchy.size - hierarchy.missing)


def missing_share(look: Look, name: str) -> float:
    """The share of the records that lack a value."""
    hierarchy = look.data.schema[name].hierarchy
    if hierarchy is None or not hierarchy.missing:
        return 0.0
    return float(np.mean(look.data.codes(name) == 0))
