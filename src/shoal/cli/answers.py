"""What `shoal diagnose` shows: answers to questions, and suggested roles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.core.formatting import amount, counted, percent, printable

if TYPE_CHECKING:
    from shoal.diagnosis.detection import Detection
    from shoal.diagnosis.questions import Answer
    from shoal.job.job import Job

SHOWN = 20
"""Sets and steps that people are shown of an answer."""
STEPS = 6
"""Steps of each set's curve that people are shown."""
FEW = 8
"""Sets that a sentence names."""


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """What is made of an answer besides words."""

    sql: Annotated[
        str | None, typer.Option("--sql", help="Print the query behind the answer: duckdb, postgres, spark, mysql, …")
    ] = None
    name: Annotated[
        str | None, typer.Option("--table", help="Name of the table in the query (default: the name of the file).")
    ] = None
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the answer: a .svg, .png or .html file.")] = None

    def check(self, job: Job) -> None:
        """Refuses, before any work is done, a picture or a query that could not be made."""
        from shoal.diagnosis.sql import check_dialect
        from shoal.plots.drawing import check_picture

        if self.plot is not None:
            check_picture(self.plot)
            output.claim([self.plot], job.reads(), overwrite=job.overwrite)
        if self.sql is not None:
            check_dialect(self.sql)

    def extras(self, answer: Answer, job: Job) -> dict[str, str]:
        """The query of an answer and the place of its picture, where they are asked for."""
        from shoal.diagnosis.sql import sql
        from shoal.plots.diagnosis import picture

        extras = {}
        if self.plot is not None:
            extras["plot"] = str(picture(answer, self.plot))
        if self.sql is not None:
            name = self.name or (job.input.name.split(".")[0] if job.input is not None else "data")
            extras["sql"] = sql(answer, name, dialect=self.sql)
        return extras


def show(answer: Answer, *, everything: bool = False) -> None:
    """An answer as people read it; with everything, also how much was looked at for it."""
    output.say(f"Question {answer.question}: {answer.words}")
    output.say(answer.summary, style="bold")
    if answer.positive_border is not None and answer.negative_border is not None:
        keep, break_it = answer.positive_border, answer.negative_border
        rows = [(_set(keep, row), _set(break_it, row)) for row in range(min(SHOWN, max(len(keep), len(break_it))))]
        headings = (
            "keep it, and no larger set does (positive border)",
            "break it, and no smaller set does (negative border)",
        )
        output.tabulate(headings, rows)
    elif hasattr(answer.answer, "items"):
        heading = "left out" if answer.question == 10 else answer.parameter
        heading = f"({answer.parameter}, left out), first {STEPS} steps" if answer.question == 12 else heading
        rows = [(", ".join(map(printable, names)), _value(value, answer)) for names, value in answer.answer.items()]
        output.tabulate(("columns", heading), rows[:SHOWN], numbers=() if answer.question == 12 else (heading,))
        _more(len(rows))
    elif isinstance(answer.answer, tuple):
        rows = [(amount(level), _share(share)) for level, share in answer.answer]
        headings = (answer.parameter, "records left out")
        output.tabulate(headings, rows[:SHOWN], numbers=headings)
        _more(len(rows))
    if everything and answer.calls_brute > 1:
        plain = "unknown" if answer.calls_levelwise is None else f"{answer.calls_levelwise:,}"
        output.say(
            f"{answer.calls:,} calls and {answer.scans:,} scans; levelwise search: {plain} calls, "
            f"every set: {answer.calls_brute:,}",
            style="dim",
        )
    if not answer.monotone:
        output.say("Here, a further column can make a set better: look up sets between the borders one by one.")
    if not answer.proven:
        output.say(
            f"Time ran out. What is shown is proven. Also known to break it: {counted(len(answer.known_bad), 'sets')}. "
            f"Undecided: the subsets of {counted(len(answer.undecided), 'sets')}.",
            style="yellow",
        )


def _more(count: int) -> None:
    if count > SHOWN:
        output.say(f"{SHOWN} of {count:,} are shown; to see all, use --json")


def _set(border: tuple[tuple[str, ...], ...], row: int) -> str:
    more = f" … and {len(border) - SHOWN:,} more" if row == SHOWN - 1 and len(border) > SHOWN else ""
    return ", ".join(map(printable, border[row])) + more if row < len(border) else ""


def _value(value: Any, answer: Answer) -> str:
    if isinstance(value, tuple):
        return " ".join(f"({amount(level)}, {_share(share)})" for level, share in value[:STEPS])
    return _share(value) if answer.question == 10 else amount(value)


def _share(share: float) -> str:
    """A share that is asked for: to four digits, however small."""
    return f"{100 * share:.4g} %"


def show_detection(detection: Detection, *, everything: bool, as_json: bool) -> None:
    """Suggested roles with their reasons; never a value."""
    if as_json:
        output.emit("detect", {"summary": detection.summary, **detection.as_dict()})
        return
    from rich.text import Text

    output.say(detection.summary, style="bold")
    numbers = ("distinct values", "singles out") if everything else ("singles out",)
    rows = [
        (
            each.column,
            Text(each.role, style=_STYLES.get(each.role, "")),
            *([f"{each.distinct:,}"] if everything else []),
            "" if each.contribution is None else percent(each.contribution),
            "; ".join(each.reasons),
        )
        for each in detection.suggestions
    ]
    output.tabulate(("column", "role", *numbers, "why"), rows, numbers=numbers)
    alone = percent(detection.unique_share)
    output.say(
        f"'singles out' is what each column contributes to the {alone} who stand alone: {detection.contributions}."
    )
    if detection.singling_out:
        sets = [f"({', '.join(map(printable, names))})" for names in detection.singling_out]
        more = f" and {len(sets) - FEW:,} more" if len(sets) > FEW else ""
        share = percent(detection.share)
        output.say(f"Smallest sets that single out more than {share}: {', '.join(sets[:FEW])}{more}.")
    if not detection.proven:
        output.say("Time ran out, so there may be more such sets.", style="yellow")
    output.say("These are suggestions; the roles are yours to decide.", style="dim")


_STYLES = {"identifier": "red", "quasi": "yellow", "sensitive": "magenta"}
