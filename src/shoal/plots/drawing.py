"""The drawing library, loaded when it is needed, and pictures as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.core.files import replacing
from shoal.core.words import printable
from shoal.errors import MissingExtraError, OutputError

FORMATS = (".svg", ".png", ".html", ".json")
MENU = {"export": True, "source": False, "compiled": False, "editor": False}
"""Of a page: what shows the data writes them into a page of its own as they are, and the editor is elsewhere."""


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


def save(chart: Any, path: Path) -> Path:
    """Writes a chart in the format that the ending names.

    A page stands on its own, loads nothing, and runs no script that the name of a column holds.
    """
    check_picture(path)
    page = {"inline": True, "embed_options": {"actions": MENU}, "json_kwds": {"cls": _Embedded}}
    drawn = altair().Chart.from_dict(_printable(chart.to_dict()))
    with replacing(path) as file:
        drawn.save(str(file), **(page if path.suffix == ".html" else {}))
    return path


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
