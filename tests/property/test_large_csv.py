"""Large CSV files are read by code of their own. It reads what the parser of small ones reads."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.engines.embedded import csv, fields
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
        dialect = csv.detect(path, delimiter=",", encoding="utf-8")
        loaded = csv.load(path, dialect, dialect.names[::-1], ["NA"])
    except InputError as error:
        return str(error)
    return {name: column.to_pylist() for name, column in loaded.items()}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "table.csv"


@settings(deadline=None, max_examples=300)
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


def test_codes_are_as_narrow_as_they_can_be() -> None:
    for count in (1, 128, 129, 1 << 15, (1 << 15) + 1):
        kind = np.iinfo(fields.narrowest(count))
        assert count - 1 <= kind.max
