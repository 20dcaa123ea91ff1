"""X1a: how often the k of a set is computed to find both borders on Adult (thesis, figures 4.3 to 4.6)."""

from __future__ import annotations

import time

import shoal
from experiments.pages import FOLDER, filled, lines, tabled

SIZES = (2, 5, 10, 20, 30, 50)
SHARES = (None, 0.1)


def main() -> None:
    table = shoal.samples.adult().drop("fnlwgt", "education-num")
    shoal.ask(shoal.read(table, quasi=table.columns), k=2)  # compiles
    rows, shown = [], []
    for share in SHARES:
        for k in SIZES:
            data = shoal.read(table, quasi=table.columns)  # anew: an earlier answer would save calls
            assert len(data.summary)
            began = time.process_time()
            found = shoal.ask(data, k=k, delta=share)
            spent = time.process_time() - began
            assert found.positive_border is not None and found.negative_border is not None
            what = "nothing left out" if share is None else f"{share:.0%} left out"
            rows.append(
                [what, k, found.calls, f"{found.calls_levelwise:,}", f"{found.calls_brute:,}",
                 len(found.positive_border), len(found.negative_border), f"{spent:.2f}"]
            )  # fmt: skip
            counts = (
                ("Shoal", found.calls),
                ("level by level", found.calls_levelwise),
                ("every set", found.calls_brute),
            )
            shown += [{"k": k, "calls": calls, "who": who, "left": what} for who, calls in counts]
    headings = ["", "k", "calls", "level by level", "every set", "largest safe sets", "smallest unsafe sets", "seconds"]
    filled("x1a", tabled(headings, rows))
    titles = {"k": "k", "calls": "computations of k"}
    lines(shown, FOLDER / "x1a.svg", x="k", y="calls", by="who", panel="left", titles=titles, log=("calls",))


if __name__ == "__main__":
    main()
