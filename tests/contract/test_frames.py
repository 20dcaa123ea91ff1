"""Frames of any kind: the same release from each, back as the type that came in, and out through Arrow's capsules."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.engines.duckdb.session import GuestSession
from shoal.errors import InputError, SchemaError

ibis = pytest.importorskip("ibis")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ibis asks DuckDB as it did before version 2

SECRET = "Zacharias"
TABLE = pl.DataFrame(
    {"age": [21, 22, 23, 24] * 3, "town": ["a", "a", "b", None] * 3, "ill": ["flu", SECRET, "cold"] * 4}
)


class Streaming:
    """Somebody's own table, which knows nothing but Arrow's capsules."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    connection = ibis.duckdb.connect()
    connection.con.register("arrived", TABLE.to_arrow())
    connection.raw_sql(
        "CREATE TABLE people AS FROM arrived; CREATE SCHEMA other; CREATE TABLE other.people AS FROM people"
    )
    connection.raw_sql("CREATE TEMP TABLE passing AS FROM people")
    yield connection
    connection.disconnect()


ARROW = TABLE.to_arrow()
FRAMES: dict[str, tuple[Callable[[Any], Any], type]] = {
    "polars": (lambda base: TABLE, pl.DataFrame),
    "polars, lazy": (lambda base: TABLE.lazy(), pl.DataFrame),
    "pandas": (lambda base: TABLE.to_pandas(), pandas.DataFrame),
    "pandas of Arrow": (lambda base: TABLE.to_pandas(use_pyarrow_extension_array=True), pandas.DataFrame),
    "pyarrow": (lambda base: ARROW, pa.Table),
    "record batches": (lambda base: ARROW.to_reader(max_chunksize=5), pa.Table),
    "a record batch": (lambda base: ARROW.combine_chunks().to_batches()[0], pa.Table),
    "capsules": (lambda base: Streaming(ARROW), pa.Table),
    "narwhals": (lambda base: nw.from_native(TABLE), pl.DataFrame),
    "narwhals, lazy": (lambda base: nw.from_native(TABLE.lazy()), pl.DataFrame),
    "a relation of DuckDB": (lambda base: duckdb.from_arrow(ARROW), pa.Table),
    "a table of Ibis": (lambda base: base.table("people"), pa.Table),
    "a table of a schema of Ibis": (lambda base: base.table("people", database="other"), pa.Table),
    "an expression of Ibis": (lambda base: base.table("people").union(base.table("people")).distinct(), pa.Table),
    "a temporary table of Ibis": (lambda base: base.table("passing"), pa.Table),
    "a table of Ibis on polars": (lambda base: ibis.polars.connect({"people": TABLE}).table("people"), pa.Table),
    "a table of Ibis in memory": (lambda base: ibis.memtable(ARROW), pa.Table),
}


def released(frame: Any) -> Any:
    data = shoal.read(frame, quasi=["age", "town"], sensitive=["ill"])
    return shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=5)


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return pa.table(released(TABLE)).to_pylist()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_gives_the_same_release(kind: str, database: Any, expected: list[dict[str, Any]]) -> None:
    make, back = FRAMES[kind]
    release = released(make(database))
    assert isinstance(release.frame, back)
    assert pa.table(release.frame).to_pylist() == expected
    assert pa.table(release).to_pylist() == expected


def test_a_frame_of_modin(monkeypatch: pytest.MonkeyPatch, expected: list[dict[str, Any]]) -> None:
    monkeypatch.setenv("MODIN_ENGINE", "python")
    modin = pytest.importorskip("modin.pandas", reason="they need Modin, which excludes pandas 3")
    release = released(modin.DataFrame(TABLE.to_pandas()))
    assert isinstance(release.frame, modin.DataFrame)
    assert pa.table(release).to_pylist() == expected


def test_a_frame_of_spark(spark: Any, expected: list[dict[str, Any]]) -> None:
    release = released(spark.createDataFrame(ARROW))
    assert hasattr(release.frame, "sparkSession")
    assert pa.table(release).to_pylist() == expected


def test_out_into_whatever_takes_capsules(expected: list[dict[str, Any]]) -> None:
    release = released(TABLE)
    assert pl.DataFrame(release).to_dicts() == expected
    assert duckdb.from_arrow(release).to_arrow_table().to_pylist() == expected
    assert nw.from_arrow(release, backend="pyarrow").to_arrow().to_pylist() == expected
    again = shoal.read(release, quasi=["age", "town"])
    assert again.records == len(expected) and shoal.diagnose(again)["k"].value >= 3


def test_an_expression_is_queried_in_its_database(database: Any) -> None:
    """Nothing is left in the database, and nothing of it is copied; what only its connection sees is."""
    stored = "SELECT database_name, schema_name, table_name FROM duckdb_tables() ORDER BY ALL"
    gc.collect()
    before = database.con.sql(stored).fetchall()
    for name, copied in (("people", False), ("passing", True)):
        release = released(database.table(name))
        source = release.origin.table.source
        assert (source.place is None, type(source.session) is GuestSession) == (copied, not copied)
    del release, source
    gc.collect()
    assert database.con.sql(stored).fetchall() == before


def test_a_database_that_may_only_be_read(tmp_path: Path, expected: list[dict[str, Any]]) -> None:
    with duckdb.connect(str(tmp_path / "base.duckdb")) as connection:
        connection.register("arrived", ARROW)
        connection.execute("CREATE TABLE people AS FROM arrived")
    base = ibis.duckdb.connect(tmp_path / "base.duckdb", read_only=True)
    assert pa.table(released(base.table("people"))).to_pylist() == expected
    base.disconnect()


class Failing(Streaming):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise ValueError(SECRET)


def test_wrong_input(database: Any) -> None:
    for odd in (7, {"age": [1]}, [1, 2], object(), lambda: TABLE, database.table("people").age):
        with pytest.raises(InputError, match=f"a table is needed: .* this is {type(odd).__name__}"):
            released(odd)
    for odd in (TABLE["age"], ARROW["age"], Failing(ARROW)):
        with pytest.raises(InputError, match="what this streams as Arrow is not one") as failure:
            released(odd)
        assert SECRET not in str(failure.value)
    twice = Streaming(pa.table([ARROW["age"], ARROW["age"], ARROW["town"]], names=["age", "age", "town"]))
    with pytest.raises(InputError, match="'age'"):
        released(twice)
    with pytest.raises(SchemaError, match="no column named 'ill'"):
        released(database.table("people").drop("ill"))
    with pytest.raises(InputError, match="the lazy frame cannot be computed") as failure:
        released(TABLE.lazy().with_columns(pl.col("ill").cast(pl.Int64)))
    assert SECRET not in str(failure.value)
    unbound = ibis.table({"age": "int", "town": "string", "ill": "string"}, name="nowhere")
    with pytest.raises(InputError, match="IbisError"):
        released(unbound)
