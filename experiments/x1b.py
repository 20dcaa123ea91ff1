"""X1b: the same for three notions of l-diversity, on Adult and on an invented table like OCC (thesis, table 4.8 and
figures 4.10 to 4.15)."""

from __future__ import annotations

import time

import shoal
from experiments.pages import FOLDER, filled, lines, tabled

NOTIONS = {"distinct-l": (2, 4, 8, 12), "frequency-l": (2, 3, 5), "entropy-l": (2, 3, 5)}
ADULT, OCC = "Adult, occupation is sensitive", "60,000 invented people like OCC, occupation is sensitive"

SHORT = {ADULT: "Adult", OCC: "like OCC"}


def tables() -> dict[str, shoal.Dataset]:
    """Read anew for each question: an earlier answer would save calls."""
    adult = shoal.samples.adult().drop("fnlwgt", "education-num")
    people = shoal.samples.census(60_000, seed=1)
    return {
        name: shoal.read(table, quasi=table.drop("occupation").columns, sensitive=["occupation"])
        for name, table in ((ADULT, adult), (OCC, people))
    }


def main() -> None:
    rows, shown, border = [], [], ""
    for notion in NOTIONS:  # compiles
        shoal.ask(tables()[ADULT], notion=notion, l=20)
    for name in (ADULT, OCC):
        for notion, bounds in NOTIONS.items():
            for bound in bounds:
                data = tables()[name]
                assert len(data.summary)
                began = time.process_time()
                found = shoal.ask(data, notion=notion, l=bound)
                spent = time.process_time() - began
                assert found.positive_border is not None and found.negative_border is not None
                rows.append(
                    [SHORT[name], notion, bound, found.calls, f"{found.calls_levelwise:,}",
                     f"{found.calls_brute:,}", len(found.positive_border), len(found.negative_border), f"{spent:.2f}"]
                )  # fmt: skip
                shown.append({"l": bound, "calls": found.calls, "notion": notion, "table": name})
                if (name, notion, bound) == (ADULT, "frequency-l", 3):
                    border = "; ".join(", ".join(chosen) for chosen in found.positive_border)
    headings = ["table", "notion", "l", "calls", "level by level", "every set", "largest sets that satisfy",
                "smallest that do not", "seconds"]  # fmt: skip
    told = f"\nThe largest sets of Adult that keep frequency 3-diversity: {border or 'none'}.\n"
    filled("x1b", tabled(headings, rows) + told)
    titles = {"l": "l", "calls": "computations of l"}
    lines(shown, FOLDER / "x1b.svg", x="l", y="calls", by="notion", panel="table", titles=titles, log=("calls",))


if __name__ == "__main__":
    main()
