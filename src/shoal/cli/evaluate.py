"""`shoal evaluate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output


def run(
    table: options.Table,
    release: Annotated[Path | None, typer.Argument(help="The release file.")] = None,
    metrics: Annotated[str | None, typer.Option("--metrics", help="Only these measures, separated by commas.")] = None,
    as_json: options.Json = False,
) -> None:
    """Measure what a release lost against the table that it was made from, and the risk that is left.

    Roles come from the release's manifest when there is one and none are given.
    """
    from shoal import api, manifest
    from shoal.errors import InputError

    made = table.made()
    path = release or made.output
    if path is None:
        raise InputError("name the release file after the table")
    if not made.columns:
        made = replace(made, columns=manifest.columns_of(path))
    data = made.read()
    output.tell(data.notes)
    findings = api.evaluate(data, path, *options.listed(metrics))
    output.show(findings, as_json=as_json, title="Evaluation", records=data.records)
