"""`shoal balance`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import journal, options, output
from shoal.core.formatting import percent
from shoal.errors import InfeasibleError
from shoal.job.job import Job

if TYPE_CHECKING:
    from shoal.tradeoff.balance import Balance
    from shoal.tradeoff.sweep_result import Point

ENDING = ".json"


def run(
    job: Job,
    figures: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the figures to this .json file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the curves of utility and privacy: .svg, .png or .html.")
    ] = None,
    plane: Annotated[
        Path | None,
        typer.Option(
            "--plane", help="Draw utility against privacy, with the best settings joined: .svg, .png or .html."
        ),
    ] = None,
    resume_file: Annotated[
        Path | None,
        typer.Option(
            "--resume-file", help="Save progress to this file; after a stop, the same command continues from it."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Number of parallel processes (default: one per core for long sweeps)."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find the setting that balances privacy and utility, by trying several. Nothing is published."""
    from shoal.api.balancing import balance_job
    from shoal.errors import OutputError
    from shoal.plots.balance import curves, trade_off
    from shoal.plots.drawing import check_picture
    from shoal.storage.files import check_outputs, replacing_all

    if figures is not None and figures.suffix != ENDING:
        raise OutputError(f"{figures.name}: the figures of a balance go into a {ENDING} file")
    for path in (plot, plane):
        if path is not None:
            check_picture(path)
    files = [path for path in (figures, plot, plane) if path is not None]
    check_outputs([*files, *([] if resume_file is None else [resume_file])], job.reads())  # which may be there
    output.claim(files, overwrite=job.overwrite)
    with output.watching() as watched, output.resume_hint(resume_file):
        balance = balance_job(job, resume_file=resume_file, workers=workers, run=watched)
    journal.note(summary=balance.summary)
    if files:
        with replacing_all(*files) as places:
            for path, place in zip(files, places, strict=True):
                if path is figures:
                    place.write_text(balance.json(), encoding="utf-8")
                else:
                    (curves if path is plot else trade_off)(balance, place)
    paths = {
        name: str(path) for name, path in (("figures", figures), ("plot", plot), ("plane", plane)) if path is not None
    }
    if as_json:
        output.emit("balance", {"summary": balance.summary, **balance.as_dict(), "seed": balance.seed, **paths})
    else:
        _show(balance, paths)
    if balance.recommended is None:
        raise typer.Exit(InfeasibleError.exit_code)


def _show(balance: Balance, paths: dict[str, str]) -> None:
    """The sentence, a table of the points, and the advice; reasons stand below."""
    output.say(balance.summary, style="bold")
    measures = (*balance.utilities, *balance.privacies)
    reasons: list[str] = []
    front = balance.front()
    along = balance.axis.name if balance.axis is not None else balance.axes[0].name
    headings = (along, *(measure.heading for measure in measures), "")
    for fixed in balance.curves:
        rows = []
        for point in balance.curve(fixed):
            why = next((reason for each in measures if (reason := point.why_not(each.name))), None)
            if why is not None and why not in reasons:
                reasons.append(why)
            marks = ["take" if point is balance.recommended else "", "front" if point in front else ""]
            note = f"({reasons.index(why) + 1})" if why is not None else ", ".join(filter(None, marks))
            shares = [_share(point, measure.name, balance.seeds) for measure in measures]
            rows.append((_text(point.place[along]), *shares, note))
        title = ", ".join(_text(value) for value in fixed.values())
        output.tabulate(headings, rows, title=title, numbers=[name for name in headings[:-1] if name != "algorithm"])
    for number, reason in enumerate(reasons, 1):
        output.say(f"({number}) {reason}")
    output.say("front: no other setting is better in both utility and privacy", style="dim")
    titles = {measure.name: measure.heading for measure in measures}
    for pair in balance.pairs:
        crossings = ", ".join(f"{each.at:.3g} ({percent(each.value)})" for each in pair.crossings)
        if crossings and balance.axis is not None and len(balance.pairs) > 1:
            others = "".join(f", {_text(value)}" for value in pair.beside.values())
            output.say(
                f"{titles[pair.utility]} meets {titles[pair.privacy]}{others} at {balance.axis.name} = {crossings}"
            )
    for sentence in balance.advice:
        output.say(sentence)
    for name, path in paths.items():
        output.say(f"{name}: {path}")


def _share(point: Point, name: str, seeds: int) -> str:
    share = point.share(name)
    if share is None:
        return ""
    spread = f" ({100 * share.least:.1f}–{100 * share.greatest:.1f})" if seeds > 1 else ""
    return f"{100 * share.mean:.1f} %{spread}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
