"""Pictures of answers: the curve of level and δ, the lattice of sets, and both borders."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

from shoal.diagnosis.every_set import PerSet
from shoal.diagnosis.questions import Answer, Sets
from shoal.errors import ParameterError
from shoal.plots.drawing import BLUE, GREY, HEIGHT, ORANGE, PALE, SHAPES, WIDTH, altair, save, shown_offline

LATTICE = 10
"""Attributes up to which the whole lattice is drawn; beyond it, the borders."""
LABELLED = 5
ROWS = 60
"""Sets of a border that are drawn."""
GOOD, BAD, OPEN = BLUE, ORANGE, GREY
LARGEST, SMALLEST = "largest sets that satisfy (positive border)", "smallest sets that do not (negative border)"
SAFE, UNSAFE, UNKNOWN = "satisfies", "does not", "not known"
STATES = {SAFE: "#a9cce3", LARGEST: GOOD, SMALLEST: BAD, UNSAFE: "#f5cba7", UNKNOWN: OPEN}
"""What is said of a set, and its colour; each has a shape beside, for black and white."""


def picture(answer: Answer, path: Path) -> Path:
    """The picture that suits an answer, written in the format that the path's ending names."""
    if answer.question == 11:
        chart = curve(answer)
    elif answer.question == 12 or (answer.positive_border is None and not isinstance(answer.answer, PerSet)):
        raise ParameterError(f"question {answer.question} has no picture; those of 3, 4, 7, 8, 10 and 11 have one")
    elif len(answer.attributes) <= LATTICE:
        chart = lattice(answer)
    elif answer.positive_border is not None:
        chart = borders(answer)
    else:
        raise ParameterError(f"a lattice is drawn for at most {LATTICE} attributes; name fewer")
    return save(chart, path)


