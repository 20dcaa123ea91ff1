"""k-map by survey weights: against a sum by hand, on every front, and where it cannot be counted."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import duckdb
import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError

MODEL = shoal.models.EstimatedKMap(k=300)


def table() -> pl.DataFrame:
    rows = range(120)
    return pl.DataFrame(
        {
            "age": [20 + row * 7 % 30 for row in rows],
            "sex": ["fm"[row % 2] for row in rows],
            "weight": [1.5 + row * 13 % 90 for row in rows],
            "who": [row // 2 for row in rows],
        }
    )


def populations(data: pl.DataFrame, names: list[str]) -> dict[tuple, float]:
    sums: dict[tuple, float] = defaultdict(float)
    for row in data.iter_rows(named=True):
        sums[tuple(row[name] for name in names)] += row["weight"]
    return sums


@pytest.mark.parametrize("algorithm", ["optimal", "incognito", "mondrian", "k-member", "cell-suppression", "auto"])
def test_every_class_of_a_release_stands_for_so_many(algorithm: str) -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    release = shoal.anonymize(data, MODEL, algorithm=algorithm, seed=1)
    found = release.verify(release.policy)["estimated-k-map"]
    assert found.holds and found.value >= 300
    classes = release.weighted()
    assert classes.population is not None
    assert classes.population.sum() == pytest.approx(table()["weight"].sum())
    assert classes.population.min() == pytest.approx(found.value)


def test_it_loses_less_than_k_anonymity_and_need_not_hold_for_the_table() -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    least = min(populations(table(), ["age", "sex"]).values())
    assert MODEL.measure(data.summary).value == pytest.approx(least)
    loose = shoal.anonymize(data, shoal.models.EstimatedKMap(k=least), algorithm="optimal")
    assert sum(loose.recoding.levels) == 0


def test_a_question_about_sets_adds_up_the_weights() -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    for names in (["age"], ["sex"], ["age", "sex"]):
        answer = shoal.ask(data, attributes=names, notion="estimated-k-map").answer
        assert answer == pytest.approx(min(populations(table(), names).values()))
    assert [set(each) for each in shoal.ask(data, notion="estimated-k-map", bound=300.0).negative_border] == [{"age"}]


def test_a_person_counts_once() -> None:
    people = table().drop("age").with_columns(weight=pl.col("who") + 1.0)
    data = shoal.read(people, quasi=["sex"], weight="weight", person="who")
    once = {
        sex: {row["who"]: row["weight"] for row in people.iter_rows(named=True) if row["sex"] == sex} for sex in "fm"
    }
    assert MODEL.levels(data.summary).tolist() == [sum(once["f"].values()), sum(once["m"].values())]
    assert shoal.ask(data, attributes=["sex"], notion="estimated-k-map").answer == sum(once["f"].values())
    release = shoal.anonymize(data, MODEL, algorithm="optimal")
    assert release.verify(release.policy).holds


def test_without_weights_it_is_refused() -> None:
    data = shoal.read(table().drop("who", "weight"), quasi=["age", "sex"])
    with pytest.raises(ParameterError, match="name their column with weight"):
        shoal.anonymize(data, MODEL)
    with pytest.raises(ParameterError, match="name their column with weight"):
        shoal.ask(data, notion="estimated-k-map", bound=5.0)


def test_a_recipient_verifies_it_by_published_means_and_by_sql(tmp_path: Path) -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    models = (MODEL, shoal.KAnonymity(k=2))
    shown = shoal.anonymize(data, *models, algorithm="optimal", seed=1, publish_weights="means")
    shown.write(tmp_path / "shown.csv")
    found = shoal.verify(tmp_path / "shown.csv")
    assert found.holds and found["estimated-k-map"].value == pytest.approx(shown.verify(shown.policy)[0].value)
    query = shoal.verification_sql(tmp_path / "shown.csv")[0]
    release = duckdb.read_csv(str(tmp_path / "shown.csv"), all_varchar=True)  # noqa: F841 (the query reads it)
    level, bound, holds = duckdb.sql(query.sql).fetchall()[0]
    assert (level, bound, holds) == (pytest.approx(found["estimated-k-map"].value), 300, 1)


@pytest.mark.parametrize("how", [None, "scaled", "means:10"])
def test_a_recipient_is_told_where_it_cannot_be_measured(tmp_path: Path, how: str | None) -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    models = (MODEL, shoal.KAnonymity(k=2))
    release = shoal.anonymize(data, *models, algorithm="optimal", seed=1, suppression=0.1, publish_weights=how)
    release.write(tmp_path / "release.csv")
    found = shoal.verify(tmp_path / "release.csv")
    assert found["estimated-k-map"].value is None and "what a class weighs" in found["estimated-k-map"].how
    assert shoal.verification_sql(tmp_path / "release.csv")[0].sql is None


def test_a_file_that_was_tampered_with_breaks_it(tmp_path: Path) -> None:
    data = shoal.read(table().drop("who"), quasi=["age", "sex"], weight="weight")
    release = shoal.anonymize(data, MODEL, shoal.KAnonymity(k=2), algorithm="optimal", seed=1, publish_weights="means")
    path = release.write(tmp_path / "release.csv")
    rows = path[0] if isinstance(path, tuple) else tmp_path / "release.csv"
    shown = pl.read_csv(rows)
    shown.with_columns(weight=pl.col("weight") / 1000).write_csv(rows)
    found = shoal.verify(rows)
    assert not found.holds and found["estimated-k-map"].holds is False
