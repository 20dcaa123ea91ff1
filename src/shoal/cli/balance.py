"""`shoal balance`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import journal, options, output
from shoal.core.formatting import percent
from shoal.errors import InfeasibleError

if TYPE_CHECKING:
    from shoal.job import BalanceJob, Job
    from shoal.tradeoff.balance import Balance, Point

ENDING = ".json"


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What varies, and what must hold beside it."""

    target: Annotated[
        str | None, typer.Option("--target", help="Column that a classifier should still be able to predict.")
    ] = None
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            help="What to vary: k=2..20, l=2..6, t=0.1..0.5..0.1, suppression=0,0.02,0.05 or "
            "algorithm=oka,mondrian. Give it once or twice.",
        ),
    ] = None
    utility: Annotated[
        str | None,
        typer.Option(
            "--utility",
            help="How to measure utility, separated by commas, the main one first: decision-stump, c45, "
            "naive-bayes, a scikit-learn classifier such as sklearn.svm.SVC, analyses, or a metric such as gcp "
            "(default: the analyses, else decision-stump).",
        ),
    ] = None
    privacy: Annotated[
        str | None,
        typer.Option(
            "--privacy",
            help="How to measure privacy, separated by commas, the main one first: suppression-share, "
            "suppression-share:missing=suppressed, highest-risk, average-risk, privacy-loss (default: the first).",
        ),
    ] = None
    analyses: Annotated[
        list[str] | None,
        typer.Option(
            "--analysis",
            help="Analysis that must survive, as for shoal evaluate, in addition to those in the job file. Repeatable.",
        ),
    ] = None
    seeds: Annotated[int | None, typer.Option("--seeds", help="Number of seeds to try; the spread is shown.")] = None
    models: options.Models = None
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm", help="Algorithm, where none is swept, as NAME:key=value,… (default: auto).",
            autocompletion=options.names_of("algorithms"),
        ),
    ] = None  # fmt: skip
    suppression: options.Suppression = None
    objective: options.Objective = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed gives the same figures. Keep it secret (default: random)."),
    ] = None
    protect_jointly: options.ProtectJointly = None
    rows_are_people: options.RowsArePeople = None
    allow_plain: options.AllowPlain = None

    def applied(self, made: Job) -> Job:
        from shoal.job import plugin
        from shoal.utility.analyses import all_parsed

        models = [plugin("models", model) for model in self.models or []]
        return options.overridden(
            made, models=made.models_with(models) if models else None, suppression=self.suppression, seed=self.seed,
            protect_jointly=self.protect_jointly, rows_are_people=self.rows_are_people,
            algorithm=None if self.algorithm is None else plugin("algorithms", self.algorithm),
            allow_plain=None if self.allow_plain is None else tuple(options.listed(self.allow_plain)),
            objective=None if self.objective is None else plugin("metrics", self.objective),
            balance=self._balance(made.balance),
            analyses=(*made.analyses, *all_parsed(self.analyses or ())),
        )  # fmt: skip

    def _balance(self, made: BalanceJob) -> BalanceJob:
        given: dict[str, Any] = {
            "target": self.target, "sweep": tuple(self.sweep or ()), "seeds": self.seeds,
            "utility": tuple(options.listed(self.utility)), "privacy": tuple(options.listed(self.privacy)),
        }  # fmt: skip
        return replace(made, **{name: value for name, value in given.items() if value not in (None, ())})


def run(
    table: options.Table,
    swept: Swept,
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
        int | None, typer.Option("--workers", help="Number of parallel processes (default: one per core).")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find the setting that balances privacy and utility, by trying several. Nothing is published."""
    from shoal.errors import OutputError
    from shoal.plots.balance import curves, trade_off
    from shoal.plots.drawing import check_picture
    from shoal.storage.files import check_outputs, replacing_all

    made = swept.applied(table.made())
    if figures is not None and figures.suffix != ENDING:
        raise OutputError(f"{figures.name}: the figures of a balance end in {ENDING}")
    for path in (plot, plane):
        if path is not None:
            check_picture(path)
    files = [path for path in (figures, plot, plane) if path is not None]
    check_outputs([*files, *([] if resume_file is None else [resume_file])], made.reads())
    with output.watching() as watched, output.going_on(resume_file):
        found = made.balanced(watched, resume_file=resume_file, workers=workers)
    journal.note(summary=found.summary)
    if files:
        with replacing_all(*files) as places:
            for path, place in zip(files, places, strict=True):
                if path is figures:
                    place.write_text(found.json(), encoding="utf-8")
                else:
                    (curves if path is plot else trade_off)(found, place)
    written = {
        name: str(path) for name, path in (("figures", figures), ("plot", plot), ("plane", plane)) if path is not None
    }
    if as_json:
        output.emit("balance", {"summary": found.summary, **found.as_dict(), "seed": found.seed, **written})
    else:
        _show(found, written)
    if found.recommended is None:
        raise typer.Exit(InfeasibleError.exit_code)


def _show(found: Balance, written: dict[str, str]) -> None:
    """The sentence, a table of the points, and the advice; reasons stand below."""
    output.say(found.summary, style="bold")
    measures = (*found.utilities, *found.privacies)
    reasons: list[str] = []
    front = found.front()
    along = found.axis.name if found.axis is not None else found.axes[0].name
    headings = (along, *(measure.heading for measure in measures), "")
    for beside in found.curves:
        rows = []
        for point in found.curve(beside):
            why = next((reason for each in measures if (reason := point.why_not(each.name))), None)
            if why is not None and why not in reasons:
                reasons.append(why)
            marks = ["take" if point is found.recommended else "", "front" if point in front else ""]
            note = f"({reasons.index(why) + 1})" if why is not None else ", ".join(filter(None, marks))
            shares = [_share(point, measure.name, found.seeds) for measure in measures]
            rows.append((_shown(point.place[along]), *shares, note))
        title = ", ".join(_shown(value) for value in beside.values())
        output.tabulate(headings, rows, title=title, numbers=[name for name in headings[:-1] if name != "algorithm"])
    for number, reason in enumerate(reasons, 1):
        output.say(f"({number}) {reason}")
    output.say("front: no other setting is better in both utility and privacy", style="dim")
    named = {measure.name: measure.heading for measure in measures}
    for pair in found.pairs:
        met = ", ".join(f"{each.at:.3g} ({percent(each.value)})" for each in pair.crossings)
        if met and found.axis is not None and len(found.pairs) > 1:
            others = "".join(f", {_shown(value)}" for value in pair.beside.values())
            output.say(f"{named[pair.utility]} meets {named[pair.privacy]}{others} at {found.axis.name} = {met}")
    for sentence in found.advice:
        output.say(sentence)
    for name, path in written.items():
        output.say(f"{name}: {path}")


def _share(point: Point, name: str, seeds: int) -> str:
    found = point.share(name)
    if found is None:
        return ""
    spread = f" ({100 * found.least:.1f}–{100 * found.greatest:.1f})" if seeds > 1 else ""
    return f"{100 * found.mean:.1f} %{spread}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
