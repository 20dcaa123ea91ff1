"""Releases as files of Excel, SPSS and Stata: read back as written, with labels, and with nothing of their maker."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import polars
import pytest

import shoal
from shoal.cli import main
from shoal.engines.common.opening import open_path
from shoal.errors import OutputError

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("xlsxwriter")

ROWS = 120
TOWNS = ["a", "Köln", "=1+1", None]


def survey() -> polars.DataFrame:
    """A survey as SPSS has it: codes, of which some count as missing."""
    place = range(ROWS)
    return polars.DataFrame(
        {
            "age": [99.0 if at % 30 == 0 else 20.0 + at % 37 for at in place],
            "sex": [1.0 + at % 2 for at in place],
            "town": [TOWNS[at % 4] for at in place],
            "born": [datetime.date(1960, 1, 1) + datetime.timedelta(days=97 * (at % 90)) for at in place],
            "answer": [(1.0, 2.0, 3.0, 8.0)[at % 4] for at in place],
            "score": [99.0 if at % 40 == 0 else at % 7 + 0.5 for at in place],
        }
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey.sav"
    pyreadstat.write_sav(
        survey(), str(path), column_labels={"age": "Age in years", "answer": "Would you do it again?"},
        variable_value_labels={
            "sex": {1: "female", 2: "male"}, "answer": {1: "yes", 2: "no", 3: "maybe", 8: "refused"},
        },
        missing_ranges={"age": [99], "answer": [8], "score": [99]},
    )  # fmt: skip
    return path


def released(source: Path, engine: str | None = None, algorithm: str = "mondrian") -> shoal.Release:
    data = shoal.read(source, quasi=["age", "sex", "born"], sensitive=["answer"], engine=engine)
    return shoal.anonymize(data, "k-anonymity:k=5", algorithm=algorithm, allow_plain=["score", "town"], seed=1)


@pytest.mark.parametrize("name", ["release.xlsx", "release.sav", "release.zsav", "release.dta", "release.xpt"])
def test_a_release_is_read_back_verified_and_the_same_on_every_engine(name: str, source: Path, tmp_path: Path) -> None:
    release = released(source)
    path = tmp_path / name
    release.write(path)
    assert shoal.verify(path).holds
    read = open_path(path)
    expected = release.frame
    for column in expected.columns:
        got = read.load([column])[column]
        texts = [None if value is None else str(value) for value in got.to_pylist()]
        assert texts == [None if value is None else str(value) for value in expected[column].to_list()], column
    pytest.importorskip("duckdb")
    released(source, "duckdb").write(tmp_path / f"other{path.suffix}")
    assert (tmp_path / f"other{path.suffix}").read_bytes() == path.read_bytes()


def test_labels_and_missing_codes_are_those_of_the_survey(source: Path, tmp_path: Path) -> None:
    released(source).write(tmp_path / "release.sav")
    _, about = pyreadstat.read_sav(str(tmp_path / "release.sav"), user_missing=True)
    assert about.variable_value_labels["sex"] == {1.0: "female", 2.0: "male"}
    assert about.variable_value_labels["answer"] == {1.0: "yes", 2.0: "no", 3.0: "maybe", 8.0: "refused"}
    assert about.column_names_to_labels["answer"] == "Would you do it again?"
    assert about.missing_ranges == {"answer": [{"lo": 8.0, "hi": 8.0}], "score": [{"lo": 99.0, "hi": 99.0}]}


def test_what_stands_for_several_codes_has_a_code_and_a_label_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "towns.sav"
    table = polars.DataFrame({"town": [1.0, 2.0, 3.0, 4.0] * 2})
    labels = {1: "Bonn", 2: "Berlin", 3: "Basel", 4: "Bern", 5: "Brno"}
    pyreadstat.write_sav(table, str(path), variable_value_labels={"town": labels})
    tree = tmp_path / "town.csv"
    tree.write_text("Bonn;Germany;*\nBerlin;Germany;*\nBasel;Switzerland;*\nBern;Switzerland;*\n")
    data = shoal.read(path, quasi=["town"], column_hierarchies={"town": tree})
    shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal").write(tmp_path / "release.sav")
    values, about = pyreadstat.read_sav(str(tmp_path / "release.sav"), output_format="polars")
    assert about.variable_value_labels["town"] == {6.0: "Germany", 7.0: "Switzerland"}
    assert sorted(values["town"].to_list()) == [6.0] * 4 + [7.0] * 4
    assert "Brno" not in (tmp_path / "release.sav").read_bytes().decode("latin-1")  # whom nobody published


def test_nothing_tells_who_made_a_file_and_when(source: Path, tmp_path: Path) -> None:
    release = released(source)
    for name in ("release.xlsx", "release.sav", "release.dta", "release.xpt"):
        release.write(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        if name.endswith("xlsx"):
            with zipfile.ZipFile(tmp_path / name) as packed:
                content = b"".join(packed.read(each) for each in packed.namelist())
                assert {each.date_time[0] for each in packed.infolist()} == {1980}
        if name.endswith("xpt"):
            assert content.count(b"01JAN00:00:00:00") == 4 and b"SAS" in content
        year = str(datetime.date.today().year).encode()
        assert str(tmp_path).encode() not in content and b" " + year not in content and year + b"-" not in content
    assert pyreadstat.read_sav(str(tmp_path / "release.sav"), metadataonly=True)[1].creation_time.year == 2000
    assert pyreadstat.read_dta(str(tmp_path / "release.dta"), metadataonly=True)[1].creation_time.year == 2000


def test_no_cell_of_a_workbook_is_a_formula(source: Path, tmp_path: Path) -> None:
    released(source).write(tmp_path / "release.xlsx")
    with zipfile.ZipFile(tmp_path / "release.xlsx") as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet and "=1+1" in sheet


@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("release.sav", "marital-status", "SPSS takes no variable named 'marital-status'"),
        ("release.dta", "a name", "Stata takes no variable named 'a name'"),
        ("release.xpt", "größe", "SAS takes no variable named 'größe'"),
        ("release.sav", "with", "SPSS takes no variable named 'with'"),
        ("release.xls", "age", "not known by this ending"), ("release.sav.gz", "age", "not known by this ending"),
    ],
)  # fmt: skip
def test_what_a_program_cannot_hold_is_refused(name: str, column: str, said: str, tmp_path: Path) -> None:
    data = shoal.read(polars.DataFrame({column: [1, 2] * 5}), quasi=[column])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian")
    with pytest.raises(OutputError, match=said):
        release.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numbers_that_a_program_would_round_and_rows_without_a_value(tmp_path: Path) -> None:
    table = polars.DataFrame({"sex": ["f", "m"] * 4, "number": [2**60 + at % 2 for at in range(8)]})
    data = shoal.read(table, quasi=["sex"])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", allow_plain=["number"])
    for name in ("release.xlsx", "release.sav", "release.dta", "release.xpt"):
        release.write(tmp_path / name)
        read = open_path(tmp_path / name)
        assert {str(value) for value in read.load(["number"])["number"].to_pylist()} == {str(2**60), str(2**60 + 1)}
    empty = shoal.read(polars.DataFrame({"sex": ["f", None] * 4, "number": [1, None] * 4}), quasi=["sex"])
    with pytest.raises(OutputError, match="every cell is missing"):
        shoal.anonymize(empty, "k-anonymity:k=2", algorithm="mondrian").write(tmp_path / "empty.xlsx")


def test_the_command_writes_and_reads_a_workbook(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    roles = [
        "--algorithm",
        "mondrian",
        "--quasi",
        "age,sex",
        "--sensitive",
        "answer",
        "--allow-plain",
        "score,town,born",
        "--k",
        "5",
    ]
    for command in (
        ["anonymize", str(source), "-o", "release.xlsx", *roles, "--save-recoding", "r.json"],
        ["verify", "release.xlsx"], ["query", "release.xlsx", "--where", "sex = female"],
        ["evaluate", str(source), "release.xlsx"], ["apply", "r.json", str(source), "-o", "again.sav"],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main(command)
        assert not end.value.code, command


def test_a_transport_file_has_titles_and_texts_and_refuses_what_it_cannot_hold(source: Path, tmp_path: Path) -> None:
    released(source).write(tmp_path / "release.xpt")
    values, about = pyreadstat.read_xport(str(tmp_path / "release.xpt"), output_format="polars")
    assert about.column_names_to_labels["answer"] == "Would you do it again?" and about.table_name == "RELEASE"
    assert set(values["sex"]) == {"female", "male"}
    odd = {"a": [1e80] * 2, "b": [1e-80] * 2, "c": [0.5] * 2, "C": [0.5] * 2}
    for names, said in ((["a"], "'a' has numbers"), (["b"], "'b' has numbers"), (["c", "C"], "differ only in case")):
        data = shoal.read(polars.DataFrame({"sex": ["f", "f"], **{name: odd[name] for name in names}}), quasi=["sex"])
        release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", allow_plain=names)
        with pytest.raises(OutputError, match=said):
            release.write(tmp_path / "odd.xpt")
