"""Codes that count as missing in SPSS and Stata: kept, counted apart, and never taken for a quantity."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars
import pytest

import shoal
from shoal.engines.common.opening import open_path

pyreadstat = pytest.importorskip("pyreadstat")

ROWS = 60
LABELS = {1: "yes", 2: "no", -8: "does not know", -9: "refused"}


def cells(cycle: list[Any]) -> list[Any]:
    return [cycle[at % len(cycle)] for at in range(ROWS)]


def spss(path: Path) -> Path:
    table = polars.DataFrame(
        {
            "sex": cells([1.0, 2.0]),
            "age": cells([30.0, 40.0, -9.0]),
            "answer": cells([1.0, 2.0, -8.0, -9.0, None]),
            "income": cells([1000.5, 2000.0, -8.0, -9.0, None]),
            "town": cells(["Bonn", "NA", ""]),
        }
    )
    pyreadstat.write_sav(
        table, str(path), variable_value_labels={
            "sex": {1: "female", 2: "male"}, "answer": LABELS, "income": {-8: "does not know", -9: "refused"},
        },
        missing_ranges={
            "age": [-9], "answer": [{"lo": -9, "hi": -1}], "income": [{"lo": -9, "hi": -1}], "town": ["NA"],
        },
    )  # fmt: skip
    return path


def stata(path: Path) -> Path:
    table = {
        "sex": cells([1, 2]),
        "age": cells([30, 40, "b"]),
        "answer": cells([1, 2, "a", "b", None]),
        "income": cells([1000.5, -1.0, "a", "b", None]),
    }
    letters = {"age": ["b"], "answer": ["a", "b"], "income": ["a", "b"]}
    labels = {
        "sex": {1: "female", 2: "male"}, "answer": {1: "yes", 2: "no", "a": "refused"}, "income": {"a": "refused"},
    }  # fmt: skip
    frame = polars.DataFrame(
        [
            polars.Series(name, values, dtype=polars.Object if name in letters else None)
            for name, values in table.items()
        ]
    )
    pyreadstat.write_dta(frame, str(path), version=14, variable_value_labels=labels, missing_user_values=letters)
    return path


SOURCES = {"sav": spss, "dta": stata}


@pytest.fixture(scope="module", params=["sav", "dta"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SOURCES[request.param](tmp_path_factory.mktemp("survey") / f"survey.{request.param}")


def released(source: Path, engine: str | None = None) -> shoal.Release:
    data = shoal.read(source, quasi=["sex", "age"], sensitive=["answer"], engine=engine)
    town = ["town"] if source.suffix == ".sav" else []
    return shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", allow_plain=["income", *town], seed=1)


def raw(path: Path) -> tuple[dict[str, list[Any]], Any]:
    """A file as its program has it: with the codes that count as missing."""
    read = getattr(pyreadstat, f"read_{path.suffix[1:]}")
    values, about = read(str(path), user_missing=True, output_format="dict")
    return {name: sorted(map(str, column)) for name, column in values.items()}, about


def test_a_release_has_the_codes_of_the_file_with_their_labels_and_marks(source: Path, tmp_path: Path) -> None:
    path = tmp_path / f"release{source.suffix}"
    released(source).write(path)
    assert shoal.verify(path).holds
    before, stated = raw(source)
    after, about = raw(path)
    for name in set(before) - {"age"}:
        assert after[name] == before[name], name
    assert about.missing_user_values.get("answer") == stated.missing_user_values.get("answer")
    assert about.missing_user_values.get("income") == stated.missing_user_values.get("income")
    for name in ("answer", "income", "town"):
        assert about.missing_ranges.get(name) == stated.missing_ranges.get(name)
    assert about.variable_value_labels["income"] == stated.variable_value_labels["income"]
    assert stated.variable_value_labels["answer"].items() <= about.variable_value_labels["answer"].items()


@pytest.mark.parametrize("ending", ["same", "parquet", "csv"])
def test_every_engine_writes_the_same(source: Path, ending: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    ending = source.suffix[1:] if ending == "same" else ending
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    released(source).write(first)
    other = released(source, "duckdb")
    other.write(second)
    if ending == "parquet":
        assert polars.read_parquet(first).equals(polars.read_parquet(second))
    else:
        assert first.read_bytes() == second.read_bytes()
    assert other.frame.equals(released(source).frame)


def test_no_code_is_a_quantity_in_another_format(source: Path, tmp_path: Path) -> None:
    release = released(source)
    other = {".sav": "dta", ".dta": "sav"}[source.suffix]
    for name in ("release.parquet", "release.csv", f"release.{other}", "folder"):
        release.write(tmp_path / name)
        assert shoal.verify(tmp_path / name).holds
        read = open_path(tmp_path / name)
        incomes = read.load(["income"])["income"].to_pylist()
        assert incomes.count(None) == ROWS * 3 // 5 and None in incomes
        texts = {str(value) for value in read.load(["answer"])["answer"].to_pylist() if value}
        assert texts == {"yes", "no", "refused", ".b" if source.suffix == ".dta" else "does not know"}
    assert release.frame["income"].null_count() == ROWS * 3 // 5
    assert "-9" not in str(release.frame["age"].to_list())


def test_answers_that_are_published_apart_count_apart(tmp_path: Path) -> None:
    path = tmp_path / "few.sav"
    table = polars.DataFrame({"answer": [1.0] * 4 + [-8.0] * 3 + [-9.0]})
    pyreadstat.write_sav(
        table, str(path), variable_value_labels={"answer": LABELS}, missing_ranges={"answer": [-8, -9]}
    )
    assert shoal.diagnose(shoal.read(path, quasi=["answer"]))["k"].value == 1
    release = shoal.anonymize(shoal.read(path, quasi=["answer"]), "k-anonymity:k=2", algorithm="mondrian")
    release.write(tmp_path / "release.sav")
    values, about = raw(tmp_path / "release.sav")
    assert min(values["answer"].count(value) for value in values["answer"]) >= 2
    assert "refused" not in about.variable_value_labels["answer"].values()


def test_what_stands_for_several_values_is_not_marked_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "open.sav"
    labels = {1: "Bonn", 2: "Berlin", 3: "Basel", 4: "Bern", 9: "refused"}
    table = polars.DataFrame({"town": [1.0, 2.0, 3.0, 4.0, 9.0, 9.0, 9.0] * 2})
    above = [{"lo": 9, "hi": float("inf")}]
    pyreadstat.write_sav(table, str(path), variable_value_labels={"town": labels}, missing_ranges={"town": above})
    tree = tmp_path / "town.csv"
    tree.write_text("Bonn;Germany;*\nBerlin;Germany;*\nBasel;Switzerland;*\nBern;Switzerland;*\nrefused;refused;*\n")
    data = shoal.read(path, quasi=["town"], column_hierarchies={"town": tree})
    shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal").write(tmp_path / "release.sav")
    values, about = pyreadstat.read_sav(str(tmp_path / "release.sav"), output_format="polars")
    assert values["town"].null_count() == 6  # only those who refused
    assert set(about.variable_value_labels["town"].values()) == {"Germany", "Switzerland", "refused"}


def test_a_mean_that_would_count_as_missing_takes_the_mark_away(tmp_path: Path) -> None:
    path = tmp_path / "ages.sav"
    table = polars.DataFrame({"age": [30.0, 40.0] * 3})
    pyreadstat.write_sav(table, str(path), missing_ranges={"age": [35]})
    release = shoal.anonymize(shoal.read(path, quasi=["age"]), "k-anonymity:k=6", algorithm="mdav")
    release.write(tmp_path / "release.sav")
    assert open_path(tmp_path / "release.sav").load(["age"])["age"].to_pylist() == [35] * 6


def test_a_date_that_counts_as_missing_is_missing(tmp_path: Path) -> None:
    never = (datetime.date(1900, 1, 1) - datetime.date(1582, 10, 14)).days * 86400.0
    path = tmp_path / "dates.sav"
    table = polars.DataFrame({"born": [never, never + 86400.0 * 36525]})
    pyreadstat.write_sav(table, str(path), variable_format={"born": "DATE11"}, missing_ranges={"born": [never]})
    assert open_path(path).load(["born"])["born"].to_pylist() == [None, datetime.date(2000, 1, 2)]
    path = tmp_path / "dates.dta"
    column = polars.Series("born", [14611.0, "a"], dtype=polars.Object)
    pyreadstat.write_dta(
        polars.DataFrame([column]), str(path), missing_user_values={"born": ["a"]}, variable_format={"born": "%td"}
    )
    assert open_path(path).load(["born"])["born"].to_pylist() == [datetime.date(2000, 1, 2), None]


def test_two_codes_of_one_label_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "twice.sav"
    labels = {1: "yes", 8: "missing", 9: "missing"}
    table = polars.DataFrame({"answer": [1.0, 8.0, 9.0, 7.0]})
    pyreadstat.write_sav(
        table, str(path), variable_value_labels={"answer": labels}, missing_ranges={"answer": [7, 8, 9]}
    )
    assert open_path(path).load(["answer"])["answer"].to_pylist() == ["yes", "missing", "missing (9)", "7"]


def test_codes_in_a_plain_column_single_people_out(tmp_path: Path) -> None:
    path = tmp_path / "plain.sav"
    table = polars.DataFrame({"sex": [1.0] * 6, "income": [-8.0] * 3 + [-9.0] + [None] * 2})
    pyreadstat.write_sav(table, str(path), missing_ranges={"income": [-8, -9]})
    release = shoal.anonymize(shoal.read(path, quasi=["sex"]), "k-anonymity:k=6", algorithm="mondrian")
    assert release.plain_risk is not None and release.plain_risk.singled_out == 1


def test_numbers_that_need_a_double_are_read_beside_codes(tmp_path: Path) -> None:
    path = tmp_path / "large.sav"
    table = polars.DataFrame({"sex": [1.0] * 4, "number": [2.0**60, 2.0**61, -9.0, -9.0]})
    pyreadstat.write_sav(table, str(path), missing_ranges={"number": [-9]})
    data = shoal.read(path, quasi=["sex"])
    shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian").write(tmp_path / "release.sav")
    assert raw(tmp_path / "release.sav")[0]["number"] == raw(path)[0]["number"]
    assert open_path(tmp_path / "release.sav").load(["number"])["number"].null_count == 2


def test_no_code_stands_among_numbers_that_are_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "endless.sav"
    table = polars.DataFrame({"sex": [1.0] * 4, "number": [float("inf"), 1.5, -9.0, -9.0]})
    pyreadstat.write_sav(table, str(path), missing_ranges={"number": [-9]})
    data = shoal.read(path, quasi=["sex"])
    shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian").write(tmp_path / "release.sav")
    assert raw(tmp_path / "release.sav")[0]["number"] == ["", "", "1.5", "inf"]
