"""Generalized: one table in which quasi-identifiers are less precise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.adversary.fitting import pairs
from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Form, Linked
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet, What
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import TOP
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.core.schema import Role, Schema
from shoal.forms._reading import TableView, columns_of
from shoal.publishing.decision import check_plan

REMEMBERED, TABLES = 1 << 24, 2
"""Pairs of people and classes up to which they are found once, and of how many tables of people."""


@dataclass(frozen=True, kw_only=True)
class GeneralizedForm(Form):
    """One table. Quasi-identifiers are published as raw values, ranges, nodes of their hierarchies or means; everything
    else as it is.

    A record is one of its class, and the class has the sensitive values that it shows: both questions, who it is and
    what the person has, are about the same classes.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> release.view.people().sizes.tolist(), release.view.cells().low.tolist()
        ([2, 2], [[0, 2]])
    """

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        what: dict[Role, What] = {Role.QUASI: "cell", Role.SENSITIVE: "raw", Role.PLAIN: "raw"}
        return (Sheet(part="", columns=columns_of(schema, what, pseudonyms=pseudonyms)),)

    def view(self, release: PublishedTables) -> GeneralizedView:
        return GeneralizedView(release)


@dataclass(frozen=True, eq=False)
class GeneralizedView(TableView):
    """The classes of equal published values."""

    def groups(self) -> Classes:
        return self._people

    def judged_by(self, model: Model) -> Classes:
        return replace(self._people, hidden=self._hidden) if model.wildcards else super().judged_by(model)

    @cached_property
    def _hidden(self) -> Codes:
        """The code of a hidden cell in each quasi-identifier; negative: there is none."""
        labels = [list(self.release.published.labels(name)) for name in self._people.attributes]
        return np.array([each.index(TOP) if TOP in each else -1 for each in labels], np.int32)

    @cached_property
    def _cells(self) -> Cells:
        return self.release.cells_of(self._people)

    def cells(self) -> Cells:
        return self._cells

    def candidates(self, people: Codes) -> Candidates:
        """Every class whose ranges hold the person, by its number of records: each record there may be the person's.

        The last tables that were asked about are remembered: one attack after the other asks about the same people.
        """
        if (found := self._remembered.get(id(people))) is not None:
            return found[1]
        candidates = self._candidates(people)
        if len(candidates.classes) <= REMEMBERED:
            if len(self._remembered) >= TABLES:
                self._remembered.clear()
            self._remembered[id(people)] = (people, candidates)
        return candidates

    @cached_property
    def _remembered(self) -> dict[int, tuple[Codes, Candidates]]:
        """Candidates that were found before; the people stand beside them so that no others get their place."""
        return {}

    def _candidates(self, people: Codes) -> Candidates:
        cells, sizes = self._cells, self._people.sizes
        fits = list(pairs(cells.low, cells.high, people))
        persons, classes = (np.concatenate([block[at] for block in fits] or [np.zeros(0, np.int64)]) for at in (0, 1))
        totals = np.bincount(persons, weights=sizes[classes], minlength=people.shape[1])
        starts = np.searchsorted(persons, np.arange(people.shape[1] + 1)).astype(np.int64)
        return Candidates(starts, classes.astype(np.int32), sizes[classes] / totals[persons])

    def linked(self) -> tuple[Linked, ...]:
        return (Linked(part="", columns=tuple(self.release.published.names)),)

    def placement(self, recoding: Recoding) -> Codes:
        return self.release.placement(recoding.planned, self._people)

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        check_plan(dataset, recoding.planned, self._people, self.placement(recoding), self.release.seed)
