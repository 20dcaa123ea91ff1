"""What a table must offer that can be worked on in blocks, one after the other or side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from shoal.core.blocks import Blocks
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import EngineTable
from shoal.core.grouping import Codes
from shoal.core.run import Run
from shoal.core.schema import Schema

Work = Callable[[EngineTable, Schema, Engine], Any]
"""What is done with a block, which comes as a table with its schema and the engine that holds it."""


@runtime_checkable
class Divisible(EngineTable, Protocol):
    """A table in an engine's hands that can be worked on block by block, so that no more than a block of it has to fit
    into memory. With these two questions any local recoding runs on any engine."""

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        """Columns as integers, of so many records at most: those whose keyed hash is least, so that neither the order
        of the rows nor the engine decides which ones."""
        ...

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> EngineTable:
        """The records whose leaves in some columns lie between these, both included, as a table of their own."""
        ...


@runtime_checkable
class Distributed(Divisible, Protocol):
    """A divisible table that lies on several machines, which work on its blocks side by side."""

    def map_blocks(self, schema: Schema, blocks: Blocks, work: Work, *, seed: int, run: Run, doing: str) -> list[Any]:
        """What some `work` makes of each block, in their order. A block is a table in the memory of the machine that
        works on it. Its records have a `listing` by the quasi-identifiers and this seed, and nothing else of it is
        there: neither its source nor other columns than those with a role. Whatever Shoal raises there is raised
        here."""
        ...
