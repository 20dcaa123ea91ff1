"""The DuckDB engine: files, folders and databases, its limits, and what it says when something is wrong."""

import datetime as dt
import functools
import gc
import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.core.run import Run
from shoal.engines.common.hashing import row_hashes
from shoal.engines.duckdb import DuckDB
from shoal.engines.duckdb.hashing import cell_hash, row_hash
from shoal.engines.duckdb.session import DatabaseSession, quoted
from shoal.errors import CancelledError, InputError, OutputError, ParameterError, ShoalError

duckdb = pytest.importorskip("duckdb")

SECRET = "canary4711"


def table(rows=60, start=0):
    return pl.DataFrame(
        {
            "age": [20 + (start + row) % 7 for row in range(rows)],
            "sex": ["fm"[(start + row) % 2] for row in range(rows)],
            "disease": [("flu", "cold", SECRET)[(start + row) % 3] for row in range(rows)],
        }
    )


ROLES = {"quasi": ["age", "sex"], "sensitive": ["disease"]}


def figures(data):
    return (
        data.records,
        data.summary.keys.tolist(),
        data.summary.sizes.tolist(),
        data.summary.histogram().counts.tolist(),
    )


ODD = {
    "age": [20 + row % 7 for row in range(90)],
    "sex": ["fm"[row % 2] for row in range(90)],
    "dose": [(" 1.50", "1.5", "-0", None, "0.0")[row % 5] for row in range(90)],
    "disease": [("flu", "cold", "")[row % 3] for row in range(90)],
    "level": [(0.0, -0.0, math.nan, None, 0.1)[row % 5] for row in range(90)],
    "zero": [(0.0, -0.0)[row % 2] for row in range(90)],
    "signed": [(1.5, -2.0, math.nan, None)[row % 4] for row in range(90)],
    "day": [(dt.date(2020, 1, 1 + row % 3), None)[row % 2] for row in range(90)],
    "at": [dt.datetime(2020, 1, 1, row % 3, tzinfo=dt.UTC) for row in range(90)],
    "took": [dt.timedelta(seconds=row % 4) for row in range(90)],
    "paid": [Decimal(row % 4).scaleb(-1) for row in range(90)],
    "person": [f"p{row // 2}" for row in range(90)],
}


@pytest.mark.parametrize(
    "roles", [{}, {"missing_rules": {"dose": "drop"}, "person": "person"}], ids=["records", "people"]
)
def test_hashes_that_are_looked_up_are_those_of_the_default_engine(roles, monkeypatch):
    read = functools.partial(
        shoal.read, pl.DataFrame(ODD), quasi=["age", "dose", "level"], sensitive=["disease"], **roles
    )
    default, made, looked_up = (read(engine=engine) for engine in ("embedded", "duckdb", "duckdb"))
    listed = [[*data.listing(1), *data.table.sample(["age", "dose"], 40, 1)] for data in (default, made)]
    monkeypatch.setattr("shoal.engines.duckdb.table.MANY", 0)
    listed.append([*looked_up.listing(1), *looked_up.table.sample(["age", "dose"], 40, 1)])
    for expected, *others in zip(*listed, strict=True):
        assert all(np.array_equal(expected, other) for other in others)
    assert not made.table._hashes[1] and set(looked_up.table._hashes[1]) == {*ODD} - {"at", "zero"}
    names = [] if "person" in roles else ["person"]
    releases = [
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="k-member", seed=1, allow_plain=names).frame
        for data in (default, looked_up)
    ]
    assert releases[0].equals(releases[1])


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    (folder / "deeper").mkdir(parents=True)
    table(40).write_parquet(folder / "a.parquet")
    table(20, 40).write_parquet(folder / "deeper" / "b.parquet")
    return folder


