"""`shoal apply`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import keys, options, output
from shoal.job.arguments import arguments
from shoal.job.job import Job


def run(
    recoding: Annotated[Path, typer.Argument(help="Recoding file, written by anonymize --save-recoding.")],
    job: Job,
    target: options.Output = None,
    as_json: options.Json = False,
) -> None:
    """Recode new records in the same way as an earlier release. They are verified before they are written.

    Each value is generalized as it was in the release, or each record joins the narrowest group that fits it. Records
    that fit no group, and groups that break the policy, are left out as far as the policy allows. If it does not allow
    it, nothing is written.
    """
    from shoal import api
    from shoal.errors import InputError, OutputError
    from shoal.publishing.headlines import released
    from shoal.publishing.writable_release import manifest_path

    if job.input is None:
        raise InputError("name the table with the new records after the recoding file")
    if target is None:
        raise OutputError("name the file for the release with -o")
    output.claim([target, manifest_path(target)], [recoding, *job.reads()], overwrite=job.overwrite)
    signer = keys.unlock(job.sign)
    with output.watching() as watched:
        release = api.apply(recoding, job.input, **arguments(job, "apply"), run=watched)
        manifest = release.write(target, sign=signer)
    assert release.policy is not None
    findings = release.verify(release.policy)
    summary = released(findings, (), release.records, release.published.records, release.plain_risk)
    if as_json:
        output.emit(
            "apply",
            {
                "summary": summary, "findings": findings.as_dict(), "records": release.records,
                "suppressed": release.suppressed, "manifest": str(manifest), **output.plain(release.plain_risk),
            },
        )  # fmt: skip
        return
    output.say(summary, style="bold")
    output.warn(release.plain_risk)
    output.show_findings(findings)
    output.say(f"Written: {target}, {manifest}")
