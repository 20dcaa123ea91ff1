"""`--log-file`: a line of JSON for each run of a command: what was done, when, and how it ended; no cell's value."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import OutputError, ShoalError
from shoal.job.columns import ColumnJob, Roles
from shoal.job.job import Job
from shoal.job.option import options

LogFile = Annotated[
    Path | None,
    typer.Option("--log-file", help="Append a line to this log file: what was done, when, and how it ended."),
]
BEGINS = '{"time": '
"""What every line of a log begins with, and nothing else should."""
OF_RUNS = {each.argument: each for noun in (Job, Roles, ColumnJob) for each in options(noun)}
FAMILIES = {"notion": "models", **{name: each.kind.family for name, each in OF_RUNS.items() if each.kind.family}}
"""Options that spell a plug-in, some of whose parameters may be values of a table."""
WITHHELD = {"builder", "conditions", *(name for name, each in OF_RUNS.items() if not each.logged)}
"""Options of which only is told that they were given: a secret, or what may spell values of a table."""

_facts: dict[str, Any] = {}


def note(**facts: Any) -> None:
    """Facts about the run that is under way, for its line in the log."""
    _facts.update(facts)


def with_log(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option to keep a log of its runs."""
    signature = inspect.signature(command)
    added = inspect.Parameter("log_file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=LogFile)

    @wraps(command)
    def with_journal(log_file: Path | None = None, **arguments: Any) -> None:
        if log_file is None:
            command(**arguments)
            return
        _check(log_file)
        began, clock = datetime.now(UTC), time.monotonic()
        _facts.clear()
        ending: dict[str, Any] = {"exit": 0}
        try:
            command(**arguments)
        except BaseException as error:
            ending = _ending(error)
            raise
        finally:
            defaults = {key: parameter.default for key, parameter in signature.parameters.items()}
            options = {key: _loggable(key, value) for key, value in arguments.items() if value != defaults[key]}
            seconds = round(time.monotonic() - clock, 3)
            line = {"time": began.isoformat(timespec="seconds"), "command": name, "options": options}
            _append(log_file, {**line, **_facts, **ending, "seconds": seconds, "shoal": _version()})

    with_journal.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]
    with_journal.__annotations__ = {**command.__annotations__, "log_file": LogFile}
    return with_journal


def _ending(error: BaseException) -> dict[str, Any]:
    """How a run ended that raised; only errors that are meant for people are told in full."""
    if isinstance(error, ShoalError):
        return {"exit": error.exit_code, "error": str(error)}
    if isinstance(error, typer.Exit):
        return {"exit": error.exit_code}
    if isinstance(error, SystemExit) and isinstance(error.code, int):  # such as when nobody reads on
        return {"exit": error.code}
    return {"exit": 130 if isinstance(error, KeyboardInterrupt) else 70, "error": type(error).__name__}


def _version() -> str:
    from shoal.version import __version__

    return __version__


def _loggable(option: str, value: Any) -> Any:
    from shoal.storage.files import shown

    if option in WITHHELD:
        return "given"
    if isinstance(value, (list, tuple)):
        return [_loggable(option, entry) for entry in value]
    if option in FAMILIES:
        return _spelled(FAMILIES[option], str(value))
    return value if isinstance(value, (bool, int, float)) else shown(value)


def _spelled(family: str, text: str) -> str:
    """A plug-in as it was spelled, without parameters that its printed form hides."""
    from shoal import registry
    from shoal.job.plugins import parse_spec

    name = text.partition(":")[0].strip()
    try:
        values = parse_spec(text)[1]
        visible = {field.name for field in fields(registry.find(family, name)) if field.repr}
    except ShoalError:
        return name
    parameters = ",".join(f"{key}={value}" for key, value in values.items() if key in visible)
    return f"{name}:{parameters}" if parameters else name


def _check(path: Path) -> None:
    """Refuses, before any work is done, a file that is no log or that cannot be written."""
    try:
        with path.open("a+", encoding="utf-8", errors="replace") as file:
            file.seek(0)
            begins = file.read(len(BEGINS))
    except OSError:
        raise OutputError(f"{path.name}: the log cannot be written there") from None
    if begins not in ("", BEGINS):
        raise OutputError(f"{path.name}: this file is not a log of Shoal; nothing was appended to it")


def _append(path: Path, line: dict[str, Any]) -> None:
    """Adds a line in one piece, so that runs at the same time do not mix theirs."""
    text = json.dumps(line, ensure_ascii=False) + "\n"
    try:
        place = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(place, text.encode())
        finally:
            os.close(place)
    except OSError:
        raise OutputError(f"{path.name}: the work was done, but the log cannot be written") from None
