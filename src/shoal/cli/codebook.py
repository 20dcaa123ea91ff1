"""`shoal codebook`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import journal, options, output


def run(
    release: Annotated[Path, typer.Argument(help="The release file, with its manifest next to it.")],
    targets: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Where to write the codebook: .xml (DDI-Codebook), .html or .json. Repeatable."
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Title of the study (default: the name of the file).")] = "",
    labels_from: Annotated[
        Path | None,
        typer.Option(
            "--labels-from",
            help="SPSS, Stata or SAS file whose variable labels are taken, for a release without any.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="Engine that reads the release.", autocompletion=options.names_of("engines")),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Write the codebook of a release: variables, labels, categories with counts, and how each column was treated.

    It is made from the published files alone, after they were verified, and may be handed over with them.
    """
    from shoal.publishing.writable_release import manifest_path
    from shoal.reports.codebook import check_codebook_endings, codebook

    places = tuple(targets or ())
    check_codebook_endings(places)
    output.claim(places, [release, manifest_path(release), *filter(None, [labels_from])], overwrite=overwrite)
    book = codebook(release, title=title, labels_from=labels_from, engine=engine)
    book.write(*places)
    summary = f"{len(book.variables)} variables and {book.records:,} records in {release.name}."
    journal.note(summary=summary, files=[str(place) for place in places])
    if as_json:
        output.emit("codebook", {"summary": summary, **book.as_dict()})
        return
    output.say(summary, style="bold")
    for variable in book.variables:
        label = f" ({variable.label})" if variable.label else ""
        output.say(f"{variable.name}{label}: {variable.kind}, {variable.distinct:,} values, {variable.treatment}")
    for name, reason in book.left_out.items():
        output.say(f"{name}: {reason}")
    if places:
        output.say(f"Written: {', '.join(map(str, places))}")
