"""The balance of privacy and utility: both curves along what was swept, and the plane of their trade-off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.core.formatting import percent
from shoal.errors import ParameterError
from shoal.plots.drawing import DASHES, GREY, HEIGHT, INK, SERIES, SHAPES, WIDTH, altair, one_each, save, shown_offline
from shoal.tradeoff.balance import Balance
from shoal.tradeoff.sweep_result import Definition, Place, Point

PANELS = 2
"""Panels beside one another, a curve's other parameter each."""
TICKS = 10
"""Values of the parameter that are named at most below the curve."""


@shown_offline
def curves(balance: Balance, path: Path | None = None, runs: str = "seeds") -> Any:
    """Utility and privacy along the swept parameter, with the spread over the runs (what differs between them is in
    `runs`) and every place where the leading curves meet; a panel for each value of the other parameter. Written to
    `path` if one is given."""
    if balance.axis is None:
        raise ParameterError("curves need a number that is swept, such as k; draw the trade-off plane instead")
    library, axis = altair(), balance.axis.name
    measures = {each.name: f"{kind}: {each.words}" for kind, each in _measures(balance)}
    rows = [
        {
            "panel": _beside(beside), axis: point.place[axis], "measure": measures[name], "share": spread.mean,
            "least": spread.least, "greatest": spread.greatest,
        }
        for beside in balance.curves
        for point in balance.curve(beside)
        for name in measures
        if (spread := point.share(name)) is not None
    ]  # fmt: skip
    if not rows:
        raise ParameterError("no setting has a release, so there is nothing to draw")
    met = [
        {"panel": _beside(pair.beside), axis: each.at, "share": each.value,
         "label": f"{axis} = {each.at:.3g}, {percent(each.value)}"}
        for pair in balance.leading for each in pair.crossings
    ]  # fmt: skip
    order = list(measures.values())
    data = library.Data(values=[{**row, "part": "curve"} for row in rows] + [{**row, "part": "met"} for row in met])
    ends = balance.axis.values
    pad = (ends[-1] - ends[0]) * 0.03 or 0.5
    scale = {"domain": [ends[0] - pad, ends[-1] + pad], "nice": False}
    ticks = {"grid": False, **({"values": ends[:: -(-len(ends) // TICKS)]} if axis in ("k", "l") else {})}
    across = library.X(f"{axis}:Q", title=AXES[axis], scale=scale, axis=ticks)
    up = library.Y(
        "share:Q", title="share (% of all)", scale={"domain": [0, 1]}, axis={"format": "%", "gridColor": "#eeeeee"}
    )
    key = {"sort": order, "title": None, "legend": LEGEND}
    colour = library.Color("measure:N", scale=one_each(order, SERIES), **key)
    base = library.Chart().transform_filter("datum.part == 'curve'").encode(x=across, y=up)
    layers = []
    if balance.seeds > 1:  # a layer each, so that the legend shows the lines and not these
        layers += [
            base.transform_filter({"field": "measure", "equal": each})
            .mark_area(color=SERIES[place % len(SERIES)], opacity=0.18)
            .encode(y=library.Y("least:Q"), y2=library.Y2("greatest:Q"))
            for place, each in enumerate(order)
        ]
    layers += [
        base.mark_line(strokeWidth=2).encode(
            color=colour, strokeDash=library.StrokeDash("measure:N", scale=one_each(order, DASHES), **key)
        ),
        base.mark_point(size=45, filled=True, opacity=1).encode(
            color=colour, shape=library.Shape("measure:N", scale=one_each(order, SHAPES), **key),
            tooltip=[*map(library.Tooltip, (f"{axis}:Q", "measure:N")), library.Tooltip("share:Q", format=".1%")],
        ),
    ]  # fmt: skip
    crossing = library.Chart().transform_filter("datum.part == 'met'").encode(x=across, y=up)
    if met:
        layers += [
            crossing.mark_point(size=160, color=INK, strokeWidth=2, filled=False),
            crossing.mark_text(dy=-16, fontWeight="bold", color=INK).encode(text=library.Text("label:N")),
        ]
    several = len(balance.curves) > 1
    chart = library.layer(*layers).properties(width=WIDTH if not several else WIDTH * 0.7, height=HEIGHT)
    if several:
        sort = [_beside(beside) for beside in balance.curves]
        chart = chart.facet(facet=library.Facet("panel:N", title=None, sort=sort), columns=PANELS, data=data)
    else:
        chart = chart.properties(data=data)
    return _finished(chart, balance, path, runs=runs)


@shown_offline
def trade_off(
    balance: Balance, path: Path | None = None, *, utility: str | None = None, privacy: str | None = None
) -> Any:
    """Every setting as a point, utility against privacy; those that no other one beats in both are joined and named.
    Written to `path` if one is given."""
    library = altair()
    utilities, privacies = ({each.name: each for each in chosen} for chosen in (balance.utilities, balance.privacies))
    up, across = utilities[utility or balance.utility.name], privacies[privacy or balance.privacy.name]
    best = balance.front(up.name, across.name)
    by = next((axis for axis in balance.axes if not axis.numeric), None)
    groups = [str(value) for value in by.values] if by is not None else ["settings"]
    rows = [
        {
            "utility": scores[0], "privacy": scores[1], "setting": _beside(point.place),
            "group": point.place[by.name] if by is not None else groups[0], "best": point in best,
            "label": _label(point, by.name if by is not None else None),
        }
        for point, scores in zip(balance.points, balance.scores(up.name, across.name), strict=True)
        if scores is not None
    ]  # fmt: skip
    if not rows:
        raise ParameterError("no setting has both figures, so there is nothing to draw")
    for rank, row in enumerate(sorted((row for row in rows if row["best"]), key=lambda row: row["privacy"])):
        row["side"] = rank % len(SIDES)
    data = library.Data(values=rows)
    x = library.X("privacy:Q", title=f"privacy: {across.words} (%)", scale=_around(rows, "privacy"), axis=PERCENT)
    y = library.Y("utility:Q", title=f"utility: {up.words} (%)", scale=_around(rows, "utility"), axis=PERCENT)
    base = library.Chart(data).encode(x=x, y=y)
    front = base.transform_filter("datum.best")
    colour = library.Color(
        "group:N", title=None, sort=groups, scale=one_each(groups, SERIES), legend=LEGEND if by is not None else None
    )
    shape = library.Shape(
        "group:N", title=None, sort=groups, scale=one_each(groups, SHAPES), legend=LEGEND if by is not None else None
    )
    tooltip = [
        library.Tooltip("setting:N"),
        library.Tooltip("utility:Q", format=".1%"),
        library.Tooltip("privacy:Q", format=".1%"),
    ]
    chart = library.layer(
        front.mark_line(color=GREY, strokeWidth=2, interpolate="linear").encode(order=library.Order("privacy:Q")),
        base.mark_point(size=60, opacity=1).encode(color=colour, shape=shape, tooltip=tooltip),
        front.mark_point(size=60, filled=True, opacity=1).encode(color=colour, shape=shape, tooltip=tooltip),
        *(
            front.transform_filter(f"datum.side == {side}")
            .mark_text(align=align, dx=dx, dy=dy, fontSize=10, color=INK)
            .encode(text=library.Text("label:N"))
            for side, (align, dx, dy) in enumerate(SIDES)
        ),
    ).properties(width=WIDTH, height=HEIGHT)
    return _finished(chart, balance, path, more="filled and joined: no other setting is better in both")


AXES = {
    "k": "k (least people in a class)",
    "l": "l (least different sensitive values in a class)",
    "t": "t (greatest distance of a class from the table)",
    "suppression": "suppression (share of records left out)",
}
SIDES = (("left", 7, -7), ("right", -7, 9))
"""Where the labels of the front stand, by turns: above to the right and below to the left, where nothing else is."""
LEGEND = {"orient": "bottom", "columns": 1}
PERCENT = {"format": "%", "gridColor": "#eeeeee"}


def _measures(balance: Balance) -> list[tuple[str, Definition]]:
    return [*(("utility", each) for each in balance.utilities), *(("privacy", each) for each in balance.privacies)]


def _beside(place: Place) -> str:
    return ", ".join(str(value) if name == "algorithm" else f"{name} = {value:.4g}" for name, value in place.items())


def _label(point: Point, group: str | None) -> str:
    return _beside({name: value for name, value in point.place.items() if name != group})


def _around(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """A scale that ends a little beyond the points, so that their labels have room."""
    low, high = min(row[name] for row in rows), max(row[name] for row in rows)
    room = max(0.08 * (high - low), 0.01)
    return {"domain": [max(low - room, 0.0), min(high + room, 1.02)], "nice": False, "zero": False}


def _finished(chart: Any, balance: Balance, path: Path | None, more: str = "", runs: str = "seeds") -> Any:
    seeds = f", means of {balance.seeds} {runs}" if balance.seeds > 1 else ""
    title = {"text": f"{balance.records:,} records{seeds}", **({"subtitle": more} if more else {})}
    chart = chart.properties(title=title).configure_view(stroke=None)
    if path is not None:
        save(chart, path)
    return chart
