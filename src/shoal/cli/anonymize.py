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
            help="Algorithm to use, as NAME:key=value,… (default: auto, which tries several).",
            autocompletion=options.names_of("algorithms"),
        ),
    ] = None
    suppression: options.Suppression = None
    objective: options.Objective = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="The same seed gives the same release. Keep it secret (default: random).",
        ),
    ] = None
    repeatable: Annotated[
        bool | None,
        typer.Option(
            "--repeatable",
            help="Use --seed exactly as given, even where someone who guesses it could undo the release, such as added "
            "noise. Otherwise the seed is mixed with random bits from the operating system.",
        ),
    ] = None
    protect_jointly: options.ProtectJointly = None

    allow_unverified: Annotated[
        bool | None,
        typer.Option(
            "--allow-unverified",
            help="Allow a release that is not checked against the policy, such as kactus:recode=literal.",
        ),
    ] = None
    rows_are_people: options.RowsArePeople = None
    allow_plain: options.AllowPlain = None

    attack: Annotated[
        bool | None,
        typer.Option("--attack", help="Attack the release before writing it, and state the results in the manifest."),
    ] = None
    attack_threshold: Annotated[
        float | None,
        typer.Option(
            "--attack-threshold", help="Attack the release, and write nothing if anybody's risk is above this."
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
            help="Where to write the release: a file, a folder of Parquet files (a name without an extension), or - "
            "for CSV on standard output.",
        ),
    ] = None
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest", help="Where to write the manifest when the release goes to standard output or a database."
        ),
    ] = None
    pseudonyms: Annotated[
        Literal["keyed", "random"] | None,
        typer.Option(
            "--pseudonyms",
            help="Replace identifiers instead of dropping them; the key comes from --key-file or SHOAL_KEY.",
        ),
    ] = None
    key_file: Annotated[Path | None, typer.Option("--key-file", help="File with the key for keyed pseudonyms.")] = None
    sign: keys.Sign = None
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw the lattice of a full-domain search, or else the group sizes: .svg, .png or .html."
        ),
    ] = None
    save_recoding: Annotated[
        Path | None,
        typer.Option(
            "--save-recoding",
            help="Save how values are recoded, for shoal apply. The file has raw values: do not share it.",
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="File that records the releases of this data set; one that breaks earlier promises is refused.",
        ),
    ] = None
    allow_unjudged: Annotated[
        str | None,
        typer.Option(
            "--allow-unjudged",
            help="What to publish although the ledger cannot judge it, separated by commas: sensitive columns, earlier "
            "releases as release:1, this one as release:this.",
        ),
    ] = None
    rows_per_file: Annotated[
        int | None,
        typer.Option(
            "--rows-per-file", min=1, help="Rows per file when the release is a folder (default: 10 million)."
        ),
    ] = None
    resume_dir: Annotated[
        Path | None,
        typer.Option(
            "--resume-dir",
            help="Save progress in this folder until the run ends; after a stop, the same command continues from it. "
            "The folder holds values of the table.",
        ),
    ] = None
    save_job: Annotated[
        Path | None, typer.Option("--save-job", help="Save the settings of this run as a job file.")
    ] = None

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
            help="After writing, spend this long proving how much less any other grouping could lose.",
        ),
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Make an anonymized version of a table that satisfies privacy models. It is verified before it is written."""
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
        output.say("To see every measure of loss and risk, add --all.", style="dim")
    if proving is not None:  # last: whoever has waited long enough has seen everything else
        gap = scored(proving, outcome.data, outcome.release)
        lead = "How much of the loss another grouping could save is"
        if gap.value is not None:
            lead = f"Another grouping could save at most {percent(float(gap.value))} of the loss;"
        output.say(f"{lead} {gap.how}")
