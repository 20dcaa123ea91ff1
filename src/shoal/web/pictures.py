"""Charts as SVG for the page: the same specifications as everywhere, with colours for light and for dark.

A picture is loaded as an image, so nothing in it can run, and the page needs no drawing script.
"""

from __future__ import annotations

from typing import Any

from shoal.plots.drawing import altair

INK = {False: "#33404d", True: "#c9d3dc"}
GRID = {False: "#e3e8ec", True: "#36424d"}
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg(chart: Any, *, dark: bool) -> str:
    """A chart as a picture that stands on the page, whose background shows through."""
    altair()
    import vl_convert

    told = chart.to_dict()
    ink, grid = INK[dark], GRID[dark]
    lines = {"domainColor": grid, "tickColor": grid, "gridColor": grid, "labelColor": ink, "titleColor": ink}
    theme: dict[str, Any] = {
        "font": FONT, "background": None, "view": {"stroke": None}, "title": {"color": ink, "subtitleColor": ink},
        "axis": lines, "legend": {"labelColor": ink, "titleColor": ink}, "header": {"labelColor": ink},
        "text": {"color": ink},
    }  # fmt: skip
    own = told.get("config", {})
    mixed = {
        key: {**own.get(key, {}), **value} if isinstance(value, dict) else value for key, value in theme.items()
    }
    return str(vl_convert.vegalite_to_svg({**told, "background": None, "config": {**own, **mixed}}))