def test_a_folder_and_a_glob_are_one_table(parts):
    expected = figures(shoal.read(table(), **ROLES))
    assert figures(shoal.read(parts, **ROLES, engine="duckdb")) == expected
    (parts / "deeper" / "b.parquet").rename(parts / "b.parquet")
    assert figures(shoal.read(parts / "*.parquet", **ROLES, engine="duckdb")) == expected
    assert figures(shoal.read(str(parts / "[ab].parquet"), **ROLES, engine="duckdb")) == expected


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (pl.DataFrame({"age": [1], "sex": ["f"]}), "disease"),
        (pl.DataFrame({"age": ["1"], "sex": ["f"], "disease": ["x"]}), "age"),
        (pl.DataFrame({"sex": ["f"], "age": [1], "disease": ["x"]}), "order"),
    ],
)
def test_files_whose_columns_differ_are_refused(parts, other, named):
    other.write_parquet(parts / "c.parquet")
    with pytest.raises(InputError, match=named) as caught:
        shoal.read(parts, **ROLES, engine="duckdb")
    assert "c.parquet" in str(caught.value)


def test_a_file_that_is_cut_short_is_refused(parts):
    path = parts / "a.parquet"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"a\.parquet"):
        shoal.read(parts, **ROLES, engine="duckdb")


def test_a_file_with_a_hole_in_its_middle_is_refused(tmp_path):
    path = tmp_path / "torn.parquet"
    table(5000).write_parquet(path, compression="zstd", statistics=False)
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        shoal.read(path, **ROLES, engine="duckdb")
    assert "torn.parquet" in str(caught.value) and SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["empty", "*.parquet", "missing.parquet"])
def test_nothing_there_is_said(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"there (are|is) no"):
        shoal.read(tmp_path / name, **ROLES, engine="duckdb")


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "hospital.duckdb"
    frame = table().to_arrow()
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE patients AS SELECT * FROM frame")
        connection.execute('CREATE VIEW "odd ""name" AS SELECT * FROM patients')
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.wards AS SELECT * FROM patients")
        connection.execute("CREATE TYPE letter AS ENUM ('f', 'm')")
        connection.execute("CREATE TABLE kinds AS SELECT age, sex::letter AS sex, disease, uuid() AS id FROM patients")
    return path


@pytest.mark.parametrize("name", ["patients", "main.patients", "other.wards", 'odd "name', "kinds"])
def test_a_table_of_a_duckdb_database(database, name):
    before = database.read_bytes()
    data = shoal.read(f"{database}::{name}", **ROLES, engine="duckdb")
    assert figures(data) == figures(shoal.read(table(), **ROLES))
    release = shoal.anonymize(
        data, "k-anonymity:k=3", algorithm="mondrian", seed=1, allow_plain=["id"] if name == "kinds" else []
    )
    assert release.frame["sex"].n_unique() <= 3
    assert database.read_bytes() == before


def test_a_table_that_is_not_there_is_named_with_what_there_is(database):
    with pytest.raises(InputError, match=r"no table 'nurses'.*main\.patients"):
        shoal.read(f"{database}::nurses", **ROLES, engine="duckdb")


def test_a_table_that_changes_is_not_published():
    data = shoal.read(table().with_columns(ward=pl.lit("a")), **ROLES, engine="duckdb")
    source = data.table.source
    source.session.execute(f"DELETE FROM {source._copy} WHERE age = 20")
    with pytest.raises(InputError, match="changed"):
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian")


def test_a_table_of_counted_columns_is_not_read_twice():
    data = shoal.read(table(), **ROLES, engine="duckdb")
    source = data.table.source
    source.session.execute(f"DELETE FROM {source._copy}")
    frame = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1).frame
    assert frame.equals(shoal.anonymize(shoal.read(table(), **ROLES), "k-anonymity:k=3", algorithm="mondrian").frame)


