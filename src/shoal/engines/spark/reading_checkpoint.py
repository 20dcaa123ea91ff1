"""What reading a table found, kept in the state of a run: the distinct rows of the columns with a role."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.engines.spark.encoding import Tally, tally
from shoal.engines.spark.source import Source
from shoal.storage.checkpoint import Checkpoint

TALLY = "spark-tally.arrow"


def kept_tally(checkpoint: Checkpoint | None, source: Source, names: Sequence[str]) -> Tally:
    """The tally that was kept when the run was begun; otherwise it is counted now, and kept where there is a place."""
    if checkpoint is None:
        return tally(source, names)
    path = checkpoint.part(TALLY)
    if path is None:
        counted = tally(source, names)
        _keep(checkpoint, counted, names)
        return counted
    try:
        held = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
        columns = {name: held[f"c{at}"].chunk(0) for at, name in enumerate(names)}
        places = {name: column.indices.to_numpy(zero_copy_only=False) for name, column in columns.items()}
        spelled = {name: column.dictionary for name, column in columns.items()}
        return Tally(places, spelled, held["n"].to_numpy())
    except (pa.ArrowException, OSError, KeyError, IndexError):
        raise checkpoint.damaged() from None


def _keep(checkpoint: Checkpoint, counted: Tally, names: Sequence[str]) -> None:
    columns = {
        f"c{at}": pa.DictionaryArray.from_arrays(pa.array(counted.places[name].astype(np.int32)), counted.spelled[name])
        for at, name in enumerate(names)
    }
    held = pa.table({**columns, "n": counted.counts})
    with checkpoint.keeping(TALLY) as file, pa.ipc.new_file(file, held.schema) as writer:
        writer.write_table(held)
