"""A table that is worked on block by block: each block is a table of its own that still belongs to the whole one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from shoal.core.blocks import Blocks
from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.divisible import Distributed, Divisible
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import EngineTable
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.errors import ParameterError, SchemaError

Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class TableBlock(Dataset):
    """The records of a table in one block, as a table of its own that still belongs to the `whole` one: models compare
    with all records, and lengths are measured by the whole table's."""

    whole: Whole = field(kw_only=True)

    def summarized(self, quasi: tuple[str, ...]) -> Classes:
        own = super().summarized(quasi)
        histograms = tuple(map(Histogram.compared, own.sensitive, self.whole.sensitive))
        return replace(own, sensitive=histograms, records=self.whole.records)

    @property
    def extent(self) -> Sequence[Codes]:
        return self.whole.extent


@dataclass(frozen=True, eq=False, repr=False)
class Whole:
    """What blocks must know of the table that they are cut from. It takes next to no memory, and can be sent to where
    blocks are worked on."""

    schema: Schema
    records: int
    extent: Sequence[Codes]
    sensitive: Sequence[Histogram]

    @classmethod
    def of(cls, dataset: Dataset) -> Whole:
        """Raises when the table cannot be cut."""
        divisible(dataset)
        if not dataset.schema.quasi:
            raise SchemaError("no quasi-identifier is named; name the columns that outsiders may know")
        return cls(dataset.schema, dataset.records, dataset.extent, dataset.margin.sensitive)

    def boxed(self, dataset: Dataset, low: Codes, high: Codes) -> TableBlock:
        """The records of the table in a box, which the engine looks up."""
        table = divisible(dataset).within(self.schema.quasi, low.tolist(), high.tolist())
        return TableBlock(table, dataset.schema, dataset.engine, whole=self)

    def worked_on(
        self,
        dataset: Dataset,
        blocks: Blocks,
        work: Callable[[TableBlock, Run], Result],
        seed: int,
        run: Run,
        doing: str,
        once: Callable[[int, Callable[[], Result]], Result] = lambda number, make: make(),
    ) -> list[Result]:
        """What some `work` makes of each block of the table: where the data live, or as many at a time here as there
        are threads. Here `once` may keep what is made of the block of a number, which then is not made again."""
        table = dataset.table
        if isinstance(table, Distributed):
            return table.map_blocks(self.schema, blocks, _OnPart(self, work), seed=seed, run=run, doing=doing)
        boxes = list(zip(*blocks.boxes([tree.size for tree in self.schema.hierarchies]), strict=True))
        quiet, done = Run(within=run), iter(range(1, len(boxes) + 1))

        def one(number: int) -> Result:
            result = once(number, lambda: work(self.boxed(dataset, *boxes[number]), quiet))
            run.report(next(done) / len(boxes), doing)
            return result

        return _in_threads(one, range(len(boxes)), run)

    def each(
        self, boxes: Sequence[tuple[Codes, Codes]], ask: Callable[[TableBlock], Result], dataset: Dataset, run: Run
    ) -> list[Result]:
        """The answers of the table's records in each of some boxes, as many at a time as there are threads."""
        return _in_threads(lambda box: ask(self.boxed(dataset, *box)), boxes, run)


def _in_threads(work: Callable[[Given], Result], things: Sequence[Given], run: Run) -> list[Result]:
    """What some work makes of each thing, until the run is cancelled. Threads of the work share the processors."""
    from shoal.kernels import threads

    available = threads.count()
    workers = max(1, min(available, len(things)))

    def one(thing: Given) -> Result:
        run.check()
        threads.at_most(available // workers)
        return work(thing)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, things))


@dataclass(frozen=True, eq=False, repr=False)
class _OnPart:
    """Work on a block, for an engine that knows tables only."""

    whole: Whole
    work: Callable[[TableBlock, Run], Any]

    def __call__(self, table: EngineTable, schema: Schema, engine: Engine) -> Any:
        return self.work(TableBlock(table, schema, engine, whole=self.whole), Run())


def divisible(dataset: Dataset) -> Divisible:
    """The table of a dataset; raises when its engine does not cut tables."""
    if not isinstance(dataset.table, Divisible):
        raise ParameterError("this engine does not cut tables into blocks; use another one, or no blocks")
    return dataset.table
