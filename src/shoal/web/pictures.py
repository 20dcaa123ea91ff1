"""Charts as SVG for the page: the same specifications as everywhere, with colours for light and for dark.

A picture is loaded as an image, so nothing in it can run, and the page needs no drawing script.
"""

from __future__ import annotations

from typing import Any

from shoal.plots.drawing import BLUE, GREY, INK, ORANGE, PALE, specification

LIGHT = {"ink": "#33404d", "line": "#e3e8ec"}
DARK = {"ink": "#c9d3dc", "line": "#36424d"}
LIGHTER = {
    BLUE: "#7fb9dc",
    ORANGE: "#f0a077",
    INK: "#c9d3dc",
    GREY: "#5b6873",
    PALE: "#36424d",
    "#444444": "#9aa7b1",
    "#eeeeee": "#2b3740",
}
"""What the colours of every picture become on a dark page."""
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg(chart: Any, *, dark: bool) -> str:
    """A chart as a picture that stands on the page, whose background shows through."""
    spec = specification(chart)
    import vl_convert

    colours = DARK if dark else LIGHT
    ink, line = colours["ink"], colours["line"]
    lines = {"domainColor": line, "tickColor": line, "gridColor": line, "labelColor": ink, "titleColor": ink}
    theme: dict[str, Any] = {
        "font": FONT, "view": {"stroke": None}, "title": {"color": ink, "subtitleColor": ink}, "axis": lines,
        "legend": {"labelColor": ink, "titleColor": ink}, "header": {"labelColor": ink, "titleColor": ink},
        "text": {"color": ink},
    }  # fmt: skip
    own = spec.get("config", {})
    mixed = {key: {**own.get(key, {}), **value} if isinstance(value, dict) else value for key, value in theme.items()}
    whole = {**spec, "background": None, "config": {**own, **mixed}}
    return str(vl_convert.vegalite_to_svg(_lighter(whole) if dark else whole))


def _lighter(part: Any) -> Any:
    """A part of a chart with the colours of a dark page; the rows that it draws stay as they are."""
    if isinstance(part, str):
        return LIGHTER.get(part, part)
    if isinstance(part, dict):
        return {key: value if key in ("data", "datasets") else _lighter(value) for key, value in part.items()}
    return [_lighter(value) for value in part] if isinstance(part, list) else part
