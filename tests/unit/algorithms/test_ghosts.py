"""Linked columns without a role (sdcMicro's ghosts) are hidden with their key, and only there."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.core.hierarchy import TOP
from shoal.errors import ParameterError, PlainColumnError
from shoal.publishing.columns import published_columns


def table() -> pl.DataFrame:
    rows = range(60)
    return pl.DataFrame(
        {
            "age": [20 + (row % 3 if row < 40 else row) for row in rows],
            "sex": ["fm"[row % 2] for row in rows],
            "income": [None if row % 9 == 0 else 1000.5 + row for row in rows],
            "since": [datetime.date(2000 + row % 5, 1, 1) for row in rows],
            "shift": [row % 4 == 0 for row in rows],
        }
    )


LINKS = ("age=income", "sex=income", "age=since", "age=shift")


def released(data: pl.DataFrame | Path, *models: str, linked: tuple[str, ...] = LINKS, **more: object) -> shoal.Release:
    given = shoal.read(data, quasi=["age", "sex"], **more)
    return shoal.anonymize(
        given, *(models or ("k-anonymity:k=4",)), algorithm={"name": "cell-suppression", "linked": list(linked)}, seed=1
    )


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize("model", ["k-anonymity:k=4", "wildcard-k-anonymity:k=4", "k-combinations:k=12,size=1"])
def test_a_ghost_is_hidden_where_its_key_is_and_nowhere_else(engine: str, model: str) -> None:
    release = released(table(), model, engine=engine)
    rows = release.frame.rows(named=True)
    hidden = sum(row["age"] == TOP for row in rows)
    assert 0 < hidden < len(rows)
    for row in rows:
        assert (row["since"] == TOP) == (row["shift"] == TOP) == (row["age"] == TOP)
        assert (row["income"] == TOP) == (TOP in (row["age"], row["sex"]))
    finding = release.verify(release.policy)["linked-columns"]
    assert finding.holds and finding.value == 0
    told = {(row["income"], row["since"], row["shift"]) for row in rows if TOP not in (row["age"], row["sex"])}
    said = {
        (None if pay is None else f"{pay:g}", str(day), "true" if late else "false")
        for pay, day, late in table().select("income", "since", "shift").rows()
    }
    assert told <= said


def test_engines_agree_to_the_byte(tmp_path: Path) -> None:
    files = []
    for engine in ("embedded", "duckdb"):
        files.append(tmp_path / f"{engine}.csv")
        released(table(), engine=engine).write(files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_recipient_sees_that_a_link_was_broken(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    release = released(table())
    release.write(path)
    found = shoal.verify(path)
    assert found.holds and found["linked-columns"].holds
    shown = pl.read_csv(path, infer_schema=False)
    told = pl.when(pl.col("income") == TOP).then(pl.lit("1001.5")).otherwise(pl.col("income"))
    shown.with_columns(income=told).write_csv(path)
    broken = shoal.verify(path)
    assert broken["linked-columns"].holds is False
    assert broken["linked-columns"].value == sum(row["income"] == TOP for row in release.frame.rows(named=True))


def test_what_is_said_of_a_ghost(tmp_path: Path) -> None:
    release = released(table())
    data = shoal.read(table(), quasi=["age", "sex"])
    column = next(each for each in published_columns(data, release) if each.name == "income")
    share = sum(row["income"] == TOP for row in release.frame.rows(named=True)) / 60
    assert column.hidden == pytest.approx(share) and "hidden" in column.words
    release.write(tmp_path / "release.csv")
    book = shoal.codebook(tmp_path / "release.csv")
    treatment = next(each.treatment for each in book.variables if each.name == "income")
    assert treatment == f"published as it is; {round(60 * share)} cells hidden, with age and sex"


def test_a_ghost_may_tell_its_key_and_no_other_quasi_identifier() -> None:
    telling = table().with_columns(band=pl.col("age").cast(pl.String) + "x").drop("income", "since", "shift")
    release = released(telling, linked=("age=band",))
    assert release.verify(release.policy).holds
    with pytest.raises(PlainColumnError, match="'band'"):
        released(telling, linked=("sex=band",))


def test_a_release_in_which_nothing_is_hidden_keeps_its_types() -> None:
    release = released(table(), "k-anonymity:k=1")
    assert release.frame.schema["income"] == pl.Float64 and release.frame.schema["since"] == pl.Date


@pytest.mark.parametrize(
    ("more", "linked", "words"),
    [
        ({"identifiers": ["income"]}, "age=income", "'income' is identifier"),
        ({}, "age=nothing", "nothing"),
        ({}, "income=age", "income"),
        ({}, "age", "write column=other"),
    ],
)
def test_what_cannot_be_linked_is_refused(more: dict, linked: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        released(table(), linked=(linked,), **more)


def test_a_sensitive_column_is_linked_where_no_model_looks_at_it(tmp_path: Path) -> None:
    pay = table().with_columns(
        income=pl.Series([1000 + row // 7 for row in range(60)]), job=pl.Series(list("xyz") * 20)
    )
    release = released(pay, linked=("age=income",), sensitive=["income", "job"])
    rows = release.frame.rows(named=True)
    assert 0 < sum(row["income"] == TOP for row in rows) == sum(row["age"] == TOP for row in rows) < 60
    assert release.schema.sensitive == ("job",) and "income" in release.notes[0]
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    data = shoal.read(pay, quasi=["age", "sex"], sensitive=["income", "job"])
    for seen in (release, tmp_path / "release.csv"):
        assert shoal.evaluate(data, seen)["gcp"].value > 0
        attempts = shoal.attack(data, seen)
        assert {attempt.name for attempt in attempts} >= {"prosecutor", "homogeneity"}
    diverse = ("k-anonymity:k=2", "distinct-l-diversity:l=2,column=job")
    assert released(pay, *diverse, linked=("age=income",), sensitive=["income", "job"]).frame.height == 60
    with pytest.raises(ParameterError, match="looks at column 'income'"):
        released(pay, "distinct-l-diversity:l=2", linked=("age=income",), sensitive=["income", "job"])


def test_a_star_among_the_values_is_refused() -> None:
    starred = table().with_columns(shift=pl.when(pl.col("age") == 20).then(pl.lit(TOP)).otherwise(pl.lit("day")))
    starred = starred.with_columns(pl.lit("x").alias("age")).with_columns(age=table()["age"])
    with pytest.raises(ParameterError, match="has that as a value") as error:
        released(starred, "k-anonymity:k=1", linked=("age=shift",))
    assert "20" not in str(error.value)
    with pytest.raises(ParameterError, match="hierarchy does not end in it"):
        tree = shoal.Hierarchy.from_paths("sex", [("f", "anybody"), ("m", "anybody")])
        released(table(), linked=("sex=shift",), hierarchies={"sex": tree})


def test_a_run_that_goes_on_keeps_the_links(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "table.parquet")
    first = released(tmp_path / "table.parquet", resume_dir=tmp_path / "state")
    again = released(tmp_path / "table.parquet", resume_dir=tmp_path / "state")
    assert (
        again.recoding.ghosts
        == first.recoding.ghosts
        == {"income": ("age", "sex"), "since": ("age",), "shift": ("age",)}
    )
    assert again.frame.equals(first.frame)


def test_it_is_not_applied_to_other_records(tmp_path: Path) -> None:
    with pytest.raises(shoal.errors.NotDefined, match="linked columns"):
        shoal.save_recoding(released(table()), tmp_path / "rule.json")
