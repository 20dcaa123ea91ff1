"""`shoal report`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import attack, journal, options, output
from shoal.job.job import Job
from shoal.job.lists import split_pairs


@dataclass(frozen=True, kw_only=True)
class ReportOccasion:
    """What only people know."""

    recipient: Annotated[str, typer.Option("--recipient", help="Who gets the release.")] = ""
    purpose: Annotated[str, typer.Option("--purpose", help="What the recipient needs it for.")] = ""
    author: Annotated[str, typer.Option("--author", help="Who is responsible for the release.")] = ""
    date: Annotated[str, typer.Option("--date", help="Date of the report, such as 2026-05-17 (default: none).")] = ""


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """What is written."""

    targets: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Where to write the report: .html or .json. Give it twice for both."),
    ] = None
    plots: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            help="Also write a picture, as NAME=FILE, where NAME is risk, classes, attacks or loss. Repeatable.",
        ),
    ] = None

    def pictures(self) -> dict[str, Path]:
        """Single pictures by their names."""
        return {name: Path(place) for name, place in split_pairs(self.plots or (), "--plot", "NAME=FILE").items()}

    def check(self, job: Job, release: Path, also: Iterable[Path]) -> None:
        """Refuses, before any work is done, files that could not be written or that are read."""
        from shoal.errors import OutputError
        from shoal.plots.drawing import check_picture
        from shoal.publishing.writable_release import manifest_path
        from shoal.reports.contents import check_endings

        outputs = tuple(self.targets or ())
        if not outputs and not self.plots:
            raise OutputError("name the file for the report with -o, such as -o report.html")
        check_endings(outputs)
        for place in self.pictures().values():
            check_picture(place)
        inputs = [*job.reads(), release, manifest_path(release), *also]
        output.claim([*outputs, *self.pictures().values()], inputs, overwrite=job.overwrite)


def run(
    job: Job,
    occasion: ReportOccasion,
    files: ReportFiles,
    tables: attack.AttackerTables,
    release: options.Release = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Highest risk you accept for a person, such as 0.09 (one in 11); exit code 1 if anybody is above it.",
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="Public key of the data holder; the manifest must be signed with it.")
    ] = None,
    holder: Annotated[
        bool,
        typer.Option(
            "--holder", help="Add a confidential part for the data holder: values before and after, exact figures."
        ),
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out measures that take a long time.")] = False,
    as_json: options.Json = False,
) -> None:
    """Write a report that a privacy officer can sign: what was published, what is promised, risks, attacks and loss.

    Without --holder it contains no cell value and no seed, and may be handed over. The exit code is 1 if the release
    does not keep what its manifest says, or if anybody's risk is above --threshold.
    """
    from shoal import api
    from shoal.reports import report

    job, path = options.job_and_release(job, release)
    if not as_json or files.targets or files.plots:
        files.check(job, path, [*filter(None, (key, tables.external, tables.held_out)), *(tables.earlier or ())])
    data = api.read_job(job)
    output.tell(data.notes)
    attackers = tables != attack.AttackerTables()
    known = tables.knowledge(data, api.open_release(path, data), job) if attackers else None
    with output.watching() as watched:
        document = report(
            data, path, **asdict(occasion), threshold=threshold, key=key, holder=holder, quick=quick, job=job,
            known=known, run=watched,
        )  # fmt: skip
        paths = document.write(*(files.targets or ()), pictures=files.pictures())
    journal.note(summary=document.summary, files=[str(path) for path in paths])
    if as_json:
        output.emit(
            "report", {key: value for key, value in document.as_dict().items() if key not in ("command", "version")}
        )
    else:
        for sentence in document.sentences[:2]:
            output.say(sentence)
        output.warn(document.plain)
        for sentence in document.sentences[2:]:
            output.say(sentence)
        if holder:
            output.say("This report has a confidential part for the data holder: do not hand it over.", style="yellow")
        output.say(f"Written: {', '.join(str(path) for path in paths)}")
    output.answer(document.holds)
