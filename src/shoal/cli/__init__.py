"""The command line: `shoal`. It parses options and prints; everything else is done below it."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer
import typer.main

from shoal.cli import (
    anonymize,
    apply,
    attack,
    balance,
    codebook,
    compare,
    demo,
    diagnose,
    evaluate,
    fast_start,
    hierarchy,
    journal,
    keys,
    ledger,
    options,
    output,
    overlap,
    query,
    recover,
    report,
    rules,
    scan,
    schema,
    serve,
    verify,
)
from shoal.cli.signals import interruptible
from shoal.cli.standard_output import StandardOutput
from shoal.core.formatting import printable
from shoal.errors import CancelledError, ParameterError, ShoalError
from shoal.job.job import Job
from shoal.job.option import options as run_options
from shoal.storage.private import wipe_left_behind

WRONG, INTERNAL, INTERRUPTED, UNREAD = 2, 70, 130, 141

EXIT_CODES = {
    0: "success",
    1: "the answer is no (from verify, scan, diagnose with a bound, attack or report with a threshold)",
    WRONG: "wrong input, a file that cannot be read or written, or too little memory",
    3: "no release satisfies the policy",
    INTERNAL: "a bug in Shoal",
    INTERRUPTED: "stopped; no file is half-written",
    UNREAD: "whoever read the output stopped reading, as in shoal … | head -1",
}

RENAMED = {"anonymize": {"--gap": "--prove-gap"}, "balance": {"--state": "--resume-file"}}
"""What options of a command were called before, and are called now; those of a run know it themselves."""

app = typer.Typer(
    name="shoal",
    help="Find out who is exposed in a table about people, and publish it safely.",
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    diagnose, anonymize, apply, compare, evaluate, attack, query, balance, verify, scan, recover, report, codebook,
    hierarchy, demo, schema, serve,
):  # fmt: skip
    name = command.__name__.rpartition(".")[2]
    run = journal.with_log(name, options.expand_options(name, command.run))
    app.command(name=name)(fast_start.with_fast_start(run))
app.add_typer(overlap.app, name="overlap")
app.add_typer(rules.app, name="rules")
app.add_typer(ledger.app, name="ledger")
app.add_typer(keys.app, name="keys")


def _version(show: bool) -> None:
    if show:
        from shoal.version import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Find out who is exposed in a table about people, and publish it safely."""


def main(arguments: list[str] | None = None) -> None:
    """Runs the command and ends with one of `EXIT_CODES`. What is printed of a failure holds no value of a table."""
    arguments = sys.argv[1:] if arguments is None else arguments
    wipe_left_behind()
    standard_output = StandardOutput()
    try:
        with interruptible(), output.show_log():
            _check_renamed(arguments)
            _parser()(arguments)
    except BaseException as error:  # also what compiled libraries raise beside Exception when they panic
        causes = list(_causes(error))
        if standard_output.is_unread(causes):
            sys.exit(UNREAD)
        if any(isinstance(cause, (KeyboardInterrupt, CancelledError)) for cause in causes):
            typer.echo("interrupted; no file is half-written", err=True)
            sys.exit(INTERRUPTED)
        if isinstance(error, SystemExit) and not any(isinstance(cause, BrokenPipeError) for cause in causes):
            raise  # Typer ends with 1, which says that the answer is no, when any pipe breaks
        if any(_lacks_memory(cause) for cause in causes):
            typer.echo("error: there is too little memory for this; nothing was written", err=True)
            sys.exit(WRONG)
        if isinstance(error, ShoalError):
            typer.echo(printable(f"error: {error}", keep="\n"), err=True)
            if "--json" in arguments:
                failed = {"error": str(error), "command": arguments[0], "version": output.VERSION}
                attempt = getattr(error, "attempt", None)
                typer.echo(json.dumps({**failed, **({"attempt": attempt} if attempt else {})}, ensure_ascii=False))
            sys.exit(error.exit_code)
        if os.environ.get("SHOAL_DEBUG"):
            raise
        typer.echo(
            f"error: something went wrong inside Shoal ({type(error).__name__}); its text is withheld because it may "
            "hold values of the table. Set SHOAL_DEBUG=1 to see it, and please report it.",
            err=True,
        )
        sys.exit(INTERNAL)


@cache
def _parser() -> Any:
    """What parses the arguments, built once for all commands that a process runs."""
    return typer.main.get_command(app)


def _check_renamed(arguments: list[str]) -> None:
    """Says of an option that had another name what it is called now."""
    if not arguments:
        return
    own = (each for each in run_options(Job) if arguments[0] in each.commands and each.formerly)
    renamed = {**{f"--{each.formerly}": each.flag for each in own}, **RENAMED.get(arguments[0], {})}
    for argument in arguments:
        if argument == "--":
            return
        option = argument.partition("=")[0]
        if option in renamed:
            raise ParameterError(f"{option} is called {renamed[option]} now")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was made of: compiled code wraps an interrupt and a lack of memory."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; under a limit, libraries that cannot be loaded say it too."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    unloadable = isinstance(error, (ImportError, OSError)) or "can't start new thread" in str(error)
    return unloadable and not isinstance(error, ShoalError) and _limited()


def _limited() -> bool:
    try:
        import resource
    except ImportError:  # not every system has limits
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
