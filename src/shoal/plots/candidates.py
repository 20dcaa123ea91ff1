"""Candidates for a release: what each loses against the risk that it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import ParameterError
from shoal.plots.drawing import INK, SERIES, SHAPES, WIDTH, altair, shown_offline

HEIGHT = 320


@shown_offline
def chart(candidates: Mapping[str, Mapping[str, Any]], *, k: int) -> Any:
    """A point for each candidate that has a `loss` and an `average_risk`: lower is more useful, further left is safer.

    Example:
        >>> found = {"mondrian": {"loss": 0.2, "average_risk": 0.1}, "anatomy": {"loss": None}}
        >>> [row["candidate"] for row in chart(found, k=5).to_dict()["data"]["values"]]
        ['mondrian']
    """
    library = altair()
    rows = [
        {"candidate": name, "loss": each["loss"], "risk": each["average_risk"]}
        for name, each in candidates.items()
        if each.get("loss") is not None and each.get("average_risk") is not None
    ]
    if not rows:
        raise ParameterError("no candidate tells both its loss and its risk, so there is nothing to draw")
    names = [row["candidate"] for row in rows]
    scale = {"domain": [0, max(1 / max(k, 1), *(row["risk"] for row in rows)) * 1.05], "nice": False}
    base = library.Chart(library.Data(values=rows)).encode(
        x=library.X("risk:Q", title="chance to find somebody, on average", axis={"format": "%"}, scale=scale),
        y=library.Y("loss:Q", title="share of the detail that is lost (LM)", axis={"format": "%"}),
        tooltip=[
            library.Tooltip("candidate:N"),
            library.Tooltip("risk:Q", format=".1%"),
            library.Tooltip("loss:Q", format=".1%"),
        ],
    )
    points = base.mark_point(size=140, filled=True, opacity=1).encode(
        color=library.Color("candidate:N", sort=names, legend=None, scale={"domain": names, "range": list(SERIES)}),
        shape=library.Shape("candidate:N", sort=names, legend=None, scale={"domain": names, "range": list(SHAPES)}),
    )
    labels = base.mark_text(align="left", dx=11, fontSize=12, color=INK).encode(text=library.Text("candidate:N"))
    return library.layer(points, labels).properties(width=WIDTH, height=HEIGHT)
