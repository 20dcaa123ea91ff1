"""Files as people have them: row numbers, headings twice, Excel's first line, spreadsheets, statistics, folders."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest
from canary_table import CANARY
from command import Commands
from counts import LONG

import shoal as library
from shoal.errors import InputError, MissingExtraError, ParameterError, SchemaError, ShoalError
from shoal.notices import LOGGER, tell

PEOPLE = {"age": [31, 31, 45, 45] * 3, "sex": ["F", "F", "M", "M"] * 3, "note": [f"n{row}" for row in range(12)]}
ENGINES = ["embedded", "duckdb"]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said beside results, from now on."""
    tell.cache_clear()
    found: list[str] = []
    monkeypatch.setattr(LOGGER, "warning", lambda text, *more: found.append(text % more))
    return found


def csv_of(frame: pl.DataFrame, path: Path, first: str = "") -> Path:
    path.write_text(first + frame.write_csv(), encoding="utf-8")
    return path


def rows_of(frame: object) -> list[tuple]:
    return sorted(pl.DataFrame(frame).rows())


# row numbers


NUMBERED = [
    (heading, numbers, engine)
    for row, heading in enumerate(["", '""', "Unnamed: 0", "...1"])
    for column, numbers in enumerate([range(12), range(1, 13), range(7, 90, 7)])
    for engine in ENGINES
    if LONG or engine == "embedded" or row % 3 == column
]
"""Each heading with all numbers, and on DuckDB with some; with `LONG` everything with everything."""


@pytest.mark.parametrize(("heading", "numbers", "engine"), NUMBERED)
def test_row_numbers_are_never_published(
    heading: str, numbers: range, engine: str, tmp_path: Path, told: list[str]
) -> None:
    body = pl.DataFrame({"x": list(numbers), **PEOPLE}).write_csv().splitlines()
    path = tmp_path / "in.csv"
    path.write_text("\n".join([heading + body[0][1:], *body[1:]]) + "\n")
    data = library.read(path, quasi=["age", "sex"], engine=engine)
    assert data.schema.names == ("age", "sex", "note")
    assert told == ["note: in.csv: the first column has no name of its own and numbers the rows; it is left out"]
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian", seed=1)
    release.write(tmp_path / "out.csv")
    assert library.verify(tmp_path / "out.csv").holds
    assert rows_of(release.frame.select(pl.col("age").cast(int), "sex", "note")) == rows_of(pl.DataFrame(PEOPLE))
    assert (tmp_path / "out.csv").read_text().startswith("age,sex,note\n")
    library.read(path, quasi=["age"], engine=engine)
    assert len(told) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_row_numbers_in_frames_and_typed_files(engine: str, tmp_path: Path, told: list[str]) -> None:
    frame = pd.DataFrame({"Unnamed: 0": range(12), **PEOPLE})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    pa.feather.write_feather(table, tmp_path / "in.arrow")
    for source in (frame, table, tmp_path / "in.parquet", tmp_path / "in.arrow"):
        data = library.read(source, quasi=["age", "sex"], engine=engine)
        assert data.schema.names == ("age", "sex", "note")
        release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian", seed=1)
        assert rows_of(release.frame) == rows_of(pl.DataFrame(PEOPLE))
    assert len(told) == 3
    assert list(frame.columns) == ["Unnamed: 0", *PEOPLE]


def test_what_is_no_row_number_stays_or_stops(tmp_path: Path, told: list[str]) -> None:
    for cells in (["a", "b"], ["1", "1"], ["1", ""], ["1.5", "2"], ["-1", "2"]):
        rows = [f"{cell},{row},x" for row, cell in enumerate(cells * 2 if cells[0] == cells[1] else cells)]
        named, nameless = tmp_path / "named.csv", tmp_path / "nameless.csv"
        named.write_text("\n".join(["Unnamed: 0,age,sex", *rows]) + "\n")
        nameless.write_text("\n".join([",age,sex", *rows]) + "\n")
        assert library.read(named, quasi=["age"]).schema.names == ("Unnamed: 0", "age", "sex")
        with pytest.raises(InputError, match="1 of 3 columns has no name"):
            library.read(nameless, quasi=["age"])
    assert told == []


