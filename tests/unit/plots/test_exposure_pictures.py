"""Pictures of exposure count people, at the risk of the smallest class that they are in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

pytest.importorskip("altair")
from shoal.plots.exposure import LINE, class_sizes, risk


def table(rows: list[tuple[int, int]], *, person: bool) -> shoal.Dataset:
    frame = pl.DataFrame({"group": [f"g{group}" for group, _ in rows], "who": [f"p{who}" for _, who in rows]})
    if person:
        return shoal.read(frame, quasi=["group"], person="who")
    return shoal.read(frame, quasi=["group"], identifiers=["who"])


def drawn(chart: Any) -> list[dict[str, Any]]:
    told = chart.to_dict()
    return told.get("layer", [told])[0]["data"]["values"]


@settings(max_examples=count(10, 60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), min_size=1, max_size=60), st.booleans())
def test_everybody_is_counted_once_at_the_highest_of_their_risks(rows: list[tuple[int, int]], person: bool) -> None:
    rows = [*dict.fromkeys(rows)] if person else rows
    classes = table(rows, person=person).summary
    if person:
        heads = {group: len({who for at, who in rows if at == group}) for group, _ in rows}
        hidden = [min(heads[group] for group, at in rows if at == who) for who in {who for _, who in rows}]
    else:
        sizes = Counter(group for group, _ in rows)
        hidden = [sizes[group] for group, _ in rows]
    sizes_found, people = classes.hiding()
    assert dict(zip(sizes_found.tolist(), people.tolist(), strict=True)) == Counter(hidden)
    bars = drawn(risk(classes))
    assert sum(bar["people"] for bar in bars) == len(hidden)
    assert sum(bar["people"] for bar in bars if bar["state"] == "above 9 %") == sum(1 / n > LINE for n in hidden)
    shares = {row["size"]: row["share"] for row in drawn(class_sizes({"release": classes}, k=3))}
    assert shares["3–4"] == pytest.approx(sum(3 <= n <= 4 for n in hidden) / len(hidden))


def test_one_in_eleven_is_not_above_the_line_and_one_in_ten_is() -> None:
    rows = [(0, who) for who in range(11)] + [(1, 100 + who) for who in range(10)]
    bars = {bar["risk"]: bar["people"] for bar in drawn(risk(table(rows, person=False).summary))}
    assert bars["5–9 %"] == 11 and bars["9–20 %"] == 10


def test_a_line_of_ones_own() -> None:
    bars = drawn(risk(table([(0, who) for who in range(4)], person=False).summary, line=0.25))
    assert {bar["risk"]: bar["state"] for bar in bars if bar["people"]} == {"20–25 %": "up to 25 %"}


def test_tables_side_by_side_have_a_bar_each() -> None:
    one, other = (table([(0, who) for who in range(size)], person=True).summary for size in (1, 12))
    rows = drawn(class_sizes({"original": one, "release": other}, k=5))
    assert {(row["table"], row["size"]) for row in rows if row["share"]} == {("original", "1"), ("release", "10–19")}
