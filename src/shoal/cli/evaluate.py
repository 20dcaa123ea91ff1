"""`shoal evaluate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output


def run(
    source: options.Input = None,
    release: Annotated[Path | None, typer.Argument(help="The release file.")] = None,
    quasi: options.Quasi = None,
    sensitive: options.Sensitive = None,
    metrics: Annotated[str | None, typer.Option("--metrics", help="Only these measures, separated by commas.")] = None,
    hierarchies: options.Hierarchies = None,
    hierarchy_of: options.HierarchyOf = None,
    kinds: options.KindOf = None,
    missing: options.Missing = None,
    missing_rules: options.MissingRule = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    job: options.JobFile = None,
    as_json: options.Json = False,
) -> None:
    """Measure what a release lost against the table that it was made from, and the risk that is left.

    Roles come from the release's manifest when there is one and none are given.
    """
    from shoal import api, manifest
    from shoal.errors import InputError

    made = options.base_job(
        job, source=source, quasi=quasi, sensitive=sensitive, hierarchies=hierarchies, hierarchy_of=hierarchy_of,
        kinds=kinds, missing=missing, missing_rules=missing_rules, delimiter=delimiter, encoding=encoding,
    )  # fmt: skip
    path = release or made.output
    if path is None:
        raise InputError("name the release file after the table")
    if not made.columns:
        made = replace(made, columns=manifest.columns_of(path))
    data = options.read_job(made)
    findings = api.evaluate(data, path, *options.listed(metrics))
    output.show(findings, as_json=as_json, title="Evaluation", records=data.records)
