"""What reading a table gave, kept with the state of a run as Arrow files."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from shoal.storage.checkpoint import Checkpoint


def load_part(checkpoint: Checkpoint, name: str) -> pa.Table:
    """A part as it was kept; what it holds stays on the disk until it is used."""
    path = checkpoint.part(name)
    try:
        if path is not None:
            return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (pa.ArrowException, OSError):
        pass
    raise checkpoint.damaged()


def keep_part(checkpoint: Checkpoint, name: str, schema: pa.Schema, pieces: Iterable[pa.RecordBatch]) -> None:
    """Keeps a part, piece by piece."""
    with checkpoint.keeping(name) as file, pa.ipc.new_file(file, schema) as writer:
        for piece in pieces:
            writer.write(piece)
