"""`shoal diagnose --dependencies`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.core.words import printable

if TYPE_CHECKING:
    from shoal.diagnosis.dependencies import Dependencies
    from shoal.job import Job

SHOWN = 40
"""Dependencies that people are shown."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which dependencies are looked for."""

    dependencies: Annotated[
        bool, typer.Option("--dependencies", help="List the functional dependencies between the columns.")
    ] = False
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="Of --dependencies: the share of records that may break one.")
    ] = 0.0
    largest: Annotated[
        int | None, typer.Option("--largest", help="Of --dependencies: the most columns of a determinant.")
    ] = None
    support: Annotated[
        float | None,
        typer.Option(
            "--support",
            help="Of --dependencies: also list those that hold for single values which this share of the records have.",
        ),
    ] = None

    def found(self, made: Job, time_limit: float | None) -> Dependencies:
        """The dependencies of a job's table, marked by its roles where it has some."""
        from shoal import api
        from shoal.core.schema import Role
        from shoal.errors import InputError

        if made.input is None:
            raise InputError("name the table to look at")
        named = made.named(Role.QUASI) or made.named(Role.SENSITIVE)
        limited: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
        with output.watching() as run:
            return api.dependencies(
                made.read() if named else made.input, tolerance=self.tolerance, largest=self.largest,
                support=self.support, **made.reading(),
                engine=made.engine, run=run, **limited,
            )  # fmt: skip


def show(found: Dependencies, *, as_json: bool) -> None:
    """The dependencies; never a value."""
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table("determinant", "dependent", title=f"Dependencies: {found.records:,} records", title_justify="left")
    table.add_column("records that break it", justify="right")
    table.add_column("hint")
    for each in found.found[:SHOWN]:
        determinant = ", ".join(each.determinant) or "(constant)"
        hint = "; ".join(filter(None, [each.label, "unique per record" if each.key else None]))
        table.add_row(Text(printable(determinant)), Text(printable(each.dependent)), f"{each.violations:,}", hint)
    console.print(table)
    if found.conditional:
        single = Table("for values of", "determinant", "dependent", title="For single values", title_justify="left")
        single.add_column("values", justify="right")
        single.add_column("records", justify="right")
        single.add_column("hint")
        for row in found.conditional[:SHOWN]:
            names = (row.condition, ", ".join(row.determinant) or "(constant)", row.dependent)
            texts = [Text(printable(name)) for name in names]
            single.add_row(*texts, f"{row.values:,}", f"{row.support:,}", row.label or "")
        console.print(single)
    left = max(0, len(found.found) - SHOWN) + max(0, len(found.conditional) - SHOWN)
    if left:
        console.print(f"{left:,} more; --json has all")
    if not found.proven:
        console.print(f"there may be others, with determinants of more than {found.complete} columns")
    for name in found.skipped:
        console.print(Text(printable(f"column {name} could not be looked at")))
    console.print(found.hint, highlight=False)