def test_a_table_that_changes_between_two_looks_is_not_read(monkeypatch):
    from shoal.engines import duckdb as engine

    seen = engine._distinct

    def shrinking(source, *given):
        found = seen(source, *given)
        source.session.execute(f"DELETE FROM {source._copy} WHERE age = 20")
        return found

    monkeypatch.setattr(engine, "_distinct", shrinking)
    with pytest.raises(InputError, match="changed"):
        shoal.read(table(), **ROLES, engine="duckdb")


def test_what_is_no_database_is_refused(tmp_path):
    path = tmp_path / "notes.db"
    path.write_text("nothing")
    with pytest.raises(InputError, match="neither"):
        shoal.read(f"{path}::patients", **ROLES, engine="duckdb")


def test_a_table_of_a_sqlite_database_or_how_to_get_the_extension(tmp_path):
    path = tmp_path / "hospital.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, sex TEXT, disease TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", table().rows())
    connection.close()
    try:
        data = shoal.read(f"{path}::patients", **ROLES, engine="duckdb")
    except InputError as error:
        assert "INSTALL sqlite" in str(error)
    else:
        assert figures(data) == figures(shoal.read(table(), **ROLES))


def test_a_password_is_in_no_message():
    with pytest.raises(InputError) as caught:
        shoal.read(f"postgres://me:{SECRET}@127.0.0.1:1/base::patients", **ROLES, engine="duckdb")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


def test_names_that_differ_in_case_only_are_refused():
    with pytest.raises(InputError, match="case"):
        shoal.read(pl.DataFrame({"age": [1], "Age": [2]}), quasi=["age"], engine="duckdb")


@pytest.mark.parametrize(
    "spec", ["duckdb:memory_limit=much", "duckdb:memory_limit=8", "duckdb:threads=0", "duckdb:colour=red"]
)
def test_parameters_are_checked(spec):
    with pytest.raises(ParameterError):
        shoal.read(table(), **ROLES, engine=spec)


def test_limits_reach_duckdb(tmp_path):
    session = DuckDB(memory_limit="300MB", threads=1, temporary=tmp_path).session
    assert session.value("SELECT current_setting('threads')") == 1
    assert session.value("SELECT current_setting('memory_limit')").startswith("28")  # 300 MB in MiB
    assert Path(session.value("SELECT current_setting('temp_directory')")).parent == tmp_path


def test_a_temporary_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutputError, match="temporary folder"):
        shoal.read(table(), **ROLES, engine=DuckDB(temporary=tmp_path / "none"))


def test_what_does_not_fit_into_memory_is_spilled(tmp_path):
    session = DuckDB(memory_limit="30MB", threads=1, temporary=tmp_path).session
    stored = session.create("SELECT range AS a, md5(range::VARCHAR) AS b FROM range(1000000)")
    assert session.value(f"SELECT count(DISTINCT a) FROM {stored}") == 1_000_000


def test_too_little_memory_is_said(tmp_path):
    session = DuckDB(memory_limit="1MB", threads=1, temporary=tmp_path).session
    with pytest.raises(ShoalError, match="memory_limit"):
        session.fetch("SELECT list(range) FROM range(10000000)")


def test_nothing_stays_behind(tmp_path):
    engine = DuckDB(temporary=tmp_path)
    release = shoal.anonymize(shoal.read(table(), **ROLES, engine=engine), "k-anonymity:k=3", algorithm="mondrian")
    release.write(tmp_path / "release.csv")
    session = engine.session
    assert session.value("SELECT count(*) FROM duckdb_tables()") > 0
    del release
    gc.collect()
    assert session.value("SELECT count(*) FROM duckdb_tables()") == 0
    del session, engine
    gc.collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "release.csv.manifest.json"]


