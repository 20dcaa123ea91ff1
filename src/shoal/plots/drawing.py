"""The drawing library, loaded when it is needed, and pictures as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.core.files import replacing
from shoal.errors import MissingExtraError, OutputError

FORMATS = (".svg", ".png", ".html", ".json")


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
    """Writes a chart in the format that the ending names."""
    check_picture(path)
    with replacing(path) as file:
        chart.save(str(file))
    return path
