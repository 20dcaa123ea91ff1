"""`shoal attack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    table: options.Compared,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            help="The attack, NAME:key=value,… ; repeatable (default: every one that applies).",
            autocompletion=options.names_of("attacks"),
        ),
    ] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option("--earlier", help="An earlier release of some of the same people; repeatable."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="The highest risk of a person that is accepted; exit code 1 above it."),
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Attack a release as an adversary would, and tell how often that succeeds. No person is named.

    Roles come from the release's manifest when there is one and none are given.
    """
    from shoal import api
    from shoal.core.sentences import attacked
    from shoal.core.words import amount, percent
    from shoal.errors import NotDefined, ParameterError
    from shoal.job import plugin

    if threshold is not None and not 0 <= threshold <= 1:
        raise ParameterError("--threshold is a probability between 0 and 1")
    chosen = [plugin("attacks", attack) for attack in attacks or []]
    made = table.made()
    assert made.output is not None
    data = made.read()
    with output.watching() as run:
        reasons: dict[str, str] = {}
        if chosen:
            attempts = api.attack(data, made.output, *chosen, earlier=earlier or (), run=run)
        else:
            known = api.knowing(data, made.output, earlier or ())
            attempts, reasons = api.every_attack(data, made.output, known, run=run)
    summary = attacked(attempts, reasons)
    if threshold is not None and not attempts:
        raise NotDefined(f"nothing can be held against --threshold. {summary}")
    journal.note(summary=summary)
    holds = threshold is None or all(attempt.worst <= threshold for attempt in attempts)
    if as_json:
        found = {"summary": summary, "attacks": [attempt.as_dict() for attempt in attempts]}
        output.emit("attack", {**found, **({} if threshold is None else {"threshold": threshold, "holds": holds})})
        output.answer(holds)
        return
    output.say(summary, style="bold")
    rows = [(each.name, *map(percent, (each.success, each.baseline, each.worst)), each.meaning) for each in attempts]
    numbers = ("succeeds", "without release", "worst person")
    output.tabulate(("attack", *numbers, "what that means"), rows, numbers=numbers)
    for each in attempts if everything else ():
        output.say(f"{each.name} knows {each.knew}; {percent(each.above)} of the people are above {each.threshold:g}")
        output.show_figures(each.detail)
    if threshold is not None:
        kept = "Nobody's risk is above" if holds else "Somebody's risk is above"
        output.say(f"{kept} {amount(threshold, 'share')}.", style="green" if holds else "red")
    output.answer(holds)
