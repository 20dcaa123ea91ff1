"""Parquet, Arrow IPC and frames: columns of every type are read, published, verified and given back."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from counts import LONG, long_on_spark

import shoal as library
from shoal import registry
from shoal.api import publish
from shoal.core.recoding import Recoding
from shoal.errors import InputError, ParameterError, SchemaError, ShoalError

MOMENT = dt.datetime(2021, 3, 4, 5, 6, 7)
COLUMNS = {
    "int8": pa.array([1, 2, 3] * 6, pa.int8()),
    "int64": pa.array([2**60, 2**60 + 1, -5] * 6),
    "uint64": pa.array([2**64 - 1, 2**64 - 2, 5] * 6, pa.uint64()),
    "float": pa.array([0.5, -1.25, 1e300] * 6),
    "float32": pa.array([0.1, 2.0, 3.5] * 6, pa.float32()),
    "nan": pa.array([0.5, float("nan"), 2.0] * 6),
    "bool": pa.array([True, False, None] * 6),
    "date": pa.array([dt.date(1984, 5, 17), dt.date(2000, 2, 29), dt.date(1, 1, 1)] * 6),
    "seconds": pa.array([MOMENT, MOMENT + dt.timedelta(days=400), None] * 6, pa.timestamp("s")),
    "nanoseconds": pa.array([1, 10**18, 1_500_000_000_123_456_789] * 6, pa.timestamp("ns")),
    "zoned": pa.array([MOMENT, MOMENT + dt.timedelta(days=99), None] * 6, pa.timestamp("us", "Europe/Paris")),
    "time": pa.array([dt.time(1, 2), dt.time(3, 4), None] * 6),
    "duration": pa.array([dt.timedelta(days=1), dt.timedelta(seconds=5), None] * 6),
    "decimal": pa.array([Decimal("3.50"), Decimal("-100.25"), None] * 6),
    "string": pa.array(["a", 'b,\n"c"', None] * 6),
    "large_string": pa.array(["a", "漢", "*"] * 6, pa.large_string()),
    "string_view": pa.array(["a", "b", None] * 6, pa.string_view()),
    "dictionary": pa.array(["a", "b", None] * 6).dictionary_encode(),
    "dictionary_int8": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0] * 6, pa.int8()), ["x", "y"]),
    "codes": pa.array(["007", "7", "07"] * 6),
    "null": pa.nulls(18),
}
EMPTY = pa.array(["", "x", None] * 6)


def multiset(table: pa.Table, name: str) -> Counter:
    return Counter(str(value) for value in table[name].to_pylist())


def stored(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path, compression="uncompressed")
    return path


METRICS = library.api.quick_metrics()
ENDINGS = ("csv", "parquet", "arrow", "csv.gz")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "plain"])
def test_an_arrow_column_in_every_role(name: str, role: str, tmp_path: Path) -> None:
    table = pa.table({"group": ["g", "h"] * 9, name: COLUMNS[name]})
    roles = {"quasi": ["group"], "sensitive": []}
    if role != "plain":
        roles[role] = [*roles[role], name]
    data = library.read(table, **roles)
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian")
    assert isinstance(release.frame, pa.Table)
    assert multiset(release.frame, name) == multiset(table, name) or name == "nan"
    came, given_back = table[name].type, release.frame[name].type
    if pa.types.is_dictionary(came):
        came, given_back = came.value_type, given_back.value_type
    assert given_back == (pa.large_string() if name == "string_view" else came)
    for ending in ENDINGS if LONG or role == "quasi" else ENDINGS[:2]:
        target = tmp_path / f"out.{ending}"
        release.write(target)
        assert library.verify(target).holds
        library.evaluate(data, target, *METRICS)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.smoke
def test_files_hold_every_type(ending: str, tmp_path: Path) -> None:
    columns = {name: column for name, column in COLUMNS.items() if name != "string_view"}
    table = pa.table({**columns, "list": [[1, 2], None, []] * 6, "struct": [{"a": 1}, None, {"a": 2}] * 6})
    source, target = stored(table, tmp_path / f"in.{ending}"), tmp_path / f"out.{ending}"
    before = source.read_bytes()
    data = library.read(source, quasi=["int8", "bool"], sensitive=["decimal"], identifiers=["string"])
    library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian", rows_are_people=True).write(target)
    assert library.verify(target).holds
    reader = pa.parquet.read_table if ending == "parquet" else pa.feather.read_table
    published = reader(target)
    assert published.column_names == [name for name in table.column_names if name != "string"]
    for name in ("list", "struct", "zoned", "int64", "decimal", "int8"):
        assert multiset(published, name) == multiset(table, name), name
    assert source.read_bytes() == before


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_release_keeps_odd_texts(ending: str, tmp_path: Path) -> None:
    texts = ["*", "NA", "[1-2]", "{a|b}", "two\nlines", 'say "x"', "ümlaut", "a,b;c\td|e", "0012", "=1+1", "null"]
    table = pa.table({"q": texts * 3 + [None, ""] * 2, "s": texts * 3 + [None, ""] * 2})
    target = tmp_path / f"out.{ending}"
    data = library.read(table, quasi=["q"], sensitive=["s"])
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian")
    release.write(target)
    assert library.verify(target).holds
    again = library.read(target, quasi=["q"], sensitive=["s"])
    for name in ("q", "s"):
        labels = again.schema[name].hierarchy.labels[0]
        assert Counter(labels[again.codes(name)]) == Counter(texts * 3 + [None] * 4)


@pytest.mark.parametrize("role", ["quasi", "sensitive", "identifiers"])
def test_nested_and_binary_columns_have_no_role(role: str) -> None:
    for column in ([[1], [2]], [{"a": 1}, {"a": 2}], [b"x", b"\xff"]):
        table = pa.table({"group": ["g", "g"], "odd": column})
        with pytest.raises(SchemaError, match="'odd'"):
            roles = {"quasi": ["group"], role: ["odd"]}
            data = library.read(table, **roles)
            library.anonymize(data, library.KAnonymity(k=1), algorithm="mondrian", pseudonyms=library.Pseudonyms())


def test_nested_columns_do_not_go_into_csv(tmp_path: Path) -> None:
    data = library.read(pa.table({"group": ["g", "g"], "odd": [[1], [2]]}), quasi=["group"])
    release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian")
    with pytest.raises(ShoalError, match=r"out\.csv: column 'odd' .*parquet"):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_infinite_numbers_are_refused_where_they_count() -> None:
    table = pa.table({"x": [1.0, float("inf")], "y": [1, 1]})
    with pytest.raises(InputError, match="infinite"):
        library.read(table, quasi=["x"])
    assert library.read(table, quasi=["y"]).records == 2


def people() -> dict[str, list]:
    return {"age": [30, 30, 31, 31] * 5, "sex": ["F", "F", "M", "M"] * 5, "note": [f"n{row}" for row in range(20)]}


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (lambda: pd.DataFrame(people(), index=range(100, 120)), pd.DataFrame),
        (lambda: pl.DataFrame(people()), pl.DataFrame),
        (lambda: pl.LazyFrame(people()), pl.DataFrame),
        (lambda: pa.table(people()), pa.Table),
    ],
)
@pytest.mark.smoke
def test_frames_come_back_as_they_came(frame, kind: type) -> None:
    given = frame()
    copy = given.copy() if isinstance(given, pd.DataFrame) else None
    data = library.read(given, quasi=["age", "sex"])
    release = library.anonymize(data, library.KAnonymity(k=5), algorithm="mondrian", allow_plain=["note"])
    assert isinstance(release.frame, kind)
    assert list(release.frame.columns if kind is not pa.Table else release.frame.column_names) == ["age", "sex", "note"]
    assert sorted(pl.DataFrame(release.frame).rows()) == sorted(pl.DataFrame(people()).rows())
    if copy is not None:
        pd.testing.assert_frame_equal(given, copy)
        assert release.frame.index.equals(pd.RangeIndex(20))


@pytest.mark.smoke
def test_dtypes_of_pandas_survive() -> None:
    frame = pd.DataFrame(
        {
            "age": pd.array([30, None] * 10, dtype="Int64"),
            "big": pd.array([2**60 + 1, None] * 10, dtype="Int64"),
            "flag": pd.array([True, None] * 10, dtype="boolean"),
            "text": pd.array(["a", None] * 10, dtype="string"),
            "kind": pd.Categorical(["x", "y"] * 10, categories=["x", "y", "never"]),
            "when": pd.to_datetime(["2020-01-01", "2021-02-03"] * 10),
            "count": np.arange(20),
            "small": np.arange(20, dtype=np.int16),
        }
    )
    data = library.read(frame, quasi=["age", "kind"])
    release = library.anonymize(data, library.KAnonymity(k=5), algorithm="mondrian")
    assert release.frame.dtypes.drop("kind").to_dict() == frame.dtypes.drop("kind").to_dict()
    assert sorted(release.frame["kind"].cat.categories) == ["x", "y"]
    assert sorted(release.frame["big"].dropna()) == [2**60 + 1] * 10
    assert sorted(release.frame["count"]) == list(range(20))


@pytest.mark.smoke
def test_dtypes_of_polars_survive() -> None:
    frame = pl.DataFrame(
        {
            "age": [30, None] * 10,
            "kind": pl.Series(["x", "y"] * 10, dtype=pl.Enum(["x", "y", "never"])),
            "other": pl.Series(["x", "y"] * 10, dtype=pl.Categorical),
            "when": [dt.date(2020, 1, 1), None] * 10,
            "moment": [MOMENT, None] * 10,
            "tiny": pl.Series([1, 2] * 10, dtype=pl.UInt8),
            "money": pl.Series([Decimal("1.20"), None] * 10, dtype=pl.Decimal(10, 2)),
            "list": [[1, 2], None] * 10,
        }
    )
    data = library.read(frame, quasi=["age", "kind", "tiny", "when"])
    release = library.anonymize(data, library.KAnonymity(k=5), algorithm="mondrian", allow_plain=["other"])
    for name in ("age", "when", "moment", "tiny", "money", "list"):
        assert release.frame[name].dtype == frame[name].dtype, name
    for name in ("kind", "other"):
        assert release.frame[name].dtype == pl.Categorical
        assert sorted(release.frame[name].to_list()) == ["x"] * 10 + ["y"] * 10


def test_a_category_of_withheld_records_is_withheld() -> None:
    frame = pd.DataFrame({"age": [30] * 9 + [99], "kind": pd.Categorical(["x"] * 9 + ["rare"])})
    data = library.read(frame, quasi=["age"])
    release = publish(data, Recoding.at_levels(data.summary, (0,), np.array([False, True])))
    assert release.frame["kind"].cat.categories.tolist() == ["x"]


def test_frames_that_are_none() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for bad in (twice, pa.table([[1], [2]], names=["a", "a"]), 7, None, [1, 2], {"a": [1]}):
        with pytest.raises(InputError):
            library.read(bad, quasi=["a"])
    for empty in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []})):
        with pytest.raises(InputError, match="no record"):
            library.read(empty, quasi=["a"])
    with pytest.raises(ShoalError):
        library.read(pl.DataFrame(), quasi=["a"])


@pytest.mark.parametrize("cells", [[1, "x", 2.5], [1, {"a": 2}, "x"], [object(), 1, 2]])
def test_columns_of_mixed_types_are_refused(cells: list) -> None:
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": ["u", "v", "w"]})
    with pytest.raises(InputError, match="'a' mixes types"):
        library.read(frame, quasi=["b"])
    with pytest.raises(InputError, match="'a'"):
        library.read(pl.DataFrame({"a": pl.Series(cells, dtype=pl.Object), "b": ["u", "v", "w"]}), quasi=["b"])


def test_columns_that_are_numbered(tmp_path: Path) -> None:
    frame = pd.DataFrame({0: [1, 1, 2, 2], 1: ["a", "b", "c", "d"]})
    release = library.anonymize(library.read(frame, quasi=["0"]), library.KAnonymity(k=2), algorithm="mondrian")
    assert list(release.frame.columns) == ["0", "1"]


def test_spellings_of_missing_values_count_in_frames_and_files(tmp_path: Path) -> None:
    table = pa.table({"age": ["30", "?", " ? ", "31"]})
    for source in (table, stored(table, tmp_path / "in.parquet"), stored(table, tmp_path / "in.arrow")):
        data = library.read(source, quasi=["age"], missing=["?"])
        assert data.schema["age"].kind == "numeric"
        assert data.hierarchies[0].labels[0].tolist() == [None, "30", "31"]


def test_a_format_is_known_by_its_content(tmp_path: Path) -> None:
    table = pa.table({"age": [30, 31]})
    for name in ("in.parquet", "in.arrow"):
        content = stored(table, tmp_path / name).read_bytes()
        for other in ("x.csv", "x.PARQUET", "x.data", "x.Feather"):
            (tmp_path / other).write_bytes(content)
            assert library.read(tmp_path / other, quasi=["age"]).records == 2


def test_dots_in_names_of_parquet_columns(tmp_path: Path) -> None:
    source = stored(pa.table({"a": [1, 1], "a.b": [2, 2], "c.d": ["x", "y"]}), tmp_path / "in.parquet")
    data = library.read(source, quasi=["a.b", "a"])
    release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian")
    assert release.frame.columns == ["a", "a.b", "c.d"]


@pytest.mark.parametrize(
    "numbers", [[0.0, -0.0, 0.5], [5.0, 2.0**53, 2.0**53 + 2], [1e300, 0.1, 2.0], [1e16, 1e22, 3.0]]
)
def test_numbers_that_files_spell_in_another_way(numbers: list[float], tmp_path: Path) -> None:
    table = pa.table({"q": numbers * 3, "s": numbers * 3})
    data = library.read(table, quasi=["q"], sensitive=["s"])
    release = library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian")
    for ending in ("csv", "parquet"):
        target = tmp_path / f"out.{ending}"
        release.write(target)
        assert library.verify(target).holds
        assert library.evaluate(data, target).as_dict() == library.evaluate(data, release).as_dict()


def test_a_hierarchy_that_spells_numbers_in_another_way(tmp_path: Path) -> None:
    tree, target = tmp_path / "x.csv", tmp_path / "out.csv"
    tree.write_text("30.0;[30-31];*\n31.0;[30-31];*\n4e1;[40-41];*\n")
    table = pa.table({"q": [30, 31, 40] * 3, "s": [30, 31, 40] * 3})
    data = library.read(table, quasi=["q"], sensitive=["s"], hierarchies={"q": tree, "s": tree})
    library.anonymize(data, library.KAnonymity(k=3), algorithm="mondrian").write(target)
    assert library.verify(target).holds
    assert library.evaluate(data, target, "gcp")["gcp"].value == 0


@pytest.mark.parametrize("builder", ["masking", "ordering", "dates", "intervals:width=5", "automatic"])
def test_a_column_without_any_value_suits_every_builder(builder: str) -> None:
    data = library.read(pa.table({"q": pa.nulls(4, pa.string())}), quasi=["q"], hierarchies={"q": builder})
    release = library.anonymize(data, library.KAnonymity(k=4), algorithm="mondrian")
    assert release.frame["q"].null_count == 4


def _as_frames(names: list[str]) -> dict[str, object]:
    columns = [pa.array(values) for values in (["g", "g", "h", "h"], ["x", "y", "x", "y"], [1, 2, 3, 4])]
    table = pa.table(columns, names=names)
    polars = pl.DataFrame({name: column.to_pylist() for name, column in zip(names, columns, strict=True)})
    return {"arrow": table, "polars": polars, "pandas": table.to_pandas()}


ODD_NAMES = {
    "newline": "no\nte",
    "tab": "no\tte",
    "escape": "\x1b[31mnote",
    "empty": "",
    "blank": "  ",
    "long": "n" * 256,
    "equal after trimming": " group",
    "turned": "no\u202ete",
    "zero": "no\0te",
}


@pytest.mark.parametrize("case", ODD_NAMES)
def test_names_that_no_release_could_carry_are_refused(case: str, tmp_path: Path) -> None:
    name = ODD_NAMES[case]
    frames = _as_frames(["group", name, "secret"])
    pa.parquet.write_table(frames["arrow"], tmp_path / "table.parquet")
    pa.feather.write_feather(frames["arrow"], tmp_path / "table.arrow")
    written = tmp_path / "table.csv"
    with written.open("w", newline="") as file:
        csv.writer(file).writerows([["group", name, "secret"], ["g", "x", "1"], ["h", "y", "2"]])
    for source in (*frames.values(), tmp_path / "table.parquet", tmp_path / "table.arrow", written):
        with pytest.raises(ShoalError) as refused:
            library.read(source, quasi=["group"], sensitive=["secret"])
        assert str(refused.value).isprintable()
        if not (
            case == "zero" and isinstance(source, Path) and source.suffix == ".csv"
        ):  # which is no text file at all
            assert re.search(r"1 of 3 columns|column 'group' occurs 2 times", str(refused.value))


def test_blanks_around_names_do_not_count(tmp_path: Path) -> None:
    frames = _as_frames(["group ", "\ufeff note", 'a "quoted", name\t'])
    pa.parquet.write_table(frames["arrow"], tmp_path / "table.parquet")
    pa.feather.write_feather(frames["arrow"], tmp_path / "table.arrow")
    for source in (*frames.values(), *tmp_path.iterdir()):
        data = library.read(source, quasi=["group"], sensitive=['a "quoted", name'])
        assert data.schema.names == ("group", "note", 'a "quoted", name')
        for ending in ("csv", "tsv", "parquet", "arrow"):
            target = tmp_path / "out" / f"release.{ending}"
            target.parent.mkdir(exist_ok=True)
            library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian").write(target)
            assert library.verify(target).holds
            assert library.read(target, quasi=["note"]).schema.names == data.schema.names


def test_a_frame_whose_names_are_a_record_is_not_recited() -> None:
    headed = pl.DataFrame(
        {"Ann": ["Bob", "Eve"], "Frost": ["Lee", "Frost"], "1984-05-17": ["1990-01-01", "1991-01-01"]}
    )
    for frame in (headed, headed.to_pandas(), headed.to_arrow()):
        with pytest.raises(SchemaError, match="its 3 fields are not shown"):
            library.read(frame, quasi=["age"])


def test_text_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    halves = pd.Series(["a", "b\ud800"], dtype=object)
    torn = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 4], np.int32)), pa.py_buffer(b"a\xed\xa0\x80")]
    )
    file = tmp_path / "torn.parquet"
    pa.parquet.write_table(pa.table({"x": torn, "y": [1, 2]}), file)
    for source in (pd.DataFrame({"x": halves, "y": [1, 2]}), pa.table({"x": torn, "y": [1, 2]}), file):
        with pytest.raises(InputError, match="column 'x' holds text that is not"):
            library.read(source, quasi=["x"])
    with pytest.raises(InputError, match="column 'x' holds text that is not"):
        library.anonymize(library.read(file, quasi=["y"]), library.KAnonymity(k=1), algorithm="mondrian")


@pytest.mark.parametrize("missing", [["\ud800"], [5], [None], ["a\0"]])
def test_spellings_of_missing_values_are_texts(missing: list, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("x,y\na,1\nb,2\n")
    for source in (file, pl.read_csv(file)):
        with pytest.raises(ParameterError, match="spellings"):
            library.read(source, quasi=["x"], missing=missing)
    assert library.read(file, quasi=["x"], missing="a").hierarchies[0].labels[0].tolist() == [None, "b"]


def test_times_in_zones_that_nobody_knows_are_refused() -> None:
    column = pa.array([MOMENT, MOMENT], pa.timestamp("us", tz="Mars/Phobos"))
    with pytest.raises(SchemaError, match="column 'x' has a time zone"):
        library.read(pa.table({"x": column}), quasi=["x"])


@pytest.mark.parametrize("engine", registry.names("engines"))
def test_formulas_are_neutralized_on_request(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    long_on_spark(engine)
    if engine == "spark":
        request.getfixturevalue("spark")
    texts = ["=cmd|' /C calc'!A0", "+49 30", "-5", "@SUM(A1)", "a=b", "1e5"]
    table = pl.DataFrame({"town": ["Ulm"] * 6, "secret": texts, "note": texts[::-1]})
    table.write_csv(tmp_path / "in.csv")
    for wanted, first in ((False, "="), (True, "'")):
        data = library.read(
            tmp_path / "in.csv", quasi=["town"], sensitive=["secret"], neutralize_formulas=wanted, engine=engine
        )
        library.anonymize(data, "k-anonymity:k=2", algorithm="mondrian").write(tmp_path / "out.csv")
        assert library.verify(tmp_path / "out.csv").holds
        written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
        for column in ("secret", "note"):
            assert {text[0] for text in written[column] if "cmd" in text} == {first}
            assert {"-5", "1e5", "a=b"} <= set(written[column])
            assert any(text.lstrip("'") == "@SUM(A1)" and text.startswith("'") == wanted for text in written[column])
