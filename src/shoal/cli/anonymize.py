"""`shoal anonymize`."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shoal.cli import attack, journal, keys, options, output

if TYPE_CHECKING:
    from shoal.core.contracts.metric import Metric
    from shoal.job import Job
    from shoal.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What must hold, and what may be given up for it."""

    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None
    models: options.Models = None
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            help="The anonymizer, NAME:key=value,… (default: auto).",
            autocompletion=options.names_of("algorithms"),
        ),
    ] = None
    suppression: options.Suppression = None
    objective: options.Objective = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed gives the same release; keep it secret (default: drawn)."),
    ] = None
    repeatable: Annotated[
        bool | None,
        typer.Option(
            "--repeatable",
            help="Take the seed as it is also where finding it undoes the release, as noise; otherwise it is mixed "
            "with randomness of the operating system.",
        ),
    ] = None
    protect_jointly: options.ProtectJointly = None

    allow_unverified: Annotated[
        bool | None,
        typer.Option(
            "--allow-unverified", help="Hand out what need not keep the policy, such as kactus:recode=literal."
        ),
    ] = None
    rows_are_people: options.RowsArePeople = None
    allow_plain: options.AllowPlain = None

    attack: Annotated[
        bool | None,
        typer.Option("--attack", help="Attack the release before it is written; the manifest states the figures."),
    ] = None
    attack_threshold: Annotated[
        float | None,
        typer.Option(
            "--attack-threshold", help="Write nothing when an attack's worst risk is above this; as --attack."
        ),
    ] = None

    def applied(self, made: Job) -> Job:
        from shoal.job import DEFAULT_ALGORITHM, plugin

        chosen = [*([f"k-anonymity:k={self.k}"] if self.k is not None else []), *(self.models or [])]
        return options.overridden(
            made, models=made.models_with([plugin("models", model) for model in chosen]),
            algorithm=plugin("algorithms", self.algorithm or made.algorithm or DEFAULT_ALGORITHM),
            suppression=self.suppression, seed=self.seed, repeatable=self.repeatable,
            protect_jointly=self.protect_jointly,
            allow_unverified=self.allow_unverified,
            rows_are_people=self.rows_are_people, attack_threshold=self.attack_threshold,
            attack=True if self.attack_threshold is not None else self.attack,
            allow_plain=None if self.allow_plain is None else tuple(options.listed(self.allow_plain)),
            objective=plugin("metrics", self.objective) if self.objective else None,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written, and what stands in the place of identifiers."""

    target: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where the release goes: a file, a folder of Parquet files (a name without an ending), or - for the "
            "standard output, as CSV.",
        ),
    ] = None
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Of -o - and of a table of a server: where the manifest goes.")
    ] = None
    pseudonyms: Annotated[
        Literal["keyed", "random"] | None,
        typer.Option(
            "--pseudonyms",
            help="Replace identifiers instead of dropping them; the key comes from --key-file or SHOAL_KEY.",
        ),
    ] = None
    key_file: Annotated[Path | None, typer.Option("--key-file", help="The file with the key of keyed pseudonyms.")] = (
        None
    )
    sign: keys.Sign = None
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw the lattice of a full-domain search, or the sizes of the classes: .svg, .png, .html"
        ),
    ] = None
    save_recoding: Annotated[
        Path | None,
        typer.Option(
            "--save-recoding", help="Save how values are recoded, for shoal apply. The file has raw values: keep it."
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger", help="The file with the earlier releases of this data set; refuse what would break them."
        ),
    ] = None
    allow_unjudged: Annotated[
        str | None,
        typer.Option(
            "--allow-unjudged",
            help="What may stay unjudged by the ledger, separated by commas: sensitive columns, earlier releases as "
            "release:1, this one as release:this.",
        ),
    ] = None
    rows_per_file: Annotated[
        int | None,
        typer.Option("--rows-per-file", min=1, help="Of a folder: how many rows a file has (default: 10 million)."),
    ] = None
    resume_dir: Annotated[
        Path | None,
        typer.Option(
            "--resume-dir",
            help="Keep what is done in this folder until the end; the same command goes on from it after a stop. It "
            "holds values of the table.",
        ),
    ] = None
    save_job: Annotated[Path | None, typer.Option("--save-job", help="Write this run as a job file.")] = None

    def applied(self, made: Job) -> Job:
        return options.overridden(
            made,
            output=self.target,
            manifest=self.manifest,
            recoding=self.save_recoding,
            ledger=self.ledger,
            allow_unjudged=None if self.allow_unjudged is None else tuple(options.listed(self.allow_unjudged)),
            pseudonyms=self.pseudonyms,
            key_file=self.key_file,
            plot=self.plot,
            sign=self.sign,
            rows_per_file=self.rows_per_file,
            resume_dir=self.resume_dir,
        )


SAID = ("records", "suppressed", "manifest", "seed", "seconds", "notes", "attacks")
"""Figures that other lines tell."""


def run(
    table: options.Table,
    wanted: Wanted,
    written: Written,
    prove_gap: Annotated[
        float | None,
        typer.Option(
            "--prove-gap",
            metavar="SECONDS",
            help="Spend so long on a proof of how much less any other classes could lose.",
        ),
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Publish a version of a table that satisfies privacy models; it is verified before it is written."""
    from shoal import registry
    from shoal.outcome import sent

    made = written.applied(wanted.applied(table.made()))
    proving = None if prove_gap is None else registry.make("metrics", "optimality-gap", {"seconds": prove_gap})
    signer = keys.unlocked(made.sign)
    with output.watching() as watched, output.going_on(made.resume_dir):
        outcome = made.run(watched, save=written.save_job, signer=signer)
    output.tell(outcome.notes)
    journal.note(summary=outcome.summary, files=[str(path) for path in outcome.files])
    # A release that goes to the standard output is all that goes there.
    with redirect_stdout(sys.stderr) if sent(made) else nullcontext():
        _show(outcome, proving, everything=everything, as_json=as_json)


def _show(outcome: Outcome, proving: Metric | None, *, everything: bool, as_json: bool) -> None:
    from shoal.api.evaluating import scored
    from shoal.core.finding import Findings
    from shoal.core.formatting import percent
    from shoal.publishing.headlines import attacked
    from shoal.storage.files import shown

    if as_json:
        described = [column.as_dict() for column in outcome.columns]
        proven = () if proving is None else (scored(proving, outcome.data, outcome.release),)
        findings = Findings((*outcome.findings, *proven)).as_dict()
        output.emit(
            "anonymize",
            {"summary": outcome.summary, "findings": findings, "columns": described, **outcome.figures},
        )
        return
    output.say(outcome.summary, style="bold")
    output.show_columns(outcome.columns)
    if outcome.attacks:
        output.say(attacked(outcome.attacks, {}))
        attack.show(outcome.attacks, {}, everything=everything)
    figures = dict(outcome.figures)
    seed, seconds = figures["seed"], figures["seconds"]
    if everything:
        output.show_findings(outcome.findings)
        output.show_figures({name: value for name, value in figures.items() if name not in SAID})
    for note in figures["notes"]:
        output.say(f"Note: {note}")
    written = f": {', '.join(map(shown, outcome.files))}" if outcome.files else ""
    output.say(f"Written in {seconds:.1f} seconds{written}")
    method = outcome.release.method
    also = " with --repeatable" if method is not None and method.seed_protects else ""
    output.say(f"Seed {seed}: keep it to repeat this run{also}, and keep it secret; it is not in the manifest.")
    if not everything:
        output.say("Every measure of what was lost and of the risk that is left: --all", style="dim")
    if proving is not None:  # last: whoever has waited long enough has seen everything else
        gap = scored(proving, outcome.data, outcome.release)
        lead = "How much of the loss other classes could save is"
        if gap.value is not None:
            lead = f"Other classes could save at most {percent(float(gap.value))} of the loss;"
        output.say(f"{lead} {gap.how}")
