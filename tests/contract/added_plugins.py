"""One plug-in of each family, as another package would add it; `test_added_plugins` puts them behind entry points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.form import Form
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.read_request import Description, Opening
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Column, Notation, Schema
from shoal.core.survey import Overview, Survey, spaced
from shoal.core.values import Values
from shoal.engines.common.apply_plan import PlanApplication, ghost_texts, tokens
from shoal.engines.common.column_types import plain_values
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.encoding import bind, glance, value_codes
from shoal.engines.common.engine import CommonEngine, check_some_left, check_some_there, encode_column, required_values
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.identity import identifier_dictionary, leaf_identifiers
from shoal.engines.common.opening import open_source
from shoal.engines.common.profiling import profile
from shoal.engines.common.published_table import MemoryPublished, open_published
from shoal.engines.common.source import MemorySource
from shoal.engines.common.table import CommonTable, EncodedColumn
from shoal.errors import InfeasibleError
from shoal.forms.generalized import GeneralizedForm, GeneralizedView
from shoal.parsing.identifiers import one_spelling
from shoal.storage.checkpoint import Checkpoint
from shoal.utility.objective import ClassObjective


@dataclass(frozen=True, kw_only=True)
class LeastShare(Model):
    """Every class has at least a share of the records of the table.

    Promises: nobody is in a class that is small for the table.
    Does not protect against: classes in which everybody has the same sensitive value.
    Reference: made up for a test.
    Example:
        >>> LeastShare(share=0.5).share
        0.5
    """

    share: Annotated[float, Gt(0), Le(1), Doc("the least share of the records in a class")]

    asks: ClassVar[str] = "share"
    level: ClassVar[str] = "share"
    how: ClassVar[str] = "the smallest class over all records"
    merge_monotone: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({"share": 0.1},)

    def levels(self, classes: Classes) -> Any:
        return classes.sizes / max(classes.records, 1)


@dataclass(frozen=True, kw_only=True)
class WeightedSuppression(Metric):
    """The share of records that were left out, times a weight that has to be given.

    Does not look at the published records.

    Reference: made up for a test.

    Example:
        >>> WeightedSuppression(weight=2.0).weight
        2.0
    """

    weight: Annotated[float, Ge(0), Doc("what a record that was left out costs")]

    examples: ClassVar[Examples] = ({"weight": 2.0},)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        value = self.weight * release.suppressed / release.records
        return Finding(name="weighted-suppression", value=value, how="records that were left out, weighted")


@dataclass(frozen=True, kw_only=True)
class RootSize(ClassObjective):
    """Every record costs the root of the size of its class; one that is left out the root of the table's.

    Does not look at values.

    Reference: made up for a test.

    Example:
        >>> RootSize().base(np.array([4, 9]), 13)
        35.0
    """

    def base(self, sizes: Any, records: int) -> float:
        return float((sizes**1.5).sum())

    def extra(self, sizes: Any, records: int) -> float:
        return float((sizes * (records**0.5 - sizes**0.5)).sum())

    def value(self, total: float, records: int) -> float:
        return total

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = release.view.people().sizes
        value = self.base(sizes, release.records) + release.suppressed * release.records**0.5
        return Finding(name="root-size", value=value, how="roots of class sizes, summed over the records")


@dataclass(frozen=True, kw_only=True)
class OneClass(Algorithm):
    """Puts all records into one class.

    It is not meant to be useful.

    Reference: made up for a test.

    Example:
        >>> OneClass().form
        'sensitive-last'
    """

    form: Annotated[str, Doc("the form of the release")] = "sensitive-last"

    examples: ClassVar[Examples] = ({}, {"form": "generalized"})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        run.report(0.0, "putting everybody into one class")
        together = np.zeros(len(dataset.summary), np.int32)
        if not policy.holds(dataset.partitioned(together, 1, seed=policy.seed)).all():
            raise InfeasibleError("the whole table breaks the policy", {"records": dataset.records})
        outputs = ["hierarchy"] * len(dataset.schema.quasi)
        found = Recoding.of_partition(dataset.summary, together, outputs)
        return Recoding(found.plan, form=self.form, facts={"classes": 1})


@dataclass(frozen=True, kw_only=True)
class SensitiveLastForm(Form):
    """One table, generalized, whose sensitive columns come last.

    Example:
        >>> SensitiveLastForm()
        SensitiveLastForm()
    """

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        (sheet,) = GeneralizedForm().sheets(schema, pseudonyms=pseudonyms)
        ordered = sorted(sheet.columns, key=lambda column: column.name in schema.sensitive)
        return (Sheet(part="", columns=tuple(ordered)),)

    def view(self, release: Release) -> GeneralizedView:
        return GeneralizedView(release)


@dataclass(frozen=True, kw_only=True)
class AnyRecord(Attack):
    """Picks any record of the release at random.

    It does not use what the attacker knows.

    Reference: made up for a test.

    Example:
        >>> AnyRecord().threshold
        0.5
    """

    threshold: Annotated[float, Ge(0), Le(1), Doc("the risk above which a record counts as exposed")] = 0.5

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        chance = 1 / max(release.published.records, 1)
        return Attempt(
            name="any-record",
            success=chance,
            baseline=chance,
            worst=chance,
            above=float(chance > self.threshold),
            threshold=self.threshold,
            knew="that a person is in the release",
            meaning="how often any record is the person's",
        )


@dataclass(frozen=True, kw_only=True)
class FirstLetter(Builder):
    """A value is generalized to its first letter, then to the top.

    Example:
        >>> from shoal.core.schema import Kind
        >>> FirstLetter().build(Values.of("name", Kind.CATEGORICAL, ["Ada", "Alan", "Bob"])).labels[1].tolist()
        ['A..', 'B..']
    """

    def build(self, values: Values) -> Hierarchy:
        return Hierarchy.from_paths(values.column, [(text, f"{text[:1]}..", "*") for text in values.texts])


@dataclass(frozen=True, kw_only=True)
class RowByRow(CommonEngine):
    """Holds a table in lists, and looks at one record after the other.

    It shows what an engine must offer, and no more. What is the same on every engine stands in `engines/common/`: how
    files are opened and written, how values are encoded, how rows are hashed.

    Reference: made up for a test.

    Example:
        >>> RowByRow()
        RowByRow()
    """

    def _open(self, source: Any, opening: Opening) -> MemorySource:
        return open_source(source, opening)[1]

    def _encode(
        self, source: MemorySource, names: Sequence[str], request: Description, run: Run, checkpoint: Checkpoint | None
    ) -> tuple[RowTable, Mapping[str, Column]]:
        loaded = source.load(names)
        records = len(loaded[names[0]])
        check_some_there(records)
        encoded = {name: encode_column(name, column, source, request, records) for name, column in loaded.items()}
        required = required_values(encoded, request)
        rows = [row for row in range(records) if all(filled[row] for filled in required.values())]
        check_some_left(len(rows))
        coded, columns = {}, {}
        for name, each in encoded.items():
            codes, hierarchy, raw = bind(replace(each, indices=each.indices[rows]), request.hierarchy(each.values))
            coded[name] = EncodedColumn(codes.astype(np.int32), hierarchy, raw)
            columns[name] = request.column(each.values, hierarchy)
        return RowTable(source, coded, rows, request.known), columns

    def profile(self, source: MemorySource) -> Overview:  # type: ignore[override]
        return profile(source)

    def open_published(self, path: Path, notations: Mapping[str, Notation] | None = None) -> MemoryPublished:
        return open_published(path, notations)


@dataclass(eq=False)
class RowDraft:
    """The published values of columns, record by record, and those that quasi-identifiers can have."""

    columns: dict[str, pa.Array] = field(default_factory=dict)
    books: dict[str, pa.Array] = field(default_factory=dict)


class RowApplication(PlanApplication[RowDraft]):
    """Carries a plan out: says of each column what is published of every record."""

    @cached_property
    def owners(self) -> list[int]:
        """The class of each record; negative: it is withheld."""
        plan, quasi = self.recoding.plan, self.schema.quasi
        if plan is None:
            return [0] * self.table.records
        if plan.by_record:
            return [owner for _, owner in sorted(zip(self.table.order(quasi, self.seed), plan.owners, strict=True))]
        owners = dict(zip(zip(*plan.keys.tolist(), strict=True), plan.owners, strict=True))
        return [owners[key] for key in self.table.keys(quasi)]

    def shown(self, values: Iterable[Any]) -> pa.Array:
        """What the records have that are not withheld."""
        return pa.array([value for value, owner in zip(values, self.owners, strict=True) if owner >= 0])

    def _draft(self, contents: Mapping[str, str]) -> RowDraft:
        return RowDraft()

    def _add_cells(self, draft: RowDraft, key: str, name: str, values: pa.Array, cells: Codes, *, raw: bool) -> None:
        draft.books[name] = values
        draft.columns[name] = values.take(self.shown(cells[owner] for owner in self.owners))

    def _add_ghost(self, draft: RowDraft, key: str, name: str, hidden: NDArray[np.bool_]) -> None:
        values = self.table.values(name).dictionary_encode()
        texts = ghost_texts(name, values.dictionary, self.table.source).take(values.indices).to_pylist()
        shown = (TOP if owner >= 0 and hidden[owner] else text for text, owner in zip(texts, self.owners, strict=True))
        draft.columns[name] = self.shown(shown).cast(pa.string())

    def _add_groups(self, draft: RowDraft, key: str, name: str) -> None:
        draft.columns[name] = self.shown(self.owners).cast(pa.int32())

    def _add_pseudonyms(self, draft: RowDraft, key: str, name: str, pseudonyms: Pseudonyms) -> None:
        texts = self.table.identifiers(name)
        drawn = tokens(name, texts.dictionary, pseudonyms).take(texts.indices)
        draft.columns[name] = drawn.take(self.shown(range(self.table.records)))

    def _add_changes(self, draft: RowDraft, key: str, name: str) -> None:
        ranks = sorted(range(self.table.records), key=self.table.order((), self.seed).__getitem__)
        draft.columns[name] = self._changes[name].take(pa.array(ranks))

    def _add_leaves(self, draft: RowDraft, key: str, name: str) -> None:
        draft.columns[name] = self._leaf_values(name).take(self.shown(self.table.codes(name)))

    def _add_plain(self, draft: RowDraft, key: str, name: str) -> None:
        draft.columns[name] = self.table.values(name).take(self.shown(range(self.table.records)))

    def _finish(self, draft: RowDraft, sheet: Sheet) -> MemoryPublished:
        columns, fakes = draft.columns, self._counterfeits(sheet)
        if fakes is not None:
            below = {name: self._leaf_values(name).take(pa.array(fakes.leaves)) for name in self.schema.sensitive}
            added = {name: below.get(name, pa.array(fakes.groups)) for name in columns}
            columns = {name: pa.concat_arrays([column, added[name]]) for name, column in columns.items()}
        table = pa.table(columns)
        if sheet.count_name is not None:
            counted = table.group_by(table.column_names).aggregate([([], "count_all")])
            table = counted.rename_columns([*table.column_names, sheet.count_name])
        hashes = row_hashes(zip(table.column_names, table.columns, strict=True))
        ordered = table.take(pa.array(sorted(range(len(table)), key=hashes.__getitem__)))
        return MemoryPublished(ordered, self.table.source, draft.books, notations=self.schema.notations)


@dataclass(frozen=True, eq=False)
class RowTable(CommonTable):
    """The codes of columns with a role; `rows` are the records of the source that are part of the table."""

    source: MemorySource
    columns: dict[str, EncodedColumn]
    rows: list[int]
    known: frozenset[str] = frozenset()
    weights: None = None
    application: type[PlanApplication[Any]] = RowApplication

    @property
    def records(self) -> int:
        return len(self.rows)

    def codes(self, name: str) -> Codes:
        self.check_known(name)
        return self.columns[name].codes

    def values(self, name: str) -> pa.Array:
        """A column as it is published, or as it stands at the source."""
        if name in self.columns and name not in self.known:
            return self.columns[name].raw.take(pa.array(self.columns[name].codes))
        return one_chunk(plain_values(self.source.load([name])[name].take(pa.array(self.rows))))

    def identifiers(self, name: str) -> pa.DictionaryArray:
        """What the values of a column say."""
        if name in self.columns:
            column = self.columns[name]
            return pa.DictionaryArray.from_arrays(column.codes, leaf_identifiers(column.hierarchy))
        return identifier_dictionary(name, pa.chunked_array([self.values(name)]))

    def keys(self, quasi: Sequence[str]) -> list[tuple[int, ...]]:
        """The leaves of each record."""
        columns = [self.codes(name).tolist() for name in quasi]
        return list(zip(*columns, strict=True)) if columns else [()] * self.records

    def order(self, quasi: Sequence[str], seed: int) -> list[int]:
        """The records by their leaves, and by their keyed hashes."""
        hashes = row_hashes([(name, self.values(name)) for name in self.source.names], seed).tolist()
        keys = self.keys(quasi)
        return sorted(range(self.records), key=lambda record: (keys[record], hashes[record]))

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        order = self.order(quasi, seed)
        return tuple(self.codes(name)[order] for name in names)

    def count_repeats(self, name: str) -> int:
        texts = [text for text in self.identifiers(name).to_pylist() if text is not None]
        return len(texts) - len(set(texts))

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> Any:
        hashes = row_hashes([(name, self.identifiers(name)) for name in names], key, one_spelling)
        return hashes[self.order(quasi, seed)]

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        columns = {name: pa.chunked_array([self.values(name)]) for name in names}
        places = pa.array(spaced(self.records, records))
        looks = {
            name: glance(name, column.take(places), self.source.missing, values) for name, column in columns.items()
        }
        codes = {name: value_codes(name, columns[name]) for name in counted if not isinstance(looks[name], str)}
        present = {name: int((column >= 0).sum()) for name, column in codes.items()}
        distinct = {name: len(set(column.tolist()) - {-1}) for name, column in codes.items()}
        together = Counter(zip(*codes.values(), strict=True))
        return Survey(self.records, looks, present, distinct, sum(count == 1 for count in together.values()))
