"""Writing: distinct rows repeated as often as they occur, and cut into files on the cluster."""

from __future__ import annotations

import errno
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from shoal.engines.common.column_types import cast_back
from shoal.engines.common.missing_codes import MissingCodes
from shoal.engines.spark.session import DISK_FULL, ClusterSession, compute
from shoal.storage.files import piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCK = 1024
"""Equal rows that Spark makes at a time."""

ROW_GROUP = 1 << 20
"""Rows of a file that are written together at most."""

_TOP = 48
"""The bits below those by which rows are counted to find where files begin."""


def repeat(table: pa.Table) -> pa.Table:
    """The rows, each as often as its last column, `times`, says."""
    times = table["times"].to_numpy()
    rows = table.drop_columns(["times"])
    return rows if bool(np.all(times == 1)) else rows.take(pa.array(np.repeat(np.arange(len(times)), times)))


def repeat_on_cluster(frame: DataFrame) -> DataFrame:
    """The same on the cluster, in the order of the frame; in blocks, because a list of all copies would fill memory."""
    from pyspark.sql import functions as sql

    names = [name for name in frame.columns if name != "times"]
    first = sql.explode(sql.sequence(sql.lit(0), sql.col("times").cast("bigint") - 1, sql.lit(BLOCK)))
    blocks = frame.select(*names, "times", first.alias("first"))
    copies = sql.least(sql.lit(BLOCK), sql.col("times") - sql.col("first")).cast("int")
    return blocks.select(*names, sql.explode(sql.array_repeat(sql.lit(0), copies)).alias("copy")).drop("copy")


@dataclass(frozen=True, eq=False)
class FileOf:
    """The number of the file that a row is in, by the last places of the files before."""

    lasts: NDArray[np.int64]

    def __call__(self, places: pa.Array) -> pa.Array:
        return pa.array(np.searchsorted(self.lasts, places.to_numpy(), "left").astype(np.int32))


def in_files(session: ClusterSession, rows: DataFrame, files: int, rows_per_file: int) -> DataFrame:
    """Distinct rows with a `place` and `times`, a partition for each file, in their order; copies of a row may be in
    several files."""
    from pyspark.sql import functions as sql

    if files == 1:
        return rows.withColumn("file", sql.lit(0)).coalesce(1).sortWithinPartitions("place")
    lasts, parted = _ends(session, rows, files, rows_per_file)
    numbered = rows.withColumn("file", compute(FileOf(lasts), ["place"], "int"))
    parts = sql.broadcast(session.load(parted))
    split = numbered.join(parts, "place", "left").select(
        *(name for name in rows.columns if name != "times"),
        sql.coalesce("part_times", "times").alias("times"),
        sql.coalesce("part_file", "file").alias("file"),
    )
    return split.repartitionById(files, sql.col("file")).sortWithinPartitions("place")


def _ends(
    session: ClusterSession, rows: DataFrame, files: int, rows_per_file: int
) -> tuple[NDArray[np.int64], pa.Table]:
    """The place of the row with which each file but the last ends; and, for each such row, how many copies are in which
    file.

    Rows are counted by the first bits of their places, which are hashes; only what stands around an end is looked at
    one by one.
    """
    from pyspark.sql import functions as sql

    top = sql.shiftright("place", _TOP)
    counted = session.fetch(rows.groupBy(top.alias("top")).agg(sql.sum("times").alias("n"))).sort_by("top")
    tops, until = counted["top"].to_numpy(), np.cumsum(counted["n"].to_numpy())
    ends = np.arange(1, files, dtype=np.int64) * rows_per_file
    around = np.unique(np.searchsorted(until, ends, "left"))
    near = rows.select("place", "times").where(top.isin([int(each) for each in tops[around]]))
    rows_near = session.fetch(near).sort_by("place")
    places, times = rows_near["place"].to_numpy(), rows_near["times"].to_numpy().astype(np.int64)
    owners = np.searchsorted(tops, places >> _TOP)
    before = np.append(0, until)[owners]  # rows before those with the same first bits
    own = np.cumsum(times) - times
    starts = before + own - own[np.searchsorted(owners, owners, "left")]
    stops = starts + times
    cut = np.searchsorted(stops, ends, "left")
    pieces: list[tuple[int, int, int]] = []
    for at in np.unique(cut):
        for file in range(int(starts[at] // rows_per_file), int((stops[at] - 1) // rows_per_file) + 1):
            copies = min(stops[at], (file + 1) * rows_per_file) - max(starts[at], file * rows_per_file)
            pieces.append((int(places[at]), file, int(copies)))
    columns = zip(*pieces, strict=True)
    names = ("place", "part_file", "part_times")
    kinds = (pa.int64(), pa.int32(), pa.int64())
    arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    return places[cut], pa.table(dict(zip(names, arrays, strict=True)))


@dataclass(frozen=True, eq=False)
class FileWriter:
    """Writes the rows of a partition as one file of a folder, on a worker; a file is there when all of it is."""

    folder: str
    schema: pa.Schema
    hidden: Mapping[str, MissingCodes] = field(default_factory=dict)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next(batches, None)
        if first is None:
            return
        number = first["file"][0].as_py()
        target = piece(Path(self.folder), number)
        beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with pa.parquet.ParquetWriter(beside, self.schema, compression="zstd") as file:
                for batch in chain((first,), batches):
                    for table in self._publish(pa.table(batch)):
                        file.write_table(table)
            beside.replace(target)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(error.errno, DISK_FULL) from None
            raise
        yield pa.record_batch({"file": pa.array([number], pa.int32())})

    def _publish(self, table: pa.Table) -> Iterator[pa.Table]:
        """The rows as they are published, so many at a time."""
        names = [name for name in table.column_names if name.startswith("x")]
        shown: list[Any] = []
        for name, entry in zip(names, self.schema, strict=True):
            codes = self.hidden.get(entry.name)
            column = cast_back(table[name], entry.type if codes is None else codes.column.type)
            shown.append(column if codes is None else codes.hide(column))
        places = np.repeat(np.arange(len(table)), table["times"].to_numpy())
        for begin in range(0, len(places), ROW_GROUP):
            chosen = pa.array(places[begin : begin + ROW_GROUP])
            yield pa.table([column.take(chosen) for column in shown], schema=self.schema)
