"""`shoal apply`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import keys, options, output


def run(
    recoding: Annotated[Path, typer.Argument(help="The recoding, as anonymize --save-recoding wrote it.")],
    source: options.Source,
    target: options.Output = None,
    sign: keys.Sign = None,
    as_json: options.Json = False,
) -> None:
    """Recode new records as those of a release were, and verify them on their own; nothing is written otherwise.

    Each value goes to the level at which it was published, or each record into the narrowest class that holds it. What
    no class holds, and classes that break the policy, are left out as far as the policy allows it.
    """
    from shoal import api
    from shoal.errors import InputError, OutputError
    from shoal.publishing.headlines import released
    from shoal.publishing.writable_release import manifest_path
    from shoal.storage.files import check_outputs

    made = source.made()
    if made.input is None:
        raise InputError("name the table with the new records after the recoding")
    if target is None:
        raise OutputError("name the file for the release with -o")
    check_outputs([target, manifest_path(target)], [recoding, *made.reads(), *([] if sign is None else [sign])])
    signer = keys.unlocked(sign)
    with output.watching() as watched:
        release = api.apply(
            recoding, made.input, **made.reading(), neutralize_formulas=made.neutralize_formulas, engine=made.engine,
            run=watched,
        )  # fmt: skip
        manifest = release.write(target, sign=signer)
    assert release.policy is not None
    findings = release.verify(release.policy)
    summary = released(findings, (), release.records, release.published.records)
    if as_json:
        output.emit(
            "apply",
            {
                "summary": summary, "findings": findings.as_dict(), "records": release.records,
                "suppressed": release.suppressed, "manifest": str(manifest),
            },
        )  # fmt: skip
        return
    output.say(summary, style="bold")
    output.show_findings(findings)
    output.say(f"Written: {target}, {manifest}")
