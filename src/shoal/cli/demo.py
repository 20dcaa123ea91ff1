"""`shoal demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.cli import options, output

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
Sample = Literal["adult", "admissions"]
SAMPLES: dict[Sample, str] = {"adult": "a census (Adult)", "admissions": "an invented hospital"}


def run(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo-output"),
    k: Annotated[int, typer.Option("--k", help="The k of the release.")] = 5,
    target: Annotated[
        Path | None, typer.Option("--write-sample", help="Only write a sample table to this CSV file.")
    ] = None,
    sample: Annotated[Sample, typer.Option("--sample", help="Sample table that --write-sample writes.")] = "adult",
    overwrite: options.Overwrite = False,
    everything: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Show the whole process on a sample table: diagnose, anonymize, verify, attack, measure, report."""
    import shoal
    from shoal.errors import MissingExtraError
    from shoal.plots.drawing import save
    from shoal.plots.exposure import class_sizes
    from shoal.publishing.headlines import exposed, released, risk
    from shoal.publishing.writable_release import manifest_path

    if target is not None:
        output.claim([target], overwrite=overwrite)
        _write_sample(sample, target, as_json)
        return
    folder.mkdir(parents=True, exist_ok=True)
    release_path, picture_path, report_path = (
        folder / name for name in ("adult-release.csv", "adult-exposure.svg", "adult-report.html")
    )
    output.claim([release_path, manifest_path(release_path), picture_path, report_path], overwrite=overwrite)
    table = shoal.samples.adult.arrow()
    data = shoal.read(
        table.select([*QUASI, "occupation"]), quasi=QUASI, sensitive=["occupation"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )  # fmt: skip
    before = shoal.diagnose(data, k=k)
    release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian:numeric=interval", seed=1)
    manifest = release.write(release_path)
    report = shoal.report(data, release_path, quick=not everything)
    summary = released(report.findings, report.columns, report.records, report.published, report.plain)
    files = {"release": str(release_path), "manifest": str(manifest)}
    try:
        sizes = class_sizes({"original": data.summary, "release": release.classes}, k=k)
        files["picture"] = str(save(sizes, picture_path))
        files["report"] = str(report.write(report_path)[0])
    except MissingExtraError as lacking:
        typer.echo(f"not everything was written: {lacking}", err=True)
    if as_json:
        findings = {
            "diagnosis": before.as_dict(),
            "verification": report.verification.as_dict(),
            "evaluation": report.findings.as_dict(),
        }
        columns = [column.as_dict() for column in report.columns]
        output.emit("demo", {"summary": summary, "holds": report.holds, "columns": columns, **findings, **files})
    else:
        output.say("1. The table: Adult, a sample of a census", style="bold")
        output.say(f"{exposed(before, data.records, QUASI)} {risk(before)}")
        output.say("\n2. The release", style="bold")
        output.say(summary)
        output.show_columns(report.columns)
        output.say("3. What a recipient can check", style="bold")
        output.say(report.verified)
        if "report" in files:
            output.say("\n4. What a privacy officer signs", style="bold")
            output.say(f"{files['report']}: open it in a browser.")
        output.say(f"\nWritten: {', '.join(files.values())}")
        if everything:
            output.show_findings(before, title="The table")
            output.show_findings(report.findings, title="The release: what it lost and what risk is left")
    output.answer(report.holds)


def _write_sample(name: Sample, path: Path, as_json: bool) -> None:
    import shoal
    from shoal.core.formatting import counted
    from shoal.storage.files import replacing

    with replacing(path) as file:
        records = getattr(shoal.samples, name).write_csv(file)
    summary = f"Written: {path}, {counted(records, 'records')} of {SAMPLES[name]}."
    if as_json:
        output.emit("sample", {"summary": summary, "sample": str(path), "records": records})
    else:
        output.say(summary)
