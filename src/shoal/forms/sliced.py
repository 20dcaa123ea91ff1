"""Sliced: every bucket's columns as tables of their own (Li, Li, Zhang and Molloy, 2012)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from typing_extensions import Doc

from shoal.adversary.matching import entries_of, match
from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Distribution, Form, Linked, View
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet, SheetColumn, What
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes, Counts, group
from shoal.core.members import same_counts
from shoal.core.parameters import Examples
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.core.schema import NAMING, Role, Schema
from shoal.errors import InputError, NotDefined, SchemaError, VerificationError
from shoal.forms._reading import agreement, placement_of
from shoal.publishing.decision import check_members, check_people, people_of
from shoal.publishing.slices import Columns, Joint, blocks, checked, the_sensitive

BUCKET = "bucket"


@dataclass(frozen=True, kw_only=True)
class SlicedForm(Form):
    """A table for each group of columns that stand together: the number of the record's bucket and the columns as they
    are, a row a record.

    The order of the rows of a table follows from that table alone, so which row of one goes with which row of another
    is told by nothing but the bucket: putting the rows of a bucket side by side in any order gives a sliced table. The
    table that holds the sensitive attribute is the part `sensitive`, the first of the others is the main table; columns
    that nobody named, and pseudonyms, stand there.

    Whoever finds a person's bucket, and the quasi-identifiers that stand beside the sensitive attribute, knows the
    values that people like that have in the bucket, and nothing more. Where the sensitive attribute stands in several
    tables they can be joined on it; what is left then are values that can be exchanged for each other in all of them.

    Does not protect against: being found. Values are published as they are, so that whoever knows the columns of one
    table about a person may see that the person is there.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame(
        ...     {"age": [21, 22, 23, 24], "sex": list("FMFM"), "disease": ["flu", "hiv", "flu", "cold"]}
        ... )
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"])
        >>> slicing = shoal.algorithms.Slicing(columns=[["age"], ["sex"], ["disease"]])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=slicing, seed=1)
        >>> {part: frame.columns for part, frame in release.frames.items()}
        {'': ['age', 'bucket'], 'column-2': ['sex', 'bucket'], 'sensitive': ['disease', 'bucket']}
    """

    columns: Annotated[
        Columns, Doc("the attributes that stand together; by default all quasi-identifiers, and the sensitive one")
    ] = ()

    examples: ClassVar[Examples] = ({},)

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        value = the_sensitive(schema)
        if BUCKET in schema.names:
            raise SchemaError(f"the column {BUCKET!r} has the name of one that this form adds; rename it")
        columns = checked(schema, self.columns or (schema.quasi, (value,)), overlapping=True)
        main = next((at for at, column in enumerate(columns) if value not in column), 0)
        ordered = [columns[main], *columns[:main], *columns[main + 1 :]]
        named = {name for column in columns for name in column}
        parts, holding = [], 0
        for place, column in enumerate(ordered, start=1):
            holding += value in column
            part = f"column-{place}" if value not in column else "sensitive" if holding == 1 else f"sensitive-{holding}"
            parts.append("" if place == 1 else part)
        return tuple(
            Sheet(part=part, columns=(*_shown(schema, column, named, main=not part, pseudonyms=pseudonyms), _BUCKET))
            for part, column in zip(parts, ordered, strict=True)
        )

    def view(self, release: PublishedTables) -> SlicedView:
        return SlicedView(release)


_BUCKET = SheetColumn(name=BUCKET, what="group")


def _shown(
    schema: Schema, column: tuple[str, ...], named: set[str], *, main: bool, pseudonyms: bool
) -> tuple[SheetColumn, ...]:
    """What stands in a table, in the order of the schema."""
    shown = []
    for each in schema.columns:
        if each.role in (Role.DROP, Role.WEIGHT):
            continue
        what: What = "pseudonym" if each.role in NAMING else "raw"
        if each.name in column or (main and each.name not in named and (pseudonyms or what == "raw")):
            shown.append(SheetColumn(name=each.name, what=what))
    return tuple(shown)


@dataclass(frozen=True, eq=False)
class _SlicedTable:
    """A table of a sliced release: its quasi-identifiers, and the distinct combinations of them in each bucket."""

    name: str
    quasi: tuple[str, ...]
    classes: Classes
    buckets: Codes


@dataclass(frozen=True, eq=False)
class SlicedView(View):
    """Buckets, column by column."""

    release: PublishedTables
    truthful: ClassVar[bool] = True

    @cached_property
    def _labels(self) -> dict[str | None, int]:
        """The place of each bucket, by its published number."""
        return {label: place for place, label in enumerate(self.release.published.labels(BUCKET))}

    @cached_property
    def _parts(self) -> tuple[_SlicedTable, ...]:
        parts = []
        for name, table in self.release.tables.items():
            places = [self._labels.get(label, -1) for label in table.labels(BUCKET)]
            if -1 in places:
                raise InputError(f"{places.count(-1)} buckets of the part {name!r} are not in the main table")
            quasi = tuple(column for column in self.release.schema.quasi if column in table.names)
            classes = self.release.grouped(name, (BUCKET, *quasi))
            parts.append(_SlicedTable(name, quasi, classes, np.array(places, np.int32)[classes.keys[0]]))
        return tuple(parts)

    @cached_property
    def _holding(self) -> tuple[_SlicedTable, ...]:
        """The tables that hold the sensitive attribute."""
        return tuple(part for part in self._parts if part.classes.sensitive)

    @cached_property
    def _telling(self) -> tuple[_SlicedTable, ...]:
        """Those of them that have quasi-identifiers beside it; where it stands alone it tells no more than they do."""
        return tuple(part for part in self._holding if part.quasi) or self._holding[:1]

    @cached_property
    def _ordered(self) -> list[_SlicedTable]:
        return sorted(self._parts, key=lambda part: (bool(part.classes.sensitive), part in self._telling))

    @cached_property
    def _people(self) -> Classes | None:
        for part in self._parts:
            if part.quasi == self.release.schema.quasi:
                return self.release.grouped(part.name, part.quasi)
        return None

    def people(self) -> Classes:
        if self._people is None:
            raise NotDefined("no table has all quasi-identifiers of a record, so nobody's record can be found in it")
        return self._people

    @cached_property
    def _groups(self) -> Classes:
        if len(self._telling) == 1:
            return self._telling[0].classes
        joints = [_joint(part) for part in self._telling]
        whole = self._telling[0].classes.histogram()
        _, classes = blocks(joints, whole.column, whole.population)
        histogram = replace(classes.sensitive[0], hierarchy=whole.hierarchy)
        return replace(classes, sensitive=(histogram,), records=self.release.records)

    def groups(self) -> Classes:
        return self._groups

    def judged_by(self, model: Model) -> Classes:
        if model.identity and model.needs_sensitive:
            raise NotDefined(
                f"{type(model).__name__} is about people and their values at once, which sliced tables keep apart"
            )
        return super().judged_by(model)

    def cells(self) -> Cells:
        raise NotDefined(
            "quasi-identifiers are published as they are, though apart: what is lost is how they go together"
        )

    def _leaves(self, part: _SlicedTable) -> Codes:
        """The quasi-identifiers of the combinations of a table."""
        columns = zip(part.quasi, part.classes.keys[1:], strict=True)
        leaves = [self.release.leaves_of(name, part.name)[keys] for name, keys in columns]
        return np.stack(leaves) if leaves else np.zeros((0, len(part.classes)), np.int32)

    @cached_property
    def _columns(self) -> tuple[tuple[list[int], Distribution], ...]:
        """What each bucket has of the quasi-identifiers of each table, with their places in the schema; the table that
        tells about the sensitive attribute last."""
        quasi = self.release.schema.quasi
        return tuple(
            (
                [quasi.index(name) for name in part.quasi],
                Distribution(part.quasi, part.buckets, self._leaves(part), part.classes.sizes),
            )
            for part in self._ordered
        )

    @cached_property
    def _sizes(self) -> Counts:
        """The records of each bucket."""
        return group([self._parts[0].buckets], weights=self._parts[0].classes.sizes).counts

    def distributions(self) -> tuple[Distribution, ...]:
        distributions = []
        for part in self._parts:
            leaves, buckets, counts = self._leaves(part), part.buckets, part.classes.sizes
            names = part.quasi
            for histogram in part.classes.sensitive:
                leaves, buckets = np.vstack([leaves[:, histogram.owners], histogram.values]), buckets[histogram.owners]
                names, counts = (*names, histogram.column), histogram.counts
            distributions.append(Distribution(names, buckets, leaves, counts))
        return tuple(distributions)

    def linked(self) -> tuple[Linked, ...]:
        return tuple(
            Linked(part=part, columns=tuple(name for name in table.names if name != BUCKET), group=(BUCKET,))
            for part, table in self.release.tables.items()
        )

    def _refuse_overlap(self) -> None:
        if len(self._telling) > 1:
            raise NotDefined(
                "the sensitive attribute stands in several tables, so no values belong to a group of people"
            )

    def candidates(self, people: Codes) -> Candidates:
        """Every bucket that has the person's values in each table, by how many of its records would have all of them if
        the tables had nothing to do with one another, and there the people who have the person's values beside the
        sensitive attribute.

        The authors leave the sizes of the buckets out of account; where all are equal it makes no difference.
        """
        self._refuse_overlap()
        matches = match(self._columns, self._sizes, people)
        return Candidates(matches.starts, matches.entries.astype(np.int32), matches.chances)

    def _placement(self, recoding: Recoding) -> Codes:
        """For each class of a plan the place of its bucket; negative: nothing of it is published."""
        return placement_of(recoding.planned, self._labels, "buckets")

    def _members(self, dataset: Dataset, recoding: Recoding, at: int) -> Codes:
        """For each entry of a plan, the combination of a table that it is published in; negative: it is not."""
        plan, (places, column) = recoding.planned, self._columns[at]
        shown = np.flatnonzero(plan.owners >= 0)
        buckets = self._placement(recoding)[plan.owners[shown]]
        entries = entries_of(column, buckets, people_of(dataset, plan)[places][:, shown])
        if int(entries.min(initial=0)) < 0:
            raise VerificationError("records are not published in the buckets that were decided on")
        members = np.full(len(plan.owners), -1, np.int32)
        members[shown] = entries
        return members

    def owners(self, dataset: Dataset, recoding: Recoding) -> Codes:
        self._refuse_overlap()
        return self._members(dataset, recoding, len(self._columns) - 1)

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        for at, (part, (places, column)) in enumerate(zip(self._ordered, self._columns, strict=True)):
            if part.classes.sensitive:
                check_members(dataset, self._members(dataset, recoding, at), part.classes, self.release.seed)
            else:
                rows = group([*column.leaves, column.groups], weights=column.counts)
                check_people(dataset, recoding.planned, rows, self._placement(recoding), attributes=places)

    def agreement(self) -> tuple[Finding, ...]:
        """Every table has the same number of records of each bucket, and, where several do, of each sensitive value."""
        sizes = [group([part.buckets], weights=part.classes.sizes) for part in self._parts]
        joints = [_joint(part) for part in self._holding]
        values = [group([joint.buckets, joint.values], weights=joint.counts) for joint in joints]
        agree = all(same_counts(tallies[0], other) for tallies in (sizes, values) for other in tallies[1:])
        return agreement(agree, "records of each bucket in the main table, held against those of the others")


def _joint(part: _SlicedTable) -> Joint:
    """How often each bucket has each sensitive value beside each combination of quasi-identifiers."""
    histogram, keys = part.classes.histogram(), part.classes.keys[1:]
    beside = group(list(keys), index=True).index if len(keys) else np.zeros(len(part.classes), np.int32)
    return Joint(part.buckets[histogram.owners], beside[histogram.owners], histogram.values, histogram.counts)
