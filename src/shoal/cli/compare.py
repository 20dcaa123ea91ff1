"""`shoal compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options, output
from shoal.core.formatting import printable
from shoal.errors import InfeasibleError
from shoal.job.arguments import arguments
from shoal.job.job import Job
from shoal.job.lists import split_names

if TYPE_CHECKING:
    from shoal.utility.comparison import Compared, Comparison

ENDINGS = (".csv", ".json")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """What is compared with what."""

    k: Annotated[str | None, typer.Option("--k", help="Values of k to compare, separated by commas: 2,5,10.")] = None
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="Model to compare, with each k; join several that must all hold with +. Repeatable.",
            autocompletion=options.names_of("models"),
        ),
    ] = None  # fmt: skip
    algorithms: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", help="Algorithm to compare, as NAME:key=value,… (default: auto and mondrian). Repeatable.",
            autocompletion=options.names_of("algorithms"),
        ),
    ] = None  # fmt: skip
    metrics: Annotated[
        str | None, typer.Option("--metrics", help="Losses to measure, separated by commas (default: lm,gcp).")
    ] = None

    @property
    def sizes(self) -> list[int]:
        from shoal.errors import ParameterError

        try:
            return [int(text) for text in split_names(self.k or "")]
        except ValueError:
            raise ParameterError("--k takes whole numbers, separated by commas, such as 2,5,10") from None

    def model_sets(self, job: Job) -> list[list[Any]]:
        """The models that hold together, for each policy; those of the job unless some are named here."""
        from shoal import registry
        from shoal.job.plugins import plugin

        if self.models:
            return [[plugin("models", text) for text in joined.split("+")] for joined in self.models]
        models = [model for model in job.models if not self.sizes or registry.name_of(model) != "k-anonymity"]
        return [models] if models else []


def run(
    job: Job,
    choices: ComparisonOptions,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the comparison to this .csv or .json file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the comparison: .svg, .png or .html.")] = None,
    as_json: options.Json = False,
) -> None:
    """Compare how much detail algorithms lose under several models and values of k. Nothing is published."""
    from shoal import api
    from shoal.errors import OutputError
    from shoal.plots.comparison import picture
    from shoal.plots.drawing import check_picture
    from shoal.storage.files import replacing_all
    from shoal.utility.comparison import ALGORITHMS, METRICS

    if target is not None and target.suffix not in ENDINGS:
        raise OutputError(f"{target.name}: a comparison goes into a {' or '.join(ENDINGS)} file")
    if plot is not None:
        check_picture(plot)
    files = [path for path in (target, plot) if path is not None]
    output.claim(files, job.reads(), overwrite=job.overwrite)
    with output.watching() as watched:
        comparison = api.compare(
            api.read_job(job),
            *choices.model_sets(job),
            k=choices.sizes,
            algorithms=choices.algorithms or ([job.algorithm] if job.algorithm else ALGORITHMS),
            metrics=split_names(choices.metrics or "") or METRICS,
            **arguments(job, "compare"),
            run=watched,
        )
    if files:
        with replacing_all(*files) as places:
            for path, place in zip(files, places, strict=True):
                if path is plot:
                    picture(comparison, place)
                else:
                    place.write_text(comparison.csv() if path.suffix == ".csv" else comparison.json(), encoding="utf-8")
    paths = {name: str(path) for name, path in (("table", target), ("plot", plot)) if path is not None}
    if as_json:
        body = {"summary": comparison.summary, **comparison.as_dict(), "seed": comparison.seed}
        output.emit("compare", {**body, **paths})
    else:
        _show(comparison, paths)
    if all(row.suppressed is None for row in comparison):
        raise typer.Exit(InfeasibleError.exit_code)


def _show(comparison: Comparison, paths: dict[str, str]) -> None:
    """A table for each of the models: the least of each loss for one k stands out, and reasons stand below."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    output.say(comparison.summary, style="bold")
    reasons = list(dict.fromkeys(row.reason for row in comparison if row.reason))
    for models in dict.fromkeys(row.models for row in comparison):
        title = f"Comparison: {comparison.records:,} records" + (f", {models}" if models else "")
        table = Table(title=Text(printable(title)), title_justify="left", box=None, padding=(0, 1))
        table.add_column("algorithm", overflow="fold")
        for heading in ("k", *comparison[0].losses, "classes", "left out", "seconds"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("note", no_wrap=True)
        rows = [row for row in comparison if row.models == models]
        for row in rows:
            cells = [
                Text(_figure(value), style="green" if value == _least(rows, row.k, name) else "")
                for name, value in row.losses.items()
            ]
            note = f"({reasons.index(row.reason) + 1})" if row.reason else _short(row.chosen)
            table.add_row(
                Text(row.algorithm), _figure(row.k), *cells, _figure(row.classes), _figure(row.suppressed),
                f"{row.seconds:,.1f}", Text(note),
            )  # fmt: skip
        console.print(table)
    for number, reason in enumerate(reasons, 1):
        console.print(printable(f"({number}) {reason}"), highlight=False, markup=False)
    for name, path in paths.items():
        console.print(printable(f"{name}: {path}"), highlight=False, markup=False)


def _least(rows: list[Compared], k: int | None, name: str) -> Any:
    values = [row.losses[name] for row in rows if row.k == k]
    return min((value for value in values if isinstance(value, (int, float))), default=None)


def _short(algorithm: str | None) -> str:
    """What an algorithm that tries others took, in a few letters."""
    if algorithm is None:
        return ""
    return algorithm.partition(":")[0] + (", refined" if "refine=true" in algorithm else "")


def _figure(value: float | int | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
