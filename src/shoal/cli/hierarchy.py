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
    from shoal.core.words import counted
    from shoal.errors import ParameterError

    if column is None:
        raise ParameterError("name the column with --column")
    made = source.made()
    others = (Role.SENSITIVE, Role.IDENTIFIER, Role.ENTITY)
    for role, names in (*((other, []) for other in others), (Role.QUASI, [column])):
        made = made.with_role(role, names)
    if builder is not None:
        made = options.of_columns(made, hierarchy={column: job.builder(builder)})
    if target is not None:
        check_outputs([target], made.reads())
    tree = made.read().hierarchies[0]
    if target is not None:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(tree.rows())
        with replacing(target) as file:
            file.write_text(text.getvalue(), encoding="utf-8")
    findings = [
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
        output.say(f"Written: {target}; a line a value, from the value itself to the top, to be edited")
