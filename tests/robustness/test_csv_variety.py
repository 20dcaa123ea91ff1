"""CSV as people write it: read, publish, verify, and every value comes back as it was."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import shoal as library

ODD = [
    "plain",
    "with, comma",
    "semi;colon",
    'a "quoted" word',
    "two\nlines",
    "ümlaut — 漢字",
    "*",
    "NA",
    "[1-2]",
    "{a|b}",
]


def written(delimiter: str = ",", line_end: str = "\n", cells: list[str] | None = None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end)
    writer.writerow(["group", "note", "age"])
    for row in range(60):
        values = cells or ODD
        writer.writerow([values[row % len(values)], values[(row + 1) % len(values)], 20 + row % 7])
    return text.getvalue()


def released(source: Path, target: Path, **settings) -> list[list[str]]:
    """Everything in classes large enough already, so that values are published as they are."""
    data = library.read(source, quasi=["group"], **settings)
    library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian", allow_plain=["note"]).write(target)
    assert library.verify(target).holds
    library.evaluate(data, target)
    assert len(data.summary) == len(ODD)
    with target.open(encoding="utf-8", newline="") as file:
        published = library.read(target, quasi=["group"]).table.source.dialect
        return list(csv.reader(file, delimiter=published.delimiter))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(delimiter: str, line_end: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    text = written(delimiter, line_end)
    source.write_text(text, encoding="utf-8", newline="")
    before = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    after = released(source, tmp_path / "out.csv")
    assert after[0] == before[0]
    assert Counter(map(tuple, after[1:])) == Counter(map(tuple, before[1:]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.zst"])
@pytest.mark.smoke
def test_encodings_and_compression(encoding: str, ending: str, tmp_path: Path) -> None:
    source = tmp_path / f"table{ending}"
    content = written().encode(encoding)
    with pa.output_stream(str(source)) as stream:
        stream.write(content)
    if ending == ".csv":
        source.write_bytes(content)
    before = list(csv.reader(io.StringIO(written())))
    after = released(source, tmp_path / "out.csv")
    assert Counter(map(tuple, after)) == Counter(map(tuple, before))
    packed = tmp_path / f"packed{ending}"
    data = library.read(source, quasi=["group"])
    library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian", allow_plain=["note"]).write(packed)
    assert library.verify(packed).holds


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize(
    "cells", [["Müller", "Köln"], ["François", "x"], ["Besançon", "fièvre"], ["Ørsted", "Ærø"], ["°C", "y"]]
)
def test_western_encodings_are_recognized(encoding: str, cells: list[str], tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(written(cells=cells).encode(encoding))
    data = library.read(source, quasi=["group"])
    assert sorted(data.hierarchies[0].labels[0]) == sorted(cells)


def test_an_encoding_that_is_named(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(written(cells=["Łódź", "Kraków"]).encode("cp1250"))
    for name in ("cp1250", "windows-1250", "CP1250"):
        data = library.read(source, quasi=["group"], encoding=name)
        assert sorted(data.hierarchies[0].labels[0]) == ["Kraków", "Łódź"]
    source.write_bytes(written(cells=["Łódź", "Kraków"]).encode("utf-16-le"))
    data = library.read(source, quasi=["group"], encoding="UTF-16LE")
    assert sorted(data.hierarchies[0].labels[0]) == ["Kraków", "Łódź"]


@pytest.mark.parametrize(("encoding", "cells"), [("cp1251", ["Москва", "Казань"]), ("gb18030", ["北京", "上海"])])
def test_other_encodings_are_never_guessed(encoding: str, cells: list[str], tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(written(cells=cells).encode(encoding))
    with pytest.raises(library.errors.InputError, match="name its encoding"):
        library.read(source, quasi=["group"])
    data = library.read(source, quasi=["group"], encoding=encoding)
    assert sorted(data.hierarchies[0].labels[0]) == sorted(cells)


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\r\n\r\n"])
def test_ends_of_files(end: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("age,sex\n30,F\n31,M" + end, newline="")
    assert library.read(source, quasi=["age", "sex"]).records == 2


def test_blanks_after_delimiters(tmp_path: Path) -> None:
    source = tmp_path / "adult.data"
    source.write_text("age, sex, work\n39, Male, State-gov\n50, Male, ?\n38, Male , State-gov\n")
    data = library.read(source, quasi=["sex", "work", "age"], missing=["?"])
    assert data.schema.names == ("age", "sex", "work")
    assert data.schema["sex"].hierarchy.labels[0].tolist() == ["Male"]
    assert data.schema["work"].hierarchy.labels[0].tolist() == [None, "State-gov"]
    assert data.schema["age"].kind == "numeric"


NAMES = [
    "two words",
    'a "quoted" name',
    "*",
    "naïve 漢",
    "with, comma",
    "semi;colon",
    "a.b",
    "a",
    "index",
    "level",
    "0",
]


def test_odd_names(tmp_path: Path, shoal) -> None:
    source, target = tmp_path / "table.csv", tmp_path / "out.csv"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([f" {name} " for name in NAMES])
    writer.writerows([[f"v{(row * place) % 3}" for place in range(1, len(NAMES) + 1)] for row in range(40)])
    source.write_text(text.getvalue(), encoding="utf-8")
    for ending in ("csv", "parquet", "arrow"):
        target = tmp_path / f"out.{ending}"
        data = library.read(source, quasi=NAMES[:6], sensitive=["a.b"], identifiers=["index"])
        allowed = {"rows_are_people": True, "allow_plain": ["a", "level", "0"]}
        library.anonymize(data, library.KAnonymity(k=3), **allowed).write(target)
        assert library.verify(target).holds
        again = library.read(target, quasi=["a.b", "a"])
        assert again.schema.names == tuple(name for name in NAMES if name != "index")
    ran = shoal("diagnose", source, "--quasi", '"with, comma",*')
    assert ran.code == 0, ran


def test_single_column_with_missing_values(tmp_path: Path) -> None:
    source, target = tmp_path / "table.csv", tmp_path / "out.csv"
    source.write_text('age\n30\n""\n30\n""\n31\n31\n')
    data = library.read(source, quasi=["age"])
    assert data.records == 6
    library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian").write(target)
    assert library.verify(target).holds
    assert sorted(target.read_text().split()) == sorted(['""', '""', '"30"', '"30"', '"31"', '"31"', "age"])


ONE_COLUMN = {
    "inside": (b"age\n30\n\n30\n\n31\n31\n", 2),
    "at the end": (b"age\n30\n30\n31\n31\n\n\n", 2),
    "at the end, without a last line end": (b"age\n\n\n30\n30\n31\n31", 2),
    "before the header": (b"\n\nage\n30\n\n30\n\n31\n31\n", 2),
    "of Windows": (b"\r\nage\r\n30\r\n\r\n30\r\n\r\n31\r\n31\r\n", 2),
    "of blanks": (b"age\n30\n  \n30\n \n31\n31\n", 2),
    "below a byte order mark": (b"\xef\xbb\xbfage\n30\n\n30\n\n31\n31\n", 2),
    "in utf-16": ("age\n30\n\n30\n\n31\n31\n".encode("utf-16"), 2),
    "below what Excel says": (b"sep=;\nage\n30\n\n30\n\n31\n31\n", 2),
    "beside quoted ones": (b'age\n30\n\n30\n""\n31\n31\n', 2),
}


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize("where", ONE_COLUMN)
def test_an_empty_line_of_one_column_is_a_record(where: str, engine: str, tmp_path: Path) -> None:
    source, target = tmp_path / "table.csv", tmp_path / "out.csv"
    content, empty = ONE_COLUMN[where]
    source.write_bytes(content)
    data = library.read(source, quasi=["age"], engine=engine)
    assert data.records == 4 + empty and data.schema["age"].hierarchy.missing
    library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian").write(target)
    assert library.verify(target, engine=engine)["published"].value == 4 + empty
    rows = list(csv.reader(target.open(newline="")))[1:]
    assert sorted(rows) == [[""]] * empty + [["30"], ["30"], ["31"], ["31"]]
    for read in (pandas.read_csv, polars.read_csv):
        assert len(read(target)) == 4 + empty  # type: ignore[operator]
    assert duckdb.read_csv(str(target)).fetchall().count((None,)) == empty


def test_an_empty_line_of_several_columns_is_none(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(b"\nage,sex\n\n30,F\n\n31,M\n\n")
    assert [library.read(source, quasi=["age"], engine=each).records for each in ("embedded", "duckdb")] == [2, 2]


def test_empty_lines_of_a_large_file(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    for end in (b"\n", b"\r\n"):
        source.write_bytes(b"age" + end + (b"a text of a dozen signs" + end + end) * 700_000)
        data = library.read(source, quasi=["age"])
        assert data.records == 1_400_000 and data.summary.sizes.tolist() == [700_000, 700_000]


@pytest.mark.parametrize(
    ("cells", "kind", "published"),
    [
        (["1", "2", "30"], "numeric", None),
        (["1e3", "-5", "3.50", "+7", ".5"], "numeric", ["1000", "-5", "3.5", "7", "0.5"]),
        (["007", "042", "1"], "categorical", None),
        (["008.45", "250.00", "12"], "categorical", None),
        (["250.0", "250.00", "12"], "numeric", ["250", "250", "12"]),
        (["9007199254740992", "9007199254740993", "1"], "categorical", None),
        (["9007199254740993", "12"], "numeric", None),
        (["1", "2", "x"], "categorical", None),
        (["1.0", "2", "x"], "categorical", None),
        (["1_000", "2"], "categorical", None),
        (["true", "false"], "categorical", None),
        (["2020-01-31", "1999-12-01"], "date", None),
        (["2020-01-31 10:20", "1999-12-01T00:00:00.5"], "date", ["2020-01-31T10:20:00", "1999-12-01T00:00:00.5"]),
        (["0000-00-00", "1999-12-01"], "categorical", None),
        (["2020-13-01", "1999-12-01"], "categorical", None),
        (["1/2/20", "3/4/21"], "categorical", None),
        (["1 234", "5 678"], "categorical", None),
        (["e\u0301", "a\u00a0b", "\u200bx"], "categorical", ["é", "a b", "x"]),
    ],
)
def test_what_values_are(cells: list[str], kind: str, published: list[str] | None, tmp_path: Path) -> None:
    source, target = tmp_path / "table.csv", tmp_path / "out.csv"
    source.write_text("x,secret\n" + "".join(f"{cell},{cell}\n" * 3 for cell in cells), encoding="utf-8")
    data = library.read(source, quasi=["x"], sensitive=["secret"])
    assert data.schema["x"].kind == kind
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian")
    release.write(target)
    assert library.verify(target).holds
    for name in ("x", "secret"):
        assert sorted(release.frame[name].to_list()) == sorted((published or cells) * 3)


def test_no_number_among_numbers_is_missing_and_an_infinite_one_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("x\n" + "20\nNaN\n22\n" * 2, encoding="utf-8")
    data = library.read(source, quasi=["x"])
    assert data.schema["x"].kind == "numeric" and data.schema["x"].hierarchy.missing
    source.write_text("x\nNaN\nMary\n", encoding="utf-8")
    assert library.read(source, quasi=["x"]).schema["x"].kind == "categorical"
    source.write_text("x\n20\n-inf\n", encoding="utf-8")
    with pytest.raises(library.errors.InputError, match="infinite"):
        library.read(source, quasi=["x"])


def test_long_fields_do_not_hide_the_delimiter(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("age;note\n30;x\n31;" + "y" * 200_000 + "\n30;z\n")
    data = library.read(source, quasi=["age"])
    assert data.schema.names == ("age", "note") and data.records == 3


def test_gzip_by_content_not_by_name(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(gzip.compress(written().encode()))
    assert library.read(source, quasi=["group"]).records == 60


def test_delimiter_by_name(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("age\tsex\n30\tF\n")
    assert library.read(source, quasi=["sex"], delimiter="\t").records == 1


@pytest.mark.parametrize(
    "encoding",
    ["punycode", "idna", "undefined", "unicode_escape", "raw-unicode-escape", "base64", "rot13", "zlib", "hex", "bz2",
     "uu", "quopri", "\ud800", "a\0b", "", "klingon"],
)  # fmt: skip
def test_what_is_no_text_encoding_is_refused(encoding: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("age,sex\n30,F\n")
    with pytest.raises(library.errors.ParameterError, match="there is no encoding") as refused:
        library.read(source, quasi=["age"], encoding=encoding)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("encoding", ["utf-32", "utf-7", "shift_jis", "iso2022_jp", "koi8-r", "mac-roman", "cp037"])
def test_every_text_encoding_can_be_named(encoding: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes("age,sex\n30,F\n31,M\n".encode(encoding))
    assert library.read(source, quasi=["age"], encoding=encoding).records == 2


def test_utf_32_is_known_by_its_mark(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(written().encode("utf-32"))
    assert library.read(source, quasi=["group"]).records == 60
