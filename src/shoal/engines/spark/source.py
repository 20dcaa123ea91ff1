"""Sources: frames of Spark, Parquet files that the workers read, and what has to pass through the driver."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from shoal.core.read_request import AS_IT_IS, Opening
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.common import opening
from shoal.engines.common.source import MemorySource, QueriedSource
from shoal.engines.spark.hashing import RowHash, ascending, hash_of
from shoal.engines.spark.session import ClusterSession
from shoal.parsing.header import names as checked_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PATTERN = re.compile(r"[*?\[\]{},\\]")
_NATIVE = (
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(),
    pa.large_string(), pa.date32(), pa.timestamp("us"), pa.timestamp("ms"), pa.timestamp("us", "UTC"),
)  # fmt: skip
"""The types that Spark reads from Parquet and gives back as they were."""


@dataclass(frozen=True, eq=False)
class SparkSource(QueriedSource):
    """A table that Spark can query, its columns called `c0`, `c1` and so on.

    Frames of Spark and Parquet files are queried where they are, as the `frame`. What else there is (`opened`) is read
    by the driver and sent to the workers the first time that rows are needed.
    """

    session: ClusterSession
    frame: DataFrame | None = None

    @property
    def unordered(self) -> bool:
        """Whether it is a frame of Spark, whose records stand in no order."""
        return self.opened is None and not self.files

    def arrow_type(self, name: str) -> pa.DataType:
        """The Arrow type with which Spark gives a column back."""
        from pyspark.sql.pandas.types import to_arrow_type

        return to_arrow_type(self.rows.schema[self.column(name)].dataType)

    def column(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    @cached_property
    def _copy(self) -> DataFrame:
        """What the driver read, sent to the workers, each record with its `place`."""
        assert self.opened is not None
        loaded = self.opened.load(self.names)
        columns = {self.column(name): loadable(column) for name, column in loaded.items()}
        return self.session.load(pa.table({**columns, "place": np.arange(len(loaded[self.names[0]]))}))

    @property
    def rows(self) -> DataFrame:
        """The records; files that changed since they were opened are refused."""
        from pyspark.sql import functions as sql

        self.check_unchanged()
        frame = self._copy if self.frame is None else self.frame
        if not self.neutralize:
            return frame
        return frame.select(
            *(
                _neutral(entry.name) if entry.dataType.typeName() == "string" else sql.col(entry.name)
                for entry in frame.schema
            )
        )

    def with_places(self, names: Sequence[str]) -> DataFrame:
        """Some columns of the records, and a number by whose order they stand as they do at the source, as `place`.

        A frame of Spark has no order: there it is a hash of the whole record.
        """
        from pyspark.sql import functions as sql

        rows, chosen = self.rows, [self.column(name) for name in names]
        if "place" in rows.columns:
            return rows.select(*chosen, "place")
        if not self.files:
            every = [self.column(name) for name in self.names]
            return rows.select(*chosen, ascending(hash_of(every, self.hash(self.names))).alias("place"))
        numbered = rows.select(
            *chosen, sql.col("_metadata.file_path").alias("f"), sql.col("_metadata.row_index").alias("r")
        )
        place = (sql.col("r") + sql.col("b")).alias("place")
        return numbered.join(sql.broadcast(self._begins), "f").select(*chosen, place)

    def hash(self, names: Sequence[str], seed: int | None = None) -> RowHash:
        """The hash of some columns."""
        return RowHash(tuple(names), tuple(map(self.type_of, names)), seed)

    @cached_property
    def _begins(self) -> DataFrame:
        """For each file, as Spark calls it, how many records stand before its first one."""
        assert self.frame is not None
        spelled = {unquote(urlsplit(name).path): name for name in self.frame.inputFiles()}
        counts = [pa.parquet.read_metadata(path).num_rows for path in self.files]
        named = [spelled[str(path.resolve())] for path in self.files]
        # A path stands with one slash or with three after the scheme, by the part of Spark that tells it.
        named += [re.sub("^file:/+", "file:/" if "file:///" in name else "file:///", name) for name in named]
        return self.session.load(pa.table({"f": named, "b": np.tile(np.cumsum([0, *counts[:-1]]), 2)}))


def _neutral(name: str) -> Any:
    """A text column in which what a spreadsheet would take for a formula has an apostrophe in front."""
    from pyspark.sql import functions as sql

    text = sql.col(name)
    runs = text.rlike(FORMULA) & ~text.rlike(NUMBER)
    return sql.when(runs, sql.concat(sql.lit("'"), text)).otherwise(text).alias(name)


def loadable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column that Spark can hold: dictionaries resolved, times and rare numbers as plain numbers; `cast_back`
    undoes it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return loadable(column.cast(kind.value_type))
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_temporal(kind):
        return column.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_unsigned_integer(kind):
        return column.cast(pa.decimal128(20, 0) if kind.bit_width == 64 else pa.int64())
    return column


def open_source(session: ClusterSession, source: Any, how: Opening = AS_IT_IS) -> SparkSource:
    """A frame of Spark, or whatever the embedded engine opens; the workers read Parquet files themselves."""
    if hasattr(source, "sparkSession"):
        return _open_frame(source, how)
    label, opened = opening.open_source(source, how)
    types = _native(opened)
    if types is None:  # it passes through the driver
        types = None if opened.frame is None else opened.frame.schema
        if opened.frame is None and opened.format in ("arrow", "parquet"):
            types = pa.table(opened.load(opened.names)).schema
        return SparkSource(session, label, opened.names, opened, opened.missing, types, opened.files)
    from pyspark.sql.pandas.types import from_arrow_schema

    files = [str(path.resolve()) for path in opened.files]
    read = session.spark.read.schema(from_arrow_schema(types, prefer_timestamp_ntz=True)).parquet(*files)
    frame = read.toDF(*(f"c{place}" for place in range(len(types))))
    return SparkSource(session, label, opened.names, None, opened.missing, types, opened.files, frame=frame)


def _open_frame(frame: DataFrame, how: Opening) -> SparkSource:
    names = tuple(checked_names(frame.columns, "the frame", rename=how.rename_duplicates))
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))
    session, missing = ClusterSession(frame.sparkSession), opening.spellings_of(how.missing)
    return SparkSource(session, "the frame", names, missing=missing, frame=numbered)


def _native(opened: MemorySource) -> pa.Schema | None:
    """The types of Parquet files that Spark reads as they are meant; None when the driver has to read them."""
    if opened.frame is not None or opened.format != "parquet" or opened.dialect is not None:
        return None
    schema = pa.parquet.read_schema(opened.path)
    fields = [schema.field(name) for name in opened.header]
    plain = [
        each.with_type(each.type.value_type) if pa.types.is_dictionary(each.type) else each.remove_metadata()
        for each in fields
    ]
    alike = len({name.casefold() for name in schema.names}) < len(schema.names)
    odd = any(_PATTERN.search(str(path)) for path in opened.files)
    if alike or odd or not all(each.type in _NATIVE or pa.types.is_decimal128(each.type) for each in plain):
        return None
    return pa.schema(plain)
