"""`shoal anonymize`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.core.release import Release


def run(
    source: options.Input = None,
    target: options.Output = None,
    quasi: options.Quasi = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    k: options.K = None,
    models: options.Models = None,
    algorithm: options.AlgorithmName = None,
    suppression: options.Suppression = None,
    objective: options.Objective = None,
    seed: options.Seed = None,
    strict: Annotated[
        bool | None,
        typer.Option("--strict", help="Protect each sensitive attribute also against whoever knows the others."),
    ] = None,
    pseudonyms: Annotated[
        Literal["keyed", "random"] | None,
        typer.Option(
            "--pseudonyms",
            help="Replace identifiers instead of dropping them; the key comes from --key-file or SHOAL_KEY.",
        ),
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key-file", help="The file with the key of keyed pseudonyms.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw the lattice of a full-domain search, or the sizes of the classes: .svg, .png, .html"
        ),
    ] = None,
    hierarchies: options.Hierarchies = None,
    hierarchy_of: options.HierarchyOf = None,
    kinds: options.KindOf = None,
    missing: options.Missing = None,
    missing_rules: options.MissingRule = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    job: options.JobFile = None,
    save_job: options.SaveJob = None,
    as_json: options.Json = False,
) -> None:
    """Publish a version of a table that satisfies privacy models; it is verified before it is written."""
    from shoal import api
    from shoal import job as jobs
    from shoal.core.files import replacing
    from shoal.errors import OutputError

    made = options.base_job(
        job, source=source, quasi=quasi, sensitive=sensitive, identifiers=identifiers, hierarchies=hierarchies,
        hierarchy_of=hierarchy_of, kinds=kinds, missing=missing, missing_rules=missing_rules, delimiter=delimiter,
        encoding=encoding,
    )  # fmt: skip
    chosen = [*([f"k-anonymity:k={k}"] if k is not None else []), *(models or [])]
    given: dict[str, Any] = {
        "models": made.models_with([jobs.plugin("models", model) for model in chosen]),
        "algorithm": jobs.plugin("algorithms", algorithm or made.algorithm or "mondrian"),
        "suppression": suppression,
        "objective": jobs.plugin("metrics", objective) if objective else None,
        "seed": seed, "strict": strict, "output": target, "pseudonyms": pseudonyms, "key_file": key_file,
    }  # fmt: skip
    made = replace(made, **{name: value for name, value in given.items() if value is not None})
    if made.output is None:
        raise OutputError("name the file for the release with -o")
    made.policy()
    _check_targets(made.output, [save_job, plot], [made.input, job, made.key_file])
    tokens = options.pseudonyms(made)
    started = time.perf_counter()
    data = options.read_job(made)
    with output.watching() as run:
        release = api.anonymize(
            data, *made.models, algorithm=made.algorithm, suppression=made.suppression,
            objective=made.objective, seed=made.seed, pseudonyms=tokens, run=run,
        )  # fmt: skip
    manifest = release.write(made.output)
    if save_job is not None:
        with replacing(save_job) as file:
            file.write_text(made.toml(save_job.parent), encoding="utf-8")
    if plot is not None:
        _draw(data, release, plot)
    facts = release.recoding.facts if release.recoding is not None else {}
    figures = {
        **facts, "records": release.records, "classes": len(release.classes), "suppressed": release.suppressed,
        "seconds": round(time.perf_counter() - started, 3), "manifest": str(manifest),
    }  # fmt: skip
    output.show(api.evaluate(data, release), as_json=as_json, title="Release", **figures)


def _draw(data: Dataset, release: Release, path: Path) -> None:
    """The lattice of a full-domain search, or how many records hide in how large a class."""
    from shoal.plots.exposure import class_sizes
    from shoal.plots.lattice import lattice

    if release.recoding is not None and release.recoding.levels is not None:
        lattice(data.hierarchies, release.recoding, path)
    else:
        class_sizes(data.summary, release.classes, k=release.policy.least if release.policy else 1, path=path)


def _check_targets(release: Path, others: list[Path | None], sources: list[Path | None]) -> None:
    """Refuses, before any work is done, what could not be written or would overwrite what is read."""
    from shoal import job
    from shoal.core.release import manifest_path

    job.engine(None).check_format(release)
    options.refuse_overwriting([release, manifest_path(release), *others], sources)