@shown_offline
def curve(answer: Answer) -> Any:
    """Which share of the records must be left out for each level: the effect of every choice."""
    library = altair()
    letter = answer.parameter
    rows = [{"level": level, "delta": share} for level, share in answer.answer]
    scale = library.Scale(type="log") if letter == "k" else library.Scale(zero=False)
    return (
        library.Chart(library.Data(values=rows), title=f"{answer.notion} of {', '.join(answer.attributes)}")
        .mark_line(interpolate="step-before" if letter != "t" else "step-after", point=True, color=GOOD)
        .encode(
            x=library.X("level:Q", title=f"{letter} that is reached", scale=scale),
            y=library.Y("delta:Q", title="share of records left out (δ)", axis={"format": "%"}),
            tooltip=[library.Tooltip("level:Q"), library.Tooltip("delta:Q", format=".2%")],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def _state(chosen: frozenset[str], positive: list[frozenset[str]], negative: list[frozenset[str]]) -> str:
    if chosen in positive:
        return LARGEST
    if chosen in negative:
        return SMALLEST
    good, bad = any(chosen < border for border in positive), any(border < chosen for border in negative)
    return UNKNOWN if good == bad else SAFE if good else UNSAFE


@shown_offline
def lattice(answer: Answer) -> Any:
    """Every set as a dot, small sets below: coloured by the borders, or by the value that each set has."""
    library = altair()
    names = answer.attributes
    positive = [frozenset(chosen) for chosen in answer.positive_border or ()]
    negative = [frozenset(chosen) for chosen in answer.negative_border or ()]
    dots, places = [], {}
    for size in range(1, len(names) + 1):
        row = list(combinations(names, size))
        for place, chosen in enumerate(row):
            places[chosen] = (place + 0.5) / len(row)
            dot: dict[str, Any] = {
                "x": places[chosen],
                "size": size,
                "set": ", ".join(chosen),
                "label": "\n".join(chosen),
            }
            if answer.positive_border is not None:
                dot["state"] = _state(frozenset(chosen), positive, negative)
            else:
                value = answer.answer.get(chosen)
                dot["value"] = None if value is None or value == float("inf") else value
            dots.append(dot)
    x = library.X("x:Q", axis=None, scale=library.Scale(domain=[0, 1]))
    rows = {"values": list(range(1, len(names) + 1)), "format": "d", "grid": False}
    y = library.Y("size:Q", title="columns in the set", axis=rows, scale=library.Scale(domain=[0.3, len(names) + 0.3]))
    if answer.positive_border is not None:
        shown = [state for state in STATES if any(dot["state"] == state for dot in dots)]
        key = {"title": None, "sort": shown, "legend": {"orient": "bottom", "columns": 2}}
        colours = {"domain": shown, "range": [STATES[state] for state in shown]}
        shapes = {"domain": shown, "range": [SHAPES[list(STATES).index(state)] for state in shown]}
        looks = {
            "color": library.Color("state:N", scale=colours, **key),
            "shape": library.Shape("state:N", scale=shapes, **key),
        }
    else:
        title = "δ" if answer.question == 10 else answer.parameter
        scale = library.Scale(scheme="viridis", type="log" if title == "k" else "linear")
        looks = {"color": library.Color("value:Q", title=title, scale=scale)}
    base = library.Chart(library.Data(values=dots), title=answer.words)
    layers = [
        base.mark_point(size=70 if len(names) > LABELLED else 180, filled=True, opacity=1).encode(
            x=x, y=y, tooltip=library.Tooltip("set:N"), **looks
        )
    ]
    if len(names) <= LABELLED:
        layers.append(base.mark_text(dy=20, fontSize=10, lineBreak="\n").encode(x=x, y=y, text=library.Text("label:N")))
        lines = [
            {"x": places[below], "x2": places[chosen], "size": len(below), "size2": len(chosen)}
            for chosen in places
            for below in combinations(chosen, len(chosen) - 1)
            if below
        ]
        edges = library.Chart(library.Data(values=lines)).mark_rule(color=PALE)
        layers.insert(0, edges.encode(x=x, x2=library.X2("x2:Q"), y=y, y2=library.Y2("size2:Q")))
    return library.layer(*layers).properties(width=760, height=(110 if len(names) <= LABELLED else 60) * len(names))


@shown_offline
def borders(answer: Answer) -> Any:
    """Both borders as tables of marks: a row is a set, a column one of the table's columns."""
    library = altair()
    rows, shown = [], []
    for label, sets in ((LARGEST, answer.positive_border), (SMALLEST, answer.negative_border)):
        named: Sets = sets or ()
        title = f"{label}: {len(named):,}" + (f", {ROWS} shown" if len(named) > ROWS else "")
        shown.append(title)
        for number, chosen in enumerate(named[:ROWS]):
            for name in chosen:
                rows.append({"border": title, "row": number, "column": name, "set": ", ".join(chosen)})
    key = {"sort": shown, "title": None, "legend": None}
    marks = (
        library.Chart()
        .mark_point(size=80, filled=True, opacity=1)
        .encode(
            x=library.X(
                "column:N", sort=list(answer.attributes), title=None, axis={"labelAngle": -45, "orient": "top"}
            ),
            y=library.Y("row:O", title="sets, a row each", axis={"labels": False, "ticks": False}),
            color=library.Color("border:N", scale={"domain": shown, "range": [GOOD, BAD]}, **key),
            shape=library.Shape("border:N", scale={"domain": shown, "range": ["square", "diamond"]}, **key),
            tooltip=library.Tooltip("set:N"),
        )
        .properties(width=26 * len(answer.attributes), height=library.Step(13))
    )
    header = {"orient": "top", "labelAnchor": "start", "labelFontWeight": "bold", "labelPadding": 4}
    facet = library.Facet("border:N", title=None, sort=shown, header=header)
    chart = marks.facet(facet=facet, columns=1, data=library.Data(values=rows), title=answer.words)
    return chart.resolve_scale(y="independent").resolve_axis(x="independent")
