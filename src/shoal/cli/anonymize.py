"""`shoal anonymize`."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import attack, journal, keys, options, output
from shoal.job.job import Job

if TYPE_CHECKING:
    from shoal.api.running import Outcome
    from shoal.core.contracts.metric import Metric
    from shoal.publishing.signing import SigningKey


SHOWN_ELSEWHERE = ("records", "suppressed", "manifest", "seed", "seconds", "notes", "attacks")
"""Figures that other lines tell."""


def run(
    context: typer.Context,
    job: Job,
    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None,
    save_job: Annotated[
        Path | None, typer.Option("--save-job", help="Save the settings of this run as a job file.")
    ] = None,
    prove_gap: Annotated[
        float | None,
        typer.Option(
            "--prove-gap",
            metavar="SECONDS",
            help="After writing, spend this long proving how much less any other grouping could lose.",
        ),
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Make an anonymized version of a table that satisfies privacy models. It is verified before it is written."""
    from shoal import registry
    from shoal.api.running import to_standard_output
    from shoal.errors import ExistingOutputError, InputError

    if k is not None:
        specs = context.params["models"] or ()
        if any(spec.partition(":")[0] == "k-anonymity" for spec in specs):
            raise InputError("k-anonymity is given twice, as --k and as --model: give it once")
        model = registry.make("models", "k-anonymity", {"k": k})
        job = replace(job, models=(model, *(each for each in job.models if type(each) is not type(model))))
    proving = None if prove_gap is None else registry.make("metrics", "optimality-gap", {"seconds": prove_gap})
    signer = keys.unlock(job.sign)
    try:
        outcome = _made(job, save_job, signer)
    except ExistingOutputError as error:
        output.ask_to_replace(error)
        outcome = _made(replace(job, overwrite=True), save_job, signer)
    output.tell(outcome.notes)
    journal.note(summary=outcome.summary, files=[str(path) for path in outcome.files])
    # A release that goes to the standard output is all that goes there.
    with redirect_stdout(sys.stderr) if to_standard_output(job) else nullcontext():
        _show(outcome, proving, everything=everything, as_json=as_json)


def _made(job: Job, save_job: Path | None, signer: SigningKey | None) -> Outcome:
    from shoal import api

    with output.watching() as watched, output.resume_hint(job.resume_dir):
        return api.run(job, save=save_job, signer=signer, run=watched)


def _show(outcome: Outcome, proving: Metric | None, *, everything: bool, as_json: bool) -> None:
    from shoal.api.evaluating import score
    from shoal.core.finding import Findings
    from shoal.core.formatting import percent
    from shoal.publishing.headlines import attacked
    from shoal.storage.files import shown

    if as_json:
        columns = [column.as_dict() for column in outcome.columns]
        proven = () if proving is None else (score(proving, outcome.data, outcome.release),)
        findings = Findings((*outcome.findings, *proven)).as_dict()
        body = {"summary": outcome.summary, "findings": findings, "columns": columns, **outcome.figures}
        output.emit("anonymize", {**body, **output.plain(outcome.release.plain_risk)})
        return
    output.say(outcome.summary, style="bold")
    output.warn(outcome.release.plain_risk)
    output.show_columns(outcome.columns)
    if outcome.attacks:
        output.say(attacked(outcome.attacks, {}))
        attack.show(outcome.attacks, {}, everything=everything)
    figures = dict(outcome.figures)
    seed, seconds = figures["seed"], figures["seconds"]
    if everything:
        output.show_findings(outcome.findings)
        output.show_figures({name: value for name, value in figures.items() if name not in SHOWN_ELSEWHERE})
    for note in figures["notes"]:
        output.say(f"Note: {note}")
    paths = f": {', '.join(map(shown, outcome.files))}" if outcome.files else ""
    output.say(f"Written in {seconds:.1f} seconds{paths}")
    method = outcome.release.method
    also = " with --repeatable" if method is not None and method.seed_protects else ""
    output.say(f"Seed {seed}: keep it to repeat this run{also}, and keep it secret; it is not in the manifest.")
    if not everything:
        output.say("To see every measure of loss and risk, add --all.", style="dim")
    if proving is not None:  # last: whoever has waited long enough has seen everything else
        gap = score(proving, outcome.data, outcome.release)
        lead = "How much of the loss another grouping could save is"
        if gap.value is not None:
            lead = f"Another grouping could save at most {percent(float(gap.value))} of the loss;"
        output.say(f"{lead} {gap.how}")
