"""What several forms share: the columns they show, views that read tables, and groups that have numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.contracts.form import View
from shoal.core.contracts.table import SheetColumn, What
from shoal.core.finding import Finding
from shoal.core.grouping import Codes
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Plan
from shoal.core.schema import NAMING, Role, Schema
from shoal.errors import VerificationError


@dataclass(frozen=True, eq=False)
class TableView(View):
    """Reads the tables of a release, the classes of the main one once."""

    release: PublishedTables
    truthful: ClassVar[bool] = True

    @cached_property
    def _people(self) -> Classes:
        return self.release.grouped("", self.release.schema.quasi)

    def people(self) -> Classes:
        return self._people


def columns_of(schema: Schema, what: Mapping[Role, What], *, pseudonyms: bool) -> tuple[SheetColumn, ...]:
    """The columns of a table in the order of the schema, by what is shown of each role; columns that name people are
    shown as pseudonyms, where there are some."""
    every: dict[Role, What] = {**what, **(dict.fromkeys(NAMING, "pseudonym") if pseudonyms else {})}
    return tuple(
        SheetColumn(name=column.name, what=every[column.role]) for column in schema.columns if column.role in every
    )


def placement_of(plan: Plan, numbers: Iterable[str | None], groups: str) -> Codes:
    """For each class of a plan, the place of its published number; negative: nothing of it is published."""
    published = np.array([int(number or -1) for number in numbers], np.int32)
    if not np.array_equal(np.sort(published), np.flatnonzero(plan.published)):
        raise VerificationError(f"the published {groups} are not those that were decided on")
    placement = np.full(plan.count, -1, np.int32)
    placement[published] = np.arange(len(published))
    return placement


def agreement(agree: bool, how: str, *, name: str = "tables-agree") -> tuple[Finding, ...]:
    """Whether what a release says in several places agrees, as a finding."""
    return (Finding(name=name, value="yes" if agree else "no", holds=agree, how=how),)
