"""Candidates: releases that keep the policy, each made by another algorithm, kept in memory and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from shoal import api, registry
from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import PluginError
from shoal.job import plugins
from shoal.job.arguments import arguments
from shoal.job.file import toml
from shoal.publishing.columns import ReleasedColumn
from shoal.web.session import PageSession
from shoal.web.work import HEAVY, PageTask

USUAL = ("mondrian", "optimal")
"""What is tried without being asked for: local recoding, and the proven optimum of one level for everybody."""
METRICS = ("lm", "gcp")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release with what it costs and what risk is left."""

    spec: str
    data: Dataset
    release: Release
    findings: Findings
    columns: tuple[ReleasedColumn, ...]
    seconds: float

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each column, where all records have the same."""
        recoding = self.release.recoding
        if recoding is None or recoding.levels is None:
            return None
        return dict(zip(self.release.schema.quasi, recoding.levels, strict=True))

    @property
    def form(self) -> str:
        return registry.name_of(self.release.form)

    def facts(self) -> dict[str, Any]:
        """The candidate as JSON holds it; what its form does not tell has no value."""
        facts = self.release.recoding.facts if self.release.recoding is not None else {}
        return {
            "form": self.form, "loss": self._value("lm"), "k": self._value("k"), "classes": self._value("classes"),
            "average_risk": self._value("average-risk"), "highest_risk": self._value("highest-risk"),
            "suppressed": self.release.suppressed, "records": self.release.records,
            "full_domain": self.levels is not None, "proven": bool(facts.get("proven", False)),
            "chosen": facts.get("chosen"), "seconds": round(self.seconds, 1),
            "columns": [column.as_dict() for column in self.columns],
            "reasons": [each.how for each in self.findings if each.value is None and each.name in ("lm", "k")],
        }  # fmt: skip

    def _value(self, name: str) -> Any:
        finding = self.findings.get(name)
        return None if finding is None else finding.value


def available_algorithms() -> list[str]:
    """Algorithms that keep a policy and need no parameter; those whose packages are lacking are left out."""
    names = []
    for name in registry.names("algorithms"):
        try:
            kind = registry.find("algorithms", name)
        except PluginError:
            continue
        there = all(find_spec(package) is not None for package in kind.extras)
        if kind.claims and there and registry.complete("algorithms", name) and not kind().unverified:
            names.append(name)
    return names


def about(name: str) -> str:
    """What an algorithm does, in the first sentence of its own words."""
    text = " ".join((registry.find("algorithms", name).__doc__ or "").partition("\n\n")[0].split())
    return text.replace("`", "").replace("*", "")


def title(spec: str) -> str:
    """A candidate's name for people: the levels, where they were all given, else the algorithm as it is spelled.

    Example:
        >>> title("optimal:least_levels=age:2|sex:0,greatest_levels=age:2|sex:0"), title("mondrian")
        ('age 2, sex 0', 'mondrian')
    """
    parameters = plugins.plugin("algorithms", spec).parameters()
    levels = parameters.get("least_levels")
    if not levels or levels != parameters.get("greatest_levels"):
        return spec
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def task(session: PageSession, spec: str) -> PageTask[Candidate]:
    """The task that makes the candidate of an algorithm; it is begun unless there is one."""
    job, data = session.release_job(), session.prepared()

    def make(run: Run) -> Candidate:
        options = {**arguments(job, "anonymize"), "algorithm": spec}
        release = api.anonymize(data, *job.models, **options, run=run.part(between=(0.0, 0.9)))
        run.report(0.95, "measuring")
        findings = api.evaluate(data, release, *METRICS, baselines=False)
        return Candidate(spec, data, release, findings, api.columns(data, release), run.elapsed)

    return session.work.task((HEAVY, toml(job), spec), "work.candidate", make, long=True, words={"name": spec})


def chosen_algorithm(session: PageSession) -> str:
    """The algorithm that the job has; local recoding until somebody chooses."""
    return USUAL[0] if session.job.algorithm is None else plugins.written(session.job.algorithm)


def chosen_candidate(session: PageSession) -> Candidate:
    """The release that was chosen."""
    return session.result(task(session, chosen_algorithm(session)))
