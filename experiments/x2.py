"""X2: minimum spanning trees beside Mondrian and k-member on Adult (paper 2, figures 7 to 9), with hierarchies of the
paper's heights: age 5, workclass 3, sex 1, education 4, occupation 2."""

from __future__ import annotations

import shoal
from experiments.losses import compared
from experiments.pages import FOLDER, filled, lines, tabled

ORDER, HEIGHTS = ("age", "workclass", "sex", "education", "occupation"), (5, 3, 1, 4, 2)
SIZES, METRICS = tuple(range(3, 22, 3)), {"gcp": "GCP", "dm": "DM", "c-avg": "C_AVG"}
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
            found = compared(data, ALGORITHMS, [f"k-anonymity:k={k}"], list(METRICS))
            best = {metric: min(each[metric] for each in found.values()) for metric in METRICS}
            for metric, title in METRICS.items():
                cells = [
                    f"**{_figure(each[metric])}**" if each[metric] == best[metric] else _figure(each[metric])
                    for each in found.values()
                ]
                rows.append([count, k, title, *cells])
                shown += [
                    {"k": k, "value": each[metric], "algorithm": name, "panel": f"{title}, {count} quasi-identifiers"}
                    for name, each in found.items()
                ]
            print(count, k, {name: round(each["seconds"], 1) for name, each in found.items()}, flush=True)
    filled("x2", tabled(["quasi-identifiers", "k", "", *ALGORITHMS], rows))
    picture = [row for row in shown if str(row["panel"]).split(", ")[1].startswith(("1", "3", "5"))]
    titles = {"k": "k", "value": "loss"}
    lines(picture, FOLDER / "x2.svg", x="k", y="value", by="algorithm", panel="panel", columns=3, titles=titles)


def _read(table: object, count: int) -> shoal.Dataset:
    chosen = ORDER[:count]
    data = shoal.read(table.select(chosen), quasi=chosen, hierarchies=shoal.samples.hierarchies("adult"))  # type: ignore[attr-defined]
    assert tuple(tree.height for tree in data.hierarchies) == HEIGHTS[:count]
    return data


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4f}"


if __name__ == "__main__":
    main()
