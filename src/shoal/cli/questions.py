"""What `shoal diagnose` says about questions and about roles."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.diagnosis.detection import Detection
    from shoal.diagnosis.questions import Answer

UNASKED = 10
"""Attributes up to which every set is looked at without having been asked for (question 4)."""
PATIENCE = 20.0
"""Seconds for a question that was not asked for."""
SHOWN = 20


def delta_of(text: str | None) -> Any:
    """What `--delta` says: a share, or `ask`."""
    from shoal.errors import ParameterError

    if text is None or text == "ask":
        return text
    try:
        return float(text)
    except ValueError:
        raise ParameterError("--delta is a share of the records between 0 and 1, or ask") from None


def needed(ask: int | None, given: dict[str, Any]) -> dict[str, Any]:
    """What a question that was asked by its number takes of what is given; everything when none was."""
    from shoal.diagnosis.questions import TABLE

    if ask not in TABLE:
        return given
    _, by_bound, share = TABLE[ask]
    taken = dict(given)
    if not by_bound:
        letter = next((letter for letter in ("l", "t") if given[letter] is not None), "k")
        taken |= {"k": None, "l": None, "t": None}
        taken["notion"] = given["notion"] or {"k": None, "l": "distinct-l", "t": "t"}[letter]
    if share != "given":
        taken["delta"] = share
    return taken


def bounded(
    *,
    l: float | None,  # noqa: E741
    t: float | None,
    notion: str | None,
    c: float | None,
    distance: str,
    column: str | None,
) -> list[Any]:
    """The model whose bound is given, to be measured beside the question."""
    from shoal import registry

    if t is not None:
        return [registry.make("models", "t-closeness", {"t": t, "distance": distance, "column": column})]
    name = f"{notion or 'distinct-l'}-diversity"
    if l is None or name not in registry.names("models"):
        return []
    ratio = {"c": c} if name == "recursive-l-diversity" and c is not None else {}
    return [registry.make("models", name, {"l": l, "column": column, **ratio})]


def implied(data: Dataset, *, k: int | None, attributes: list[str] | None) -> Answer | None:
    """The question that is asked by giving k and attributes, or neither; None when it would take too long."""
    from shoal import api
    from shoal.diagnosis.families import MOST

    names = attributes or list(data.schema.quasi)
    if any(name not in data.schema.quasi for name in names):
        return None
    if attributes is None and len(names) > (UNASKED if k is None else MOST):
        return None
    return api.ask(data, k=k, attributes=attributes, time_limit=PATIENCE)


def show(found: Answer, *, as_json: bool, sql: str | None, table: str, plot: Path | None, **more: Any) -> None:
    """An answer, with its query and its picture where they are asked for."""
    if plot is not None:
        from shoal.plots.diagnosis import picture

        more["plot"] = str(picture(found, plot))
    if sql is not None:
        from shoal.diagnosis.sql import sql as query

        more["sql"] = query(found, table, dialect=sql)
    if as_json:
        typer.echo(json.dumps({**found.as_dict(), **more}, ensure_ascii=False))
        return
    if sql is not None:
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

    parts: list[Any] = [Text(f"Question {found.question}: {found.words}", style="bold")]
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
            table.add_row(Text(", ".join(names)), _value(value))
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
    return Text(", ".join(border[row]) + more if row < len(border) else "")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(f"({_value(level)}, {share:.2%})" for level, share in value[:SHOWN])
    if isinstance(value, float):
        return "any: every record may be left out" if math.isinf(value) else f"{value:.6g}"
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
            Text(each.column), Text(each.role, style=_STYLES.get(each.role, "")), f"{each.distinct:,}",
            worth, Text("; ".join(each.reasons)),
        )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(f"{found.unique_share:.1%} of the records are unique by all columns that outsiders may know")
    console.print(f"smallest sets that single out more than {found.share:.0%}: {len(found.singling_out)}")
    for names in found.singling_out[:SHOWN]:
        console.print(Text("  " + ", ".join(names)))
    console.print(f"contributions: {found.contributions}; these are suggestions, the roles are yours to decide")
    if not found.proven:
        console.print("time was up: there may be more such sets")


_STYLES = {"identifier": "red", "quasi": "yellow", "sensitive": "magenta"}
