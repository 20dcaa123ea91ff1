"""`shoal diagnose --dependencies`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.core.formatting import counted, printable

if TYPE_CHECKING:
    from shoal.diagnosis.dependencies import Dependencies
    from shoal.job.job import Job

SHOWN = 40
"""Dependencies that people are shown."""


@dataclass(frozen=True, kw_only=True)
class DependencyOptions:
    """Which dependencies are looked for."""

    dependencies: Annotated[
        bool, typer.Option("--dependencies", help="List which columns determine others (functional dependencies).")
    ] = False
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="With --dependencies: share of the records that may break one.")
    ] = 0.0
    largest: Annotated[
        int | None,
        typer.Option(
            "--largest",
            help="With --dependencies: most columns that together determine another. With --suda: most columns of a "
            "minimal unique (default: all but one).",
        ),
    ] = None
    support: Annotated[
        float | None,
        typer.Option(
            "--support",
            help="With --dependencies: also list those that only hold for values which this share of the records have.",
        ),
    ] = None

    def search(self, job: Job, time_limit: float | None) -> Dependencies:
        """The dependencies of a job's table, marked by its roles where it has some."""
        from shoal import api
        from shoal.core.schema import Role
        from shoal.errors import InputError
        from shoal.job.arguments import arguments

        if job.input is None:
            raise InputError("name the table to diagnose")
        has_roles = job.named(Role.QUASI) or job.named(Role.SENSITIVE)
        limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
        with output.watching() as run:
            return api.dependencies(
                api.read_job(job) if has_roles else job.input, tolerance=self.tolerance, largest=self.largest,
                support=self.support, **arguments(job, "dependencies"), run=run, **limit,
            )  # fmt: skip


def show(dependencies: Dependencies, *, as_json: bool) -> None:
    """The dependencies; never a value."""
    if as_json:
        output.emit("dependencies", {"summary": dependencies.summary, **dependencies.as_dict()})
        return
    output.say(dependencies.summary, style="bold")
    broken = "records that break it"
    rows = [
        (
            _names(each.determinant), each.dependent, f"{each.violations:,}",
            "; ".join(filter(None, [each.label, "unique per record" if each.key else None])),
        )
        for each in dependencies.found[:SHOWN]
    ]  # fmt: skip
    output.tabulate(("these columns", "determine this one", broken, "hint"), rows, numbers=(broken,))
    if dependencies.conditional:
        conditional_rows = [
            (
                row.condition,
                _names(row.determinant),
                row.dependent,
                f"{row.values:,}",
                f"{row.support:,}",
                row.label or "",
            )
            for row in dependencies.conditional[:SHOWN]
        ]
        headings = ("for values of", "these columns", "determine this one", "values", "records", "hint")
        output.tabulate(headings, conditional_rows, title="For single values", numbers=("values", "records"))
    hidden = max(0, len(dependencies.found) - SHOWN) + max(0, len(dependencies.conditional) - SHOWN)
    if hidden:
        output.say(f"{hidden:,} more; to see all, use --json")
    if not dependencies.proven:
        output.say(f"There may be others, with more than {counted(dependencies.complete, 'columns')} on the left.")
    for name in dependencies.skipped:
        output.say(f"Column {printable(name)} could not be examined.")
    output.say(f"{dependencies.hint[0].upper()}{dependencies.hint[1:]}.", style="dim")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(printable, names)) or "(none: it is constant)"
