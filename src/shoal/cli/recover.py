"""`shoal recover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder, or a file in it; without one, wherever your runs were stopped.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Undo what a killed run had begun to write: the files from before it are put back, all of them.

    Only what your own runs noted is undone; nothing that lies in the folder is believed. Every command that writes into
    a folder does the same first.
    """
    from shoal.errors import InputError
    from shoal.storage.files import recover

    if folder is not None and not folder.exists():
        raise InputError(f"there is no folder {folder.name!r}")
    files = recover(folder if folder is None or folder.is_dir() else folder.parent)
    names = ", ".join(path.name for path in files)
    summary = (
        f"As before the run that was stopped: {names}." if files else "No run of yours was stopped while it wrote."
    )
    journal.note(summary=summary)
    if as_json:
        output.emit("recover", {"summary": summary, "files": [str(path) for path in files]})
    else:
        output.say(summary)
