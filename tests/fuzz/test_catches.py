"""The fuzzer finds faults that are planted on purpose: one that finds nothing would prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fuzz.case import Case
from tests.fuzz.drawing import drawn
from tests.fuzz.running import run

from shoal import registry
from shoal.core.contracts import Model
from shoal.core.finding import Findings
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.release import Release
from shoal.engines.embedded import table
from shoal.engines.embedded.published import EmbeddedPublished

Patch = pytest.MonkeyPatch


def broken(suited: Callable[[Case], bool]) -> Iterator[str]:
    """Which promises the cases break that a fault can show in."""
    cases = filter(suited, map(drawn, range(400)))
    return (outcome.broken for outcome in map(run, cases) if outcome.broken is not None)


def every_class_is_fine(patch: Patch) -> None:
    for name in registry.names("models"):
        kind: type[Model] = registry.find("models", name)
        patch.setattr(kind, "holds", lambda self, classes: np.ones(len(classes), np.bool_))


def every_release_is_fine(patch: Patch) -> None:
    every_class_is_fine(patch)
    patch.setattr(Release, "verify", lambda self, policy: Findings(()))


def rows_keep_their_order(patch: Patch) -> None:
    patch.setattr(table, "row_hashes", lambda columns, seed=None: np.zeros(len(next(iter(columns))[1]), np.uint64))


def dictionaries_list_others(patch: Patch) -> None:
    honest = EmbeddedPublished.decoded

    def listing(self: EmbeddedPublished) -> pa.Table:
        table = honest(self)
        if "row" not in table.column_names:
            return table
        encoded = table["row"].combine_chunks().dictionary_encode()
        values = pa.concat_arrays([encoded.dictionary, pa.array(["somebody else"], encoded.dictionary.type)])
        place = table.column_names.index("row")
        return table.set_column(place, "row", pa.DictionaryArray.from_arrays(encoded.indices, values))

    patch.setattr(EmbeddedPublished, "decoded", listing)


def metadata_tells(patch: Patch) -> None:
    honest = EmbeddedPublished.decoded

    def telling(self: EmbeddedPublished) -> pa.Table:
        return honest(self).replace_schema_metadata({"seen": "".join(secrets)})

    secrets: list[str] = []
    honest_pseudonyms = Pseudonyms.of

    def noting(self: Pseudonyms, column: str, values: list[str | None]) -> list[str | None]:
        secrets.extend(filter(None, values))
        return honest_pseudonyms(self, column, values)

    patch.setattr(EmbeddedPublished, "decoded", telling)
    patch.setattr(Pseudonyms, "of", noting)


def errors_are_raw(patch: Patch) -> None:
    def failing(self: EmbeddedPublished, path: Path, **given: Any) -> None:
        raise ValueError("planted")

    patch.setattr(EmbeddedPublished, "write", failing)


def cells_are_swapped(patch: Patch) -> None:
    honest = EmbeddedPublished.write

    def swapping(self: EmbeddedPublished, path: Path, **given: Any) -> None:
        columns = {name: self.table[name] for name in self.table.column_names}
        if "row" in columns:
            columns["row"] = columns["row"].take(pa.array(range(len(self.table))[::-1]))
        honest(EmbeddedPublished(pa.table(columns), self.native, self.dialect, self.types, self.dtypes), path, **given)

    patch.setattr(EmbeddedPublished, "write", swapping)


def anything(case: Case) -> bool:
    return True


def in_columns(case: Case) -> bool:
    return case.ending in ("parquet", "arrow") and case.engine == "embedded"


def with_pseudonyms(case: Case) -> bool:
    return in_columns(case) and case.pseudonyms is not None and bool(case.named("identifier"))


FAULTS: dict[str, tuple[Callable[[Patch], None], Callable[[Case], bool], str]] = {
    "models that hold for everything": (every_class_is_fine, anything, "is broken"),
    "a verifier that measures nothing": (every_release_is_fine, anything, "is broken"),
    "rows in the order in which they came": (rows_keep_their_order, anything, "another order"),
    "dictionaries of all records": (dictionaries_list_others, in_columns, "a dictionary of the file"),
    "metadata that tell": (metadata_tells, with_pseudonyms, "withheld records"),
    "raw errors": (errors_are_raw, anything, "raw ValueError"),
    "cells of other records": (cells_are_swapped, anything, "not true of its record"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: Patch) -> None:
    plant, suited, words = FAULTS[fault]
    plant(monkeypatch)
    assert any(words in found for found in broken(suited))
