"""The lattice of level vectors, what a search checked of it, and the node that it took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.lattice import Lattice, Node
from shoal.errors import ParameterError
from shoal.plots.drawing import BLUE, GREY, INK, ORANGE, PALE, altair, save, shown_offline

MOST_NODES = 1500
MOST_LABELS = 120
TAKEN, SATISFIES, BREAKS, PRUNED = "taken", "satisfies the policy", "breaks the policy", "not checked"
COLOURS = {TAKEN: INK, SATISFIES: BLUE, BREAKS: ORANGE, PRUNED: PALE}
SHAPES = {TAKEN: "diamond", SATISFIES: "circle", BREAKS: "cross", PRUNED: "square"}


def lattice(hierarchies: Any, recoding: Any, path: Path) -> Path:
    """A picture of a full-domain search; written to `path`."""
    return save(chart(hierarchies, recoding), path)


@shown_offline
def chart(hierarchies: Any, recoding: Any) -> Any:
    """A chart of a full-domain search.

    Each node stands at its height, the least node at the bottom. A lattice with too many nodes to be told apart is
    drawn as the number of nodes of each kind by height.

    Example:
        >>> import shoal
        >>> data = shoal.read(
        ...     shoal.samples.adult(), quasi=["age", "sex", "race"], hierarchies=shoal.samples.hierarchies("adult")
        ... )
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="optimal", suppression=0.02)
        >>> chart(data.hierarchies, release.recoding).to_dict()["title"]["text"].partition(" of ")[2]
        '36 nodes checked'
    """
    if recoding is None or recoding.levels is None:
        raise ParameterError("only a full-domain release has a lattice; use samarati, optimal, incognito or datafly")
    library = altair()
    nodes = Lattice.of(hierarchies)
    states = {node: SATISFIES if satisfies else BREAKS for node, satisfies in recoding.trail}
    states[recoding.levels] = TAKEN
    drawn = _drawn(library, nodes, states) if nodes.size <= MOST_NODES else _counted(library, nodes, states)
    levels = ", ".join(f"{name} {level}" for name, level in nodes.named(recoding.levels).items())
    title = {
        "text": f"{len(states):,} of {nodes.size:,} nodes checked",
        "subtitle": [
            f"taken (a diamond): {levels}",
            f"a node is a level for each of {', '.join(nodes.attributes)}, in this order; 0 is as it was",
        ]
        if len(nodes.attributes) <= 12
        else "",
    }
    return drawn.properties(title=title)


def _key(looks: dict[str, str]) -> dict[str, Any]:
    """A colour or a shape for each state, with a legend below."""
    scale = {"domain": list(looks), "range": list(looks.values())}
    return {"title": None, "scale": scale, "legend": {"orient": "bottom", "columns": 2}}


def _drawn(library: Any, nodes: Lattice, states: dict[Node, str]) -> Any:
    """Every node and every step between two."""
    places: dict[Node, tuple[float, int]] = {}
    for height in range(nodes.lowest, nodes.height + 1):
        row = list(nodes.at(height))
        places.update({node: (at - (len(row) - 1) / 2, height) for at, node in enumerate(row)})
    points = [
        {"x": x, "height": y, "state": states.get(node, PRUNED), "levels": " ".join(map(str, node))}
        for node, (x, y) in places.items()
    ]
    steps = [
        {"x": x, "height": y, "x2": places[above][0], "height2": places[above][1]}
        for node, (x, y) in places.items()
        for above in nodes.generalizations(node)
    ]
    across = library.X("x:Q", axis=None, scale={"padding": 24})
    up = library.Y("height:Q", title="height (levels, summed)", axis={"tickMinStep": 1, "grid": False, "format": "d"})
    lines = (
        library.Chart(library.Data(values=steps))
        .mark_rule(color=GREY, strokeWidth=0.5)
        .encode(x=across, y=up, x2=library.X2("x2:Q"), y2=library.Y2("height2:Q"))
    )
    base = library.Chart(library.Data(values=points)).encode(x=across, y=up)
    colour, shape = library.Color("state:N", **_key(COLOURS)), library.Shape("state:N", **_key(SHAPES))
    marks = base.mark_point(size=120 if nodes.size <= MOST_LABELS else 30, filled=True, opacity=1)
    marks = marks.encode(color=colour, shape=shape, tooltip=[library.Tooltip("levels:N"), library.Tooltip("state:N")])
    layers = [lines, marks]
    if nodes.size <= MOST_LABELS:
        layers.append(base.mark_text(dy=-13, fontSize=10).encode(text=library.Text("levels:N")))
    widest = max(
        sum(1 for place in places.values() if place[1] == height) for height in {y for _, y in places.values()}
    )
    rows = nodes.height - nodes.lowest + 1
    return library.layer(*layers).properties(width=max(320, min(1400, 60 * widest)), height=max(160, 60 * rows))


def _counted(library: Any, nodes: Lattice, states: dict[Node, str]) -> Any:
    """How many nodes of each kind there are at each height."""
    totals = np.ones(1)
    for low, high in zip(nodes.least, nodes.greatest, strict=True):
        totals = np.convolve(totals, np.ones(high - low + 1))
    counts: dict[tuple[int, str], float] = {
        (nodes.lowest + at, PRUNED): float(total) for at, total in enumerate(totals.tolist())
    }
    for node, state in states.items():
        counts[sum(node), state] = counts.get((sum(node), state), 0.0) + 1
        counts[sum(node), PRUNED] -= 1
    rows = [{"height": height, "state": state, "nodes": count} for (height, state), count in counts.items()]
    marked = [row for row in rows if row["state"] == TAKEN]
    bars = (
        library.Chart(library.Data(values=rows))
        .mark_bar()
        .encode(
            x=library.X("nodes:Q", title="nodes"),
            y=library.Y("height:O", sort="descending", title="height (levels, summed)"),
            color=library.Color("state:N", **_key(COLOURS)),
            order=library.Order("state:N"),
        )
    )
    pointer = (
        library.Chart(library.Data(values=[{"height": row["height"]} for row in marked]))
        .mark_text(text="▶", align="left", color=COLOURS[TAKEN])
        .encode(x=library.value(0), y=library.Y("height:O", sort="descending"))
    )
    return library.layer(bars, pointer).properties(width=640, height=20 * (nodes.height - nodes.lowest + 1))
