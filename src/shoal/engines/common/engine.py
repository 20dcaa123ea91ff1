"""What every engine does alike when it opens and reads a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import EngineTable
from shoal.core.grouping import Counts
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.core.run import Run
from shoal.core.schema import Column, Kind, Missing, Role, Schema, refused, with_roles
from shoal.engines.common.dictionaries import MISSING
from shoal.engines.common.encoding import Encoded, encode
from shoal.engines.common.program_files import check_installed
from shoal.engines.common.source import CommonSource
from shoal.engines.common.writing import format_of
from shoal.errors import InputError
from shoal.parsing.codes import are_codes
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class CommonEngine(Engine):
    """An engine that encodes the columns with a role when it reads a table."""

    @abstractmethod
    def _open(self, source: Any, opening: Opening) -> Any:
        """A path or a frame, opened and not yet read."""

    @abstractmethod
    def _encode(
        self, source: Any, names: Sequence[str], request: Description, run: Run, checkpoint: Checkpoint | None
    ) -> tuple[EngineTable, Mapping[str, Column]]:
        """The table, with some columns encoded, and what these are."""

    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Any:
        return replace(self._open(source, opening), neutralize=opening.neutralize)

    def read(
        self, source: Any, description: Description, *, run: Run | None = None, checkpoint: Checkpoint | None = None
    ) -> tuple[EngineTable, Schema]:
        request = source.complete(description)
        names = with_roles(source.names, request.roles)
        plain = [name for name in source.names if request.roles[name] is Role.PLAIN]
        source = source.with_missing_codes(plain)
        table, columns = self._encode(source, names, request, run or Run(), checkpoint)
        return table, request.schema(source.names, columns)

    def check_format(self, path: Path) -> None:
        check_installed(format_of(path))


def encode_column(
    name: str, column: pa.ChunkedArray, source: CommonSource, request: Description, records: int
) -> Encoded:
    """A column of a source of so many records, or its distinct values, encoded as it is described."""
    kind, form = request.kinds.get(name), request.formats.get(name)
    encoded = encode(name, column, kind, source.missing, form)
    numbers = encoded.values.numbers
    open_kind = kind is form is None and encoded.values.kind is Kind.NUMERIC and name in request.possible_codes
    if not open_kind or numbers is None or not are_codes(name, numbers, records):
        return encoded
    coded = encode(name, column, Kind.CATEGORICAL, source.missing, codes=True)
    return replace(coded, values=replace(coded.values, codes=True))


def required_values(
    encoded: Mapping[str, Encoded], request: Description, counts: Mapping[str, Counts] | None = None
) -> dict[str, NDArray[np.bool_]]:
    """The columns whose missing values leave records out, and which entries of each have a value; a rule that refuses
    missing values is kept. With `counts`, an entry stands for so many records."""
    present = {}
    for name, column in encoded.items():
        rule = request.rule(name)
        if rule is Missing.VALUE or not column.has_missing:
            continue
        filled = column.codes != MISSING
        if rule is Missing.REFUSE:
            records = np.ones(len(filled), np.int64) if counts is None else counts[name]
            raise refused(name, request.roles[name], int(records[~filled].sum()), int(records.sum()))
        present[name] = filled
    return present


def check_some_left(records: int) -> None:
    """Refuses a table of which the missing-value rules leave nothing."""
    if not records:
        raise InputError("the missing-value rules leave no record")


def check_some_there(records: int) -> None:
    """Refuses a table without a record."""
    if not records:
        raise InputError("the table has no record")
