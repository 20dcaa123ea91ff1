"""How many people hide in how large a class, and how likely it is that somebody finds them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.formatting import counted
from shoal.core.risk_line import LINE, hundredths
from shoal.plots.drawing import BLUE, HEIGHT, INK, ORANGE, WIDTH, altair, by_table, shown_offline

EDGES = (1, 2, 5, 10, 20, 50, 100)
"""Of the sizes of classes."""
RISKS = (0.0, 0.01, 0.02, 0.05, LINE, 0.2, 1 / 3, 0.5, 1.0)
"""Edges of risks: one in a hundred, fifty, twenty, eleven, five, three, two, and certainty."""


@shown_offline
def class_sizes(tables: Mapping[str, Classes], *, k: int) -> Any:
    """A chart of the share of the people by the size of the class that they hide in, for each of some tables: such as
    the original and the release.

    Who is in several classes hides in the smallest. Where nothing says whose a record is, every record is a person.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.patients_eight(), quasi=["age", "gender", "zip"])
        >>> chart = class_sizes({"original": data.summary}, k=2)
        >>> [(row["size"], row["share"]) for row in chart.to_dict()["data"]["values"][:2]]
        [('1', 1.0), ('2–4', 0.0)]
    """
    library = altair()
    rows = size_shares(tables, k=k)
    names = list(dict.fromkeys(row["size"] for row in rows))
    who = _who(*tables.values())
    shown = list(tables)
    title = f"{who.capitalize()} by the size of the class that they hide in (k = {k})"
    return (
        library.Chart(library.Data(values=rows), title=title)
        .mark_bar()
        .encode(
            x=library.X("size:N", sort=names, title=f"{who} in the class", axis={"labelAngle": 0}),
            xOffset=library.XOffset("table:N", sort=shown),
            y=library.Y("share:Q", title=f"share of all {who}", axis={"format": "%"}),
            color=by_table(shown),
            tooltip=[
                *map(library.Tooltip, ("table:N", "size:N", "people:Q")),
                library.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def size_shares(tables: Mapping[str, Classes], *, k: int) -> list[dict[str, Any]]:
    """The share of the people of each table by the size of the class that they hide in."""
    edges = np.array(sorted({*EDGES, k}))
    names = [f"{low}" if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
    rows = []
    for table, classes in tables.items():
        sizes, people = classes.hiding()
        counts = np.zeros(len(edges), np.int64)
        np.add.at(counts, np.searchsorted(edges, sizes, side="right") - 1, people)
        rows += [
            {"table": table, "size": name, "people": count, "share": count / max(1, int(people.sum()))}
            for name, count in zip(names, counts.tolist(), strict=True)
        ]
    return rows


@shown_offline
def risk(classes: Classes, *, line: float = LINE) -> Any:
    """A chart of how many people are at which risk of being found: one over the size of the class that they hide in.

    The `line` is the highest risk that is accepted; bars on its right are above it.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.patients_eight(), quasi=["gender"])
        >>> rows = risk(data.summary).to_dict()["layer"][0]["data"]["values"]
        >>> [(row["risk"], row["people"]) for row in rows if row["people"]]
        [('9–20 %', 6), ('33–50 %', 2)]
    """
    library = altair()
    edges = np.array(sorted({*RISKS, line}))
    sizes, people = classes.hiding()
    places = np.searchsorted(edges, 1 / np.maximum(sizes, 1), side="left") - 1
    counts = np.zeros(len(edges) - 1, np.int64)
    np.add.at(counts, places, people)
    texts = [hundredths(edge) for edge in edges.tolist()]
    names = [f"up to {high} %" if low == "0" else f"{low}–{high} %" for low, high in pairwise(texts)]
    accepted, above = f"up to {hundredths(line)} %", f"above {hundredths(line)} %"
    rows = [
        {
            "risk": name, "at": place, "people": count, "state": accepted if edge <= line else above,
            "label": f"{count:,}" if count else "",
        }
        for place, (name, count, edge) in enumerate(zip(names, counts.tolist(), edges[1:].tolist(), strict=True))
    ]  # fmt: skip
    who = _who(classes)
    exposed = int(people[1 / np.maximum(sizes, 1) > line].sum())
    across = library.X("risk:N", sort=names, title="chance to find the right record", axis={"labelAngle": 0})
    base = library.Chart(library.Data(values=rows)).encode(x=across)
    scale = {"domain": [accepted, above], "range": [BLUE, ORANGE]}
    colour = library.Color("state:N", title=None, scale=scale, legend={"orient": "top"})
    up = library.Y("people:Q", title=who, axis={"format": ",d", "tickMinStep": 1})
    bars = base.mark_bar().encode(y=up, color=colour, tooltip=[library.Tooltip("risk:N"), library.Tooltip("people:Q")])
    labels = base.mark_text(dy=-7, fontSize=11, color=INK).encode(y=library.Y("people:Q"), text=library.Text("label:N"))
    step = WIDTH / len(names)
    place = step * sum(edge <= line for edge in edges[1:].tolist())
    rule = (
        library.Chart(library.Data(values=[{}]))
        .mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=library.value(place))
    )
    title = {
        "text": f"{who.capitalize()} by the chance that somebody finds them",
        "subtitle": f"{counted(exposed, who)} of {int(people.sum()):,} are above {hundredths(line)} % (dashed line)",
    }
    return library.layer(bars, labels, rule).properties(width=WIDTH, height=HEIGHT, title=title)


def _who(*classes: Classes) -> str:
    return "people" if all(each.people is not None for each in classes) else "records"
