"""ARFF files: what is written is read back, and what is none is refused."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.embedded import arff
from shoal.errors import InputError

TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8).map(str.strip).filter(bool)


@given(
    names=st.lists(TEXT, min_size=2, max_size=2, unique=True),
    rows=st.lists(st.tuples(st.none() | TEXT, st.none() | st.integers(-1000, 1000)), min_size=1),
)
def test_what_is_written_is_read_back(tmp_path_factory, names, rows):
    path = tmp_path_factory.mktemp("arff") / "table.arff"
    texts, numbers = zip(*rows, strict=True)
    table = pa.table([pa.array(texts, pa.string()), pa.array(numbers, pa.int64())], names=names)
    arff.write(path, table)
    found = arff.read(path)
    assert found.column_names == names
    assert [column.to_pylist() for column in found.columns] == [column.to_pylist() for column in table.columns]


def test_files_as_people_write_them(tmp_path):
    path = tmp_path / "people.arff"
    path.write_text(
        "% a comment\n@RELATION 'some people'\n\n@Attribute 'full name' string\n@attribute age REAL\n"
        "@attribute sex {f, m}\n@DATA\n% another\n'O\\'Hara', 30.5, f\n\n?,?, m\n"
    )
    assert arff.read(path).to_pylist() == [
        {"full name": "O'Hara", "age": 30.5, "sex": "f"},
        {"full name": None, "age": None, "sex": "m"},
    ]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("age,sex\n1,f\n", "not one of an ARFF"),
        ("@relation x\n@attribute age numeric\n", "no @data"),
        ("@relation x\n@data\n1\n", "names no attributes"),
        ("@attribute age whatever\n@data\n1\n", "type of an attribute"),
        ("@attribute age numeric\n@data\nsecret\n", "do not fit"),
        ("@attribute age numeric\n@data\n1,2\n", "do not fit"),
        ("@attribute age numeric\n@data\n{0 1}\n", "sparse"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, text, reason):
    path = tmp_path / "bad.arff"
    path.write_text(text)
    with pytest.raises(InputError, match=reason) as raised:
        arff.read(path)
    assert "secret" not in str(raised.value)
