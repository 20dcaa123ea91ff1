"""Perturbed: one table in which some values are not the true ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Form, Linked, View
from shoal.core.contracts.table import Sheet, What
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.core.schema import WITHHELD, Role, Schema
from shoal.errors import NotDefined, VerificationError
from shoal.forms._reading import columns_of


@dataclass(frozen=True, kw_only=True)
class PerturbedForm(Form):
    """One table. The columns that a perturbation changed show values that need not be true of their record; all others
    are published as they are.

    There are no classes in it: that two records are equal says nothing about the people, and neither does that they
    differ. Models and metrics of classes are therefore not defined for it.

    Does not protect against: an estimate of the true values that is better than it looks. How far the values moved says
    how hard that is, and no model bounds it.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm="rank-swapping:share=0.5")
        >>> sorted(release.frame["age"]), release.view.truthful
        ([21, 22, 23, 24], False)
    """

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        what: dict[Role, What] = dict.fromkeys(Role, "changed")
        unnamed = {role: shown for role, shown in what.items() if role not in WITHHELD}
        return (Sheet(part="", columns=columns_of(schema, unnamed, pseudonyms=pseudonyms)),)

    def view(self, release: PublishedTables) -> PerturbedView:
        return PerturbedView(release)


@dataclass(frozen=True, eq=False)
class PerturbedView(View):
    """Refuses every question about classes, and says why."""

    release: PublishedTables
    truthful: ClassVar[bool] = False

    def _refuse(self) -> NoReturn:
        raise NotDefined("the values are perturbed: that records are equal, or differ, says nothing about the people")

    def people(self) -> Classes:
        self._refuse()

    def groups(self) -> Classes:
        self._refuse()

    def cells(self) -> Cells:
        self._refuse()

    def candidates(self, people: Codes) -> Candidates:
        self._refuse()

    def linked(self) -> tuple[Linked, ...]:
        return (Linked(part="", columns=tuple(self.release.published.names)),)

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        """Every record is published, and the changed columns hold the new values, each as often as was decided."""
        table = self.release.published
        if table.records != dataset.records:
            raise VerificationError("a perturbed table has another number of records than the original")
        for name, values in recoding.changed.items():
            if not np.array_equal(_counts(values), np.sort(table.group([name], []).sizes)):
                raise VerificationError(f"column {name!r}: the published values are not those that were decided on")


def _counts(values: NDArray[Any]) -> Counts:
    """How often each of some values occurs, ascending; missing ones are one value."""
    if values.dtype == object:
        return np.sort(np.array(list(Counter(values.tolist()).values()), np.int64))
    missing = np.isnan(values)
    counts = np.unique(values[~missing], return_counts=True)[1].astype(np.int64)
    return np.sort(np.append(counts, missing.sum()) if missing.any() else counts)
