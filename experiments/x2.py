"""X2: minimum spanning trees beside Mondrian and k-member on Adult (paper 2, figures 7 to 9), with hierarchies of the
paper's heights: age 5, workclass 3, sex 1, education 4, occupation 2."""

from __future__ import annotations

import shoal
from experiments.losses import clipped_gcp, compared, own_gcp
from experiments.pages import FOLDER, filled, lines, tabled

ORDER, HEIGHTS = ("age", "workclass", "sex", "education", "occupation"), (5, 3, 1, 4, 2)
SIZES, METRICS = tuple(range(3, 22, 3)), {"gcp": "GCP", "dm": "DM", "c-avg": "C_AVG"}
OTHERS = {"clipped": ("GCP, clipped", clipped_gcp), "own": ("GCP, own values", own_gcp)}
TITLES = METRICS | {name: title for name, (title, _) in OTHERS.items()}
ROWS = ("gcp", "clipped", "own", "dm", "c-avg")
DRAWN = ("gcp", "own", "dm", "c-avg")
ALGORITHMS = {
    "MST": "mst:cut=literal,numeric=hierarchy", "MST, balanced": "mst:numeric=hierarchy",
    "Mondrian": "mondrian:numeric=hierarchy", "k-member": "k-member:numeric=hierarchy",
}  # fmt: skip


def main() -> None:
    table = shoal.samples.adult()
    compared(_read(table.head(300), 2), ALGORITHMS, ["k-anonymity:k=3"], [])  # compiles
    rows, shown = [], []
    for count in range(1, len(ORDER) + 1):
        data = _read(table, count)
        for k in SIZES:
            more = {name: measure for name, (_, measure) in OTHERS.items()}
            found = compared(data, ALGORITHMS, [f"k-anonymity:k={k}"], list(METRICS), more)
            best = {metric: min(each[metric] for each in found.values()) for metric in ROWS}
            for metric in ROWS:
                title = TITLES[metric]
                cells = [
                    f"**{_figure(each[metric])}**" if each[metric] == best[metric] else _figure(each[metric])
                    for each in found.values()
                ]
                rows.append([count, k, title, *cells])
                shown += [
                    {"k": k, "value": each[metric], "algorithm": name, "panel": f"{title}; quasi-identifiers: {count}"}
                    for name, each in found.items()
                    if metric in DRAWN and count in (1, 3, 5)
                ]
            print(count, k, {name: round(each["seconds"], 1) for name, each in found.items()}, flush=True)
    filled("x2", tabled(["quasi-identifiers", "k", "", *ALGORITHMS], rows))
    shown.sort(key=lambda row: (str(row["panel"])[-1], DRAWN.index(_metric(str(row["panel"])))))
    titles = {"k": "k", "value": "loss"}
    lines(shown, FOLDER / "x2.svg", x="k", y="value", by="algorithm", panel="panel", columns=4, titles=titles)


def _read(table: object, count: int) -> shoal.Dataset:
    chosen = ORDER[:count]
    data = shoal.read(table.select(chosen), quasi=chosen, hierarchies=shoal.samples.hierarchies("adult"))  # type: ignore[attr-defined]
    assert tuple(tree.height for tree in data.hierarchies) == HEIGHTS[:count]
    return data


def _metric(panel: str) -> str:
    """The measure that a panel shows."""
    return next(name for name, title in TITLES.items() if title == panel.partition(";")[0])


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4f}"


if __name__ == "__main__":
    main()
