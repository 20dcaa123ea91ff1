"""What reading a table found, kept in the state of a run: the distinct values of its columns, and its tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.core.grouping import Codes, Counts
from shoal.engines.common.encoding import as_came
from shoal.engines.duckdb.encoding import Distinct, Tally
from shoal.engines.duckdb.session import Session
from shoal.engines.duckdb.source import Source
from shoal.storage.checkpoint import Checkpoint

TALLY = "duckdb-tally.arrow"
NOWHERE = -1
"""The leaf of a value that only dropped records have."""


def _column(place: int) -> str:
    return f"duckdb-column-{place}.arrow"


def _table(path: Path | None, checkpoint: Checkpoint) -> pa.Table:
    """A part as it was kept; what it holds stays on the disk until it is used."""
    if path is None:
        raise checkpoint.damaged()
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (pa.ArrowException, OSError):
        raise checkpoint.damaged() from None


@dataclass(frozen=True, eq=False)
class Kept:
    """What was found when the run was begun: of each column its distinct values, how many records have each and how
    many of these stay, and the leaf of each."""

    checkpoint: Checkpoint
    distinct: Mapping[str, Distinct]
    counts: Mapping[str, Counts]
    leaves: Mapping[str, Codes]

    @classmethod
    def found(cls, checkpoint: Checkpoint | None, source: Source, names: Sequence[str]) -> Kept | None:
        """None where reading was not finished."""
        if checkpoint is None or checkpoint.part(TALLY) is None:
            return None
        distinct, counts, leaves = {}, {}, {}
        for place, name in enumerate(names):
            held = _table(checkpoint.part(_column(place)), checkpoint)
            kind = source.kinds[name]
            stored = source.session.load(held.select(["value", "n", "id"]), f"CAST(value AS {kind}) AS value, n, id")
            distinct[name] = Distinct(stored, as_came(held["value"], source.came(name)), held["n"].to_numpy())
            counts[name], leaves[name] = held["kept"].to_numpy(), held["leaf"].to_numpy()
        return cls(checkpoint, distinct, counts, leaves)

    def tally(self, session: Session, sizes: Mapping[str, int], leaves: Mapping[str, Codes]) -> Tally:
        """The tally, when each value has the leaf that it had."""
        if any(not np.array_equal(leaves[name], self.leaves[name]) for name in leaves):
            raise self.checkpoint.other("columns")
        return Tally(session, session.load(_table(self.checkpoint.part(TALLY), self.checkpoint)), sizes)


def keep(
    checkpoint: Checkpoint,
    distinct: Mapping[str, Distinct],
    counts: Mapping[str, Counts],
    leaves: Mapping[str, Codes],
    tally: Tally,
) -> None:
    """Keeps what reading found; the tally comes last, and says that all of it is there."""
    session = tally.session
    for place, (name, found) in enumerate(distinct.items()):
        values = session.fetch(f"SELECT value, n, id FROM {found.table} ORDER BY id")
        held = values.append_column("kept", pa.array(counts[name])).append_column("leaf", pa.array(leaves[name]))
        with checkpoint.keeping(_column(place)) as file, pa.ipc.new_file(file, held.schema) as writer:
            writer.write_table(held)
    rows = f"SELECT * FROM {tally.table}"
    schema = session.fetch(f"{rows} LIMIT 0").schema
    with checkpoint.keeping(TALLY) as file, pa.ipc.new_file(file, schema) as writer:
        for batch in session.batches(rows):
            writer.write_batch(batch)
