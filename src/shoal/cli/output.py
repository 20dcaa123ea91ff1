"""What commands print: JSON, or tables for people; progress goes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.signals import cancelling
from shoal.core.words import printable

if TYPE_CHECKING:
    from shoal.core.finding import Findings
    from shoal.core.run import Run


def show(findings: Findings, *, as_json: bool, title: str, **more: Any) -> None:
    """Findings and whatever else there is to say, as JSON or as a table."""
    if as_json:
        typer.echo(json.dumps({"findings": findings.as_dict(), **more}, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left")
    for heading in ("finding", "value", "bound", "holds"):
        table.add_column(heading, justify="left" if heading == "finding" else "right")
    table.add_column("how", style="dim")
    for finding in findings:
        verdict = {True: "[green]yes[/green]", False: "[red]no[/red]", None: ""}[finding.holds]
        named, how = Text(printable(finding.name)), Text(printable(finding.how))
        table.add_row(named, _number(finding.value), _number(finding.bound), verdict, how)
    console = Console()
    console.print(table)
    for name, value in more.items():
        console.print(printable(f"{name}: {_number(value)}"), highlight=False, markup=False)


def _number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"


def tell(notes: Iterable[str]) -> None:
    """What should be known about how a table was read, on stderr."""
    for note in notes:
        typer.echo(printable(f"note: {note}"), err=True)


def answer(holds: bool) -> None:
    """Ends the command with 1 when the question's answer is no."""
    if not holds:
        raise typer.Exit(1)


@contextmanager
def watching() -> Iterator[Run]:
    """A run that a signal cancels, with a progress bar on stderr for a person at a terminal."""
    from shoal.core.run import Run

    with ExitStack() as stack:
        told = stack.enter_context(_bar()) if sys.stderr.isatty() else None
        run = Run(told)
        stack.enter_context(cancelling(run))
        yield run


@contextmanager
def _bar() -> Iterator[Callable[[float, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda done, doing: bar.update(task, completed=done, description=doing)
