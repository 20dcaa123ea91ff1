"""LM, WHD, CM and the suppression share against their definitions, cell by cell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.api import publish
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import SchemaError

ZIP = shoal.Hierarchy.from_paths(
    "zip",
    [("111", "11*", "1**", "*"), ("112", "11*", "1**", "*"), ("121", "12*", "1**", "*"), ("211", "21*", "2**", "*"),
     ("221", "22*", "2**", "*"), ("222", "22*", "2**", "*")],
)  # fmt: skip
ZIPS = ["111", "112", "121", "211", "221", "222"]


def released(data: shoal.Dataset, levels: tuple[int, ...], left_out: set[int]) -> Release:
    """A release by levels, without some tuples of the summary."""
    suppressed = np.array([place in left_out for place in range(len(data.summary))])
    return publish(data, Recoding.at_levels(data.summary, levels, suppressed))


ROWS = st.lists(
    st.tuples(st.sampled_from(ZIPS), st.sampled_from([20, 24, 30, 70]), st.sampled_from("ab")), min_size=2, max_size=12
)


@settings(max_examples=count(28, 100), deadline=None)
@given(ROWS, st.integers(0, 3), st.integers(0, 2), st.integers(0, 7), st.sampled_from([0.0, 1.0, 2.0]))
def test_each_cell_by_the_definition(rows: list, zips: int, ages: int, dropped: int, beta: float) -> None:
    age = shoal.Hierarchy.from_paths(
        "age", [("20", "young", "*"), ("24", "young", "*"), ("30", "old", "*"), ("70", "old", "*")]
    )
    table = polars.DataFrame(rows, schema=["zip", "age", "paid"], orient="row")
    data = shoal.read(table, quasi=["zip", "age"], hierarchies={"zip": ZIP, "age": age}, kinds={"zip": "categorical"})
    tuples = sorted({row[:2] for row in rows})
    left_out = {place for place in range(len(tuples)) if dropped >> place & 1}
    release = released(data, (zips, ages), left_out)
    gone = {tuples[place] for place in left_out}

    under = {"11*": 2, "12*": 1, "21*": 1, "22*": 2, "1**": 3, "2**": 3, "*": 6}
    paths = {"111": "11*", "112": "11*", "121": "12*", "211": "21*", "221": "22*", "222": "22*"}
    span = max(row[1] for row in rows) - min(row[1] for row in rows)
    published = {zone: [zone, paths[zone], f"{zone[0]}**", "*"][zips] for zone in ZIPS}
    interval = {year: [0, 4 if year < 30 else 40, 50][ages] for year in (20, 24, 30, 70)}
    steps = {"zip": [1 / 3**beta, 1 / 2**beta, 1.0], "age": [1 / 2**beta, 1.0]}

    lm: dict[str, list[float]] = {"zip": [], "age": []}
    whd: dict[str, list[float]] = {"zip": [], "age": []}
    share: dict[str, list[float]] = {"zip": [], "age": []}
    for zone, year, _ in rows:
        if (zone, year) in gone:
            for found in (lm, whd, share):
                found["zip"].append(1.0)
                found["age"].append(1.0)
            continue
        leaves = under.get(published[zone], 1)
        lm["zip"].append((leaves - 1) / 5)
        lm["age"].append(min(interval[year] / span, 1.0) if span and interval[year] else 0.0)
        climbed = 0 if leaves == 1 else zips
        whd["zip"].append(sum(steps["zip"][:climbed]) / sum(steps["zip"]))
        whd["age"].append(sum(steps["age"][:ages]) / sum(steps["age"]))
        share["zip"].append(float(zips == 3))
        share["age"].append(float(ages == 2))
    for metric, expected in (
        (shoal.metrics.Lm(), lm),
        (shoal.metrics.Whd(beta=beta), whd),
        (shoal.metrics.SuppressionShare(), share),
    ):
        found = metric.score(data, release)
        assert found.detail == pytest.approx({name: sum(cells) / len(rows) for name, cells in expected.items()})
        assert found.value == pytest.approx(sum(map(sum, expected.values())) / (2 * len(rows)))

    groups: dict[Any, list[str]] = {}
    for zone, year, paid in rows:
        if (zone, year) not in gone:
            groups.setdefault((published[zone], [year, year < 30, "*"][ages]), []).append(paid)
    right = sum(max(Counter(group).values()) for group in groups.values())
    assert shoal.metrics.Cm(target="paid").score(data, release).value == pytest.approx(1 - right / len(rows))


@pytest.fixture
def data() -> shoal.Dataset:
    table = polars.DataFrame(
        {"zip": ZIPS * 2, "paid": list("aabbab") * 2, "ill": list("xyxyxy") * 2, "note": list("rrrrss") * 2}
    )
    return shoal.read(
        table, quasi=["zip"], sensitive=["paid", "ill"], hierarchies={"zip": ZIP}, kinds={"zip": "categorical"}
    )


def test_cm_takes_every_sensitive_attribute(data: shoal.Dataset) -> None:
    found = shoal.metrics.Cm().score(data, released(data, (2,), set()))
    assert found.detail == pytest.approx({"paid": 1 / 3, "ill": 1 / 3}) and found.value == pytest.approx(1 / 3)


def test_cm_takes_a_plain_column(data: shoal.Dataset) -> None:
    assert shoal.metrics.Cm(target="note").score(data, released(data, (2,), set())).value == pytest.approx(2 / 12)


def test_cm_of_a_plain_column_is_compared_with_the_table_and_with_nothing() -> None:
    """By hand: ages tell everything; with all of them hidden, one of four is guessed wrongly, as in the release."""
    table = polars.DataFrame({"age": [20, 20, 30, 40], "paid": ["no", "no", "no", "yes"]})
    data = shoal.read(table, quasi=["age"])
    found = shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=4"), "cm:target=paid")["cm"]
    assert (found.value, found.baselines) == (0.25, {"original": 0.0, "hidden": 0.25})


def test_cm_refuses_what_it_cannot_predict(data: shoal.Dataset) -> None:
    release = released(data, (1,), set())
    with pytest.raises(SchemaError, match="'zip'"):
        shoal.metrics.Cm(target="zip").score(data, release)
    with pytest.raises(SchemaError, match="'salary'"):
        shoal.metrics.Cm(target="salary").score(data, release)


def test_cm_without_a_target() -> None:
    plain = shoal.read(polars.DataFrame({"zip": ["a", "b"]}), quasi=["zip"])
    assert shoal.metrics.Cm().score(plain, released(plain, (0,), set())).value is None


@pytest.mark.parametrize("metric", [shoal.metrics.Lm(), shoal.metrics.Whd(), shoal.metrics.SuppressionShare()], ids=str)
def test_nothing_and_everything_is_lost(data: shoal.Dataset, metric: Any) -> None:
    assert metric.score(data, released(data, (0,), set())).value == 0
    assert metric.score(data, released(data, (3,), set())).value == 1
    assert metric.score(data, released(data, (0,), set(range(6)))).value == 1


@pytest.mark.parametrize("metric", [shoal.metrics.Lm(), shoal.metrics.Whd(), shoal.metrics.SuppressionShare()], ids=str)
def test_a_constant_column_loses_nothing(metric: Any) -> None:
    table = polars.DataFrame({"zip": ["a"] * 4, "age": [30] * 4})
    constant = shoal.read(table, quasi=["zip", "age"])
    assert metric.score(constant, shoal.anonymize(constant, shoal.KAnonymity(k=2), algorithm="mondrian")).value == 0


def test_a_mixture_of_missing_and_present_is_suppressed() -> None:
    table = polars.DataFrame({"age": [None, 30, 31, 40]})
    some = shoal.read(table, quasi=["age"])
    release = shoal.anonymize(some, shoal.KAnonymity(k=4), algorithm="mondrian")
    assert shoal.metrics.SuppressionShare().score(some, release).value == 1
    assert shoal.metrics.Lm().score(some, release).value == 1


def test_missing_counts_as_suppressed_only_when_asked_and_means_never():
    table = polars.DataFrame({"age": [20, 60, 21, 61], "job": ["a", "a", None, None]})
    data = shoal.read(table, quasi=["age", "job"])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="k-member:numeric=mean", seed=1)
    frame = release.frame
    assert frame["job"].null_count() == 2 and frame["age"].dtype == polars.Float64
    assert shoal.metrics.SuppressionShare().score(data, release).value == 0
    assert shoal.metrics.SuppressionShare(missing="suppressed").score(data, release).value == 2 / 8
    wide = shoal.anonymize(data, "k-anonymity:k=4", algorithm="k-member:numeric=mean", seed=1)
    assert wide.frame["age"].to_list() == [40.5] * 4
    assert shoal.metrics.SuppressionShare().score(data, wide).detail == {"age": 0, "job": 1}
    ranges = shoal.anonymize(data, "k-anonymity:k=4", algorithm="k-member:numeric=interval", seed=1)
    assert shoal.metrics.SuppressionShare().score(data, ranges).detail == {"age": 1, "job": 1}


def test_suppression_share_of_some_columns() -> None:
    data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 30], "sex": list("fmfm")}), quasi=["age", "sex"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal", seed=1)
    shares = shoal.metrics.SuppressionShare().score(data, release).detail
    for name, share in shares.items():
        found = shoal.metrics.SuppressionShare(columns=(name,)).score(data, release)
        assert found.value == share and found.detail == {name: share} and f"cells of {name}" in found.how
    with pytest.raises(SchemaError, match="no column named 'height'"):
        shoal.evaluate(data, release, "suppression-share:columns=age|height")
