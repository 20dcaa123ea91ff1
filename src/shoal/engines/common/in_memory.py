"""An engine in the memory of one process: what the embedded engine is, and what workers of others use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.contracts.engine import Engine
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Schema, refused, with_roles
from shoal.core.survey import Overview
from shoal.engines.common.encoding import MISSING, Encoded, bind, encode
from shoal.engines.common.profiling import looked_at
from shoal.engines.common.published_table import MemoryPublished, format_of, open_published
from shoal.engines.common.source import Source, open_frame, open_path
from shoal.engines.common.table import EncodedColumn, MemoryTable
from shoal.errors import InputError
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class InMemory(Engine):
    """An engine that holds tables in the memory of this process and works on them there."""

    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Source:
        path = isinstance(source, (str, PathLike))
        opened = open_path(Path(source), opening) if path else open_frame(source, opening)
        return replace(opened, neutralize=opening.neutralize)

    def read(
        self,
        source: Source,  # type: ignore[override]
        description: Description,
        *,
        run: Run | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> tuple[MemoryTable, Schema]:
        """The table and its schema: columns with a role are encoded now, the others are left where they are. What that
        gives is as large as the table, and nothing of it is kept for a run that goes on."""
        wanted = source.described(description)
        named = with_roles(source.names, wanted.roles)
        encoded: dict[str, Encoded] = {}
        loaded = source.load(named if source.dialect is not None else named[:1])
        records = len(loaded[named[0]])
        if records == 0:
            raise InputError("the table has no record")
        for place, name in enumerate(named):
            if run is not None:
                run.report(place / len(named), "reading")
            column = loaded.pop(name) if name in loaded else source.load([name])[name]
            encoded[name] = encode(name, column, wanted.kinds.get(name), source.missing, wanted.formats.get(name))
        kept = _kept(encoded, wanted, records)
        columns, held = {}, {}
        for name in named:
            each = encoded.pop(name)
            if kept is not None:
                each = replace(each, places=each.places[kept])
            codes, hierarchy, raw = bind(each, wanted.hierarchy(each.values))
            held[name] = EncodedColumn(codes, hierarchy, raw)
            columns[name] = wanted.column(each.values, hierarchy)
        records = records if kept is None else int(kept.sum())
        table = MemoryTable(source, held, records, kept)
        return table, wanted.schema(source.names, columns)

    def profile(self, source: Source) -> Overview:  # type: ignore[override]
        return looked_at(source)

    def open_published(self, path: Path, kinds: Mapping[str, Kind] | None = None) -> MemoryPublished:
        return open_published(path, kinds)

    def check_format(self, path: Path) -> None:
        format_of(path)


def _kept(encoded: Mapping[str, Encoded], wanted: Description, records: int) -> np.ndarray | None:
    """Which records stay, by the missing-value rules; None when all do."""
    kept: np.ndarray | None = None
    for name, column in encoded.items():
        rule = wanted.rule(name)
        if rule is Missing.VALUE or not column.has_missing:
            continue
        present = column.codes != MISSING
        if rule is Missing.REFUSE:
            raise refused(name, wanted.roles[name], int((~present).sum()), records)
        kept = present if kept is None else kept & present
    if kept is not None and not kept.any():
        raise InputError("the missing-value rules leave no record")
    return None if kept is None or kept.all() else kept
