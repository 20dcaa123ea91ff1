"""Colours, dashes and shapes: one place for all pictures.

The colours are those of Okabe and Ito, which people with any colour blindness tell apart; the order is such that
neighbours also differ in lightness. A picture never tells things apart by colour alone: lines have dashes and points
have shapes beside, so that it reads in black and white.

Reference: M. Okabe, K. Ito, Color universal design, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#b8a900")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2, 1, 2], [1, 3], [12, 3, 3, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
GOOD, BAD, TAKEN, OPEN, FAINT = "#0072b2", "#d55e00", "#000000", "#999999", "#cccccc"
"""What keeps a bound, what breaks it, what was chosen, what is not known, and lines that only guide the eye."""


def scale(values: Sequence[Any], chosen: Sequence[Any]) -> dict[str, Any]:
    """A scale that gives each value its own, in order, and begins anew when there are more."""
    return {"domain": list(values), "range": [chosen[place % len(chosen)] for place in range(len(values))]}


def legend(columns: int = 2) -> dict[str, Any]:
    """A legend below the picture whose labels are never clipped."""
    return {"orient": "bottom", "columns": columns, "labelLimit": 0, "titleLimit": 0, "symbolLimit": 0}