# headings


@pytest.mark.parametrize("engine", ENGINES)
def test_duplicate_headings_are_named_counted_and_renamed(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("age,x,note,x,x,x.1,note\n" + "\n".join(f"31,a{row},b{row},c,d,e,f" for row in range(6)) + "\n")
    with pytest.raises(InputError, match=r"column 'x' occurs 3 times, column 'note' occurs 2 times; .*--rename-dup"):
        library.read(path, quasi=["age"], engine=engine)
    data = library.read(path, quasi=["age", "x.2"], sensitive=["x.1"], rename_duplicates=True, engine=engine)
    assert data.schema.names == ("age", "x", "note", "x.2", "x.3", "x.1", "note.1")
    release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian", seed=1)
    release.write(tmp_path / "out.csv")
    assert library.verify(tmp_path / "out.csv").holds
    frame = release.frame
    assert set(frame["x.2"]) == {"c"} and set(frame["x.3"]) == {"d"} and set(frame["x.1"]) == {"e"}
    assert set(frame["x"]) == {f"a{row}" for row in range(6)} and set(frame["note.1"]) == {"f"}
    assert library.detect(path, rename_duplicates=True, engine=engine)["x.3"].distinct == 1


def test_duplicates_in_frames_and_parquet(tmp_path: Path) -> None:
    table = pa.table([[1, 1], ["a", "b"], ["c", "c"]], names=["age", "x", "x"])
    frame = pd.DataFrame([[1, "a", "c"], [1, "b", "c"]], columns=["age", "x", "x"])
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    for source in (table, frame, tmp_path / "in.parquet"):
        with pytest.raises(InputError, match="column 'x' occurs 2 times"):
            library.read(source, quasi=["age"])
        for engine in ENGINES:
            data = library.read(source, quasi=["age"], rename_duplicates=True, engine=engine)
            release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian")
            assert rows_of(release.frame) == [(1, "a", "c"), (1, "b", "c")]
            assert list(pl.DataFrame(release.frame).columns) == ["age", "x", "x.1"]
    assert list(frame.columns) == ["age", "x", "x"]
    trimmed = pl.DataFrame({"age": [1, 1], "x": ["a", "b"], " x": ["c", "c"]})
    assert library.read(trimmed, quasi=["age"], rename_duplicates=True).schema.names == ("age", "x", "x.1")


def test_duplicates_in_a_first_record_are_not_shown(shoal, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("\n".join([f"{CANARY},31,{CANARY},7"] * 3) + "\n")
    ran = shoal("diagnose", path, "--quasi", "age")
    assert ran.code == 2 and "column number 1 occurs 2 times" in ran.err


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("line", ["sep=;\r\n", "SEP=;\n", '"sep=;"\n', "sep=|\n", "sep=\t\n"])
@pytest.mark.parametrize("engine", ENGINES)
def test_excel_says_what_the_delimiter_is(start: str, line: str, engine: str, tmp_path: Path) -> None:
    delimiter = next(character for character in ";|\t" if character in line)
    path = tmp_path / "in.csv"
    rows = ["age|sex", *("31|F,a;b" if delimiter == "|" else "31|F,a" for _ in range(4))]
    path.write_text(start + line + "\n".join(rows).replace("|", delimiter) + "\n", encoding="utf-8", newline="")
    data = library.read(path, quasi=["age"], sensitive=["sex"], engine=engine)
    assert data.schema.names == ("age", "sex") and data.records == 4
    assert data.schema["sex"].hierarchy.labels[0].tolist() == ["F,a;b" if delimiter == "|" else "F,a"]


def test_a_ragged_row_after_a_declared_delimiter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("sep=;\nage;sex\n31;F;x\n32;M\n")
    with pytest.raises(InputError, match="1 rows have another number of fields than the header's 2"):
        library.read(path, quasi=["age"])


# spreadsheets


def workbook(path: Path, **sheets: list[list]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [
    ["age", "zip", "born", "seen", "weight", "mixed", "smoker"],
    [31, "01234", dt.date(1984, 5, 17), dt.datetime(2020, 1, 2, 3, 4), 70.5, 1, True],
    [45, "01235", dt.date(1991, 6, 18), dt.datetime(2020, 1, 2), 71, "one", False],
    [None] * 7,
    [45, None, None, None, None, None, None],
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_spreadsheet(engine: str, tmp_path: Path) -> None:
    path = workbook(tmp_path / "in.xlsx", People=ROWS, Empty=[])
    data = library.read(path, quasi=["age", "zip", "born"], sensitive=["mixed"], engine=engine)
    assert data.records == 3
    assert data.schema["age"].hierarchy.labels[0].tolist() == ["31", "45"]
    assert data.schema["zip"].hierarchy.labels[0].tolist() == [None, "01234", "01235"]
    assert data.schema["born"].hierarchy.labels[0].tolist() == [None, "1984-05-17", "1991-06-18"]
    assert set(data.schema["mixed"].hierarchy.labels[0]) == {None, "1", "one"}
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian", seed=1)
    assert sorted(map(str, release.frame["weight"].to_list())) == ["70.5", "71.0", "None"]
    assert set(release.frame["seen"]) == {dt.datetime(2020, 1, 2, 3, 4), dt.datetime(2020, 1, 2), None}
    release.write(tmp_path / "out.csv")
    assert library.verify(tmp_path / "out.csv").holds


def test_sheets_headings_and_row_numbers_of_a_workbook(tmp_path: Path, told: list[str], shoal) -> None:
    numbered = [["", "age", "x", "x"], *([row, 31, "a", "b"] for row in range(4))]
    path = workbook(tmp_path / "in.xlsx", First=[["age"], [1]], Second=numbered, Third=[])
    with pytest.raises(InputError, match=r"there are 2 sheets; name one of 'First', 'Second'"):
        library.read(path, quasi=["age"])
    with pytest.raises(InputError, match="there is no sheet 'Fourth'; there are 'First', 'Second', 'Third'"):
        library.read(path, quasi=["age"], sheet="Fourth")
    with pytest.raises(InputError, match="the sheet 'Third' is empty"):
        library.read(path, quasi=["age"], sheet="Third")
    with pytest.raises(InputError, match="column 'x' occurs 2 times"):
        library.read(path, quasi=["age"], sheet="Second")
    assert library.read(path, quasi=["age"], sheet="First").records == 1
    data = library.read(path, quasi=["age"], sheet="Second", rename_duplicates=True)
    assert data.schema.names == ("age", "x", "x.1") and len(told) == 1
    ran = shoal("anonymize", path, "--sheet", "Second", "--rename-duplicates", "--quasi", "age", "--k", 4,
                "-o", tmp_path / "out.csv", "--save-job", tmp_path / "job.toml")  # fmt: skip
    assert ran.code == 0
    again = shoal("anonymize", "--job", tmp_path / "job.toml", "-o", tmp_path / "again.csv")
    assert again.code == 0 and (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("in.xlsx", "fastexcel", "excel"), ("in.dta", "pyreadstat", "statistics"), ("in.sav", "pyreadstat", "statistics")],
)
def test_a_missing_extra_is_named_before_any_work(
    name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shoal
) -> None:
    (tmp_path / name).write_bytes(b"whatever it is")
    monkeypatch.setitem(sys.modules, module, None)
    ran = shoal("anonymize", tmp_path / name, "--quasi", "age", "--k", 2, "-o", tmp_path / "out.csv")
    assert ran.code == 2 and f"pip install 'shoal[{extra}]'" in ran.err
    with pytest.raises(MissingExtraError):
        library.read(tmp_path / name, quasi=["age"])


@pytest.mark.parametrize("ending", ["xlsx", "xls", "ods", "dta", "sav", "sas7bdat", "xpt", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", CANARY.encode() * 50, b"PK\x03\x04" + CANARY.encode(), b'{"a": 1}\n{"a": {]'])
def test_files_that_are_not_what_they_say(ending: str, content: bytes, tmp_path: Path, shoal) -> None:
    (tmp_path / f"in.{ending}").write_bytes(content)
    ran = shoal("diagnose", tmp_path / f"in.{ending}", "--quasi", "a")
    assert ran.code == 2 and f"in.{ending}: " in ran.err


# statistics files

CODED = pd.DataFrame({"age": [31.0, 45.0, 31.0, 99.0], "sex": [1.0, 2.0, 1.0, 2.0], "town": ["a", "b", "a", "b"]})
LABELS = {"sex": {1.0: "female", 2.0: "male"}, "age": {99.0: "not stated"}}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ending", ["dta", "sav", "zsav"])
def test_labels_are_values_where_all_have_one(ending: str, engine: str, tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / f"in.{ending}"
    if ending == "dta":
        pyreadstat.write_dta(CODED.astype({"age": int, "sex": int}), path, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(CODED, path, variable_value_labels=LABELS, compress=ending == "zsav")
    data = library.read(path, quasi=["age", "sex"], sensitive=["town"], engine=engine)
    assert data.schema["sex"].hierarchy.labels[0].tolist() == ["female", "male"]
    assert data.schema["age"].kind == "numeric"
    assert data.schema["age"].hierarchy.labels[0].tolist() == ["31", "45", "99"]
    assert len(told) == 1 and "column 'age' keeps its codes" in told[0] and "stated" not in told[0]
    release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian", seed=1)
    release.write(tmp_path / "out.csv")
    assert library.verify(tmp_path / "out.csv").holds
    assert Counter(release.frame["town"]) == {"a": 2, "b": 2}


def test_transport_files_of_sas(tmp_path: Path) -> None:
    pyreadstat.write_xport(CODED, tmp_path / "in.xpt")
    data = library.read(tmp_path / "in.xpt", quasi=["age", "sex"])
    assert data.records == 4 and data.schema["sex"].hierarchy.labels[0].tolist() == ["1", "2"]


def test_a_format_is_known_by_its_beginning_or_said(tmp_path: Path) -> None:
    workbook(tmp_path / "a", People=[["age"], [31], [32]])
    pyreadstat.write_sav(CODED, tmp_path / "b")
    (tmp_path / "c").write_text('{"age": 31}\n{"age": 32}\n')
    assert library.read(tmp_path / "a", quasi=["age"]).records == 2
    assert library.read(tmp_path / "b", quasi=["age"]).records == 4
    assert library.read(tmp_path / "c", quasi=["age"], format="jsonl").records == 2
    with pytest.raises(ParameterError, match="there is no such format; choose one of csv, parquet"):
        library.read(tmp_path / "c", quasi=["age"], format="json")


# JSON lines


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["in.jsonl", "in.ndjson", "in.jsonl.gz"])
def test_json_lines(name: str, engine: str, tmp_path: Path) -> None:
    records = [
        {"age": 31, "born": "1984-05-17", "town": "ä"},
        {"age": 31, "town": None, "born": "1984-05-17"},
        {"age": 45.5, "extra": [1]},
    ]
    content = "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    data = library.read(tmp_path / name, quasi=["age", "born"], sensitive=["town"], engine=engine)
    assert data.schema.names == ("age", "born", "town", "extra")
    assert data.schema["age"].hierarchy.labels[0].tolist() == ["31", "45.5"]
    assert data.schema["born"].hierarchy.labels[0].tolist() == [None, "1984-05-17"]
    assert data.schema["town"].hierarchy.labels[0].tolist() == [None, "ä"]


def test_json_lines_of_mixed_types_are_texts_or_stop(tmp_path: Path, shoal) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"age": 1, "x": 1}\n{"age": 2, "x": "one"}\n{"age": 3, "x": {"y": 1}}\n')
    labels = library.read(path, quasi=["age"], sensitive=["x"]).schema["x"].hierarchy.labels[0]
    assert set(labels) == {"1", "one", '{"y": 1}'}
    for second in ("[1, 2]", '{"age": tru', '{"age": NaN}', '{"age": "\\ud800"}', CANARY):
        path.write_text('{"age": 1}\n' + second + "\n")
        assert shoal("diagnose", path, "--quasi", "age").code == 2


def test_json_lines_keep_numbers_truth_and_what_objects_lack(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    rows = [{"a": 2**60}, {}, {"b": True, "a": 0.5}, {"a": -1, "c": 2**70}, {"c": 1, "b": 1}]
    path.write_bytes(b"\xef\xbb\xbf" + "\n\n".join(map(json.dumps, rows)).encode())
    data = library.read(path, quasi=["a", "b", "c"])
    shown = {name: data.schema[name].hierarchy.labels[0][data.codes(name)].tolist() for name in "abc"}
    assert shown == {
        "a": [str(2**60), None, "0.5", "-1", None],
        "b": [None, None, "true", None, "1"],
        "c": [None, None, None, str(2**70), "1"],
    }


# several files


@pytest.mark.parametrize("engine", ENGINES)
def test_parquet_folders_and_patterns(engine: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "year=2020").mkdir(parents=True)
    table = pa.table({"age": [31, 45, 31, 45], "town": pa.array(["a", "b", "a", None]).dictionary_encode()})
    pa.parquet.write_table(table.slice(0, 3), folder / "a.parquet")
    pa.parquet.write_table(table.slice(3), folder / "year=2020" / "b.parquet")
    pa.parquet.write_table(table.slice(3), folder / "c.parquet")
    data = library.read(folder, quasi=["age"], sensitive=["town"], engine=engine)
    assert data.records == 5
    assert Counter(library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian").frame["town"]) == {
        "a": 2,
        "b": 1,
        None: 2,
    }
    assert library.read(folder / "*.parquet", quasi=["age"], engine=engine).records == 4
    assert library.read(str(folder / "a*"), quasi=["age"], engine=engine).records == 3
    pa.parquet.write_table(pa.table({"age": [1], "x": ["a"]}), folder / "d.parquet")
    with pytest.raises(InputError, match=r"its columns are not those of a\.parquet: they differ in"):
        library.read(folder, quasi=["age"], engine=engine)
    (folder / "e.csv").write_text("age,town\n1,a\n")
    with pytest.raises(InputError, match="several files are read together when all are Parquet"):
        library.read(folder / "[ae].*", quasi=["age"], engine=engine)
    with pytest.raises(InputError, match="no Parquet files in this folder, or by this pattern"):
        library.read(folder / "*.nothing", quasi=["age"], engine=engine)


def test_a_part_of_a_folder_is_not_overwritten(shoal, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("a", "b"):
        pa.parquet.write_table(pa.table({"age": [31, 31], "note": ["x", "y"]}), folder / f"{name}.parquet")
    ran = shoal("anonymize", folder, "--quasi", "age", "--k", 2, "-o", folder / "b.parquet")
    assert ran.code == 2 and "overwrite a file that is read" in ran.err
    data = library.read(folder, quasi=["age"])
    pa.parquet.write_table(pa.table({"age": [31], "note": ["z"]}), folder / "b.parquet")
    with pytest.raises(ShoalError, match=r"b\.parquet: the file changed"):
        library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian")


def test_columns_left_out_cannot_be_named(tmp_path: Path) -> None:
    path = csv_of(pl.DataFrame({"Unnamed: 0": range(12), **PEOPLE}), tmp_path / "in.csv")
    with pytest.raises(SchemaError, match="no column named 'Unnamed: 0'"):
        library.read(path, quasi=["Unnamed: 0"])


# standard input and output


@pytest.fixture
def piped(commands: Commands) -> Callable[..., tuple[int, bytes, str]]:
    """Runs a command with something in its standard input: its exit code, what it puts out and what it says."""

    def run(*arguments: object, given: bytes = b"") -> tuple[int, bytes, str]:
        done = commands.run(*arguments, given=given)
        return done.code, done.out.encode(), done.err

    return run


ROLES = ("--quasi", "age,sex", "--k", 3, "--seed", 1, "--algorithm", "mondrian")


def test_a_table_comes_in_and_a_release_goes_out(piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where nothing may stay
    source = csv_of(pl.DataFrame(PEOPLE), tmp_path / "in.csv")
    code, out, err = piped("anonymize", "-", "-o", "-", *ROLES, given=source.read_bytes())
    assert code == 0 and "without which nobody can verify it" in err and "3-anonymous" in err
    assert rows_of(pl.read_csv(out)) == rows_of(pl.DataFrame(PEOPLE))
    code, again, err = piped("anonymize", source, "-o", "-", "--manifest", tmp_path / "out.csv.manifest.json", *ROLES)
    assert code == 0 and again == out and "nobody can verify" not in err
    (tmp_path / "out.csv").write_bytes(again)
    assert library.verify(tmp_path / "out.csv").holds
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv", "out.csv.manifest.json"]


def test_a_table_of_another_format_comes_in(piped, tmp_path: Path) -> None:
    content = "\n".join(json.dumps({"age": age}) for age in (31, 31, 45)).encode()
    code, out, err = piped("diagnose", "-", "--format", "jsonl", "--json", given=content)
    assert code == 0 and json.loads(out)["records"] == 3
    held = io.BytesIO()
    pa.parquet.write_table(pa.table(PEOPLE), held)
    code, out, _ = piped("anonymize", "-", "-o", "-", "--json", *ROLES, given=held.getvalue())
    assert code == 0 and rows_of(pl.read_csv(out)) == rows_of(pl.DataFrame(PEOPLE))
    code, out, err = piped("diagnose", "-", given=b"")
    assert code == 2 and err == "error: stdin: the file is empty\n" and out == b""


def test_nothing_goes_out_or_stays_when_it_fails(piped, tmp_path: Path) -> None:
    source = csv_of(pl.DataFrame(PEOPLE), tmp_path / "in.csv")
    manifest = ("--manifest", tmp_path / "m.json")
    for arguments in (("--k", 50), ("--k", 3, "--algorithm", "nothing"), ("--k", 3, "--delimiter", ";;")):
        code, out, err = piped("anonymize", source, "-o", "-", "--quasi", "age", *manifest, *arguments)
        assert code in (2, 3) and out == b"" and "error: " in err
    code, out, err = piped("anonymize", source, "-o", tmp_path / "out.csv", *manifest, *ROLES)
    assert code == 2 and "name its file only with -o -" in err
    code, out, err = piped(
        "anonymize", source, "-o", "-", *manifest, "--quasi", "age", "--sensitive", "sex", "--algorithm", "anatomy",
        "--model", "frequency-l-diversity:l=2",
    )  # fmt: skip
    assert code == 2 and "more than one table" in err and out == b""
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_job_file_of_standard_input_and_output(piped, tmp_path: Path) -> None:
    table, job = pl.DataFrame(PEOPLE).write_csv().encode(), tmp_path / "job.toml"
    code, out, _ = piped("anonymize", "-", "-o", "-", *ROLES, "--save-job", job, given=table)
    assert code == 0 and 'path = "-"' in job.read_text()
    assert piped("anonymize", "--job", job, given=table)[1] == out
