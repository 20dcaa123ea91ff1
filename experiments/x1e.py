"""X1e: the k of every set of columns for several shares left out, and the k of one set over that share (thesis, figures
4.7 to 4.9)."""

from __future__ import annotations

import time

import shoal
from experiments.pages import FOLDER, filled, lines, tabled

SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SET = ("age", "workclass", "occupation", "marital-status", "sex")
ALONG = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def main() -> None:
    table = shoal.samples.adult().drop("fnlwgt", "education-num")
    shoal.ask(shoal.read(table.select(SET), quasi=SET), delta=0.1)  # compiles
    rows, shown = [], []
    for share in SHARES:
        data = shoal.read(table, quasi=table.columns)  # anew: an earlier answer would save calls
        assert len(data.summary)
        began = time.process_time()
        found = shoal.ask(data, delta=share)
        spent = time.process_time() - began
        ones = sum(k == 1 for k in found.answer.values())
        rows.append([f"{share:.0%}", found.calls, f"{found.calls_brute:,}", f"{ones:,}", f"{spent:.2f}"])
        shown += [
            {"share": 100 * share, "value": value, "what": what}
            for what, value in (("computations of k", found.calls), ("seconds of processor time", spent))
        ]
    text = tabled(["left out", "calls", "every set", "sets whose k is 1", "seconds"], rows)
    data = shoal.read(table.select(SET), quasi=SET)
    curve = {share: shoal.ask(data, attributes=SET, delta=share).answer for share in ALONG}
    text += f"\nThe k of {', '.join(SET)}, and the share that is left out for it.\n\n"
    text += tabled(["left out", *(f"{share:.0%}" for share in ALONG)], [["k", *(f"{k:,}" for k in curve.values())]])
    filled("x1e", text)
    shown += [
        {"share": 100 * share, "value": k, "what": f"k of {len(SET)} columns"} for share, k in curve.items()
    ]  # fmt: skip
    titles = {"share": "left out (% of the records)", "value": ""}
    lines(
        [{**row, "who": "Shoal"} for row in shown], FOLDER / "x1e.svg", x="share", y="value", by="who", panel="what",
        titles=titles, columns=3,
    )  # fmt: skip


if __name__ == "__main__":
    main()
