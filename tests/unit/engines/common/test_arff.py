"""ARFF files: what is written is read back, and what is none is refused."""

import gzip
import shutil
import subprocess
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli import main
from shoal.core.schema import Kind
from shoal.engines.common import arff
from shoal.errors import InputError

WEKA = Path("/usr/share/java/weka.jar")
needs_weka = pytest.mark.skipif(not WEKA.exists() or not shutil.which("java"), reason="they need WEKA and Java")
TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=8)
STRIPPED = TEXT.map(str.strip).filter(bool)
ENGINES = ["embedded", "duckdb"]


@settings(deadline=None)
@given(
    names=st.lists(STRIPPED, min_size=2, max_size=2, unique=True),
    rows=st.lists(st.tuples(st.none() | STRIPPED, st.none() | st.integers(-1000, 1000)), min_size=1),
)
def test_what_is_written_is_read_back(tmp_path_factory, names, rows):
    path = tmp_path_factory.mktemp("arff") / "table.arff"
    texts, numbers = zip(*rows, strict=True)
    table = pa.table([pa.array(texts, pa.string()), pa.array(numbers, pa.int64())], names=names)
    path.write_text(arff.render(table, nominal=names[:1]), encoding="utf-8", newline="")
    found, nominal = arff.read(path)
    assert found.column_names == names and nominal == {names[0]}
    assert [column.to_pylist() for column in found.columns] == [column.to_pylist() for column in table.columns]


def test_files_as_people_write_them(tmp_path):
    path = tmp_path / "people.arff"
    path.write_text(
        "% a comment\n@RELATION 'some people'\n\n@Attribute 'full name' string % who\n@attribute\tage\tREAL\n"
        "@attribute sex {f, m}\n@DATA\n% another\n'O\\'Hara', 30.5, f\n\n?, ?, m % last seen\n"
        "\"O'Neill, the 2nd\" ,4e1,'f'\n'50\\% \"sure\"',7,'?'\nann\t1\tf\n"
    )
    found, nominal = arff.read(path)
    assert nominal == {"sex"}
    assert found.to_pylist() == [
        {"full name": "O'Hara", "age": 30.5, "sex": "f"},
        {"full name": None, "age": None, "sex": "m"},
        {"full name": "O'Neill, the 2nd", "age": 40.0, "sex": "f"},
        {"full name": '50% "sure"', "age": 7.0, "sex": "?"},
        {"full name": "ann", "age": 1.0, "sex": "f"},
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
        ("@attribute age numeric\n@data\n% nothing\n", "no record"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, text, reason):
    path = tmp_path / "bad.arff"
    path.write_text(text)
    with pytest.raises(InputError, match=reason) as raised:
        shoal.read(path, quasi=["age"])
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["coded.arff", "coded.arff.gz"])
def test_names_of_digits_are_categories_and_stay_so(tmp_path, engine, name):
    text = "@relation x\n@attribute sex {0,1}\n@attribute age numeric\n@attribute arm {1,2}\n@data\n"
    text += "0,30,1\n0,31,2\n1,40,1\n1,41,2\n" * 2
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    data = shoal.read(path, quasi=["sex", "age"], engine=engine)
    assert data.schema["sex"].kind is Kind.CATEGORICAL and data.schema["age"].kind is Kind.NUMERIC
    as_told = shoal.read(path, quasi=["sex"], kinds={"sex": "numeric"}, engine=engine)
    assert as_told.schema["sex"].kind is Kind.NUMERIC
    shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1).write(tmp_path / "out.arff")
    assert arff.read(tmp_path / "out.arff")[1] >= {"sex", "arm"}
    assert all(finding.holds is not False for finding in shoal.verify(tmp_path / "out.arff"))


def test_numbers_of_a_csv_file_are_numbers_and_codes_are_names(tmp_path):
    table = pl.DataFrame({"age": ["30", "31.5"], "zip": ["01234", "98765"], "born": [date(1990, 1, 1), None]})
    text = arff.render(table.to_arrow())
    assert "@attribute age numeric" in text and "@attribute zip {01234,98765}" in text
    assert "@attribute born date yyyy-MM-dd" in text and text.endswith("30,01234,1990-01-01\n31.5,98765,?\n")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ending", ["arff", "arff.gz", "csv", "parquet"])
def test_suppressed_and_missing_cells_stay_apart(tmp_path, ending, engine):
    released(tmp_path / f"out.{ending}", engine)
    again = shoal.read(tmp_path / f"out.{ending}", quasi=["town", "age"], engine=engine)
    (hierarchy, *_), (towns, *_) = again.hierarchies, again.summary.keys
    labels = hierarchy.labels[0][towns].tolist()
    assert dict(zip(labels, again.summary.sizes.tolist(), strict=True)) == {None: 6, "*": 6}


def released(path, engine="embedded"):
    """A table in which six towns are hidden and six are missing."""
    towns = ["a", "b", "c"] * 2 + [None] * 6
    table = pl.DataFrame({"town": towns, "age": [20] * 6 + [60] * 6, "ill": ["it's", "50% sure"] * 6})
    data = shoal.read(table, quasi=["town", "age"], engine=engine)
    shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1).write(path)


@needs_weka
def test_weka_reads_a_release(tmp_path):
    released(tmp_path / "out.arff")
    command = ["java", "-cp", str(WEKA), "weka.core.Instances", str(tmp_path / "out.arff")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Num Instances:  12" in told and "Num Attributes: 3" in told
    town = next(line.split() for line in told.splitlines() if line.split()[1:2] == ["town"])
    assert town[2] == "Nom" and "6" in town and "50%" in town  # half of the towns are missing, to WEKA too


def test_the_command_reads_and_writes_it(tmp_path, capsys):
    (tmp_path / "table.data").write_text(
        "% who\n@Relation x\n@attribute sex {0,1}\n@attribute age real\n@data\n0,3\n0,4\n"
    )
    arguments = ["--format", "arff", "--quasi", "sex,age", "--k", "2", "--algorithm", "mondrian"]
    with pytest.raises(SystemExit) as end:
        main(["anonymize", str(tmp_path / "table.data"), "-o", str(tmp_path / "out.arff.gz"), *arguments])
    assert not end.value.code, capsys.readouterr().err
    assert arff.read(tmp_path / "out.arff.gz")[0].to_pylist() == [{"sex": "0", "age": "[3-4]"}] * 2
