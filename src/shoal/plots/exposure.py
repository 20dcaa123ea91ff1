"""How many records hide in how large a class, before and after."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from shoal.core.classes import Classes
from shoal.plots.drawing import altair, save

EDGES = (1, 2, 5, 10, 20, 50, 100)


def class_sizes(before: Classes, after: Classes, *, k: int, path: Path) -> Path:
    """A picture of the share of records by the size of the class that they hide in; written to `path`."""
    library = altair()
    edges = np.array(sorted({*EDGES, k}))
    names = [f"{low}" if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
    rows = []
    for label, classes in (("original", before), ("release", after)):
        shares = np.zeros(len(edges))
        np.add.at(shares, np.searchsorted(edges, classes.sizes, side="right") - 1, classes.sizes)
        shares = shares / max(1, classes.records)
        rows += [
            {"table": label, "size": name, "share": float(share)} for name, share in zip(names, shares, strict=True)
        ]
    chart = (
        library.Chart(library.Data(values=rows), title=f"Records by the size of the class they hide in (k = {k})")
        .mark_bar()
        .encode(
            x=library.X(
                "size:N", sort=names, title="records with the same quasi-identifier values", axis={"labelAngle": 0}
            ),
            xOffset=library.XOffset("table:N"),
            y=library.Y("share:Q", title="share of all records", axis={"format": "%"}),
            color=library.Color("table:N", scale={"range": ["#e07a3f", "#2a6f97"]}, title=None),
        )
        .properties(width=560, height=280)
    )
    return save(chart, path)
