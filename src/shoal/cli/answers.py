"""What `shoal diagnose` shows: answers to questions, and suggested roles."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.core.words import printable

if TYPE_CHECKING:
    from shoal.diagnosis.detection import Detection
    from shoal.diagnosis.questions import Answer
    from shoal.job import Job

SHOWN = 20
"""Sets and steps that people are shown of an answer."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is made of an answer besides words."""

    sql: Annotated[
        str | None, typer.Option("--sql", help="Print the query behind the answer: duckdb, postgres, spark, mysql, …")
    ] = None
    name: Annotated[
        str | None, typer.Option("--table", help="The table's name in the query; the file's name by default.")
    ] = None
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the answer: a .svg, .png or .html file.")] = None

    def check(self, made: Job) -> None:
        """Refuses, before any work is done, a picture that could not be written."""
        from shoal.core.files import check_outputs
        from shoal.plots.drawing import check_picture

        if self.plot is not None:
            check_picture(self.plot)
            check_outputs([self.plot], made.reads())

    def extras(self, found: Answer, made: Job) -> dict[str, str]:
        """The query of an answer and the place of its picture, where they are asked for."""
        from shoal.diagnosis.sql import sql
        from shoal.plots.diagnosis import picture

        extras = {}
        if self.plot is not None:
            extras["plot"] = str(picture(found, self.plot))
        if self.sql is not None:
            name = self.name or (made.input.name.split(".")[0] if made.input is not None else "data")
            extras["sql"] = sql(found, name, dialect=self.sql)
        return extras


def show(found: Answer, **more: Any) -> None:
    """An answer as people read it, or its query where that is asked for."""
    if "sql" in more:
        typer.echo(more["sql"])
        return
    from rich.console import Console

    console = Console()
    console.print(render(found))
    for name, value in more.items():
        console.print(f"{name}: {value}", highlight=False, markup=False)


def render(found: Answer) -> Any:
    """An answer as people read it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(printable(f"Question {found.question}: {found.words}"), style="bold")]
    if found.positive_border is not None and found.negative_border is not None:
        table = Table()
        table.add_column(f"positive border: {len(found.positive_border)} maximal sets that satisfy", style="green")
        table.add_column(f"negative border: {len(found.negative_border)} minimal sets that do not", style="red")
        for row in range(min(SHOWN, max(len(found.positive_border), len(found.negative_border)))):
            table.add_row(_set(found.positive_border, row), _set(found.negative_border, row))
        parts.append(table)
    elif hasattr(found.answer, "items"):
        table = Table(
            "set",
            "δ" if found.question == 10 else f"(level, δ), {SHOWN} steps" if found.question == 12 else found.parameter,
        )
        for names, value in list(found.answer.items())[:SHOWN]:
            table.add_row(Text(printable(", ".join(names))), _value(value))
        parts += [table, Text(f"{len(found.answer):,} sets, {min(SHOWN, len(found.answer))} shown; --json has all")]
    elif isinstance(found.answer, tuple):
        table = Table(found.parameter, "δ")
        for level, share in found.answer[:SHOWN]:
            table.add_row(_value(level), f"{share:.4%}")
        parts += [table, Text(f"{len(found.answer):,} steps, {min(SHOWN, len(found.answer))} shown; --json has all")]
    else:
        parts.append(Text(_value(found.answer)))
    if found.calls_brute > 1:
        plain = "unknown" if found.calls_levelwise is None else f"{found.calls_levelwise:,}"
        parts.append(
            Text(
                f"{found.calls:,} calls and {found.scans:,} scans; levelwise search: {plain} calls, "
                f"every set: {found.calls_brute:,}",
                style="dim",
            )
        )
    if not found.monotone:
        parts.append(
            Text("adding an attribute can make a set better here: look sets between the borders up one by one")
        )
    if not found.proven:
        parts.append(
            Text(
                f"time was up: what is shown is proven; {len(found.known_bad):,} more sets are known to be bad, and "
                f"what lies inside {len(found.undecided):,} sets is not decided",
                style="yellow",
            )
        )
    return Group(*parts)


def _set(border: tuple[tuple[str, ...], ...], row: int) -> Any:
    from rich.text import Text

    more = f" … and {len(border) - SHOWN:,} more" if row == SHOWN - 1 and len(border) > SHOWN else ""
    return Text(printable(", ".join(border[row])) + more if row < len(border) else "")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(f"({_value(level)}, {share:.2%})" for level, share in value[:SHOWN])
    if isinstance(value, float):
        return "infinite" if math.isinf(value) else f"{value:.6g}"
    return f"{value:,}"


def show_detection(found: Detection, *, as_json: bool) -> None:
    """Suggested roles with their reasons; never a value."""
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"Suggested roles: {found.records:,} records", title_justify="left")
    for heading in ("column", "role", "distinct", "contributes", "why"):
        table.add_column(heading, justify="left" if heading in ("column", "role", "why") else "right")
    for each in found.suggestions:
        worth = "" if each.contribution is None else f"{each.contribution:.1%}"
        table.add_row(
            Text(printable(each.column)), Text(each.role, style=_STYLES.get(each.role, "")), f"{each.distinct:,}",
            worth, Text(printable("; ".join(each.reasons))),
        )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(f"{found.unique_share:.1%} of the records are unique by all columns that outsiders may know")
    console.print(f"smallest sets that single out more than {found.share:.0%}: {len(found.singling_out)}")
    for names in found.singling_out[:SHOWN]:
        console.print(Text(printable("  " + ", ".join(names))))
    console.print(f"contributions: {found.contributions}; these are suggestions, the roles are yours to decide")
    if not found.proven:
        console.print("time was up: there may be more such sets")


_STYLES = {"identifier": "red", "quasi": "yellow", "sensitive": "magenta"}
