"""`shoal query`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.utility.estimation import Estimate


def run(
    release: Annotated[Path, typer.Argument(help="The release file, with its manifest next to it.")],
    conditions: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="Condition, such as 'age <= 30', 'zip in 10001..20000' or 'sex = F'. Repeatable; all must hold.",
        ),
    ] = None,
    summed: Annotated[str | None, typer.Option("--sum", help="Sum this column instead of counting records.")] = None,
    averaged: Annotated[
        str | None, typer.Option("--mean", help="Average this column instead of counting records.")
    ] = None,
    hierarchies: Annotated[
        Path | None, typer.Option("--hierarchies", help="Folder with hierarchy files, one <column>.csv per column.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Estimate a count, a sum or a mean from a release, with its error and the range that is certain."""
    from shoal import api
    from shoal.errors import ParameterError

    if summed is not None and averaged is not None:
        raise ParameterError("give --sum or --mean, not both")
    measure = "sum" if summed is not None else "mean" if averaged is not None else "count"
    estimate = api.query(release, measure, summed or averaged, where=conditions or (), hierarchies=hierarchies)  # type: ignore[arg-type]
    if as_json:
        output.emit("query", {"summary": sentences(estimate).splitlines()[0], **asdict(estimate)})
        return
    output.say(sentences(estimate))


def sentences(estimate: Estimate) -> str:
    """An estimate as people read it."""
    if estimate.value is None:
        return f"There is no {estimate.measure}: {estimate.how}."
    error = "" if not estimate.error else f" ± {_number(estimate.error)} (standard error)"
    lines = [f"{estimate.measure.capitalize()}: {_number(estimate.value)}{error}."]
    if estimate.low is not None and estimate.high is not None:
        low, high = _number(estimate.low), _number(estimate.high)
        lines.append("This is certain." if estimate.low == estimate.high else f"Certain bounds: {low} to {high}.")
    if estimate.weighted is not None:
        lines.append(
            f"{estimate.measure.capitalize()} in the population, by the weights: {_number(estimate.weighted)}."
        )
    left_out = f"; {estimate.left_out:,} were left out and are not counted" if estimate.left_out else ""
    how = f"{estimate.how[:1].upper()}{estimate.how[1:]}"
    lines.append(f"From {estimate.records:,} published records{left_out}. {how}.")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
