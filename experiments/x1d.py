"""X1d: loss and time of bucket clustering, optimistic clustering and Anatomy (thesis, figures 4.20 and 4.21)."""

from __future__ import annotations

import numpy as np

import shoal
from experiments.losses import compared
from experiments.pages import FOLDER, filled, lines, tabled

RECORDS, BOUNDS = 3000, (2, 3, 4, 5, 6)
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
ALGORITHMS = {
    "bucket clustering": "bucket-clustering",
    "optimistic clustering": "l-member",
    "Anatomy": "anatomy",
}


def generalized(data: shoal.Dataset, l: int) -> float:  # noqa: E741
    """The loss (GCP) that Anatomy's groups would have if each was published as one generalized class.

    Anatomy publishes quasi-identifiers as they are, so its own loss in them is nothing; the thesis draws one.
    """
    release = shoal.anonymize(data, f"frequency-l-diversity:l={l}", algorithm="anatomy", seed=1)
    assert release.recoding is not None and release.recoding.plan is not None
    plan = release.recoding.plan
    tuples = np.repeat(np.arange(len(data.summary)), data.summary.sizes)
    owners = plan.classes if plan.by_record else plan.classes[tuples]
    total = 0.0
    for tree, keys in zip(data.hierarchies, data.summary.keys, strict=True):
        leaves = keys[tuples]
        low, high = np.full(plan.count, tree.size), np.full(plan.count, -1)
        np.minimum.at(low, owners, leaves)
        np.maximum.at(high, owners, leaves)
        if tree.ordered and tree.values is not None:
            losses = (tree.values[high] - tree.values[low]) / (tree.values.max() - tree.values.min())
        else:
            levels = tree.ancestor_levels(low.astype(np.int32), high.astype(np.int32))
            nodes = [tree.codes[level][at] for level, at in zip(levels, low, strict=True)]
            widths = np.array(
                [
                    tree.stops[level][node] - tree.starts[level][node] + 1
                    for level, node in zip(levels, nodes, strict=True)
                ]
            )
            losses = np.where(widths > 1, widths / tree.size, 0.0)
        total += float(losses[owners].sum())
    return total / (len(owners) * len(data.hierarchies))


def main() -> None:
    table = shoal.samples.adult().sample(RECORDS, seed=1).select(*QUASI, "occupation")
    trees = shoal.samples.hierarchies("adult")
    data = shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=trees)
    compared(data, ALGORITHMS, ["frequency-l-diversity:l=2"], [])  # compiles
    rows, shown = [], []
    for l in BOUNDS:  # noqa: E741
        found = compared(data, ALGORITHMS, [f"frequency-l-diversity:l={l}"], ["gcp"])
        found["Anatomy"]["gcp"] = generalized(data, l)
        losses = [each["gcp"] for each in found.values()]
        rows.append(
            [l, *("–" if loss is None else f"{loss:.4f}" for loss in losses),
             *(f"{each['seconds']:.2f}" for each in found.values())]
        )  # fmt: skip
        shown += [
            {"l": l, "value": each[what], "algorithm": name, "what": title}
            for name, each in found.items()
            for what, title in (
                ("gcp", "loss of the quasi-identifiers (GCP)"),
                ("seconds", "seconds of processor time"),
            )
            if each[what] is not None
        ]
    headings = ["l", *(f"loss: {name}" for name in ALGORITHMS), *(f"seconds: {name}" for name in ALGORITHMS)]
    filled("x1d", tabled(headings, rows))
    titles = {"l": "l", "value": "loss (0 to 1), or seconds"}
    lines(shown, FOLDER / "x1d.svg", x="l", y="value", by="algorithm", panel="what", titles=titles)


if __name__ == "__main__":
    main()
