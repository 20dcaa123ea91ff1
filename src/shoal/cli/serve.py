"""`shoal serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def run(
    file: Annotated[Path | None, typer.Argument(help="The table to open; without one, the page asks for it.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Where the page listens (default: 8765, or the next free one).")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    host: Annotated[
        str, typer.Option("--host", help="Another address than this machine's own; it needs a password.")
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="Of --host: the file with the password (or SHOAL_PASSWORD).")
    ] = None,
) -> None:
    """Open the page: diagnose, anonymize, attack and hand over a table in the browser, without programming.

    The page is on this machine only, opens with the address that is printed, and works without a network. What you do
    not save is gone when it stops.
    """
    from shoal.errors import InputError
    from shoal.web.server import serve

    password = os.environ.get("SHOAL_PASSWORD")
    if password_file is not None:
        try:
            password = password_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InputError("the file with the password cannot be read") from None
        if not password:
            raise InputError("the file with the password is empty")
    serve(file, host=host, port=port, password=password, browser=not no_browser, told=typer.echo)
