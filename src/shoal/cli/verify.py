"""`shoal verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    release: Annotated[Path | None, typer.Argument(help="The release file; its manifest lies beside it.")] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="The holder's public key: the manifest must be signed by it.")
    ] = None,
    job: options.JobFile = None,
    as_json: options.Json = False,
) -> None:
    """Check a release file against its manifest alone, without the original: exit code 0 when all holds, 1 when not."""
    from shoal import api
    from shoal import job as jobs
    from shoal.core.sentences import verified
    from shoal.errors import InputError

    path = release or (jobs.load(job).output if job is not None else None)
    if path is None:
        raise InputError("name the release file")
    findings = api.verify(path, key=key)
    journal.note(summary=verified(findings))
    if as_json:
        found = {"summary": verified(findings), "holds": findings.holds, "findings": findings.as_dict()}
        output.emit("verify", found)
    else:
        output.say(verified(findings), style="bold green" if findings.holds else "bold red")
        output.show_findings(findings)
    output.answer(findings.holds)
