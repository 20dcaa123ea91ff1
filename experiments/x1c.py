"""X1c: loss and time of k-member clustering and of two-phase clustering, splitting A and B (thesis, figures 4.16 to
4.19)."""

from __future__ import annotations

import shoal
from experiments.losses import compared
from experiments.pages import FOLDER, filled, lines, tabled

RECORDS, SIZES = 3000, (3, 5, 10, 15, 20, 30)
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
ALGORITHMS = {"k-member": "k-member", "splitting A": "two-phase:splitting=A", "splitting B": "two-phase:splitting=B"}


def main() -> None:
    table = shoal.samples.adult().sample(RECORDS, seed=1).select(QUASI)
    data = shoal.read(table, quasi=QUASI, hierarchies=shoal.samples.hierarchies("adult"))
    compared(data, ALGORITHMS, ["k-anonymity:k=50"], ["gcp"])  # compiles
    rows, shown = [], []
    for k in SIZES:
        found = compared(data, ALGORITHMS, [f"k-anonymity:k={k}"], ["gcp"])
        rows.append(
            [
                k,
                *(f"{each['gcp']:.4f}" for each in found.values()),
                *(f"{each['seconds']:.2f}" for each in found.values()),
            ]
        )
        shown += [
            {"k": k, "value": each[what], "algorithm": name, "what": title}
            for name, each in found.items()
            for what, title in (("gcp", "loss (GCP)"), ("seconds", "seconds of processor time"))
        ]
    headings = ["k", *(f"loss: {name}" for name in ALGORITHMS), *(f"seconds: {name}" for name in ALGORITHMS)]
    filled("x1c", tabled(headings, rows))
    titles = {"k": "k", "value": "loss (0 to 1), or seconds"}
    lines(shown, FOLDER / "x1c.svg", x="k", y="value", by="algorithm", panel="what", titles=titles)


if __name__ == "__main__":
    main()
