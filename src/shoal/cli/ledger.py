"""`shoal ledger`: list, check and export the releases of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output

app = typer.Typer(
    help="Keep track of the releases of a data set, and check that together they keep their promises.",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(help="The ledger file.")]
Target = Annotated[Path, typer.Option("--output", "-o", help="JSON file to write the entries to.")]


@app.command(name="list")
def listing(file: File, as_json: options.Json = False) -> None:
    """List the releases of a ledger, oldest first."""
    from shoal.core.formatting import counted
    from shoal.ledger import Ledger

    ledger = Ledger(file)
    entries, sessions = ledger.entries(), ledger.store.sessions()
    overlaps = f" and {counted(len(sessions), 'sessions')} of overlap" if sessions else ""
    summary = f"{counted(len(entries), 'releases')}{overlaps}."
    rows = [
        {
            "number": entry.number, "made": entry.date, "name": entry.name, "form": entry.manifest["form"],
            "models": entry.models, "records": entry.manifest["records"], "published": entry.manifest["published"],
        }
        for entry in entries
    ]  # fmt: skip
    if as_json:
        output.emit("ledger-list", {"summary": summary, "releases": rows, "sessions": sessions})
        return
    output.say(summary, style="bold")
    cells = [(*(str(row[name]) for name in ("number", "made", "name", "form")), ", ".join(row["models"]),
              f"{row['published']:,} of {row['records']:,}") for row in rows]  # fmt: skip
    output.tabulate(("release", "made", "file", "form", "promises", "records"), cells, numbers=("release",))


@app.command()
def check(file: File, as_json: options.Json = False) -> None:
    """Check that the file is intact and that together its releases keep their promises; exit code 1 if not."""
    from shoal.core.formatting import counted
    from shoal.ledger import Ledger, verdicts

    ledger = Ledger(file)
    damage = ledger.store.damage()
    with output.watching() as watched:
        judgements = [] if damage else verdicts(ledger, watched)
    broken, unjudged = sum(bool(each.breaches) for each in judgements), sum(bool(each.unjudged) for each in judgements)
    holds = not damage and all(each.holds for each in judgements)
    releases = counted(len(judgements), "releases")
    summary = (
        f"The ledger was changed or damaged: {'; '.join(damage)}. Restore it and its key from a copy."
        if damage
        else f"{broken:,} of {releases} break what they and earlier ones promise." if broken
        else f"Of {releases}, {unjudged:,} could not be judged in all respects; nothing breaks what they promise."
        if unjudged
        else f"All {releases} together keep their promises." if judgements
        else "The ledger has no releases."
    )  # fmt: skip
    if as_json:
        rows = [each.as_dict() for each in judgements]
        output.emit("ledger-check", {"summary": summary, "holds": holds, "whole": not damage, "releases": rows})
        output.answer(holds)
        return
    output.say(summary, style="green" if holds else "red")
    for each in judgements:
        for sentence in each.sentences:
            output.say(f"{each.entry.title}: {sentence}")
    output.answer(holds)


@app.command()
def export(file: File, target: Target, overwrite: options.Overwrite = False, as_json: options.Json = False) -> None:
    """Write the entries as JSON: manifests, dates and roles, but not who was in which release."""
    import json

    from shoal.ledger import Ledger
    from shoal.storage.files import replacing

    ledger = Ledger(file)
    entries = ledger.entries()
    output.claim([target], [file, ledger.store.key_path], overwrite=overwrite)
    content = {"releases": [entry.as_dict() for entry in entries], "sessions": ledger.store.sessions()}
    with replacing(target) as place:
        place.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    summary = f"{len(entries):,} releases written to {target.name}."
    if as_json:
        output.emit("ledger-export", {"summary": summary, "releases": len(entries), "file": str(target)})
    else:
        output.say(summary)
