"""The command line: `shoal`."""

from __future__ import annotations

import json
import os
import sys

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


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; ends with 0 fine, 1 the answer is no, 2 wrong input, 3 no release satisfies the policy."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        app(arguments)
    except ShoalError as error:
        typer.echo(f"error: {error}", err=True)
        if "--json" in arguments:
            typer.echo(json.dumps({"error": str(error), "attempt": getattr(error, "attempt", {})}))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was changed", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        typer.echo(
            f"error: something went wrong inside Shoal ({type(error).__name__}); its text is withheld because it may "
            "hold values of the table. Set SHOAL_DEBUG=1 to see it, and please report it.",
            err=True,
        )
        sys.exit(INTERNAL)
