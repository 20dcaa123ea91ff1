"""`shoal evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import journal, options, output
from shoal.job.job import Job
from shoal.job.lists import split_names

if TYPE_CHECKING:
    from shoal.core.finding import Finding, Findings


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """What the release is to be good for."""

    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", help='Only these measures, NAME or NAME:key=value, separated by commas: "gcp,utility-loss".',
            autocompletion=options.names_of("metrics"),
        ),
    ] = None  # fmt: skip
    target: Annotated[
        str | None, typer.Option("--target", help="Column that a classifier trained on the release should predict.")
    ] = None
    learners: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            help="Classifier: decision-stump, c45, naive-bayes or a scikit-learn path (sklearn.svm.SVC). Repeatable.",
        ),
    ] = None
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", help="Table of records that are not in the release, to test classifiers on."),
    ] = None

    def arguments(self, job: Job) -> dict[str, Any]:
        """What `evaluate` is told beside the metrics."""
        from shoal.api.learning import DEFAULT
        from shoal.errors import ParameterError

        if self.learners and self.target is None:
            raise ParameterError("name the column that the classifiers predict with --target")
        return {
            "analyses": job.analyses, "target": self.target,
            "learners": self.learners or [DEFAULT], "held_out": self.held_out,
        }  # fmt: skip


def run(
    job: Job,
    evaluation: EvaluationOptions,
    release: options.Release = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Measure what a release lost compared with the original table, what it is still good for, and the remaining risk.

    If you give no roles, they are taken from the release's manifest. Each figure is shown next to that of the original
    table and that of a table with everything hidden. The exit code is 1 if an analysis in the job file fails.
    """
    from shoal import api
    from shoal.publishing.headlines import evaluated, survey_risk

    job, path = options.job_and_release(job, release)
    arguments = evaluation.arguments(job)
    data = api.read_job(job)
    output.tell(data.notes)
    opened = api.open_release(path, data)
    findings = api.evaluate(data, opened, *split_names(evaluation.metrics or ""), **arguments)
    columns = api.columns(data, opened)
    named_findings = _named_findings(findings, arguments)
    summary = evaluated(findings, columns, opened.records, opened.published.records, named_findings, opened.plain_risk)
    journal.note(summary=summary)
    if as_json:
        entries = [column.as_dict() for column in columns]
        body = {"summary": summary, "findings": findings.as_dict(), "columns": entries, "records": data.records}
        output.emit("evaluate", {**body, **output.plain(opened.plain_risk)})
    else:
        output.say(summary, style="bold")
        if (by_weights := survey_risk(findings)) is not None:
            output.say(by_weights)
        output.warn(opened.plain_risk)
        output.show_columns(columns)
        _show(findings, named_findings, everything or evaluation.metrics is not None)
    output.answer(all(finding.holds is not False for finding in named_findings))


def _named_findings(findings: Findings, arguments: dict[str, Any]) -> list[Finding]:
    """What the user asked about by name: the analyses and the classifiers, which come first."""
    from shoal.utility.analyses import all_parsed

    titles = {analysis.title for analysis in all_parsed(arguments["analyses"])}
    target = arguments["target"]
    return [each for each in findings if each.name in titles or (target and each.name.startswith("accuracy-"))]


def _show(findings: Findings, named_findings: list[Finding], everything: bool) -> None:
    if named_findings:
        output.show_findings(named_findings, title="What you asked for", explained=everything)
        for finding in named_findings if not everything else ():
            if finding.value is None:
                output.say(f"{finding.title}: {finding.how}")
    if everything:
        output.show_findings([finding for finding in findings if finding not in named_findings])
        return
    from shoal import registry

    classes = {name: registry.find("metrics", name) for name in registry.names("metrics")}
    names = [name for name, metric in classes.items() if not metric.quick and not metric.flawless]
    usable = [finding for finding in findings if finding.name in names and finding.value is not None]
    if usable:
        output.show_findings(
            usable, title="What a recipient can no longer find, from 0 (nothing is lost)", explained=False
        )
    output.say("To see every measure of loss and risk, add --all.", style="dim")
