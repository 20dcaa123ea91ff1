"""DraftRelease: what a plan would publish, measured before anything is published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes, summarize
from shoal.core.codebook import Cells, cells_of_entries, merged_cells
from shoal.core.contracts.form import Candidates, Form, Linked, View
from shoal.core.contracts.table import Published, Sheet
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.policy import Policy
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Plan, Recoding
from shoal.core.release import Release
from shoal.core.schema import Schema
from shoal.errors import NotDefined

UNPUBLISHED = "it needs the published table, and this is only a draft of it"


@dataclass(frozen=True, eq=False)
class DraftRelease(Release):
    """A release that nobody made: its classes and cells follow from the plan alone.

    Measures that need no more score it as they would score the release. It is never handed out.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
        >>> draft = DraftRelease.of(data, release.recoding, release.policy)
        >>> shoal.metrics.Gcp().score(data, draft).value == shoal.metrics.Gcp().score(data, release).value
        True
    """

    @classmethod
    def of(cls, dataset: Dataset, recoding: Recoding, policy: Policy) -> DraftRelease:
        """The draft of a recoding that has a plan."""
        form = _Planned(dataset=dataset, plan=recoding.planned)
        return cls(
            form=form, tables={}, schema=dataset.schema, records=dataset.records, engine=dataset.engine, policy=policy,
            recoding=recoding,
        )  # fmt: skip

    @property
    def published(self) -> Published:
        raise NotDefined(UNPUBLISHED)

    @property
    def suppressed(self) -> int:
        return self.records - int(self.view.people().sizes.sum())


@dataclass(frozen=True, kw_only=True)
class _Planned(Form):
    """The form of a draft."""

    dataset: Dataset
    plan: Plan

    def __post_init__(self) -> None:
        """Nothing of it was typed in by a user, so nothing is validated."""

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        raise NotDefined(UNPUBLISHED)

    def view(self, release: PublishedTables) -> _PlannedView:
        return _PlannedView(self.dataset, self.plan)


@dataclass(frozen=True, eq=False)
class _PlannedView(View):
    """The classes that a plan publishes alike."""

    dataset: Dataset
    plan: Plan
    truthful: ClassVar[bool] = True

    def linked(self) -> tuple[Linked, ...]:
        raise NotDefined(UNPUBLISHED)

    @cached_property
    def _classes(self) -> Classes:
        owners = self.plan.owners
        index = np.where(owners >= 0, self.plan.placement[owners], np.int32(-1))
        if not self.plan.by_record:
            index = np.repeat(index, self.dataset.summary.sizes)
        classes = summarize(["class"], [index[index >= 0]], [self.plan.count], [])
        return replace(classes, records=self.dataset.records)

    def people(self) -> Classes:
        return self._classes

    def groups(self) -> Classes:
        raise NotDefined(UNPUBLISHED)

    @cached_property
    def _cells(self) -> Cells:
        chosen = np.flatnonzero(self.plan.published)
        cells = cells_of_entries(self.plan.codebooks, self.plan.cells[:, chosen])
        return merged_cells(cells, self.plan.placement[chosen], len(self._classes))

    def cells(self) -> Cells:
        return self._cells

    def candidates(self, people: Codes) -> Candidates:
        raise NotDefined(UNPUBLISHED)

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        raise NotDefined(UNPUBLISHED)
