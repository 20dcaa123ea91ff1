"""What a form must offer: which tables are published, and what an attacker reads from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Parametrized
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.core.schema import Schema
from shoal.errors import NotDefined


@dataclass(frozen=True, eq=False)
class Candidates:
    """Where people can be: person `p` is in class `classes[i]` with probability `chances[i]`, for `i` from
    `starts[p]` up to `starts[p + 1]`; nowhere when there is none."""

    starts: Counts
    classes: Codes
    chances: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Linked:
    """Columns of a published table that stand together for a record.

    Which row belongs to which row of another such set is told only as far as both are of the same group, which the
    columns `group` name. Rows count as often as the column `count` says. With `multisets`, a cell of the one column
    holds the values of the whole group.
    """

    part: str
    columns: tuple[str, ...]
    group: tuple[str, ...] = ()
    count: str | None = None
    multisets: bool = False


@dataclass(frozen=True, eq=False)
class Distribution:
    """What a form publishes of some columns together: part `groups[e]` of the records has, `counts[e]` times, the
    leaves `leaves[:, e]` in the `columns`."""

    columns: tuple[str, ...]
    groups: Codes
    leaves: Codes
    counts: Counts


class View(ABC):
    """What an attacker can read from a release. What a form does not tell is refused with the reason."""

    truthful: ClassVar[bool]
    """Whether what is published of a record is true of it, however coarse."""

    @abstractmethod
    def people(self) -> Classes:
        """The records that nobody can tell apart by the published quasi-identifiers."""

    @abstractmethod
    def groups(self) -> Classes:
        """The groups that tell about the sensitive values of their members."""

    def judged_by(self, model: Model) -> Classes:
        """The classes that a model is about."""
        return self.people() if model.identity else self.groups()

    @abstractmethod
    def cells(self) -> Cells:
        """How precise the published values of `people` are."""

    @abstractmethod
    def candidates(self, people: Codes) -> Candidates:
        """The groups in which people can be whose quasi-identifiers are the leaves `people[:, p]`."""

    def placement(self, recoding: Recoding) -> Codes:
        """For each class of a plan, the group that it is published as; negative: nothing of it is published."""
        raise NotDefined("this form does not say in which group a person is")

    @abstractmethod
    def linked(self) -> tuple[Linked, ...]:
        """Which published columns stand together for a record."""

    def owners(self, dataset: Dataset, recoding: Recoding) -> Codes:
        """For each entry of a plan of the dataset, the group that it is published in; negative: it is not."""
        owners = recoding.planned.owners
        groups: Codes = np.where(owners >= 0, self.placement(recoding)[owners], np.int32(-1)).astype(np.int32)
        return groups

    def distributions(self) -> tuple[Distribution, ...]:
        """What is published of columns that stand together, part by part of the records; nothing is told about how
        columns of different distributions go together inside a part."""
        raise NotDefined("this form publishes ranges of values, not how often each value occurs")

    @abstractmethod
    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        """Raises `VerificationError` unless the published tables of the dataset say what was decided."""

    def agreement(self) -> tuple[Finding, ...]:
        """Whether the tables of a release agree with one another, where a form has several."""
        return ()


class Form(Parametrized, ABC):
    """A way to publish: which tables there are, and what an attacker reads from them."""

    @abstractmethod
    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        """The tables that are published; the main one, whose part has no name, first."""

    @abstractmethod
    def view(self, release: PublishedTables) -> View:
        """What the published tables of a release say."""
