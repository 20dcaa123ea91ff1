"""Two tables: quasi-identifiers as they are, sensitive values by group (Xiao and Tao, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Distribution, Form, Linked
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet, SheetColumn, What
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes, Groups, group
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.core.schema import Role, Schema
from shoal.errors import InputError, NotDefined, SchemaError
from shoal.forms._reading import TableView, agreement, columns_of, placement_of
from shoal.publishing.decision import check_groups, check_people

GROUP, COUNT = "group", "count"


@dataclass(frozen=True, kw_only=True)
class TwoTableForm(Form):
    """The main table has the quasi-identifiers as they are and a group number; a second one says how often each group
    has each sensitive value.

    Which record of a group has which value is not told.

    Does not protect against: being found. Who is in the table is told, because the quasi-identifiers are precise.

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
        what: dict[Role, What] = {Role.QUASI: "raw", Role.PLAIN: "raw"}
        columns = columns_of(schema, what, pseudonyms=pseudonyms)
        group = SheetColumn(name=GROUP, what="group")
        (name,) = schema.sensitive
        values, count = SheetColumn(name=name, what="raw"), SheetColumn(name=COUNT, what="count")
        return Sheet(part="", columns=(*columns, group)), Sheet(part="sensitive", columns=(group, values, count))

    def view(self, release: PublishedTables) -> TwoTableView:
        return TwoTableView(release)


@dataclass(frozen=True, eq=False)
class TwoTableView(TableView):
    """Exact people, and groups of sensitive values."""

    @cached_property
    def _groups(self) -> Classes:
        return self.release.grouped("sensitive", (GROUP,), count=COUNT)

    def groups(self) -> Classes:
        return self._groups

    def judged_by(self, model: Model) -> Classes:
        if model.identity and model.needs_sensitive:
            raise NotDefined(
                f"{type(model).__name__} is about people and their values at once, which two tables keep apart"
            )
        return super().judged_by(model)

    @cached_property
    def _cells(self) -> Cells:
        return self.release.raw_cells_of(self._people)

    def cells(self) -> Cells:
        return self._cells

    @cached_property
    def _rows(self) -> Groups:
        """The distinct rows of the main table: leaves of the quasi-identifiers and the place of the group."""
        quasi = self.release.schema.quasi
        rows = self.release.grouped("", (*quasi, GROUP))
        leaves = self.release.raw_cells_of(replace(rows, attributes=quasi, keys=rows.keys[:-1])).low
        places = {label: place for place, label in enumerate(self.release.tables["sensitive"].labels(GROUP))}
        labels = self.release.tables[""].labels(GROUP)
        unknown = sum(label not in places for label in labels)
        if unknown:
            raise InputError(f"{unknown} groups of the main table are not in the other table")
        groups = np.array([places[label] for label in labels], np.int32)[rows.keys[-1]]
        radices = [int(codes.max(initial=0)) + 1 for codes in leaves]
        return group([*leaves, groups], [*radices, len(places)], weights=rows.sizes)

    def distributions(self) -> tuple[Distribution, ...]:
        rows, histogram = self._rows, self._groups.histogram()
        owners = histogram.owners.astype(np.int32)
        return (
            Distribution(self.release.schema.quasi, rows.keys[-1], rows.keys[:-1], rows.counts),
            Distribution((histogram.column,), owners, histogram.values[None], histogram.counts),
        )

    def candidates(self, people: Codes) -> Candidates:
        """The groups that have a record with exactly the person's values, by how many they have."""
        rows = self._rows
        # Rows stand in the order of their keys, so those of one tuple stand together.
        fresh = np.append(True, np.any(np.diff(rows.keys[:-1], axis=1) != 0, axis=0))
        firsts = np.append(np.flatnonzero(fresh), len(fresh))
        tuples = {tuple(leaves): place for place, leaves in enumerate(rows.keys[:-1, firsts[:-1]].T.tolist())}
        counts, groups, chances = [], [], []
        for person in people.T.tolist():
            at = tuples.get(tuple(person))
            some = slice(0, 0) if at is None else slice(firsts[at], firsts[at + 1])
            sizes = rows.counts[some]
            counts.append(len(sizes))
            groups += rows.keys[-1, some].tolist()
            chances += (sizes / max(sizes.sum(), 1)).tolist()
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        return Candidates(starts, np.array(groups, np.int32), np.array(chances, np.float64))

    def linked(self) -> tuple[Linked, ...]:
        people = tuple(name for name in self.release.published.names if name != GROUP)
        return (
            Linked(part="", columns=people, group=(GROUP,)),
            Linked(part="sensitive", columns=self.release.schema.sensitive, group=(GROUP,), count=COUNT),
        )

    def placement(self, recoding: Recoding) -> Codes:
        return placement_of(recoding.planned, self.release.tables["sensitive"].labels(GROUP), "groups")

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        plan, placement = recoding.planned, self.placement(recoding)
        check_groups(dataset, plan, self._groups, placement, self.release.seed)
        check_people(dataset, plan, self._rows, placement)

    def _sizes(self, part: str, groups: Classes) -> dict[str | None, int]:
        labels = self.release.tables[part].labels(GROUP)
        return {labels[key]: size for key, size in zip(groups.keys[0].tolist(), groups.sizes.tolist(), strict=True)}

    def agreement(self) -> tuple[Finding, ...]:
        listed, counted = self._sizes("", self.release.grouped("", (GROUP,))), self._sizes("sensitive", self._groups)
        return agreement(
            listed == counted, "records of each group in the main table, held against the counts of the other"
        )
