"""`shoal diagnose --suda`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import journal, output
from shoal.core.formatting import counted, percent, printable

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.diagnosis.suda import Suda


@dataclass(frozen=True, kw_only=True)
class SudaOptions:
    """How special uniques are looked for and scored."""

    suda: Annotated[
        bool, typer.Option("--suda", help="Score the few values that single records out (SUDA2, DIS-SUDA).")
    ] = False
    convention: Annotated[
        Literal["original", "ihsn"],
        typer.Option("--convention", help="With --suda: scores by Elliot and others (original), or by the IHSN."),
    ] = "original"
    fraction: Annotated[
        float | None,
        typer.Option(
            "--fraction",
            help="With --suda: share of the population that is in the table (default: by the weights, else 0.01).",
        ),
    ] = None

    def search(self, data: Dataset, attributes: Any, largest: int | None) -> Suda:
        """The special uniques of a table."""
        from shoal import api

        with output.watching() as run:
            return api.suda(
                data, attributes=attributes, largest=largest, convention=self.convention, fraction=self.fraction,
                run=run,
            )  # fmt: skip


def show(found: Suda, plot: Path | None, *, as_json: bool) -> None:
    """The figures, and the picture where one is wanted; never a value."""
    from shoal.plots.suda import picture

    drawn = {} if plot is None else {"plot": str(picture(found, plot))}
    summary = f"{found.summary[0].upper()}{found.summary[1:]}."
    journal.note(summary=summary)
    if as_json:
        output.emit("suda", {"summary": summary, **found.as_dict(), **drawn})
        return
    output.say(summary, style="bold")
    rows = [(counted(size, "columns"), f"{count:,}") for size, count in found.by_size.items()]
    output.tabulate(("minimal uniques of", "count"), rows, numbers=("count",))
    ranked = sorted(found.contributions.items(), key=lambda entry: -entry[1])
    shares = [(printable(name), percent(share)) for name, share in ranked]
    output.tabulate(("column", "contribution to all scores"), shares, numbers=("contribution to all scores",))
    who = "records" if found.classes.people is None else "people"
    bands = [(band, f"{count:,}") for band, count in found.bands.items() if count]
    output.tabulate(("DIS score", who), bands, numbers=(who,))
    if drawn:
        output.say(f"Drawn: {drawn['plot']}")
