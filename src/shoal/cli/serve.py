"""`shoal serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import keys


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
    sign: Annotated[
        Path | None, typer.Option("--sign", help="The signing key that the page offers for the releases it makes.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="The ledger into which every release goes that the page makes.")
    ] = None,
) -> None:
    """Open the page: diagnose, anonymize, attack and hand over a table in the browser, without programming.

    The page is on this machine only, opens with the address that is printed, and works without a network. What you do
    not save is gone when it stops. With a password it is for visitors, who can name no file of this machine.
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
    signer = keys.unlocked(sign)
    if ledger is not None:
        Ledger(ledger).check_writable()
    serve(
        file, host=host, port=port, password=password, browser=not no_browser, signer=signer, ledger=ledger,
        told=typer.echo,
    )  # fmt: skip
