"""`shoal evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    table: options.Compared,
    metrics: Annotated[
        str | None, typer.Option("--metrics", help="Only these measures: NAME or NAME:key=value, separated by commas.")
    ] = None,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Measure what a release lost against the table that it was made from, and the risk that is left.

    Roles come from the release's manifest when there is one and none are given.
    """
    from shoal import api
    from shoal.core.sentences import released

    made = table.made()
    assert made.output is not None
    data = made.read()
    output.tell(data.notes)
    release = api.open_release(made.output, data)
    findings = api.evaluate(data, release, *options.listed(metrics))
    columns = api.columns(data, release)
    summary = released(findings, columns, release.records, release.published.records)
    journal.note(summary=summary)
    if as_json:
        described = [column.as_dict() for column in columns]
        found = {"summary": summary, "findings": findings.as_dict(), "columns": described, "records": data.records}
        output.emit("evaluate", found)
        return
    output.say(summary, style="bold")
    output.show_columns(columns)
    if everything or metrics:
        output.show_findings(findings)
    else:
        output.say("Every measure of what was lost and of the risk that is left: --all", style="dim")
