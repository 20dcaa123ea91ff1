"""X4: privacy loss over utility loss (Li and Li) for k-anonymity, l-diversity and t-closeness on Adult.

The set-up is from memory and unconfirmed. Writes the figures into docs/experiments/x4.md, between its marks, and the
picture beside it.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import shoal
from experiments.pages import FOLDER, filled
from shoal.errors import InfeasibleError
from shoal.plots.drawing import altair, save

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]
SENSITIVE = "occupation"
MINSUP = 0.01
SWEEPS = {
    "k-anonymity": ("k", (10, 50, 100, 200, 500, 1000, 2000, 5000), "k-anonymity:k={}"),
    "entropy l-diversity": ("l", (3.0, 3.5, 4.0, 4.5, 5.0, 5.5), "entropy-l-diversity:l={}"),
    "t-closeness": ("t", (0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.075), "t-closeness:t={}"),
}
"""The parameter of each model, from weak to strong."""


def measured() -> tuple[list[dict[str, object]], dict[str, float], str]:
    """A row for each release, what the losses are of the table and of one with everything hidden, and how many large
    populations there are."""
    table = shoal.samples.adult().select(*QUASI, SENSITIVE).drop_nulls()
    data = shoal.read(table, quasi=QUASI, sensitive=[SENSITIVE], hierarchies=shoal.samples.hierarchies("adult"))
    rows: list[dict[str, object]] = []
    ends: dict[str, float] = {}
    populations = ""
    for model, (name, values, spelled) in SWEEPS.items():
        for value in values:
            started = time.process_time()
            row: dict[str, object] = {"model": model, "parameter": f"{name} = {value:g}", "records": len(table)}
            try:
                release = shoal.anonymize(data, spelled.format(value), algorithm="mondrian", seed=1)
            except InfeasibleError:
                rows.append({**row, "privacy": None, "utility": None})
                continue
            found = shoal.evaluate(data, release, "privacy-loss", f"utility-loss:minsup={MINSUP}", baselines=not ends)
            populations = re.findall(r"in ([\d,]+) populations", found["utility-loss"].how)[0]
            for what in ("privacy-loss", "utility-loss"):
                ends |= {f"{what} {name}": value for name, value in found[what].baselines.items()}
            rows.append(
                {**row, "privacy": found["privacy-loss"].value, "utility": found["utility-loss"].value,
                 "classes": found["classes"].value}
            )  # fmt: skip
            print(f"{model} {name}={value:g}: {time.process_time() - started:.1f} s", flush=True)
    return rows, ends, populations


def tables(rows: list[dict[str, object]], ends: dict[str, float]) -> str:
    lines = ["| model | parameter | classes | privacy loss | utility loss |", "|---|---|---|---|---|"]
    lines.append(
        f"| the table itself | | | {ends['privacy-loss original']:.4f} | {ends['utility-loss original']:.4f} |"
    )
    for row in rows:
        if row["privacy"] is None:
            lines.append(f"| {row['model']} | {row['parameter']} | no release | | |")
        else:
            lines.append(
                f"| {row['model']} | {row['parameter']} | {row['classes']:,} | {row['privacy']:.4f} | "
                f"{row['utility']:.4f} |"
            )
    lines.append(f"| all hidden | | 1 | {ends['privacy-loss hidden']:.4f} | {ends['utility-loss hidden']:.4f} |")
    return "\n".join(lines) + "\n"


def picture(rows: list[dict[str, object]], path: Path) -> None:
    """One curve a model, told apart by dashes and shapes, in black; each point has its parameter beside it."""
    library = altair()
    shown: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        if row["privacy"] is not None:
            held = shown.setdefault((row["model"], row["privacy"], row["utility"]), {**row, "parameter": ""})
            held["parameter"] = f"{held['parameter']}, {row['parameter']}".lstrip(", ")
    base = library.Chart(library.Data(values=list(shown.values()))).encode(
        x=library.X(
            "utility:Q", title="utility loss in bits (mean over large populations)", scale={"domain": [-0.01, 0.14]}
        ),
        y=library.Y("privacy:Q", title="privacy loss in bits (worst class)", scale={"domain": [0, 1]}),
    )
    lines = base.mark_line(color="black", strokeWidth=1).encode(
        strokeDash=library.StrokeDash("model:N", sort=list(SWEEPS), legend=None), order=library.Order("utility:Q")
    )
    points = base.mark_point(color="black", size=50).encode(
        shape=library.Shape("model:N", sort=list(SWEEPS), title=None, legend={"orient": "top"})
    )
    below = library.datum.model == "k-anonymity"
    names = [
        base.mark_text(align="right", dx=-7, dy=9, fontSize=10).encode(text="parameter:N").transform_filter(below),
        base.mark_text(align="left", dx=7, dy=-7, fontSize=10).encode(text="parameter:N").transform_filter(~below),
    ]
    save(library.layer(lines, points, *names).properties(width=620, height=380), path)


def main() -> None:
    rows, ends, populations = measured()
    filled("x4", f"{tables(rows, ends)}\nLarge populations: {populations}.\n")
    picture(rows, FOLDER / "x4.svg")


if __name__ == "__main__":
    main()
