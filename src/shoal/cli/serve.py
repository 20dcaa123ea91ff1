"""`shoal serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import keys


def run(
    file: Annotated[Path | None, typer.Argument(help="Table to open (default: the page asks for one).")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Port of the page (default: 8765, or the next free one).")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address, without opening a browser.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any other than this machine's own needs a password.")
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", help="With --host: file with the password (or set SHOAL_PASSWORD)."),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", help="Signing key that the page offers for its releases.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Ledger in which every release of the page is recorded.")
    ] = None,
) -> None:
    """Open the web page: diagnose, anonymize, attack and hand over a table in the browser, without programming.

    The page runs on this machine only, opens at the printed address, and needs no network. When it stops, everything
    that you did not save is gone. With --host and a password, others can use it, but cannot open files of this machine.
    """
    from shoal.errors import InputError
    from shoal.ledger import Ledger
    from shoal.web.server import serve

    password = os.environ.get("SHOAL_PASSWORD")
    if password_file is not None:
        try:
            password = password_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InputError("the file with the password cannot be read") from None
        if not password:
            raise InputError("the file with the password is empty")
    signer = keys.unlock(sign)
    if ledger is not None:
        Ledger(ledger).check_writable()
    serve(
        file, host=host, port=port, password=password, browser=not no_browser, signer=signer, ledger=ledger,
        announce=typer.echo,
    )  # fmt: skip
