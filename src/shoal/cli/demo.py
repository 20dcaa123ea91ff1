"""`shoal demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")


def run(
    folder: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results.")] = Path("demo-output"),
    k: Annotated[int, typer.Option("--k", help="The k of the release.")] = 5,
    as_json: options.Json = False,
) -> None:
    """Run the whole job on the shipped Adult sample: diagnose, anonymize, verify, measure, draw."""
    import shoal
    from shoal.plots.exposure import class_sizes

    folder.mkdir(parents=True, exist_ok=True)
    table = shoal.samples.adult()
    data = shoal.read(
        table.select(*QUASI, "occupation"), quasi=QUASI, sensitive=["occupation"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )  # fmt: skip
    before = shoal.diagnose(data, k=k)
    release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian:numeric=interval", seed=1)
    target = folder / "adult-release.csv"
    manifest = release.write(target)
    verified = shoal.verify(target)
    losses = shoal.evaluate(data, release)
    picture = class_sizes(data.summary, release.classes, k=k, path=folder / "adult-exposure.svg")
    files = {"release": str(target), "manifest": str(manifest), "picture": str(picture)}
    if as_json:
        named = {"diagnosis": before, "verification": verified, "evaluation": losses}
        output.show(losses, as_json=True, title="", **files, **{name: found.as_dict() for name, found in named.items()})
    else:
        output.show(before, as_json=False, title=f"1. Diagnosis of Adult: {data.records:,} records")
        output.show(verified, as_json=False, title=f"2. The release, verified from its file: k = {k}, Mondrian")
        output.show(losses, as_json=False, title="3. What it cost and what risk is left", **files)
    output.answer(verified.holds)