def test_errors_of_duckdb_lose_their_texts():
    session = DatabaseSession({})
    with pytest.raises(InputError) as caught:
        session.execute(f"SELECT CAST('{SECRET}' AS INTEGER)")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_hashes_are_those_of_the_embedded_engine():
    values = {
        "text": ["", "a", None, "ünï", "a'b"],
        "whole": [0, -1, None, 2**62, 7],
        "real": [0.1, 1e300, None, -0.0, 1 / 3],
        "narrow": pl.Series([0.1, 1.5, None, 2.0, 3.25], dtype=pl.Float32),
        "truth": [True, False, None, True, False],
        "day": pl.Series(["2020-02-29", "1969-12-31", None, "0001-01-01", "1970-01-01"]).str.to_date(),
        "moment": pl.Series([0, -1, None, 1_600_000_000_123_456, 10]).cast(pl.Datetime("us")),
        "fine": pl.Series([0, -1999, None, 1_600_000_000_123_456_000, 1000]).cast(pl.Datetime("ns")),
    }
    arrow = pl.DataFrame(values).to_arrow()
    session = DatabaseSession({})
    stored = session.load(arrow)
    for seed in (None, 5):
        kinds = session.types_of(str(stored))
        hashes = [
            cell_hash(name, quoted(name), kind, arrow.schema.field(name).type, seed) for name, kind in kinds.items()
        ]
        found = session.fetch(f"SELECT {row_hash(hashes)} AS hash FROM {stored}")["hash"].to_numpy()
        expected = row_hashes(zip(arrow.column_names, arrow.columns, strict=True), seed)
        assert np.array_equal(found, expected)


TEXT = pa.string()
NESTED = {
    "struct": ([{"a": 'x"\\\n'}, {"a": None}, None, {"a": "\u00fc\U0001f469"}], pa.struct({"a": TEXT})),
    "odd names": ([{'a "b"': "x", "it's": 3}, None], pa.struct({'a "b"': TEXT, "it's": pa.int8()})),
    "list": ([["a", "b"], [], None, [None, "null"], ["a, b"]], pa.list_(TEXT)),
    "list of lists": ([[["a"], None, []], None, [[None]]], pa.large_list(pa.list_(TEXT))),
    "list of structs": (
        [[{"k": "a", "v": [1, 2]}, None], None, [], [{"k": None, "v": None}]],
        pa.list_(pa.struct({"k": TEXT, "v": pa.list_(pa.int32())})),
    ),
    "of one length": ([["a", "b"], None, ["c", None]], pa.list_(TEXT, 2)),
    "map": ([[("a", 1), ("b", None)], [], None], pa.map_(TEXT, pa.int64())),
    "reals": ([[1.5, -0.0, 1e300, math.nan, math.inf], [None]], pa.list_(pa.float64())),
    "truths": ([[True, False, None]], pa.list_(pa.bool_())),
    "decimals": ([[Decimal("1.50"), None]], pa.list_(pa.decimal128(10, 2))),
    "days": ([[dt.date(2020, 2, 29), None]], pa.list_(pa.date32())),
    "moments": ([[dt.datetime(2020, 1, 1, 1, 2, 3, 4), None]], pa.list_(pa.timestamp("us"))),
    "moments of a zone": ([[dt.datetime(2020, 1, 1), None]], pa.list_(pa.timestamp("us", "Europe/Berlin"))),
    "seconds of a day": ([[dt.time(3, 4, 5), None]], pa.list_(pa.time32("s"))),
    "moments before 1970": ([[-1, -1001, None]], pa.list_(pa.timestamp("ns"))),
    "moments of a zone, fine": ([[-1001, 5_000_000, None]], pa.list_(pa.timestamp("ns", "Europe/Berlin"))),
    "times in a struct": ([{"a": dt.time(3, 4, 5), "b": dt.date(2020, 2, 29)}, {"a": None, "b": None}, None],
                          pa.struct({"a": pa.time64("ns"), "b": pa.date64()})),
    "times in a map": ([[(dt.time(3, 4, 5), dt.time(1, 2))], None], pa.map_(pa.time32("ms"), pa.time64("ns"))),
    "bytes": ([[b"a\xff", b"", None]], pa.list_(pa.binary())),
    "bytes alone": ([b"a\xff", b"", None, b"text"], pa.binary()),
}  # fmt: skip
TIMES = {
    str(kind): ([dt.time(3, 4, 5), dt.time(23, 59, 59), None], kind)
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
} | {
    "days in milliseconds": ([dt.date(1960, 2, 29), dt.date(2020, 2, 29), None], pa.date64()),
    "days alone": ([dt.date(1960, 2, 29), dt.date(2020, 2, 29), None], pa.date32()),
    "moments of a zone, in nanoseconds": ([dt.datetime(2020, 1, 1), None], pa.timestamp("ns", "Europe/Berlin")),
}  # fmt: skip


