"""`shoal hierarchy`."""

from __future__ import annotations

import csv
import io
from typing import Annotated

import typer

from shoal.cli import options, output


def run(
    source: options.Input = None,
    column: Annotated[str | None, typer.Option("--column", help="The column to make a hierarchy for.")] = None,
    builder: Annotated[
        str | None,
        typer.Option("--builder", help="FILE to check, or BUILDER:key=value,…; automatic when not given."),
    ] = None,
    target: options.Output = None,
    kinds: options.KindOf = None,
    missing: options.Missing = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    job: options.JobFile = None,
    as_json: options.Json = False,
) -> None:
    """Make or check the generalization hierarchy of a column and write it to a file for editing."""
    from shoal.core.files import replacing
    from shoal.core.finding import Finding, Findings
    from shoal.errors import ParameterError

    if column is None:
        raise ParameterError("name the column with --column")
    chosen = [f"{column}={builder}"] if builder is not None else None
    made = options.base_job(
        job, source=source, quasi=column, sensitive="", identifiers="", hierarchy_of=chosen, kinds=kinds,
        missing=missing, delimiter=delimiter, encoding=encoding,
    )  # fmt: skip
    if target is not None:
        options.refuse_overwriting([target], [made.input, job])
    tree = options.read_job(made).hierarchies[0]
    if target is not None:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(tree.rows())
        with replacing(target) as file:
            file.write_text(text.getvalue(), encoding="utf-8")
    findings = [
        Finding(name="height", value=tree.height, how="how often a value can be generalized"),
        Finding(name="leaves", value=tree.size, how="raw values, the missing one included"),
    ]
    for level in range(1, tree.height + 1):
        findings.append(Finding(name=f"values-at-level-{level}", value=len(tree.labels[level]), how="distinct values"))
    output.show(Findings(tuple(findings)), as_json=as_json, title=f"Hierarchy of {column}")
