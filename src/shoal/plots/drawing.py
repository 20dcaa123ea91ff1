"""The drawing library, loaded when it is needed; colours and sizes of every picture; and pictures as files.

A picture is one chart: a notebook shows it, `save` writes it as a file, `svg` gives it to a page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec

from shoal.core.formatting import printable
from shoal.errors import MissingExtraError, OutputError
from shoal.storage.files import replacing

P = ParamSpec("P")
FORMATS = (".svg", ".png", ".html", ".json")
MENU = {"export": True, "source": False, "compiled": False, "editor": False}
"""Of a page: what shows the data writes them into a page of its own as they are, and the editor is elsewhere."""

BLUE, ORANGE, INK, GREY, PALE = "#2a6f97", "#e07a3f", "#333333", "#bbbbbb", "#dddddd"
"""Blue is what is kept and orange what is not: they differ for every kind of colour vision, and in lightness."""
SERIES = (BLUE, ORANGE, "#444444", "#7fb7be", "#8d5a97", "#e9c46a", "#d1495b", "#5b8c5a")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
"""Of lines and points side by side, in this order. A shape goes with each colour, so that a grey print tells them
apart too."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2, 1, 2], [1, 3], [12, 3, 3, 3])
"""Of lines, with the colours and the shapes."""
WIDTH, HEIGHT, PANEL = 560, 280, 220
"""Pixels: of a picture, and of a panel where there are several."""

FONT = "Arial, Helvetica, 'Liberation Sans', 'Nimbus Sans', 'DejaVu Sans Condensed', sans-serif"
PADDING = {"left": 24, "right": 24, "top": 6, "bottom": 6}
"""Pixels around a picture. Places are reckoned by the font when a picture is made; whoever reads it may have only a
wider one."""

_THEME: dict[str, dict[str, Any]] = {
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "subtitleFontSize": 12,
        "subtitleColor": INK,
        "subtitlePadding": 5,
        "offset": 12,
    },
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 260, "titleLimit": 0},
    "legend": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 0,
        "symbolLimit": 0,
    },
    "header": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 0},
}
"""Of every picture, unless it says otherwise. Names are never cut off in a legend."""


def one_each(values: Sequence[Any], looks: Sequence[Any]) -> dict[str, Any]:
    """A scale that gives each value its own colour, shape or dash, in order; where there are more, from the start."""
    return {"domain": list(values), "range": [looks[place % len(looks)] for place in range(len(values))]}


def by_table(tables: Sequence[str]) -> Any:
    """A colour for each table that is drawn, such as the original and the release; one alone needs no legend."""
    scale = {"domain": list(tables), "range": [ORANGE, BLUE][-len(tables) :]}
    legend = {"orient": "top"} if len(tables) > 1 else None
    return altair().Color("table:N", title=None, sort=list(tables), scale=scale, legend=legend)


def altair() -> Any:
    """The library, or an error that says how to install it."""
    try:
        import altair as library
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("a picture", "plots") from None
    return library


def check_picture(path: Path) -> None:
    """Refuses, before any work is done, a picture that could not be drawn."""
    if path.suffix not in FORMATS:
        raise OutputError(f"{path.name}: a picture ends in {', '.join(FORMATS)}")
    altair()


def specification(chart: Any) -> dict[str, Any]:
    """What is drawn of a chart: as every picture looks, without what the drawing library cannot bear in a text."""
    whole = _printable(chart.to_dict(validate=False))  # `save` checks it: a chart that is wrong is for tests to find
    own = whole.get("config", {})
    themed = {part: {**settings, **own.get(part, {})} for part, settings in _THEME.items()}
    return {**whole, "config": {"font": FONT, "padding": PADDING, **own, **themed}}


def save(chart: Any, path: Path) -> Path:
    """Writes a chart in the format that the ending names.

    A page stands on its own, loads nothing, and runs no script that the name of a column holds.
    """
    check_picture(path)
    page = {"inline": True, "embed_options": {"actions": MENU}, "json_kwds": {"cls": _Embedded}}
    whole = altair().Chart.from_dict(specification(chart))
    with replacing(path) as file:
        whole.save(str(file), **(page if path.suffix == ".html" else {}))
    return path


def svg(chart: Any) -> str:
    """A chart as text that stands in a page."""
    altair()
    import vl_convert

    return str(vl_convert.vegalite_to_svg(specification(chart)))


def shown_offline(draw: Callable[P, Any]) -> Callable[P, Any]:
    """Lets a notebook show the charts of a function as a picture that is drawn here: what Altair shows by itself loads
    scripts from the network. They stay Altair's charts in everything else."""

    @wraps(draw)
    def drawn(*arguments: P.args, **named: P.kwargs) -> Any:
        chart = draw(*arguments, **named)
        object.__setattr__(chart, "__class__", _offline(chart.__class__))  # its own takes it for a part of the picture
        return chart

    return drawn


@cache
def _offline(kind: Any) -> Any:
    def bundle(self: Any, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": svg(self), "text/plain": f"<{kind.__name__} of Shoal>"}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": bundle, "__module__": kind.__module__})


class _Embedded(json.JSONEncoder):
    """JSON that cannot end the script that it stands in."""

    def encode(self, value: Any) -> str:
        return super().encode(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _printable(part: Any) -> Any:
    """A part of a chart without what the drawing library cannot bear in a text: it ends the whole process."""
    if isinstance(part, str):
        return printable(part, keep="\n")
    if isinstance(part, dict):
        return {key: _printable(value) for key, value in part.items()}
    return [_printable(value) for value in part] if isinstance(part, list) else part
