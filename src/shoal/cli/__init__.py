"""The command line: `shoal`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from shoal.cli import anonymize, demo, diagnose, evaluate, hierarchy, verify
from shoal.errors import ShoalError

INTERNAL, INTERRUPTED = 70, 130

app = typer.Typer(
    name="shoal",
    help="Privacy diagnosis and preservation in data publishing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (diagnose, anonymize, evaluate, verify, hierarchy, demo):
    app.command(name=command.__name__.rpartition(".")[2])(command.run)


def _version(wanted: bool) -> None:
    if wanted:
        from shoal import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _options(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="The version.")):
    """Privacy diagnosis and preservation in data publishing."""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Lets a request to end the process clean up as Ctrl-C does, and loses no Ctrl-C.

    Python cannot raise out of a finalizer or a compiled library's callback: what happens there is printed and
    forgotten. An interrupt is sent again instead, and of anything else no text is printed, which may hold values.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def unraisable(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()
        elif os.environ.get("SHOAL_DEBUG"):
            hook(lost)
        else:
            typer.echo(f"warning: {lost.exc_type.__name__} in a callback; its text is withheld", err=True)

    handler, hook = signal.signal(signal.SIGTERM, signal.default_int_handler), sys.unraisablehook
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, handler)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; ends with 0 fine, 1 the answer is no, 2 wrong input, 3 no release satisfies the policy."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with _interruptible():
            app(arguments)
    except ShoalError as error:
        typer.echo(f"error: {error}", err=True)
        if "--json" in arguments:
            typer.echo(json.dumps({"error": str(error), "attempt": getattr(error, "attempt", {})}))
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:
            raise
        typer.echo("interrupted; no file is half-written", err=True)
        sys.exit(INTERRUPTED)
    except SystemError as error:  # what compiled code makes of an interrupt
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        typer.echo("interrupted; no file is half-written", err=True)
        sys.exit(INTERRUPTED)
    except BaseException as error:  # also what compiled libraries raise beside Exception when they panic
        if os.environ.get("SHOAL_DEBUG"):
            raise
        typer.echo(
            f"error: something went wrong inside Shoal ({type(error).__name__}); its text is withheld because it may "
            "hold values of the table. Set SHOAL_DEBUG=1 to see it, and please report it.",
            err=True,
        )
        sys.exit(INTERNAL)
