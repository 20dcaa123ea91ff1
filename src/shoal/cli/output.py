"""What commands print: JSON, or a sentence and tables for people; progress goes to stderr."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.signals import cancelling
from shoal.core.formatting import amount, printable
from shoal.errors import ExistingOutputError

if TYPE_CHECKING:
    from shoal.core.finding import Finding
    from shoal.core.plain_risk import PlainRisk
    from shoal.core.run import Run
    from shoal.publishing.columns import ReleasedColumn

VERSION = 1
"""Of the JSON that commands print; `shoal schema` tells what is in it."""
BASELINES = {"original": "original", "hidden": "all hidden", "majority": "majority"}
"""What stands beside a figure, and the heading that it has."""
MOST_ENTRIES = 5
"""Of a list of figures, such as those of every block, how many people are shown."""


@contextmanager
def show_log() -> Iterator[None]:
    """Shows on stderr what the library logs, such as that it compiles."""

    class _Line(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(f"shoal: {record.getMessage()}", file=sys.stderr)

    logger, handler = logging.getLogger("shoal"), _Line()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def emit(command: str, body: Mapping[str, Any]) -> None:
    """What a command found, as JSON that names its schema."""
    typer.echo(json.dumps({"command": command, "version": VERSION, **body}, ensure_ascii=False))


def say(text: str, *, style: str = "") -> None:
    """A line for people; it wraps at words on a terminal, and stays whole in a file."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(printable(text, keep="\n"), style=style), soft_wrap=not console.is_terminal)


def tabulate(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    numbers: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> None:
    """A table for people; the columns of `numbers` stand to the right, and neither they nor `whole` ones are cut."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in headings:
        right = heading in numbers
        table.add_column(
            Text(printable(heading)), justify="right" if right else "left", no_wrap=right or heading in whole
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) if isinstance(cell, str) else cell for cell in row))
    Console().print(table)


def warn(plain: PlainRisk | None) -> None:
    """What plain columns give away, where that is more than the policy accepts; as loud as the promise above it."""
    if plain is not None and plain.above:
        say(f"Warning: {plain.warning}", style="bold red")


def plain(risk: PlainRisk | None) -> dict[str, Any]:
    """What plain columns single out, as a part of what `--json` prints; nothing where there are none."""
    return {} if risk is None else {"plain": risk.as_dict()}


def show_columns(columns: Sequence[ReleasedColumn]) -> None:
    """What is published of the quasi-identifiers and how much of their detail was lost; then all other columns."""
    quasi = [column for column in columns if column.role == "quasi"]
    rows = [(column.name, column.words, column.lost_words) for column in quasi]
    tabulate(("column", "published as", "detail lost"), rows, numbers=("detail lost",))
    shapes: dict[str, list[str]] = {}
    for column in columns:
        if column.role != "quasi":
            role = "person" if column.role == "entity" else column.role  # as the option is called
            mark = "" if role == "plain" else f" ({role})"
            shapes.setdefault(column.words, []).append(printable(column.name) + mark)
    for words, names in shapes.items():
        heading = words.replace("as it was", "published as they were")
        say(f"{heading[0].upper()}{heading[1:]}: {', '.join(names)}")


def show_findings(findings: Iterable[Finding], *, title: str = "", explained: bool = True) -> None:
    """Findings with their units, what they were held against, and how they are computed unless that is left out."""
    from rich.text import Text

    verdicts = {True: Text("yes", style="green"), False: Text("no", style="red"), None: Text()}
    findings = list(findings)
    has_bounds = any(each.bound is not None or each.holds is not None for each in findings)
    beside = [name for name in BASELINES if any(name in each.baselines for each in findings)]
    explanations = [Text(printable(each.how), "dim") for each in findings] if explained else []
    separate = bool(explanations and beside)  # a table with everything would be too wide to read
    headings = (
        "finding", "value", *(BASELINES[name] for name in beside), *(("bound", "holds") if has_bounds else ()),
        *(("how",) if explanations and not separate else ()),
    )  # fmt: skip
    rows = [
        (
            each.title,
            each.words,
            *(each.bare(each.baselines.get(name)) for name in beside),
            *((each.bare(each.bound), verdicts[each.holds]) if has_bounds else ()),
            *(explanations[place : place + 1] if not separate else ()),
        )
        for place, each in enumerate(findings)
    ]
    tabulate(headings, rows, title=title, numbers=("value", "bound", *BASELINES.values()))
    if separate:
        tabulate(("finding", "how"), [(each.title, how) for each, how in zip(findings, explanations, strict=True)])


def show_figures(figures: Mapping[str, Any]) -> None:
    """Figures of a run, a line each."""
    for name, value in figures.items():
        entries = value if isinstance(value, list) and value and isinstance(value[0], Mapping) else [value]
        for entry in entries[:MOST_ENTRIES]:
            say(f"{name.replace('_', ' ')}: {amount(entry)}")
        if len(entries) > MOST_ENTRIES:
            say(f"{name.replace('_', ' ')}: {len(entries) - MOST_ENTRIES:,} more with --json")


def tell(notes: Iterable[str]) -> None:
    """What should be known about how a table was read, on stderr."""
    for note in notes:
        typer.echo(printable(f"note: {note}"), err=True)


def answer(holds: bool) -> None:
    """Ends the command with 1 when the question's answer is no."""
    if not holds:
        raise typer.Exit(1)


def claim(outputs: Sequence[Path], inputs: Iterable[Path] = (), *, overwrite: bool) -> None:
    """Refuses, before any work is done, outputs that cannot be written; asks about those that would be replaced."""
    from shoal.storage.files import check_outputs

    try:
        check_outputs(outputs, inputs, overwrite=overwrite)
    except ExistingOutputError as error:
        ask_to_replace(error)


def ask_to_replace(error: ExistingOutputError) -> None:
    """Asks whoever sits at a terminal whether files may be replaced; the error stays where nobody can say so."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise error
    names = printable(", ".join(error.names))
    if not typer.confirm(f"{names} {'exist' if len(error.names) > 1 else 'exists'} already. Replace?", err=True):
        raise error


@contextmanager
def watching() -> Iterator[Run]:
    """A run that a signal cancels, with a progress bar on stderr for a person at a terminal."""
    from shoal.core.run import Run

    with ExitStack() as stack:
        report = stack.enter_context(_bar()) if sys.stderr.isatty() else None
        run = Run(report)
        stack.enter_context(cancelling(run))
        yield run


@contextmanager
def _bar() -> Iterator[Callable[[float, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda share, doing: bar.update(task, completed=share, description=doing)


@contextmanager
def resume_hint(saved: Path | None) -> Iterator[None]:
    """Says, when a run is stopped, how it can go on."""
    from shoal.errors import CancelledError

    try:
        yield
    except (CancelledError, KeyboardInterrupt):
        if saved is not None and saved.exists():
            typer.echo(printable(f"progress is saved in {saved}; run the same command again to continue"), err=True)
        raise
