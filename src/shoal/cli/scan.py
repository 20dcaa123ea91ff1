"""`shoal scan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import journal, options, output
from shoal.core.formatting import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.diagnosis.scanning import Scan

ADVICE = "To publish such a table safely: shoal anonymize. To see why: shoal diagnose --detect."
MARKS = {"exposed": "✗", "safe": "✓", "release": "✓", "not people": "–"}


def run(
    files: Annotated[list[Path], typer.Argument(help="Tables to look through, of any format that Shoal reads.")],
    k: Annotated[int, typer.Option("--k", help="How many people have to look alike.")] = 5,
    allow: Annotated[str, typer.Option("--allow", help="Columns that may be in the tables, separated by commas.")] = "",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, such as for a comment on a pull request.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Find tables that expose people before they are committed or shared. Exit code 1 if any does.

    Roles are detected, and no value is shown. A table about people is reported if a column names them, or if fewer
    than k share what outsiders may know. A release that keeps its manifest is fine.
    """
    from shoal import api

    with output.watching() as watched:
        scans = api.scan(files, k=k, allow=tuple(filter(None, map(str.strip, allow.split(",")))), run=watched)
    exposed = sum(each.exposed for each in scans)
    summary = (
        f"{exposed:,} of {counted(len(scans), 'files')} {'exposes' if exposed == 1 else 'expose'} people."
        if exposed
        else f"Nobody is exposed in {counted(len(scans), 'files')}."
    )
    journal.note(summary=summary)
    if as_json:
        output.emit("scan", {"summary": summary, "holds": not exposed, "files": [each.as_dict() for each in scans]})
    elif markdown:
        typer.echo(_markdown(summary, scans))
    else:
        output.say(summary, style="bold red" if exposed else "bold green")
        for each in scans:
            output.say(f"{MARKS[each.verdict]} {each.summary}")
        if exposed:
            output.say(ADVICE)
    output.answer(not exposed)


def _markdown(summary: str, scans: Sequence[Scan]) -> str:
    """The scans as a table; names of columns and files are code, in which nothing is markup."""
    rows = [f"| {MARKS[each.verdict]} | {_code(each.file)} | {_cell('; '.join(each.findings))} |" for each in scans]
    advice = ["", ADVICE] if any(each.exposed for each in scans) else []
    return "\n".join([f"**Shoal:** {summary}", "", "| | file | what it gives away |", "|---|---|---|", *rows, *advice])


def _code(text: str) -> str:
    return f"`{_plain(text)}`"


def _cell(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>!#@" else sign for sign in _plain(text))


def _plain(text: str) -> str:
    return printable(text).replace("|", "¦").replace("`", "'")
