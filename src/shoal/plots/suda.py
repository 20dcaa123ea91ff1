"""Pictures of special uniques: what each column contributes, and how the scores are distributed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.diagnosis.suda import Suda
from shoal.plots.drawing import BLUE, HEIGHT, ORANGE, WIDTH, altair, save, shown_offline

MOST_COLUMNS = 30
"""Columns that are drawn, those that contribute most."""


def picture(found: Suda, path: Path) -> Path:
    """Both pictures side by side, written in the format that the path's ending names."""
    return save(contributions(found), path)


@shown_offline
def contributions(found: Suda) -> Any:
    """The contribution of each column, beside how many people have a DIS score in each band."""
    library = altair()
    ranked = sorted(found.contributions.items(), key=lambda entry: -entry[1])[:MOST_COLUMNS]
    names = [name for name, _ in ranked]
    shares = library.Data(values=[{"column": name, "share": share} for name, share in ranked])
    columns = (
        library.Chart(shares, title="Columns that single records out")
        .mark_bar(color=BLUE)
        .encode(
            x=library.X("share:Q", title="share of all scores", axis={"format": "%"}),
            y=library.Y("column:N", title=None, sort=names),
            tooltip=[library.Tooltip("column:N"), library.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=WIDTH // 2, height=max(HEIGHT // 2, 18 * len(names)))
    )
    who = "records" if found.classes.people is None else "people"
    bands = [{"band": band, "count": count} for band, count in found.bands.items()]
    order = [entry["band"] for entry in bands]
    base = library.Chart(library.Data(values=bands), title="DIS score: how likely a match is right")
    x = library.X("band:N", title="DIS score", sort=order, axis={"labelAngle": -40})
    # Symmetric logarithm: nearly everybody is in the first band, and the few in the last ones matter most.
    scale = {"type": "symlog", "domain": [0, 4 * max(found.bands.values()) + 1], "nice": False}
    axis = {"labels": False, "ticks": False, "grid": False}
    y = library.Y("count:Q", title=f"{who} (log scale)", scale=scale, axis=axis)
    bars = base.mark_bar(color=ORANGE).encode(
        x=x, y=y, tooltip=[library.Tooltip("band:N"), library.Tooltip("count:Q", format=",")]
    )
    labels = base.mark_text(dy=-7, fontSize=11).encode(x=x, y=y, text=library.Text("count:Q", format=","))
    scores = library.layer(bars, labels).properties(width=WIDTH // 2, height=max(HEIGHT // 2, 18 * len(names)))
    return library.hconcat(columns, scores, spacing=40)