@pytest.mark.parametrize("kind", NESTED)
def test_nested_values_and_bytes_hash_alike(kind):
    values = pa.array(*NESTED[kind])
    session = DatabaseSession({})
    for part in (values, values[1:], values[:0]):
        stored = session.load(pa.table({"x": part}))
        hash = cell_hash("x", "x", session.types_of(str(stored))["x"], values.type)
        assert np.array_equal(session.fetch(f"SELECT {hash} AS hash FROM {stored}")["hash"], row_hashes([("x", part)]))
    assert len(set(row_hashes([("x", values)]).tolist())) == len(values)


def test_nested_columns_stand_in_the_same_order_as_without_it(tmp_path):
    """Those of categories and of texts, from a frame and from a file."""
    codes = pa.array([*"abcdefgh"]).dictionary_encode()
    rows = pa.table(
        {"age": ["30"] * 8, "coded": pa.StructArray.from_arrays([codes], ["a"]), "raw": [[x] for x in "hgfedcba"]}
    )
    pq.write_table(rows, tmp_path / "table.parquet")
    for source in (rows, tmp_path / "table.parquet"):
        frames = []
        for engine in ("embedded", "duckdb"):
            data = shoal.read(source, quasi=["age"], engine=engine)
            release = shoal.anonymize(data, shoal.KAnonymity(k=2), rows_are_people=True, allow_plain=["coded", "raw"])
            release.write(tmp_path / f"{engine}.parquet")
            frames.append(pq.read_table(tmp_path / f"{engine}.parquet").to_pylist())
        assert frames[0] == frames[1]


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms"), pa.time64("ns"), pa.date64()], ids=str)
def test_records_that_only_a_time_tells_apart_are_published_alike(tmp_path, kind):
    """Which record of a tuple goes into which group follows from the hash of the whole record."""
    number = pa.array(range(16), pa.int64() if kind.bit_width == 64 else pa.int32())
    whole = pa.array([86_400_000 * day for day in range(16)]) if kind == pa.date64() else number
    rows = pa.table({"age": ["30"] * 16, "ill": [*"abcd"] * 4, "at": whole.cast(kind)})
    found = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(rows, quasi=["age"], sensitive=["ill"], engine=engine)
        release = shoal.anonymize(
            data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=1, repeatable=True, rows_are_people=True,
            allow_plain=["at"],
        )  # fmt: skip
        release.write(tmp_path / f"{engine}.csv")
        found.append((tmp_path / f"{engine}.csv").read_text())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("values", "in_file"),
    [
        (pa.array([Decimal("123456789012345678901234567890.12")] * 4, pa.decimal256(50, 2)), False),
        (pa.array([Decimal("123456789012345678901234567890.12")] * 4, pa.decimal256(50, 2)), True),
        (pa.array([[dt.timedelta(seconds=5)]] * 4, pa.list_(pa.duration("s"))), False),
    ],
)
def test_values_that_it_would_change_are_refused(tmp_path, values, in_file):
    source = pa.table({"age": ["30"] * 4, "much": values})
    if in_file:
        pq.write_table(source, tmp_path / "table.parquet")
        source = tmp_path / "table.parquet"
    with pytest.raises(InputError, match=r"column 'much' holds .*; use the default engine"):
        shoal.read(source, quasi=["age"], engine="duckdb")


