"""`shoal ledger`: list, check and export the releases of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output

app = typer.Typer(
    help="The releases of a data set: which there are, and whether they keep together what they promise.",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(help="The ledger.")]
Target = Annotated[Path, typer.Option("--output", "-o", help="Where the entries go, as JSON.")]


@app.command(name="list")
def listing(file: File, as_json: options.Json = False) -> None:
    """List the releases of a ledger, the oldest first."""
    from shoal.core.words import counted
    from shoal.ledger import Ledger

    ledger = Ledger(file)
    entries, sessions = ledger.entries(), ledger.store.sessions()
    overlaps = f" and {counted(len(sessions), 'sessions')} of overlap" if sessions else ""
    summary = f"{counted(len(entries), 'releases')}{overlaps}."
    rows = [
        {
            "number": entry.number, "made": entry.made, "name": entry.name, "form": entry.manifest["form"],
            "models": entry.models, "records": entry.manifest["records"], "published": entry.manifest["published"],
        }
        for entry in entries
    ]  # fmt: skip
    if as_json:
        output.emit("ledger-list", {"summary": summary, "releases": rows, "sessions": sessions})
        return
    output.say(summary, style="bold")
    shown = [(*(str(row[name]) for name in ("number", "made", "name", "form")), ", ".join(row["models"]),
              f"{row['published']:,} of {row['records']:,}") for row in rows]  # fmt: skip
    output.tabulate(("release", "made", "file", "form", "promises", "records"), shown, numbers=("release",))


@app.command()
def check(file: File, as_json: options.Json = False) -> None:
    """Check that the file is whole, and that its releases keep together what they promise; exit code 1 if not."""
    from shoal.core.run import Run
    from shoal.ledger import Ledger, retold

    ledger = Ledger(file)
    damage = ledger.store.damage()
    found = retold(ledger, Run())
    broken = sum(bool(breaches) for _, breaches, _ in found)
    holds = not damage and not broken
    summary = (
        "The file is damaged; put a copy of it in its place." if damage
        else f"{broken:,} of {len(found):,} releases break what they and those before promise." if broken
        else f"All {len(found):,} releases keep together what they promise."
    )  # fmt: skip
    if as_json:
        rows = [
            {"number": entry.number, "name": entry.name, "holds": not breaches,
             "breaches": [each.as_dict() for each in breaches], "not_judged": list(reasons)}
            for entry, breaches, reasons in found
        ]  # fmt: skip
        output.emit("ledger-check", {"summary": summary, "holds": holds, "whole": not damage, "releases": rows})
        output.answer(holds)
        return
    output.say(summary, style="green" if holds else "red")
    for entry, breaches, reasons in found:
        for sentence in (*(each.sentence for each in breaches), *(f"not judged: {reason}" for reason in reasons)):
            output.say(f"{entry.title}: {sentence}")
    output.answer(holds)


@app.command()
def export(file: File, target: Target, as_json: options.Json = False) -> None:
    """Write the entries as JSON: manifests, dates and roles, not who was in which release."""
    import json

    from shoal.core.files import check_outputs, replacing
    from shoal.ledger import Ledger

    ledger = Ledger(file)
    entries = ledger.entries()
    check_outputs([target], [file, ledger.store.key_path])
    content = {"releases": [entry.as_dict() for entry in entries], "sessions": ledger.store.sessions()}
    with replacing(target) as place:
        place.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    summary = f"{len(entries):,} releases written to {target.name}."
    if as_json:
        output.emit("ledger-export", {"summary": summary, "releases": len(entries), "file": str(target)})
    else:
        output.say(summary)
