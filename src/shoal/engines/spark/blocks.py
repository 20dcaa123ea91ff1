"""Blocks on the cluster: each goes to one worker, which works on it in its own memory."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.core.blocks import Blocks
from shoal.core.contracts.divisible import Work
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.engines.common.in_memory import InMemory, MemoryApplication
from shoal.engines.common.source import MemorySource, changed
from shoal.engines.common.table import EncodedColumn, MemoryTable
from shoal.engines.spark.encoding import LeafOf, SparkColumn
from shoal.engines.spark.hashing import RowHash
from shoal.engines.spark.session import map_batches
from shoal.engines.spark.source import SparkSource
from shoal.errors import InputError, ShoalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class RowsOnCluster(Protocol):
    """What blocks ask of a table on the cluster."""

    @property
    def source(self) -> SparkSource: ...

    @property
    def columns(self) -> Mapping[str, SparkColumn]: ...

    @property
    def records(self) -> int: ...

    def rows(self) -> DataFrame: ...

    def hash(self, seed: int) -> RowHash: ...


def map_blocks(
    table: RowsOnCluster, schema: Schema, blocks: Blocks, work: Work, seed: int, run: Run, doing: str
) -> list[Any]:
    """What some work makes of each block, in their order.

    Where records can be told apart by more than their quasi-identifiers, each travels with its keyed hash; else equal
    ones are counted first, and travel as one. What is made stays on the workers until all of it is there, and comes
    block by block.
    """
    from pyspark.sql import functions as sql

    source, session = table.source, table.source.session
    names = [*schema.quasi, *schema.sensitive, *schema.owners]
    rows, hash = table.rows(), None
    if len(names) > len(schema.quasi):
        hash = table.hash(seed)
        rows = rows.select(*(source.column(name) for name in source.names), sql.lit(1).cast("bigint").alias("n"))
    else:
        rows = rows.groupBy(*(source.column(name) for name in names)).agg(sql.count(sql.lit(1)).alias("n"))
    leaves = {source.column(name): table.columns[name].leaf_of for name in names}
    placing = _Placing(leaves, len(schema.quasi), blocks, tuple(source.column(name) for name in source.names), hash)
    codes = ", ".join(f"k{at} int" for at in range(len(names)))
    placed_rows = map_batches(rows, placing, f"block int, {codes}, n bigint, hash bigint")
    spread = placed_rows.repartitionById(len(blocks), sql.col("block"))
    trees = {name: table.columns[name].hierarchy for name in names}
    with session.stopped_by(run, doing):
        working = _Working(trees, schema, work, seed)
        answers = session.hold(map_batches(spread, working, "block int, n bigint, answer binary"))
        rows_back = [row for piece in session.batches(answers) for row in piece.to_pylist()]
    if len(rows_back) != len(blocks) or sum(row["n"] for row in rows_back) != table.records:
        raise changed(source.label)
    return [_answer(row["answer"]) for row in sorted(rows_back, key=lambda row: row["block"])]


@dataclass(frozen=True, eq=False)
class _Placing:
    """Records as leaves `k0`, `k1` and so on, each with its block, how many there are, and the keyed hash."""

    leaves: Mapping[str, LeafOf]
    quasi: int
    blocks: Blocks
    columns: tuple[str, ...]
    hash: RowHash | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = [leaf(batch[column]) for column, leaf in self.leaves.items()]
            if any(each.null_count for each in codes):
                raise InputError("the table has values that it had not when it was read")
            keys = np.stack([each.to_numpy() for each in codes[: self.quasi]])
            columns = {"block": pa.array(self.blocks.of(keys)), **{f"k{at}": each for at, each in enumerate(codes)}}
            hashes = None if self.hash is None else self.hash(*(batch[column] for column in self.columns))
            columns |= {"n": batch["n"], "hash": hashes if hashes is not None else pa.nulls(len(batch), pa.int64())}
            yield pa.record_batch(columns)


@dataclass(frozen=True, eq=False)
class _Working:
    """Works on the blocks of a partition, which is one."""

    trees: Mapping[str, Hierarchy]
    schema: Schema
    work: Work
    seed: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        from shoal.kernels import threads

        context = TaskContext.get()
        threads.at_most(1 if context is None else context.cpus())
        partition = list(batches)
        if not partition:
            return
        rows = pa.Table.from_batches(partition)
        for number in np.unique(rows["block"].to_numpy()).tolist():
            block = rows.filter(pa.array(rows["block"].to_numpy() == number))
            records = int(block["n"].to_numpy().sum())
            try:
                answer = True, self.work(self._table(block, records), self.schema, InMemory())
            except ShoalError as error:
                answer = False, (type(error), str(error), vars(error))
            cells = (number, pa.int32()), (records, pa.int64()), (pickle.dumps(answer), pa.binary())
            arrays = [pa.array([cell], kind) for cell, kind in cells]
            yield pa.record_batch(arrays, names=["block", "n", "answer"])

    def _table(self, block: pa.Table, records: int) -> MemoryTable:
        """A block as a table of its own: records as they came, whose order by the keyed hash is known."""
        times = block["n"].to_numpy()
        codes = (np.repeat(block[f"k{at}"].to_numpy(), times) for at in range(len(self.trees)))
        columns = {
            name: EncodedColumn(column, tree, pa.nulls(tree.size))
            for (name, tree), column in zip(self.trees.items(), codes, strict=True)
        }
        order = np.arange(records)
        if not block["hash"].null_count:
            order = np.argsort(block["hash"].to_numpy().view(np.uint64), kind="stable")
        return MemoryTable(MemorySource(()), columns, records, MemoryApplication, _orders={self.seed: order})


def _answer(pickled: bytes) -> Any:
    """What a worker made of a block; what it raised is raised here."""
    well, answer = pickle.loads(pickled)
    if well:
        return answer
    kind, text, attributes = answer
    error = kind.__new__(kind, text)
    error.__dict__.update(attributes)
    raise error
