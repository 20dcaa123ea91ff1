"""How the records spread over the values of a column, before and after. For the holder: it counts the original."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.core.contracts.model import SLACK
from shoal.core.dataset import Dataset
from shoal.core.formatting import percent, printable
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.parsing.labels import spelled as number_spelled
from shoal.plots.drawing import WIDTH, altair, by_table, shown_offline
from shoal.utility.expected import Expected, total_variation

MOST = 16
"""Bars of a table."""
POOLED, MISSING = "not published as such", "missing"
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, eq=False)
class _Bins:
    """Ranges of leaves, each beginning at a leaf, with what they are called; None: a value that is not published."""

    starts: Codes
    names: tuple[str | None, ...]


@shown_offline
def marginal(data: Dataset, release: Release, name: str) -> Any:
    """A chart of the share of the records that have each value of a column, in the table and in the release.

    The release is counted as a recipient has to: a cell that stands for several values counts for each of them alike.
    No value is named that the release does not publish. Numbers and dates are counted between round ones.

    Raises `NotDefined` for forms that do not tell, and where nothing of the column is published.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian")
        >>> rows = marginal(data, release, "age").to_dict()["data"]["values"]
        >>> rows[0]["value"], rows[0]["table"], round(rows[0]["share"], 3)
        ('15–19', 'original', 0.045)
    """
    library = altair()
    names = (*data.schema.quasi, *data.schema.sensitive)
    before, after = Expected.of_dataset(data, names), Expected.of_release(release, names)
    tree = before.trees[name]
    bins = _round(tree) if tree.ordered else _named(tree, before, set(release.holding(name).labels(name)))
    shares = {"original": before.marginal(name, bins.starts), "release": after.marginal(name, bins.starts)}
    rows = _rows(bins, shares)
    moved = total_variation(*shares.values())
    order = list(dict.fromkeys(row["value"] for row in rows))
    shown = list(shares)
    title = {
        "text": printable(name),
        "subtitle": f"{percent(moved)} of the records would have to change for the two to agree",
    }
    return (
        library.Chart(library.Data(values=rows), title=title)
        .mark_bar()
        .encode(
            y=library.Y("value:N", sort=order, title=None),
            yOffset=library.YOffset("table:N", sort=shown),
            x=library.X("share:Q", title="share of the records", axis={"format": "%", "tickCount": 6}),
            color=by_table(shown),
            tooltip=[library.Tooltip("value:N"), library.Tooltip("table:N"), library.Tooltip("share:Q", format=".2%")],
        )
        .properties(width=WIDTH - 100, height=24 * len(order))
    )


def _rows(bins: _Bins, shares: dict[str, Floats]) -> list[dict[str, Any]]:
    """A row for each bin and table. Bins without a name are one, and so are the rarest where there are too many."""
    totals = np.array([float(sum(each[place] for each in shares.values())) for place in range(len(bins.names))])
    named = [place for place, name in enumerate(bins.names) if name is not None and totals[place] > 0]
    frequent = sorted(sorted(named, key=lambda place: -totals[place])[:MOST])
    groups = [(printable(str(bins.names[place])), [place]) for place in frequent]
    rare = [place for place in named if place not in frequent]
    pooled = [place for place, name in enumerate(bins.names) if name is None and totals[place] > 0]
    groups += [(f"{len(rare)} others", rare)] if rare else []
    groups += [(POOLED, pooled)] if pooled else []
    return [
        {"value": value, "table": table, "share": float(sum(each[place] for place in places))}
        for value, places in groups
        for table, each in shares.items()
    ]


def _named(tree: Hierarchy, before: Expected, published: set[str | None]) -> _Bins:
    """The level at which most records have a value that is published under its name; of several, the lowest."""
    best, bins = 0.0, None
    for level in range(max(tree.height, 1)):  # the top says nothing
        labels = tree.labels[level].tolist()
        names = tuple(None if label not in published else MISSING if label is None else label for label in labels)
        shares = before.marginal(tree.column, tree.starts[level])
        share = float(sum(part for part, label in zip(shares, names, strict=True) if label is not None))
        if share > best + SLACK:
            best, bins = share, _Bins(tree.starts[level], names)
    if bins is None:
        raise NotDefined("nothing of the column is published that could be named")
    return bins


def _round(tree: Hierarchy) -> _Bins:
    """Bins between round numbers, or between round dates."""
    assert tree.values is not None
    first = int(tree.missing)
    values = tree.values[first:]
    edges, names = _dated(tree, values) if tree.calendar is not None else _numbered(values)
    places = np.searchsorted(values, edges[:-1]) + first
    filled = [place for place, (low, high) in enumerate(pairwise(np.append(places, tree.size))) if low < high]
    absent = ([0], [MISSING]) if tree.missing else ([], [])
    starts = np.array([*absent[0], *places[filled]], np.int32)
    return _Bins(starts, (*absent[1], *(names[place] for place in filled)))


def _numbered(values: Floats) -> tuple[Floats, list[str]]:
    step = _step(float(values[-1] - values[0]))
    whole = bool(np.all(values == np.round(values)))
    step = max(step, 1.0) if whole else step
    edges = np.arange(np.floor(values[0] / step) * step, values[-1] + step, step)
    edges = np.append(edges, edges[-1] + step)
    tops = edges[1:] - 1 if whole else edges[1:]
    pairs = zip(edges[:-1].tolist(), tops.tolist(), strict=True)
    spelled = [(number_spelled(float(f"{low:.10g}")), number_spelled(float(f"{top:.10g}"))) for low, top in pairs]
    return edges, [low if low == top else f"{low}–{top}" if whole else f"{low} to {top}" for low, top in spelled]


def _dated(tree: Hierarchy, values: Floats) -> tuple[Floats, list[str]]:
    """By months of a year or two, else by years."""
    assert tree.calendar is not None
    unit = "s" if tree.calendar.times else "D"
    ends = np.round(values[[0, -1]]).astype(np.int64).astype(f"M8[{unit}]")
    low, high = ends.astype("M8[M]").astype(np.int64).tolist()
    if high - low < MOST:
        marks = np.arange(low, high + 2).astype("M8[M]")
        names = [str(mark) for mark in marks[:-1]]
    else:
        step = int(max(_step((high - low) / 12), 1))
        first, last = ((12 * 1970 + month) // 12 // step * step for month in (low, high))
        years = np.arange(first, last + step + 1, step)
        marks = (years - 1970).astype("M8[Y]")
        names = [f"{year}" if step == 1 else f"{year}–{year + step - 1}" for year in years[:-1].tolist()]
    edges = marks.astype(f"M8[{unit}]").astype(np.float64)
    return edges, names


def _step(span: float) -> float:
    """The least round step by which a span has no more than so many bins."""
    if span <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(span / MOST))
    return float(next((power * step for step in STEPS if span / (power * step) <= MOST - 1), 10 * power))
