"""The fuzzer finds faults that are planted on purpose: one that finds nothing would prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fuzz.case import Case
from tests.fuzz.drawing import drawn
from tests.fuzz.running import run

import shoal
from shoal import registry
from shoal.algorithms import m_invariance
from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet, SheetColumn
from shoal.core.finding import Findings
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.release import Release
from shoal.core.schema import Schema
from shoal.engines.common import encoding, in_memory, table
from shoal.engines.common import identity as engine_identity
from shoal.engines.common.published_table import MemoryPublished
from shoal.forms.two_table import TwoTableForm
from shoal.ledger import Ledger
from shoal.parsing import identity
from shoal.perturbation import rank_swapping
from shoal.utility import queries
from shoal.utility.estimation import Estimate

Patch = pytest.MonkeyPatch


def broken(suited: Callable[[Case], bool], first: int) -> Iterator[str]:
    """Which promises the cases break that a fault can show in, drawn until one does; few cases suit some faults."""
    cases = filter(suited, map(drawn, range(first, first + 6000)))
    return (outcome.broken for outcome in map(run, cases) if outcome.broken is not None)


def every_class_is_fine(patch: Patch) -> None:
    for name in registry.names("models"):
        kind: type[Model] = registry.find("models", name)
        patch.setattr(kind, "holds", lambda self, classes: np.ones(len(classes), np.bool_))


def every_release_is_fine(patch: Patch) -> None:
    every_class_is_fine(patch)
    patch.setattr(Release, "verify", lambda self, policy: Findings(()))


def rows_keep_their_order(patch: Patch) -> None:
    for module in (in_memory, table):
        patch.setattr(module, "row_hashes", lambda columns, seed=None: np.zeros(len(next(iter(columns))[1]), np.uint64))


def dictionaries_list_others(patch: Patch) -> None:
    honest = MemoryPublished.decode

    def listing(self: MemoryPublished, form: str | None = None) -> pa.Table:
        table = honest(self, form)
        if "row" not in table.column_names:
            return table
        encoded = table["row"].combine_chunks().dictionary_encode()
        values = pa.concat_arrays([encoded.dictionary, pa.array(["somebody else"], encoded.dictionary.type)])
        place = table.column_names.index("row")
        return table.set_column(place, "row", pa.DictionaryArray.from_arrays(encoded.indices, values))

    patch.setattr(MemoryPublished, "decode", listing)


def metadata_tells(patch: Patch) -> None:
    honest = MemoryPublished.decode

    def telling(self: MemoryPublished, form: str | None = None) -> pa.Table:
        return honest(self, form).replace_schema_metadata({"seen": "".join(secrets)})

    secrets: list[str] = []
    honest_pseudonyms = Pseudonyms.of

    def noting(self: Pseudonyms, column: str, values: list[str | None]) -> list[str | None]:
        secrets.extend(filter(None, values))
        return honest_pseudonyms(self, column, values)

    patch.setattr(MemoryPublished, "decode", telling)
    patch.setattr(Pseudonyms, "of", noting)


def errors_are_raw(patch: Patch) -> None:
    def failing(self: MemoryPublished, path: Path, **given: Any) -> None:
        raise ValueError("planted")

    patch.setattr(MemoryPublished, "write", failing)


def cells_are_swapped(patch: Patch) -> None:
    honest = MemoryPublished.write

    def swapping(self: MemoryPublished, path: Path, **given: Any) -> None:
        columns = {name: self.table[name] for name in self.table.column_names}
        if "row" in columns:
            columns["row"] = columns["row"].take(pa.array(range(len(self.table))[::-1]))
        honest(replace(self, table=pa.table(columns)), path, **given)

    patch.setattr(MemoryPublished, "write", swapping)


def records_count_as_people(patch: Patch) -> None:
    patch.setattr(Classes, "headcounts", property(lambda self: self.sizes))
    patch.setattr(Histogram, "_in_people", lambda self, people: replace(self, people=None))


def groups_tell_values(patch: Patch) -> None:
    """The main one of two tables shows whose each sensitive value is."""
    honest = TwoTableForm.sheets

    def telling(self: TwoTableForm, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        main, values = honest(self, schema, pseudonyms=pseudonyms)
        return replace(main, columns=(*main.columns, SheetColumn(name=schema.sensitive[0], what="raw"))), values

    patch.setattr(TwoTableForm, "sheets", telling)


def buckets_are_single_records(patch: Patch) -> None:
    """A sliced release has one bucket for each record, so that its tables can be put together again."""
    honest = MemoryPublished.write

    def parting(self: MemoryPublished, path: Path, **given: Any) -> None:
        columns = {name: self.table[name] for name in self.table.column_names}
        if "bucket" in columns:
            columns["bucket"] = pa.chunked_array([pa.array(range(len(self.table)), columns["bucket"].type)])
        honest(replace(self, table=pa.table(columns)), path, **given)

    patch.setattr(MemoryPublished, "write", parting)
    patch.setattr(Release, "verify", lambda self, policy, as_far_as_known=False: Findings(()))


def estimates_are_certain(patch: Patch) -> None:
    honest = queries.estimate

    def sure(*given: Any, **named: Any) -> Estimate:
        found = honest(*given, **named)
        return found if found.low is None else replace(found, low=found.value, high=found.value)

    patch.setattr(queries, "estimate", sure)


def everything_may_be_published_again(patch: Patch) -> None:
    patch.setattr(Ledger, "_refuse", lambda self, judgement, earlier, allowed: None)


def groups_are_made_anew(patch: Patch) -> None:
    """m-invariance forgets what the groups of its people showed; nobody judges what comes of it."""
    everything_may_be_published_again(patch)
    patch.setattr(m_invariance, "_signatures", lambda dataset, policy, values, least: {})


def spellings_count_as_values(patch: Patch) -> None:
    for module in (identity, encoding):
        patch.setattr(module, "plain_numbers", lambda texts, padded=False: None)
    for module in (identity, engine_identity):
        patch.setattr(module, "plain_texts", lambda texts: [text.strip() for text in texts.to_pylist()])


def values_are_swapped_anywhere(patch: Patch) -> None:
    honest = rank_swapping.swapped
    patch.setattr(
        rank_swapping, "swapped", lambda values, most, generator, run: honest(values, len(values), generator, run)
    )


def people_count_as_households(patch: Patch) -> None:
    patch.setattr(shoal.models.KHouseholds, "levels", lambda self, classes: classes.headcounts)


def weights_count_twice(patch: Patch) -> None:
    honest = shoal.models.EstimatedKMap.levels
    patch.setattr(shoal.models.EstimatedKMap, "levels", lambda self, classes: 2 * honest(self, classes))


def ghosts_are_shown(patch: Patch) -> None:
    from shoal.publishing import publish

    patch.setattr(publish, "with_ghost_columns", lambda sheets, recoding: sheets)
    patch.setattr(publish, "check_ghosts", lambda release, recoding: None)
    patch.setattr(Release, "_ghost_agreement", lambda self: iter(()))


def anything(case: Case) -> bool:
    return True


def of_people(case: Case) -> bool:
    return case.person is not None and not case.steps


def in_households(case: Case) -> bool:
    return any(name == "k-households" for name, _ in case.models)


def weighed(case: Case) -> bool:
    return any(name == "estimated-k-map" for name, _ in case.models)


def with_ghosts(case: Case) -> bool:
    plain = [column.name for column in case.named("plain")]
    links = case.algorithm[1].get("linked", ())
    return any(link.partition("=")[2] in plain for link in links) and not case.steps


def in_two_tables(case: Case) -> bool:
    return case.algorithm[0] in ("anatomy", "bucketization") and not case.steps


def sliced(case: Case) -> bool:
    return case.algorithm[0] == "slicing" and not case.steps


def asked(case: Case) -> bool:
    return case.questions > 0 and not case.steps


def swapping(case: Case) -> bool:
    return case.algorithm[0] == "rank-swapping" and not case.steps


def spelled_alike(case: Case) -> bool:
    return any(column.family == "spelled alike" for column in case.named("sensitive")) and not case.steps


def in_series(case: Case) -> bool:
    return len(case.steps) > 1


def invariant(case: Case) -> bool:
    return in_series(case) and case.steps[0].algorithm[0] == "m-invariance"


def in_columns(case: Case) -> bool:
    return case.ending in ("parquet", "arrow") and case.engine == "embedded"


def with_pseudonyms(case: Case) -> bool:
    return in_columns(case) and case.pseudonyms is not None and bool(case.named("identifier"))


FAULTS: dict[str, tuple[Callable[[Patch], None], Callable[[Case], bool], str, int]] = {
    "models that hold for everything": (every_class_is_fine, anything, "is broken", 7),
    "a verifier that measures nothing": (every_release_is_fine, anything, "is broken", 7),
    "rows in the order in which they came": (rows_keep_their_order, anything, "another order", 25),
    "dictionaries of all records": (dictionaries_list_others, in_columns, "a dictionary of the file", 21),
    "metadata that tell": (metadata_tells, with_pseudonyms, "withheld records", 80),
    "raw errors": (errors_are_raw, anything, "raw ValueError", 6),
    "cells of other records": (cells_are_swapped, anything, "not true of its record", 31),
    "models that count records": (records_count_as_people, of_people, "is broken", 81),
    "two tables that tell whose a value is": (groups_tell_values, in_two_tables, "other columns", 10),
    "buckets of one record": (buckets_are_single_records, sliced, "bucket", 324),
    "estimates that are called certain": (estimates_are_certain, asked, "certain", 13),
    "a ledger that lets everything pass": (everything_may_be_published_again, in_series, "the ledger let", 127),
    "m-invariance that forgets": (groups_are_made_anew, invariant, "shows other values", 121),
    "spellings that count as values": (spellings_count_as_values, spelled_alike, "is broken", 2011),
    "people who count as households": (people_count_as_households, in_households, "k-households is broken", 363),
    "weights that count twice": (weights_count_twice, weighed, "estimated-k-map is broken", 751),
    "linked columns that are shown": (ghosts_are_shown, with_ghosts, "a linked value", 1921),
    "ranks that are swapped too far": (values_are_swapped_anywhere, swapping, "swapped too far", 142),
}
"""What is planted, the cases that it can show in, what is then said, and a case that shows it: the search begins there,
and goes on where cases have come to be drawn otherwise."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: Patch) -> None:
    plant, suited, words, first = FAULTS[fault]
    plant(monkeypatch)
    assert any(words in found for found in broken(suited, first))
