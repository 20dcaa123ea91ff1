"""`shoal diagnose`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import answers, dependencies, journal, options, output, questions

if TYPE_CHECKING:
    from shoal.core.contracts.model import Model
    from shoal.core.dataset import Dataset
    from shoal.core.finding import Findings
    from shoal.diagnosis.detection import Detection
    from shoal.job import Job


def run(
    table: options.Table,
    question: questions.Question,
    shown: answers.Shown,
    wanted_dependencies: dependencies.Wanted,
    models: options.Models = None,
    detect: Annotated[bool, typer.Option("--detect", help="Suggest a role for every column, with reasons.")] = False,
    share: Annotated[
        float,
        typer.Option(
            "--share", help="With --detect: list sets of columns that single out more than this share of the people."
        ),
    ] = 0.05,
    everything: options.All = False,
    save_job: Annotated[
        Path | None,
        typer.Option(
            "--save-job", help="With --detect: write a job file with the suggested roles and k=5, for review."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show how exposed the people in a table are: how many stand alone, and how likely they are to be found.

    It also answers one of twelve questions. Which one depends on the options: columns (--attributes), a bound (--k,
    --l, --t), and the share of records that may be left out (--delta, or --delta ask to compute it). A bound without
    columns asks which sets of columns meet it. --ask chooses the question by its number. Without --quasi, every column
    that has no other role counts as a quasi-identifier.
    """
    from shoal.errors import ParameterError
    from shoal.job import plugin
    from shoal.publishing.headlines import exposed, risk
    from shoal.storage.files import check_outputs, replacing_all

    made = table.made()
    if save_job is not None and not detect:
        raise ParameterError("--save-job needs --detect: it saves the suggested roles")
    if detect:
        if save_job is not None:
            check_outputs([save_job], made.reads())
        found = _detected(made, share, question.time_limit)
        if save_job is not None:
            with replacing_all(save_job) as (place,):
                place.write_text(made.suggested(found, save_job).toml(save_job.parent, found.words()), encoding="utf-8")
        answers.show_detection(found, everything=everything, as_json=as_json)
        return
    if wanted_dependencies.dependencies:
        dependencies.show(wanted_dependencies.found(made, question.time_limit), as_json=as_json)
        return
    made = _every_column_quasi(made)
    shown.check(made)
    data = made.read()
    output.tell(data.notes)
    wanted = made.models_with([plugin("models", model) for model in models or []])
    if question.k is None:
        question = replace(question, k=max((model.least for model in wanted if model.by_size), default=None))
    findings = _exposure(data, question, [*wanted, *question.bounded()])
    asked = question.explicit or shown.plot is not None or shown.sql is not None
    with output.watching() as watched:
        answer = question.answer(data, watched) if asked else question.implied(data, watched)
    extras = shown.extras(answer, made) if answer is not None else {}
    summary = exposed(findings, data.records, question.chosen or data.schema.quasi)
    journal.note(summary=summary)
    if as_json:
        told: dict[str, Any] = answer.as_dict() if answer is not None else {}
        facts = {"summary": summary, "findings": findings.as_dict(), "records": data.records}
        output.emit("diagnose", {**facts, **told, **extras})
    elif "sql" in extras:
        typer.echo(extras["sql"])
    else:
        if not asked:
            output.say(summary, style="bold")
            output.say(risk(findings))
        if everything:
            output.show_findings(findings, title="Exposure")
        if answer is not None:
            answers.show(answer, everything=everything)
        if "plot" in extras:
            output.say(f"Drawn: {extras['plot']}")
    by_number = question.ask is not None or question.delta is not None
    output.answer(answer.answer is not False if answer is not None and by_number else findings.holds)


def _detected(made: Job, share: float, time_limit: float | None) -> Detection:
    from shoal import api
    from shoal.errors import InputError

    if made.input is None:
        raise InputError("name the table to diagnose")
    limited: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    return api.detect(
        made.input,
        share=share,
        **made.reading(),
        engine=made.engine,
        **limited,
    )


def _every_column_quasi(made: Job) -> Job:
    """The job with every column that has no role as a quasi-identifier, unless some are named."""
    from shoal import job
    from shoal.core.read_request import Opening
    from shoal.core.schema import Role
    from shoal.storage.files import received

    if made.named(Role.QUASI) or made.input is None:
        return made
    engine = made.engine or job.engine(None)
    names = engine.open(received(made.input), Opening(**made.reading())).names
    taken = {*made.named(Role.SENSITIVE), *made.named(Role.IDENTIFIER), *made.named(Role.ENTITY)}
    return made.with_roles({Role.QUASI: [name for name in names if name not in taken]})


def _exposure(data: Dataset, question: questions.Question, models: list[Model]) -> Findings:
    """How exposed people are, and each model that looks at more than sizes."""
    from shoal import api
    from shoal.core.finding import Findings

    exposed = api.diagnose(data, k=question.k, attributes=question.chosen)
    classes = data.summary if question.chosen is None else data.group(tuple(question.chosen))
    return Findings((*exposed, *(model.measure(classes) for model in models if not model.by_size)))
