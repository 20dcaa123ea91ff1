"""`shoal anonymize`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.job import Job


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What must hold, and what may be given up for it."""

    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None
    models: options.Models = None
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm", help="The anonymizer, NAME:key=value,…", autocompletion=options.names_of("algorithms")
        ),
    ] = None
    suppression: Annotated[
        float | None, typer.Option("--suppression", help="The share of records to leave out at most.")
    ] = None
    objective: Annotated[
        str | None,
        typer.Option("--objective", help="The loss to minimize.", autocompletion=options.names_of("metrics")),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed gives the same release; keep it secret (default: drawn)."),
    ] = None
    strict: Annotated[
        bool | None,
        typer.Option("--strict", help="Protect each sensitive attribute also against whoever knows the others."),
    ] = None

    def applied(self, made: Job) -> Job:
        from shoal.job import plugin

        chosen = [*([f"k-anonymity:k={self.k}"] if self.k is not None else []), *(self.models or [])]
        return options.overridden(
            made, models=made.models_with([plugin("models", model) for model in chosen]),
            algorithm=plugin("algorithms", self.algorithm or made.algorithm or "mondrian"),
            suppression=self.suppression, seed=self.seed, strict=self.strict,
            objective=plugin("metrics", self.objective) if self.objective else None,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written, and what stands in the place of identifiers."""

    target: options.Output = None
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
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw the lattice of a full-domain search, or the sizes of the classes: .svg, .png, .html"
        ),
    ] = None
    save_job: Annotated[Path | None, typer.Option("--save-job", help="Write this run as a job file.")] = None

    def applied(self, made: Job) -> Job:
        return options.overridden(
            made, output=self.target, pseudonyms=self.pseudonyms, key_file=self.key_file, plot=self.plot
        )


def run(table: options.Table, wanted: Wanted, written: Written, as_json: options.Json = False) -> None:
    """Publish a version of a table that satisfies privacy models; it is verified before it is written."""
    made = written.applied(wanted.applied(table.made()))
    with output.watching() as watched:
        outcome = made.run(watched, save=written.save_job)
    output.tell(outcome.notes)
    figures = dict(outcome.figures)
    if not as_json:
        figures["seed"] = f"{figures['seed']} (keep it: whoever has it can repeat this run; it is not in the manifest)"
    output.show(outcome.findings, as_json=as_json, title="Release", **figures)
