"""`shoal diagnose`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options, output


def run(
    source: options.Input = None,
    quasi: options.Quasi = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    k: Annotated[
        int | None, typer.Option("--k", help="The least class size that is wanted; exit code 1 below it.")
    ] = None,
    attributes: Annotated[
        str | None, typer.Option("--attributes", help="Look at these columns only, separated by commas.")
    ] = None,
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
    """Tell how exposed the people in a table are: its k, whom it singles out, the risk of being found."""
    from shoal import api

    made = options.base_job(
        job, source=source, quasi=quasi, sensitive=sensitive, identifiers=identifiers, hierarchies=hierarchies,
        hierarchy_of=hierarchy_of, kinds=kinds, missing=missing, missing_rules=missing_rules, delimiter=delimiter,
        encoding=encoding,
    )  # fmt: skip
    data = options.read_job(made)
    if k is None:
        k = max((model.least for model in made.models), default=None)
    findings = api.diagnose(data, k=k, attributes=options.listed(attributes) or None)
    output.show(findings, as_json=as_json, title="Exposure", records=data.records)
    output.answer(findings.holds)
