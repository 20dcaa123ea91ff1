"""What reading a table found, kept in the state of a run: the distinct rows of the columns with a role."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.engines.common.reading_checkpoint import keep_part, load_part
from shoal.engines.spark.encoding import SparkTally, tally
from shoal.engines.spark.source import SparkSource
from shoal.storage.checkpoint import Checkpoint

TALLY = "spark-tally.arrow"


def checkpointed_tally(checkpoint: Checkpoint | None, source: SparkSource, names: Sequence[str]) -> SparkTally:
    """The tally that was kept when the run was begun; otherwise it is counted now, and kept where there is a place."""
    if checkpoint is None:
        return tally(source, names)
    if checkpoint.part(TALLY) is None:
        counted = tally(source, names)
        _keep(checkpoint, counted, names)
        return counted
    part = load_part(checkpoint, TALLY).combine_chunks()
    try:
        columns = {name: part[f"c{at}"].chunk(0) for at, name in enumerate(names)}
        places = {name: column.indices.to_numpy(zero_copy_only=False) for name, column in columns.items()}
        spelled = {name: column.dictionary for name, column in columns.items()}
        return SparkTally(places, spelled, part["n"].to_numpy())
    except (pa.ArrowException, KeyError, IndexError):
        raise checkpoint.damaged() from None


def _keep(checkpoint: Checkpoint, counted: SparkTally, names: Sequence[str]) -> None:
    columns = {
        f"c{at}": pa.DictionaryArray.from_arrays(pa.array(counted.places[name].astype(np.int32)), counted.spelled[name])
        for at, name in enumerate(names)
    }
    part = pa.table({**columns, "n": counted.counts})
    keep_part(checkpoint, TALLY, part.schema, part.to_batches())
