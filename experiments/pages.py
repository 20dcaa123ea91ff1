"""What experiments share: figures go into a page between its marks, and pictures look alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.plots.drawing import DASHES, PANEL, SERIES, SHAPES, altair, one_each, save

FOLDER = Path(__file__).parents[1] / "docs" / "experiments"
MARKS = "<!-- measured -->\n", "<!-- end -->"


def filled(name: str, text: str) -> None:
    """Writes figures into the page of an experiment, between its marks."""
    page = FOLDER / f"{name}.md"
    pattern = re.compile("(?<={})(.*)(?={})".format(*MARKS), re.DOTALL)
    page.write_text(pattern.sub(lambda _: f"\n{text}\n", page.read_text(encoding="utf-8")), encoding="utf-8")
    print(text, flush=True)


def tabled(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of a page."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def lines(
    rows: Sequence[Mapping[str, Any]], path: Path, *, x: str, y: str, by: str, titles: Mapping[str, str],
    panel: str | None = None, columns: int = 2, log: Sequence[str] = (), shared: bool = False,
) -> None:  # fmt: skip
    """Lines with dashes and shapes, so that they read in black and white; a panel for each value of `panel`, which
    have one scale where it is `shared`."""
    library = altair()
    order = list(dict.fromkeys(str(row[by]) for row in rows))
    legend = {"orient": "bottom", "columns": 3} if len(order) > 1 else None
    key = {"sort": order, "title": None, "legend": legend}

    def scale(name: str) -> dict[str, Any]:
        return {"type": "log"} if name in log else {"zero": False}

    base = library.Chart().encode(
        x=library.X(f"{x}:Q", title=titles[x], scale=scale(x), axis={"grid": False}),
        y=library.Y(f"{y}:Q", title=titles[y], scale=scale(y)),
        color=library.Color(f"{by}:N", scale=one_each(order, SERIES), **key),
    )
    drawn = library.layer(
        base.mark_line().encode(strokeDash=library.StrokeDash(f"{by}:N", scale=one_each(order, DASHES), **key)),
        base.mark_point(filled=True, size=40, opacity=1).encode(
            shape=library.Shape(f"{by}:N", scale=one_each(order, SHAPES), **key)
        ),
    ).properties(width=1.3 * PANEL, height=0.8 * PANEL)
    data = library.Data(values=[dict(row) for row in rows])
    if panel is None:
        chart = drawn.properties(data=data)
    else:
        sort = list(dict.fromkeys(str(row[panel]) for row in rows))
        chart = drawn.facet(facet=library.Facet(f"{panel}:N", title=None, sort=sort), columns=columns, data=data)
        chart = chart.resolve_scale(y="shared" if shared else "independent").resolve_axis(x="independent")
    save(chart, path)
