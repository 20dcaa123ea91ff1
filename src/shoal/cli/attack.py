"""`shoal attack`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import journal, options, output
from shoal.job.job import Job

if TYPE_CHECKING:
    from shoal.core.contracts.attack import Attempt, Known
    from shoal.core.dataset import Dataset
    from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class AttackerTables:
    """What the attacker has beside the release."""

    external: Annotated[
        Path | None,
        typer.Option("--external", help="Table of people that the attacker has, such as a voter register."),
    ] = None
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", help="Table of similar people who are not in the release, for comparison."),
    ] = None

    earlier: Annotated[
        list[Path] | None,
        typer.Option("--earlier", help="Earlier release of some of the same people. Repeatable."),
    ] = None

    def knowledge(self, data: Dataset, release: Release, job: Job) -> Known:
        """The tables, read as the table is: columns of the same names have the same roles."""
        from shoal import api

        def read_table(path: Path | None, option: str, *, sensitive: bool = False) -> Dataset | None:
            if path is None:
                return None
            table = api.read_beside(path, data, what=f"the table of {option}", sensitive=sensitive, missing=job.missing)
            output.tell(table.notes)
            return table

        return replace(
            api.knowledge_of(data, release, self.earlier or ()),
            external=read_table(self.external, "--external"),
            held_out=read_table(self.held_out, "--held-out", sensitive=True),
        )


def run(
    job: Job,
    tables: AttackerTables,
    release: options.Release = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            help="Attack to run, as NAME:key=value,… (default: every one that applies). Repeatable.",
            autocompletion=options.names_of("attacks"),
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Highest risk you accept for a person, such as 0.09 (one in 11); exit code 1 if anybody is above it.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw how often each attack succeeds: .svg, .png or .html.")
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Attack a release as an adversary would, and report how often that succeeds. No person is named.

    If you give no roles, they are taken from the release's manifest.
    """
    from shoal import api
    from shoal.api.attacking import release_to_attack
    from shoal.errors import NotDefined, ParameterError
    from shoal.job.plugins import plugin
    from shoal.plots.attack import picture
    from shoal.plots.drawing import check_picture
    from shoal.publishing.headlines import attacked

    if threshold is not None and not 0 <= threshold <= 1:
        raise ParameterError("--threshold must be a probability between 0 and 1")
    selection = [plugin("attacks", attack) for attack in attacks or []]
    job, path = options.job_and_release(job, release)
    if plot is not None:
        check_picture(plot)
        output.claim([plot], job.reads(), overwrite=job.overwrite)
    data = api.read_job(job)
    opened = release_to_attack(data, path)
    known = tables.knowledge(data, opened, job)
    with output.watching() as run:
        reasons: dict[str, str] = {}
        if selection:
            attempts = tuple(attack.attempt(data, opened, known, run) for attack in selection)
        else:
            attempts, reasons = api.every_attack(data, opened, known, run)
    summary = attacked(attempts, reasons)
    if not attempts:
        if everything and not as_json:
            show(attempts, reasons, everything=True)
        raise NotDefined(summary if everything else f"{summary} To see the reason of each attack, add --all.")
    if plot is not None:
        picture(attempts, plot, threshold=threshold)
    journal.note(summary=summary)
    holds = threshold is None or not api.attempts_above(attempts, threshold)
    if as_json:
        body: dict[str, Any] = {"summary": summary, "attacks": [attempt.as_dict() for attempt in attempts]}
        body |= {"not_made": reasons} | ({} if plot is None else {"plot": str(plot)})
        output.emit("attack", {**body, **({} if threshold is None else {"threshold": threshold, "holds": holds})})
        output.answer(holds)
        return
    output.say(summary, style="bold")
    show(attempts, reasons, everything=everything)
    if plot is not None:
        output.say(f"Drawn: {plot}")
    if threshold is not None:
        _show_threshold(attempts, threshold)
    output.answer(holds)


def show(attempts: Sequence[Attempt], reasons: Mapping[str, str], *, everything: bool) -> None:
    """The attempts in a table; with everything, what each attacker knew, and why other attacks were not made."""
    from shoal.core.formatting import percent
    from shoal.core.risk_line import line_words, risk_words

    held_out = any(each.control is not None for each in attempts)
    numbers = ("succeeds", "without release", *(("held out",) if held_out else ()), "worst person")
    rows = []
    for each in attempts:
        control = "" if each.control is None else percent(each.control)
        success = f"{'at least ' if each.lower_bound else ''}{percent(each.success)}"
        shares = (success, percent(each.baseline), *((control,) if held_out else ()), risk_words(each.worst))
        rows.append((each.name, *shares))
    if rows:
        output.tabulate(("attack", *numbers), rows, numbers=numbers, whole=("attack",))
        meanings = [(each.name, each.meaning) for each in attempts]
        output.tabulate(("attack", "what its figures say"), meanings, whole=("attack",))
    idle = [each.name for each in attempts if not each.gains]
    if idle:
        output.say(f"No better than without the release: {', '.join(idle)}")
    if not everything:
        if reasons and attempts:
            output.say(
                f"Not made: {', '.join(reasons)}. To see why, and what each attacker knew, add --all.", style="dim"
            )
        return
    for each in attempts:
        output.say(
            f"{each.name} knows {each.knew}; {percent(each.above)} of the people have a risk above "
            f"{line_words(each.threshold)}"
        )
        if each.random is not None:
            output.say(f"  a random guess without the release: {percent(each.random)}")
        if each.interval is not None:
            output.say(f"  between {percent(each.interval[0])} and {percent(each.interval[1])}, with 95 % confidence")
        output.show_figures({f"  {name}": value for name, value in each.detail.items()})
    for name, reason in reasons.items():
        output.say(f"{name} was not made: {reason}", style="dim")


def _show_threshold(attempts: Sequence[Attempt], threshold: float) -> None:
    from shoal import api
    from shoal.core.risk_line import line_words

    broken = [attempt.name for attempt in api.attempts_above(attempts, threshold)]
    if broken:
        output.say(f"Somebody's risk is above {line_words(threshold)}: {', '.join(broken)}.", style="red")
    else:
        output.say(f"Nobody's risk is above {line_words(threshold)}.", style="green")
