"""What reading a table found, kept in the state of a run: the distinct values of its columns, and its tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.core.grouping import Codes, Counts
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.reading_checkpoint import keep_part, load_part
from shoal.engines.duckdb.encoding import Distinct, DuckDBTally
from shoal.engines.duckdb.session import DatabaseSession
from shoal.engines.duckdb.source import DuckDBSource
from shoal.storage.checkpoint import Checkpoint

TALLY = "duckdb-tally.arrow"
NOWHERE = -1
"""The leaf of a value that only dropped records have."""


def _part(place: int) -> str:
    return f"duckdb-column-{place}.arrow"


@dataclass(frozen=True, eq=False)
class ReadingCheckpoint:
    """What was found when the run was begun: of each column its distinct values, how many records have each and how
    many of these stay, and the leaf of each."""

    checkpoint: Checkpoint
    distinct: Mapping[str, Distinct]
    counts: Mapping[str, Counts]
    leaves: Mapping[str, Codes]

    @classmethod
    def load(
        cls, checkpoint: Checkpoint | None, source: DuckDBSource, names: Sequence[str]
    ) -> ReadingCheckpoint | None:
        """None where reading was not finished."""
        if checkpoint is None or checkpoint.part(TALLY) is None:
            return None
        distinct, counts, leaves = {}, {}, {}
        for place, name in enumerate(names):
            part = load_part(checkpoint, _part(place))
            cast = f"CAST(value AS {source.kinds[name]}) AS value, n, id"
            stored = source.session.load(part.select(["value", "n", "id"]), cast)
            distinct[name] = Distinct(stored, cast_back(part["value"], source.type_of(name)), part["n"].to_numpy())
            counts[name], leaves[name] = part["kept"].to_numpy(), part["leaf"].to_numpy()
        return cls(checkpoint, distinct, counts, leaves)

    def tally(self, session: DatabaseSession, sizes: Mapping[str, int], leaves: Mapping[str, Codes]) -> DuckDBTally:
        """The tally, when each value has the leaf that it had."""
        if any(not np.array_equal(leaves[name], self.leaves[name]) for name in leaves):
            raise self.checkpoint.other("columns")
        return DuckDBTally(session, session.load(load_part(self.checkpoint, TALLY)), sizes)


def keep(
    checkpoint: Checkpoint,
    distinct: Mapping[str, Distinct],
    counts: Mapping[str, Counts],
    leaves: Mapping[str, Codes],
    tally: DuckDBTally,
) -> None:
    """Keeps what reading found; the tally comes last, and says that all of it is there."""
    session = tally.session
    for place, (name, listed) in enumerate(distinct.items()):
        values = session.fetch(f"SELECT value, n, id FROM {listed.table} ORDER BY id")
        part = values.append_column("kept", pa.array(counts[name])).append_column("leaf", pa.array(leaves[name]))
        keep_part(checkpoint, _part(place), part.schema, part.to_batches())
    rows = f"SELECT * FROM {tally.table}"
    keep_part(checkpoint, TALLY, session.fetch(f"{rows} LIMIT 0").schema, session.batches(rows))