def test_what_is_no_number_is_missing_also_where_the_statistics_of_a_file_hide_it(tmp_path):
    values = pa.array([0.5, 7.25, math.nan] * 3)
    pq.write_table(pa.table({"x": values, "row": [*"abcdefghi"]}), tmp_path / "table.parquet")
    tables = [shoal.read(tmp_path / "table.parquet", quasi=["x"], engine=name).table for name in ("embedded", "duckdb")]
    for seed in range(5):
        one, other = (table.numbers(["x"], seed)["x"] for table in tables)
        assert np.array_equal(one, other, equal_nan=True)


def test_a_query_can_be_stopped():
    session, run, told = DatabaseSession({"threads": 1}), Run(), []

    def cancel():
        told.append((time.monotonic(), time.process_time()))
        run.cancel()

    threading.Timer(0.3, cancel).start()
    with session.stopped_by(run), pytest.raises(CancelledError):
        session.value("SELECT sum(hash(a.range * b.range)) FROM range(1000000) a, range(1000000) b")
    now = time.monotonic(), time.process_time()  # where others keep the machine busy, processor time counts
    assert min(here - then for here, then in zip(now, told[0], strict=True)) < 0.5


def test_a_release_can_be_stopped_while_it_is_made(tmp_path):
    path = tmp_path / "wide.parquet"
    rows = 60_000
    row = pl.int_range(rows)
    columns = {f"c{at}": pl.format(f"{at} {{}}", row * 7919 % rows) for at in range(12)}
    pl.select(**columns, age=row % 50).write_parquet(path)
    run = Run(lambda share, doing: threading.Timer(0.02, run.cancel).start() if doing == "publishing" else None)
    data = shoal.read(path, quasi=["age"], engine="duckdb")
    with pytest.raises(CancelledError):
        shoal.anonymize(data, algorithm="rank-swapping:share=0.001", run=run)


def test_without_the_package_the_extra_is_named():
    script = (
        "import sys\nsys.modules['duckdb'] = None\nimport shoal\nfrom shoal.errors import ShoalError\n"
        "try:\n    shoal.read('x.parquet', quasi=['a'], engine='duckdb')\n"
        "except ShoalError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'shoal[duckdb]'" in done.stdout


@pytest.fixture
def small_disk(tmp_path):
    """A disk that is full after a quarter of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("they need a small disk, which only root can mount")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def random_table(rows):
    draw = np.random.default_rng(1)
    columns = {"age": draw.integers(20, 90, rows), "sex": draw.choice(["f", "m"], rows)}
    return pl.DataFrame({**columns, "disease": [SECRET] * rows, "dose": draw.random(rows)})


def test_a_full_disk_is_said_and_leaves_nothing(small_disk):
    data = shoal.read(random_table(40_000), **ROLES, engine="duckdb")
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", allow_plain=["dose"], seed=1)
    for name in ("out.parquet", "out.csv", "out"):
        with pytest.raises(ShoalError, match=r"full|space") as caught:
            release.write(small_disk / name, rows_per_file=10_000)
        assert SECRET not in str(caught.value)
        assert list(small_disk.iterdir()) == [], name


def test_a_full_temporary_folder_is_said(small_disk, tmp_path):
    random_table(800_000).write_parquet(tmp_path / "table.parquet")
    engine = f"duckdb:memory_limit=20MB,threads=1,temporary={small_disk}"
    with pytest.raises(ShoalError, match=r"memory_limit|disk is full|temporary folder") as caught:
        data = shoal.read(tmp_path / "table.parquet", **ROLES, engine=engine)
        shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", allow_plain=["dose"]).write(tmp_path / "out")
    assert SECRET not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_a_query_as_it_ends_anything() -> None:
    session = DatabaseSession({"threads": 1})
    pressed = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        session.value("SELECT count(*) FROM range(100000000000) WHERE hash(range) % 7 = 3")
    pressed.join()
    assert session.value("SELECT 1") == 1
