"""The values of a column in the table, and as a recipient of the release sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release
from shoal.errors import ParameterError
from shoal.plots.drawing import HEIGHT, WIDTH, altair, by_table, shown_offline

BINS = 24
"""Bars of a picture; neighbours are joined where a column has more values."""


def shares(data: Dataset, release: Release, column: str) -> tuple[Floats, Floats]:
    """For each value of a quasi-identifier, in the order of its hierarchy, the share of the records that have it, in
    the table and as a recipient of the release takes it: a cell that stands for several values counts equally for each.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> before, after = shares(data, shoal.anonymize(data, "k-anonymity:k=2", seed=1), "age")
        >>> before.tolist(), after.tolist()
        ([0.5, 0.25, 0.25], [0.5, 0.25, 0.25])
    """
    if column not in data.schema.quasi:
        raise ParameterError(f"column {column!r} is published as it is, or not at all; choose one that is made coarser")
    at = data.schema.quasi.index(column)
    tree = data.hierarchies[at]
    before = np.bincount(data.codes(column), minlength=tree.size) / max(data.records, 1)
    cells, sizes = release.view.cells(), release.view.people().sizes
    low, high = cells.low[at], cells.high[at]
    each = sizes / (high - low + 1)
    steps = np.zeros(tree.size + 1)
    np.add.at(steps, low, each)
    np.add.at(steps, high + 1, -each)
    return before, np.cumsum(steps)[:-1] / max(int(sizes.sum()), 1)


def binned_shares(data: Dataset, release: Release, column: str) -> list[dict[str, Any]]:
    """Both, with neighbours joined where a column has many values; they are named by values of the table."""
    before, after = shares(data, release, column)
    tree = data.schema[column].hierarchy
    assert tree is not None
    bins = np.array_split(np.arange(tree.size), min(BINS, tree.size))
    names = [_name(tree, int(part[0]), int(part[-1])) for part in bins]
    return [
        {"values": name, "table": table, "share": float(known[part].sum())}
        for table, known in (("original", before), ("release", after))
        for name, part in zip(names, bins, strict=True)
    ]


@shown_offline
def chart(data: Dataset, release: Release, column: str) -> Any:
    """A chart of both; it shows values of the table.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> drawn = chart(data, shoal.anonymize(data, "k-anonymity:k=2", seed=1), "age")
        >>> sorted({row["table"] for row in drawn.to_dict()["data"]["values"]})
        ['original', 'release']
    """
    library = altair()
    rows = binned_shares(data, release, column)
    names = list(dict.fromkeys(row["values"] for row in rows))
    return (
        library.Chart(library.Data(values=rows))
        .mark_bar()
        .encode(
            x=library.X("values:N", sort=names, title=None, axis={"labelAngle": -40, "labelLimit": 110}),
            xOffset=library.XOffset("table:N", sort=["original", "release"]),
            y=library.Y("share:Q", title="share of the records", axis={"format": "%"}),
            color=by_table(["original", "release"]),
            tooltip=[library.Tooltip("values:N"), library.Tooltip("table:N"), library.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=WIDTH + 60, height=HEIGHT - 40)
    )


def _name(tree: Hierarchy, low: int, high: int) -> str:
    first, last = ("(missing)" if tree.labels[0][leaf] is None else str(tree.labels[0][leaf]) for leaf in (low, high))
    return first if low == high else f"{first} – {last}"
