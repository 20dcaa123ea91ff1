"""`shoal recover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder, or a file in it (default: wherever your runs were stopped).")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Undo what a killed run had begun to write, and restore all files from before it.

    Only what your own runs recorded is undone; notes found in the folder itself are not trusted. Every command that
    writes into a folder does the same first.
    """
    from shoal.errors import InputError
    from shoal.storage.files import recover

    if folder is not None and not folder.exists():
        raise InputError(f"the folder {folder.name!r} does not exist")
    files = recover(folder if folder is None or folder.is_dir() else folder.parent)
    names = ", ".join(path.name for path in files)
    summary = (
        f"Restored to the state before the stopped run: {names}."
        if files
        else "None of your runs was stopped while writing."
    )
    journal.note(summary=summary)
    if as_json:
        output.emit("recover", {"summary": summary, "files": [str(path) for path in files]})
    else:
        output.say(summary)
