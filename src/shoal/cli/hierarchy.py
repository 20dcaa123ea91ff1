"""`shoal hierarchy`."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options, output
from shoal.job.job import Job

if TYPE_CHECKING:
    from shoal.core.contracts.builder import Builder
    from shoal.core.finding import Finding
    from shoal.core.hierarchy import Hierarchy


def run(
    job: Job,
    column: Annotated[str | None, typer.Option("--column", help="Column to make a hierarchy for.")] = None,
    builder: Annotated[
        str | None,
        typer.Option("--builder", help="FILE to check, or BUILDER:key=value,… (default: automatic)."),
    ] = None,
    target: options.Output = None,
    extend: Annotated[
        Path | None,
        typer.Option(
            "--extend",
            help="Add new values of the column to this file: by the rule of --builder, or at the top for you to place.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Make or check the generalization hierarchy of a column, and write it to a file that you can edit.

    With --extend, values that are missing from a file are added to it; only their number is printed.
    """
    from shoal.api.reading import read_job
    from shoal.core.finding import Finding, Findings
    from shoal.core.formatting import counted
    from shoal.core.schema import Role
    from shoal.errors import ParameterError
    from shoal.job.plugins import builder as make_builder
    from shoal.storage.files import replacing

    if column is None:
        raise ParameterError("name the column with --column")
    job = job.with_roles({role: [column] if role is Role.QUASI else [] for role in Role if role is not Role.PLAIN})
    rule = None if builder is None else make_builder(builder)
    findings: list[Finding] = []
    if extend is not None:
        if target is not None:
            raise ParameterError("--extend changes the file that it names; leave -o out")
        tree, findings = _extend(job, column, extend, rule)
    else:
        if rule is not None:
            job = job.with_columns({"hierarchy": {column: rule}})
        if target is not None:
            output.claim([target], job.reads(), overwrite=job.overwrite)
        data = read_job(job)
        output.tell(data.notes)
        tree = data.hierarchies[0]
    if target is not None:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(tree.rows())
        with replacing(target) as file:
            file.write_text(text.getvalue(), encoding="utf-8")
    findings += [
        Finding(name="height", value=tree.height, how="how often a value can be generalized", unit="levels"),
        Finding(name="leaves", value=tree.size, how="raw values, the missing one included", unit="values"),
    ]
    for level in range(1, tree.height + 1):
        findings.append(
            Finding(
                name=f"values-at-level-{level}", value=len(tree.labels[level]), how="distinct values", unit="values"
            )
        )
    summary = f"{column}: {counted(tree.size, 'values')} in a hierarchy of {counted(tree.height, 'levels')}."
    if as_json:
        output.emit("hierarchy", {"summary": summary, "findings": Findings(tuple(findings)).as_dict()})
        return
    output.say(summary, style="bold")
    output.show_findings(findings)
    if target is not None:
        output.say(f"Written: {target}. You can edit it: each line leads from a value up to the top level.")


def _extend(job: Job, column: str, file: Path, builder: Builder | None) -> tuple[Hierarchy, list[Finding]]:
    """Adds to a file what it lacks of a column; the hierarchy that it then is, and how many values were added."""
    from shoal.api.reading import read_job
    from shoal.core.finding import Finding
    from shoal.core.values import Values
    from shoal.errors import ParameterError
    from shoal.hierarchies.table import Table, extended
    from shoal.storage.files import check_outputs, replacing

    if file.suffix in (".toml", ".json"):
        raise ParameterError(f"{file.name}: only a file of rows can be extended; write one with --builder and -o")
    check_outputs([file], job.reads())
    plain = replace(job, hierarchies=None, columns={column: replace(job.columns[column], hierarchy=None)})
    schema_column = read_job(plain).schema[column]
    assert schema_column.hierarchy is not None
    texts = [text for text in schema_column.hierarchy.labels[0] if text is not None]
    values = Values.of(column, schema_column.kind, texts)
    content, added = extended(file, values, builder)
    if added:
        with replacing(file) as place:
            place.write_bytes(content)
    position = "placed by the rule" if builder is not None else "under the top at every level, for you to place"
    return Table(path=file).build(values), [
        Finding(name="new-values", value=added, how=f"now in the file, {position}", unit="values")
    ]
