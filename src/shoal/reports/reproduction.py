"""How to repeat a release: the job without its secrets, and the commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import Any

from shoal import manifest, registry
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.metric import Metric
from shoal.errors import ShoalError
from shoal.job.columns import ColumnJob
from shoal.job.file import toml
from shoal.job.job import Job
from shoal.job.option import options
from shoal.job.plugins import plugin

REMARKS = (
    "What the release was made by. The seed, keys, and whatever may spell values of the table are left out:",
    "the holder's own job file has them, and repeats the release to the byte.",
)


def job_shown(origin: Job, stated: Mapping[str, Any], release: Path) -> str:
    """The job of a release as anybody may read it: what its manifest states, the columns, and names of files.

    Only options that are declared public are shown, and of files and engines their names alone.
    """
    policy = manifest.policy_of(stated)
    objective = policy.objective if isinstance(policy.objective, Metric) else None
    columns = origin.columns or manifest.columns_of(release)
    public = {each.name: _public(getattr(origin, each.name)) for each in options(Job) if each.public}
    shown = Job(
        **public, columns={name: _shown(column) for name, column in columns.items()},
        models=policy.models, suppression=policy.suppression, objective=objective,
        protect_jointly=stated.get("strict", False), algorithm=_algorithm(stated), output=_public(release),
    )  # fmt: skip
    return toml(shown, remarks=REMARKS)


def commands(origin: Job, release: Path, *, signed: bool) -> tuple[tuple[str, str], ...]:
    """Commands that repeat what a report says, and who can run each."""
    job = quote(origin.file.name if origin.file is not None else "job.toml")
    key = " --key HOLDER.pub" if signed else ""
    return (
        (f"shoal verify {quote(release.name)}{key}", "anybody who has the release and its manifest"),
        (f"shoal anonymize --job {job}", "the holder: makes the release again, to the byte"),
        (f"shoal evaluate --job {job} --all", "the holder: what was lost, and the risk that is left"),
        (f"shoal attack --job {job} --all", "the holder: the attacks"),
        (f"shoal report --job {job} -o report.html", "the holder: this report"),
    )


def _public(value: Any) -> Any:
    """A value as anybody may read it: where a file lies, or a cluster is, is nobody's business."""
    if isinstance(value, Engine):
        return type(value)() if registry.complete("engines", registry.name_of(value)) else None
    return Path(value.name) if isinstance(value, Path) else value


def _shown(column: ColumnJob) -> ColumnJob:
    return replace(column, hierarchy=None if column.hierarchy is None else _named(column.hierarchy))


def _named(builder: Builder) -> Builder:
    """A builder without parameters that its printed form hides, and with the name of its file alone."""
    parameters = {
        field.name: getattr(builder, field.name)
        for field in fields(builder)  # type: ignore[arg-type]
        if field.repr
    }
    return type(builder)(**{key: _public(value) for key, value in parameters.items()})


def _algorithm(stated: Mapping[str, Any]) -> Any:
    try:
        return plugin("algorithms", stated["algorithm"])
    except ShoalError:  # of a package that is not installed here
        return None
