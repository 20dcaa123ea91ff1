"""`shoal diagnose`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import answers, dependencies, journal, options, output, questions, suda
from shoal.job.arguments import arguments
from shoal.job.job import Job

if TYPE_CHECKING:
    from shoal.core.contracts.model import Model
    from shoal.core.dataset import Dataset
    from shoal.core.finding import Findings
    from shoal.diagnosis.detection import Detection


def run(
    job: Job,
    question: questions.QuestionOptions,
    answer_options: answers.AnswerOptions,
    dependency_options: dependencies.DependencyOptions,
    suda_options: suda.SudaOptions,
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
    from shoal.job.file import toml
    from shoal.job.suggestion import suggested
    from shoal.publishing.headlines import exposed, household_risk, risk, survey_risk
    from shoal.storage.files import replacing_all
    from shoal.storage.private import write_private

    if save_job is not None and not detect:
        raise ParameterError("--save-job needs --detect: it saves the suggested roles")
    if detect:
        if save_job is not None:
            output.claim([save_job], job.reads(), overwrite=job.overwrite)
        detection = _detect(job, share, question.time_limit)
        if save_job is not None:
            with replacing_all(save_job) as (place,):
                draft = suggested(replace(job, overwrite=False), detection, save_job)
                write_private(place, toml(draft, save_job.parent, detection.words()))
        answers.show_detection(detection, everything=everything, as_json=as_json)
        return
    if dependency_options.dependencies:
        dependencies.show(dependency_options.search(job, question.time_limit), as_json=as_json)
        return
    answer_options.check(_every_column_quasi(job))
    data = _read(job)
    if suda_options.suda:
        special = suda_options.search(data, question.columns, dependency_options.largest)
        suda.show(special, answer_options.plot, as_json=as_json)
        return
    if question.k is None:
        question = replace(question, k=max((model.least for model in job.models if model.by_size), default=None))
    findings = _exposure(data, question, [*job.models, *question.models()])
    has_question = question.explicit or answer_options.plot is not None or answer_options.sql is not None
    with output.watching() as watched:
        answer = question.answer(data, watched) if has_question else question.implied(data, watched)
    extras = answer_options.extras(answer, job) if answer is not None else {}
    summary = exposed(findings, data.records, question.columns or data.schema.quasi)
    journal.note(summary=summary)
    if as_json:
        body: dict[str, Any] = answer.as_dict() if answer is not None else {}
        facts = {"summary": summary, "findings": findings.as_dict(), "records": data.records}
        output.emit("diagnose", {**facts, **body, **extras})
    elif "sql" in extras:
        typer.echo(extras["sql"])
    else:
        if not has_question:
            output.say(summary, style="bold")
            output.say(" ".join(filter(None, (risk(findings), survey_risk(findings), household_risk(findings)))))
        if everything:
            output.show_findings(findings, title="Exposure")
        if answer is not None:
            answers.show(answer, everything=everything)
        if "plot" in extras:
            output.say(f"Drawn: {extras['plot']}")
    by_number = question.ask is not None or question.delta is not None
    output.answer(answer.answer is not False if answer is not None and by_number else findings.holds)


def _detect(job: Job, share: float, time_limit: float | None) -> Detection:
    from shoal import api
    from shoal.errors import InputError

    if job.input is None:
        raise InputError("name the table to diagnose")
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    return api.detect(job.input, share=share, **arguments(job, "detect"), **limit)


def _read(job: Job) -> Dataset:
    """The table of a job, whose columns may have no roles. Where none says whose a record is and one seems to, people
    are counted by it."""
    from shoal import api
    from shoal.core.schema import Role
    from shoal.diagnosis.person_columns import proposed_person
    from shoal.errors import quoted

    data = api.read_job(_every_column_quasi(job))
    output.tell(data.notes)
    person = None if job.rows_are_people or job.person is not None else proposed_person(data)
    if person is None or person in job.named(Role.QUASI):
        return data
    output.tell(
        [f"people are counted by column {quoted(person)}, which repeats; --person or --rows-are-people says otherwise"]
    )
    return api.read_job(_every_column_quasi(job.with_roles({Role.ENTITY: [person]})))


def _every_column_quasi(job: Job) -> Job:
    """The job with every column that has no role as a quasi-identifier, unless some are named."""
    from shoal.core.read_request import Opening
    from shoal.core.schema import Role
    from shoal.job.plugins import engine
    from shoal.storage.files import received

    if job.named(Role.QUASI) or job.input is None:
        return job
    opened = (job.engine or engine(None)).open(received(job.input), Opening(**arguments(job, "open")))
    others = {name for name, column in job.columns.items() if column.role is not Role.PLAIN}
    return job.with_roles({Role.QUASI: [name for name in opened.names if name not in others]})


def _exposure(data: Dataset, question: questions.QuestionOptions, models: list[Model]) -> Findings:
    """How exposed people are, and each model that looks at more than sizes."""
    from shoal import api
    from shoal.core.finding import Findings

    exposed = api.diagnose(data, k=question.k, attributes=question.columns)
    classes = data.summary if question.columns is None else data.group(tuple(question.columns))
    for model in models:
        model.check_attributes(classes.attributes)
    return Findings((*exposed, *(model.measure(classes) for model in models if not model.by_size)))
