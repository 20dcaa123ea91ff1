"""Outcome: what a run of a job gave, and how it comes to be. Both front ends stand on it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal import api, registry
from shoal.core.files import check_outputs, recover, replacing_all
from shoal.core.finding import Findings
from shoal.core.policy import Policy
from shoal.core.release import Release, manifest_path
from shoal.core.run import Run
from shoal.errors import OutputError
from shoal.job import Job, check_policy, plugin
from shoal.plots.drawing import check_picture
from shoal.plots.release import picture


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A release, what it cost and what risk is left, figures of the run, the files that it wrote, and notes on how the
    table was read.

    The figures have the seed: it is the holder's secret, and whoever has it can repeat the run.
    """

    release: Release
    findings: Findings
    figures: Mapping[str, Any]
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def carry_out(job: Job, run: Run, save: Path | None) -> Outcome:
    """Runs a job. Files are checked before any work is done, and change only when all of it is."""
    started = time.perf_counter()
    others = [path for path in (save, job.plot) if path is not None]
    output = _checked(job, others)
    pseudonyms = job.replacement()
    data = job.read()
    run.check()
    release = api.anonymize(
        data, *job.models, algorithm=job.algorithm or "mondrian", suppression=job.suppression, objective=job.objective,
        seed=job.seed, pseudonyms=pseudonyms, run=run,
    )  # fmt: skip
    assert release.policy is not None
    seed = release.policy.seed
    job = replace(job, seed=seed)
    run.report(1.0, "measuring")
    findings = api.evaluate(data, release)
    parts = release.files(output)
    figures = {
        **(release.recoding.facts if release.recoding is not None else {}), "records": release.records,
        **{finding.name: finding.value for finding in findings if finding.name == "classes"},
        "suppressed": release.suppressed, "seed": seed, "manifest": str(parts[-1]),
    }  # fmt: skip
    run.report(1.0, "writing")
    check_outputs([*parts, *others], job.reads())
    with replacing_all(*parts, *others) as places:
        release.put(output, places[: len(parts)])
        beside = dict(zip(others, places[len(parts) :], strict=True))
        if save is not None:
            beside[save].write_text(job.toml(save.parent), encoding="utf-8")
        if job.plot is not None:
            picture(data, release, beside[job.plot])
        run.check()
    figures["seconds"] = round(time.perf_counter() - started, 3)
    return Outcome(release=release, findings=findings, figures=figures, files=(*parts, *others), notes=data.notes)


def _checked(job: Job, others: list[Path]) -> Path:
    """Where the release goes, once everything that can be wrong before any work is done was looked at."""
    if job.output is None:
        raise OutputError("name the file for the release with -o")
    policy = Policy(models=job.models, suppression=job.suppression, objective=job.objective, seed=job.seed or 0)
    check_policy(policy, plugin("algorithms", job.algorithm or "mondrian"))
    (job.engine or registry.engine()).check_format(job.output)
    if job.plot is not None:
        check_picture(job.plot)
    outputs = [job.output, manifest_path(job.output), *others]
    for folder in {path.parent for path in outputs}:
        recover(folder)
    check_outputs(outputs, job.reads())
    return job.output
