"""`shoal hierarchy`."""

from __future__ import annotations

import csv
import io
from typing import Annotated

import typer

from shoal.cli import options, output


def run(
    source: options.Source,
    column: Annotated[str | None, typer.Option("--column", help="The column to make a hierarchy for.")] = None,
    builder: Annotated[
        str | None,
        typer.Option("--builder", help="FILE to check, or BUILDER:key=value,…; automatic when not given."),
    ] = None,
    target: options.Output = None,
    as_json: options.Json = False,
) -> None:
    """Make or check the generalization hierarchy of a column and write it to a file for editing."""
    from shoal import job
    from shoal.core.files import check_outputs, replacing
    from shoal.core.finding import Finding, Findings
    from shoal.core.schema import Role
    from shoal.errors import ParameterError

    if column is None:
        raise ParameterError("name the column with --column")
    made = source.made()
    for role, names in ((Role.SENSITIVE, []), (Role.IDENTIFIER, []), (Role.QUASI, [column])):
        made = made.with_role(role, names)
    if builder is not None:
        made = options.of_columns(made, hierarchy={column: job.builder(builder)})
    if target is not None:
        check_outputs([target], made.reads())
    data = made.read()
    output.tell(data.notes)
    tree = data.hierarchies[0]
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
