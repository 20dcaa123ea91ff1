"""Large CSV files are read by code of their own. It reads what the parser of small ones reads."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from counts import count
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.common import csv, dictionaries, fields, lines
from shoal.engines.common.dialect import detect
from shoal.errors import InputError

FIELD = st.sampled_from(
    ["a", "b", "", "é", "NA", "10", "007", '"a"', '"b,c"', '"d""e"', '""""', '"two\nlines"', '"two\r\nlines"', '""',
     " a ", "a text of more than twenty-four bytes", "a text of more than twenty-four byteß", "exactly8",
     "sixteen-letters-", "twenty-four-letters-here"]
)  # fmt: skip
ODD = st.sampled_from(['a"b', '"a"b', '"open', "a\rb", "\0", "x,y", '"a"""', "\ufeff"])
ROW = st.lists(FIELD, min_size=3, max_size=3).map(",".join)
ANY_ROW = st.one_of(ROW, ROW, ROW, st.just(""), st.lists(st.one_of(FIELD, ODD), min_size=1, max_size=4).map(",".join))


def outcome(path: Path) -> object:
    """The columns as lists, or what is said of the file."""
    try:
        dialect = detect(path, delimiter=",", encoding="utf-8")
        loaded = csv.load(path, dialect, dialect.names[::-1], ["NA"])
    except InputError as error:
        return str(error)
    return {name: column.to_pylist() for name, column in loaded.items()}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "table.csv"


@settings(deadline=None, max_examples=count(30, 300))
@given(
    header=st.sampled_from(["one,two,three", '"one","two","three"', '"o""ne",two,"th\nree"', "\ufeffone,two,three"]),
    rows=st.lists(ANY_ROW, max_size=25),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    block=st.sampled_from([80, 200, 1 << 12]),
)
@example(header="one,two,three", rows=["a,b,c", "", "a,b,"], end="\r\n", last=False, block=1 << 12)
def test_reads_what_the_parser_reads(
    path: Path, header: str, rows: list[str], end: str, last: bool, block: int
) -> None:
    path.write_bytes((end.join([header, *rows]) + (end if last else "")).encode())
    expected = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "LARGE", 0)
        patch.setattr(fields, "BLOCK", block)
        assert outcome(path) == expected


def columns_of(path: Path, names: list[str], **options: object) -> list[pa.DictionaryArray]:
    with pa.input_stream(str(path)) as stream:
        given = {"delimiter": ",", "header": names, "preamble": 0, "chosen": range(len(names)), "missing": ()}
        return fields.columns(stream, **{**given, **options})


def test_the_usual_file_takes_the_fast_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quoted texts, lines within them, doubled marks, missing values and many different texts are nothing odd."""
    monkeypatch.setattr(fields, "BLOCK", 1 << 12)
    rows = [(f"n{row}" * (row % 17), f'"{row % 7},""x""\n"', "" if row % 3 else "NA") for row in range(3000)]
    path.write_text('"one",two,three\r\n' + "".join(f"{','.join(row)}\r\n" for row in rows), newline="")
    one, two, three = columns_of(path, ["one", "two", "three"], missing=["NA"])
    assert one.to_pylist() == [row[0] or None for row in rows]
    assert two.to_pylist() == [f'{row % 7},"x"\n' for row in range(3000)]
    assert three.null_count == 3000 and len(three.dictionary) == 0
    assert (one.indices.type, two.indices.type) == (pa.int16(), pa.int8())


def test_a_file_that_is_not_written_so_is_left_to_the_parser(path: Path) -> None:
    for text in ("a,b\n1\n", "a,b\n1,2,3\n", 'a,b\n1"2,3\n', "a,b\n1\r2,3\n", "a,c\n1,2\n", "a,b\n\xff,2\n"):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises((fields.OddError, pa.ArrowInvalid)):
            columns_of(path, ["a", "b"])


TEXTS = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(["", "a", 'q"q', '"', "x,y", "two\nlines", "é" * 9, "a longer text, with more", "long" * 19]),
    ),
    min_size=30,
    max_size=30,
)


@settings(deadline=None, max_examples=count(11, 60))
@given(
    columns=st.lists(TEXTS, min_size=2, max_size=4), delimiter=st.sampled_from([",", "\t"]), rows=st.integers(1, 40),
    short=st.sampled_from([0, 1 << 10]),
)  # fmt: skip
def test_codes_are_written_as_the_library_writes_texts(
    columns: list[list[str | None]], delimiter: str, rows: int, short: int
) -> None:
    plain = pa.table({str(at): pa.array(column, pa.string()) for at, column in enumerate(columns)})
    coded = pa.table({name: plain[name].dictionary_encode() for name in plain.column_names})
    torn = pa.concat_tables([coded.slice(0, 11), coded.slice(11)])
    assert lines.are_texts(coded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "ROWS", rows)
        patch.setattr(lines, "SHORT", short)
        written = b"".join(map(bytes, lines.of_codes(torn, delimiter)))
    assert written == b"".join(map(bytes, lines.of_pieces([plain], delimiter)))


def test_large_releases_are_written_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = shoal.samples.adult().select("age", "sex", "occupation")[:2000]
    table.cast(pl.String).write_csv(tmp_path / "in.csv")
    data = shoal.read(tmp_path / "in.csv", quasi=["age", "sex"], sensitive=["occupation"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    release.write(tmp_path / "small.csv")
    monkeypatch.setattr(lines, "LARGE", 0)
    monkeypatch.setattr(csv, "LARGE", 0)
    release.write(tmp_path / "large.csv")
    assert (tmp_path / "large.csv").read_bytes() == (tmp_path / "small.csv").read_bytes()
    manifests = [(tmp_path / f"{name}.csv.manifest.json").read_text() for name in ("small", "large")]
    assert manifests[0] == manifests[1]


def test_codes_are_as_narrow_as_they_can_be() -> None:
    for values in (1, 128, 129, 1 << 15, (1 << 15) + 1):
        kind = np.iinfo(dictionaries.narrowest(values))
        assert values - 1 <= kind.max
