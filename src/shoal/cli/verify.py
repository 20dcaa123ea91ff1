"""`shoal verify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import journal, options, output
from shoal.core.formatting import printable

if TYPE_CHECKING:
    from shoal.diagnosis.published_sql import Query


def run(
    release: Annotated[Path | None, typer.Argument(help="The release file, with its manifest next to it.")] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="Public key of the data holder; the manifest must be signed with it.")
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest", help="The manifest, if it is not next to the release, such as for a database table."
        ),
    ] = None,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            help="Only print a query for each model in this SQL dialect, to run on the published tables.",
        ),
    ] = None,
    table: Annotated[str, typer.Option("--table", help="With --sql: name of the table in the database.")] = "release",
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            help="Only write a page that checks any release in a browser, offline, for recipients without Shoal.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="Engine that reads the release.", autocompletion=options.names_of("engines")),
    ] = None,
    job: options.JobFile = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Check a release against its manifest, without the original table. Exit code 0 if everything holds, 1 if not."""
    from shoal import api
    from shoal.errors import InputError
    from shoal.job.file import load
    from shoal.job.job import Job
    from shoal.publishing.headlines import verified

    if page is not None:
        if release is not None or key is not None or job is not None:
            raise InputError(
                "--page writes a page that checks any release, and checks none itself: give it alone, and run "
                "`shoal verify` without it to check a release"
            )
        _write_page(page, overwrite, as_json)
        return
    settings = Job() if job is None else load(job)
    path, stated = release or settings.output, manifest or (settings.manifest if release is None else None)
    reader = engine or settings.engine
    if path is None:
        raise InputError("name the release file")
    if sql is not None:
        _print_queries(api.verification_sql(path, sql, table=table, engine=reader, manifest=stated), as_json)
        return
    findings = api.verify(path, key=key, engine=reader, manifest=stated)
    journal.note(summary=verified(findings))
    if as_json:
        body = {"summary": verified(findings), "holds": findings.holds, "findings": findings.as_dict()}
        output.emit("verify", body)
    else:
        output.say(verified(findings), style="bold green" if findings.holds else "bold red")
        output.show_findings(findings)
    output.answer(findings.holds)


def _write_page(path: Path, overwrite: bool, as_json: bool) -> None:
    """The page for recipients, which is the same for every release."""
    from hashlib import sha256

    from shoal.reports.verifier import page
    from shoal.storage.files import replacing_all

    output.claim([path], overwrite=overwrite)
    content = page().encode()
    with replacing_all(path) as (place,):
        place.write_bytes(content)
    digest = sha256(content).hexdigest()
    summary = f"{path.name} checks a release in the browser, without a network. Its SHA-256 is {digest}."
    journal.note(summary=summary, files=[str(path)])
    if as_json:
        output.emit("verify-page", {"summary": summary, "page": str(path), "sha256": digest})
    else:
        output.say(summary)


def _print_queries(queries: Sequence[Query], as_json: bool) -> None:
    """The queries as a script; a model that has none has its reason there."""
    from shoal.job.plugins import written

    count = sum(query.sql is not None for query in queries)
    summary = f"{count} of {len(queries)} queries: each gives the worst level, the bound, and 1 if the bound is kept."
    if not queries:
        summary = "The manifest states no model, so there is nothing to query."
    journal.note(summary=summary)
    if as_json:
        entries = [
            {"model": written(query.model), "column": query.column}
            | ({"reason": query.reason} if query.sql is None else {"sql": query.sql})
            for query in queries
        ]
        output.emit("verify-sql", {"summary": summary, "queries": entries})
        return
    typer.echo(f"-- {summary}\n")
    for query in queries:
        about = "" if query.column is None else f" of {query.column}"
        typer.echo(printable(f"-- {written(query.model)}{about}"))
        typer.echo(f"-- no query: {printable(query.reason)}\n" if query.sql is None else f"{query.sql};\n")
