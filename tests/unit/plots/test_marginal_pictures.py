"""Marginals before and after, held against a count by hand; nothing is named that is not published."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import NotDefined

pytest.importorskip("altair")
from shoal.plots.marginals import MOST, POOLED, marginal


def drawn(chart: Any) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {"original": {}, "release": {}}
    for row in chart.to_dict()["data"]["values"]:
        found[row["table"]][row["value"]] = row["share"]
    return found


@settings(max_examples=count(11, 40), deadline=None)
@given(st.lists(st.integers(-30, 2000), min_size=6, max_size=80), st.integers(1, 3))
def test_numbers_are_counted_between_round_ones(ages: list[int], k: int) -> None:
    data = shoal.read(pl.DataFrame({"age": ages, "row": range(len(ages))}), quasi=["age"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian:numeric=interval", seed=1)
    shares = drawn(marginal(data, release, "age"))
    assert len(shares["original"]) <= MOST
    ranges = {}
    for label in shares["original"]:
        ends = re.fullmatch(r"(-?\d+)(?:–(-?\d+))?", label)
        assert ends is not None
        ranges[label] = (int(ends[1]), int(ends[2] or ends[1]))
    expected = {label: sum(low <= age <= high for age in ages) / len(ages) for label, (low, high) in ranges.items()}
    assert shares["original"] == pytest.approx(expected)
    assert sum(shares["original"].values()) == pytest.approx(1) == sum(shares["release"].values())
    known = sorted(set(ages))
    spread: Counter[str] = Counter()
    for text, times in Counter(release.frame["age"].cast(pl.String).to_list()).items():
        ends = re.fullmatch(r"\[?(-?\d+)(?:-(-?\d+)\])?", text)
        assert ends is not None
        inside = [age for age in known if int(ends[1]) <= age <= int(ends[2] or ends[1])]
        for age in inside:
            label = next(label for label, (low, high) in ranges.items() if low <= age <= high)
            spread[label] += times / len(inside) / len(ages)
    assert {label: share for label, share in shares["release"].items() if share} == pytest.approx(dict(spread))


def test_values_that_are_not_published_are_not_named() -> None:
    towns = ["Aa"] * 40 + ["Bb"] * 30 + ["Secret1", "Secret2", "Secret3"] + ["Cc"] * 20
    data = shoal.read(pl.DataFrame({"town": towns, "sex": ["f", "m"] * 46 + ["f"]}), quasi=["town", "sex"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
    published = set(release.frame["town"].to_list())
    shares = drawn(marginal(data, release, "town"))
    assert set(shares["original"]) <= {*published, POOLED} and "Secret" not in str(shares)
    assert sum(shares["original"].values()) == pytest.approx(1)


def test_levels_are_counted_at_the_level_that_is_published() -> None:
    table = shoal.samples.adult().select("age", "sex", "education")
    data = shoal.read(table, quasi=table.columns, hierarchies=shoal.samples.hierarchies("adult"))
    release = shoal.anonymize(data, shoal.KAnonymity(k=50), algorithm="optimal", suppression=0.05, seed=1)
    counts = Counter(release.frame["education"].to_list())
    shares = drawn(marginal(data, release, "education"))
    told = {label: count / counts.total() for label, count in counts.items()}
    assert shares["release"] == pytest.approx({**told, POOLED: 0.0}), "a level of which everybody was left out"


def test_dates_by_month_and_by_year() -> None:
    for days, labels in (
        (["2025-01-31", "2025-02-01", "2025-02-28", "2025-04-01"], {"2025-01": 0.25, "2025-02": 0.5, "2025-04": 0.25}),
        (["1931-01-01", "1969-12-31", "1970-01-01", "2004-06-01"],
         {"1930–1934": 0.25, "1965–1969": 0.25, "1970–1974": 0.25, "2000–2004": 0.25}),
    ):  # fmt: skip
        data = shoal.read(pl.DataFrame({"day": days * 5}), quasi=["day"], kinds={"day": "date"})
        release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
        shares = drawn(marginal(data, release, "day"))
        assert {label: share for label, share in shares["original"].items() if share} == labels


def test_many_values_leave_the_rarest_together() -> None:
    names = [f"v{place:02}" for place in range(40) for _ in range(60 - place)]
    data = shoal.read(pl.DataFrame({"sex": ["f", "m"] * (len(names) // 2), "what": names}), quasi=["sex"],
                      sensitive=["what"])  # fmt: skip
    shares = drawn(marginal(data, shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1), "what"))
    assert len(shares["original"]) == MOST + 1 and "24 others" in shares["original"] and "v00" in shares["original"]
    assert shares["original"] == pytest.approx(shares["release"])


def test_what_a_form_does_not_tell_is_refused(tmp_path: Path) -> None:
    data = shoal.read(pl.DataFrame({"age": list(range(40)), "sex": ["f", "m"] * 20}), quasi=["age", "sex"])
    swapped = shoal.anonymize(data, algorithm="rank-swapping:share=0.2", seed=1)
    with pytest.raises(NotDefined):
        marginal(data, swapped, "age")
