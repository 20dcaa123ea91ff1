"""Pictures of answers: the curve of level and δ, the lattice of sets, and both borders."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

from shoal.diagnosis.every_set import PerSet
from shoal.diagnosis.questions import Answer, Sets
from shoal.errors import ParameterError
from shoal.plots.drawing import BLUE, GREY, HEIGHT, ORANGE, PALE, WIDTH, altair, save

LATTICE = 10
"""Attributes up to which the whole lattice is drawn; beyond it, the borders."""
LABELLED = 5
ROWS = 60
"""Sets of a border that are drawn."""
GOOD, BAD, OPEN = BLUE, ORANGE, GREY


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
            tooltip=["level:Q", library.Tooltip("delta:Q", format=".2%")],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def _state(chosen: frozenset[str], positive: list[frozenset[str]], negative: list[frozenset[str]]) -> str:
    if chosen in positive:
        return "positive border"
    if chosen in negative:
        return "negative border"
    good, bad = any(chosen < border for border in positive), any(border < chosen for border in negative)
    return "not known" if good == bad else "satisfies" if good else "does not"


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
    y = library.Y(
        "size:Q", title="attributes in the set", axis=rows, scale=library.Scale(domain=[0.3, len(names) + 0.3])
    )
    if answer.positive_border is not None:
        states = ["satisfies", "positive border", "negative border", "does not", "not known"]
        colour = library.Color(
            "state:N", title=None, scale=library.Scale(domain=states, range=["#a9cce3", GOOD, BAD, "#f5cba7", OPEN])
        )
    else:
        title = "δ" if answer.question == 10 else answer.parameter
        scale = library.Scale(scheme="viridis", type="log" if title == "k" else "linear")
        colour = library.Color("value:Q", title=title, scale=scale)
    base = library.Chart(library.Data(values=dots), title=answer.words)
    layers = [
        base.mark_circle(size=90 if len(names) > LABELLED else 220, opacity=1).encode(
            x=x, y=y, color=colour, tooltip="set:N"
        )
    ]
    if len(names) <= LABELLED:
        layers.append(base.mark_text(dy=18, fontSize=8, lineBreak="\n").encode(x=x, y=y, text="label:N"))
        lines = [
            {"x": places[below], "x2": places[chosen], "size": len(below), "size2": len(chosen)}
            for chosen in places
            for below in combinations(chosen, len(chosen) - 1)
            if below
        ]
        edges = library.Chart(library.Data(values=lines)).mark_rule(color=PALE)
        layers.insert(0, edges.encode(x=x, x2="x2:Q", y=y, y2="size2:Q"))
    return library.layer(*layers).properties(width=760, height=(90 if len(names) <= LABELLED else 60) * len(names))


def borders(answer: Answer) -> Any:
    """Both borders as a table of dots: a row is a set, a column an attribute."""
    library = altair()
    rows, shown = [], []
    for label, sets in (("positive", answer.positive_border), ("negative", answer.negative_border)):
        named: Sets = sets or ()
        shown.append(f"{label}: {len(named)}" + (f", {ROWS} shown" if len(named) > ROWS else ""))
        for number, chosen in enumerate(named[:ROWS]):
            for name in chosen:
                rows.append({"border": label, "row": f"{label[0]}{number + 1:03}", "attribute": name})
    return (
        library.Chart(library.Data(values=rows), title=[answer.words, "; ".join(shown)])
        .mark_square(size=110, opacity=1)
        .encode(
            x=library.X(
                "attribute:N", sort=list(answer.attributes), title=None, axis={"labelAngle": -45, "orient": "top"}
            ),
            y=library.Y("row:N", title="sets of the borders, smallest first"),
            color=library.Color(
                "border:N", title="border", scale=library.Scale(domain=["positive", "negative"], range=[GOOD, BAD])
            ),
        )
        .properties(width=26 * len(answer.attributes))
    )
