"""Tables of databases as sources and as targets: DuckDB, SQLite, and a PostgreSQL server that the tests start."""

import gc
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from counts import LONG

import shoal
from shoal import job
from shoal.cli import main
from shoal.core.run import Run
from shoal.engines.duckdb.databases import Connection, spot
from shoal.engines.duckdb.session import BATCH
from shoal.errors import CancelledError, InputError, OutputError, ShoalError

pytest.importorskip("duckdb")
pytest.importorskip("adbc_driver_sqlite")
pytest.importorskip("adbc_driver_postgresql")

SECRET = "canary4711"
ROLES = {"quasi": ["age", "town"], "sensitive": ["disease"]}


def people(rows=400):
    draw = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, rows),
            "town": draw.choice(["a", "b", "c", None], rows).tolist(),
            "disease": draw.choice(["flu", "cold", SECRET], rows),
        }
    )


@pytest.fixture(scope="module")
def server(postgres):
    """The address of a PostgreSQL server."""
    return f"postgres://holder:{SECRET}@127.0.0.1:{postgres}/postgres"


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def place(request, tmp_path):
    """A database with a table of people in it, named in odd ways, and where a release of them can go."""
    if request.param == "postgres":
        address = request.getfixturevalue("server")
        before, after = f"{address}::people of {tmp_path.name}", f"{address}::release of {tmp_path.name}"
    else:
        before, after = f"{tmp_path}/before.{request.param}::people", f"{tmp_path}/after.{request.param}::release"
    stored(before, people())
    return before, after


@pytest.fixture(scope="module", autouse=True)
def quick_collections():
    """What lives when these tests begin is not looked at again whenever one of them asks for a collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def ran(*arguments):
    """The code with which a command ends that is run here."""
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    return ended.value.code or 0


def stored(text, table):
    gc.collect()  # a session that nobody uses keeps its databases until then
    arrow = table.to_arrow()
    with closing(Connection(spot(text, new=True))) as connection:
        connection.store(arrow.schema, arrow.to_batches())
        connection.commit()


def there(text):
    """The rows of a table; None where there is none."""
    gc.collect()
    if "postgres" not in text and not Path(text.partition("::")[0]).exists():
        return None
    with closing(Connection(spot(text))) as connection:
        try:
            return pl.from_arrow(pa.concat_tables(connection.batches()))
        except InputError:
            return None


def alike(one, other):
    return one.select(other.columns).sort(other.columns).equals(other.sort(other.columns))


def released(source, *, engine="duckdb", **given):
    data = shoal.read(source, **ROLES, engine=engine)
    return shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=3, **given)


def test_a_table_is_read_as_a_file_is(place):
    data, file = shoal.read(place[0], **ROLES, engine="duckdb"), shoal.read(people(), **ROLES)
    assert np.array_equal(data.summary.keys, file.summary.keys)
    assert np.array_equal(data.summary.histogram().counts, file.summary.histogram().counts)


def test_a_release_goes_into_a_table_and_is_verified_there(place, tmp_path):
    before, after = place
    release, manifest = released(before), tmp_path / "m.json"
    assert release.write(after, manifest=manifest) == manifest
    assert alike(there(after), release.frame)
    if "duckdb" not in before:  # which nobody else can open while it is read
        assert alike(there(before), people())
    if "postgres" in after:
        assert SECRET not in manifest.read_text()
        assert shoal.verify(after, engine="duckdb", manifest=manifest).holds
        stored(after, there(after).head(300))
        assert not shoal.verify(after, engine="duckdb", manifest=manifest)["unchanged"].holds
        for asks in (lambda: shoal.verify(after, engine="duckdb"), lambda: release.write(after)):
            with pytest.raises(InputError, match="--manifest"):
                asks()
        return
    beside = release.write(after)
    assert beside.name.endswith(".release.manifest.json")
    assert shoal.verify(after, engine="duckdb").holds
    stored(after, there(after).head(300))
    assert not shoal.verify(after, engine="duckdb")["unchanged"].holds


def test_the_hash_of_a_table_is_that_of_its_rows_in_any_order(place):
    before, after = place
    other = after.replace("after.", "other.") + " changed"
    stored(after, people().reverse())
    stored(other, people().with_columns(town=pl.col("town").fill_null("")))
    engine = shoal.read(people(), **ROLES, engine="duckdb").engine
    held, reversed_rows, changed = (engine.digest(Path(each)) for each in (before, after, other))
    assert held == reversed_rows != changed


@pytest.mark.parametrize(
    ("place", "how"),
    [(place, how) for place in ("duckdb", "sqlite", "postgres") for how in ("broken", "stopped")]
    if LONG
    else [("duckdb", "stopped"), ("sqlite", "broken"), ("postgres", "stopped")],
    indirect=["place"],
)
def test_nothing_stays_of_a_release_that_failed(place, how, tmp_path, monkeypatch):
    """Broken ones leave nothing in any of them every day where nothing was before, below."""
    before, after = place
    old = people(20)
    stored(after, old)
    release, run = released(before), Run()
    if how == "broken":
        monkeypatch.setattr(type(release), "manifest", lambda *given: 1 / 0)
        error = ZeroDivisionError
    else:
        run = Run(lambda share, doing: run.cancel() if doing == "reading back" else None)
        error = CancelledError
    with pytest.raises(error):
        release.write(after, manifest=tmp_path / "m.json", run=run)
    assert alike(there(after), old) and not (tmp_path / "m.json").exists()


def test_a_file_that_was_made_for_a_release_goes_with_it(place, tmp_path, monkeypatch):
    before, after = place
    release = released(before)
    monkeypatch.setattr(type(release), "manifest", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release.write(after, manifest=tmp_path / "m.json")
    assert there(after) is None
    assert not list(tmp_path.glob("after*"))


ENDED = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
"""What ends all other connections to a server."""


def test_a_connection_that_is_lost_is_told_and_nothing_is_published(server, tmp_path):
    before, after = f"{server}::lost {tmp_path.name}", f"{server}::never {tmp_path.name}"
    stored(before, people())
    release = released(before)

    def lose(share, doing):
        if doing == "reading back":
            with closing(Connection(spot(before))) as other, other._executed(ENDED):
                pass

    with pytest.raises(InputError, match="the server ended the connection") as caught:
        release.write(after, manifest=tmp_path / "m.json", run=Run(lose))
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    assert there(after) is None and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("when", ["reading", "writing"])
def test_a_connection_that_is_lost_among_the_rows_is_told(server, when, tmp_path, monkeypatch):
    before, after = f"{server}::long {tmp_path.name}", f"{server}::nothing {tmp_path.name}"
    stored(before, people(BATCH + 9))
    batches, store = Connection.batches, Connection.store

    def lost(rows):
        for place, row in enumerate(rows):
            if place == 1:
                with closing(Connection(spot(before))) as other, other._executed(ENDED):
                    pass
            yield row

    release = None
    if when == "reading":
        monkeypatch.setattr(Connection, "batches", lambda self: lost(batches(self)))
    else:
        release = released(before)
        monkeypatch.setattr(Connection, "store", lambda self, schema, rows: store(self, schema, lost(rows)))
    with pytest.raises(ShoalError, match="the server ended the connection") as caught:
        (release or released(before)).write(after, manifest=tmp_path / "m.json")
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    monkeypatch.undo()
    assert there(after) is None and list(tmp_path.iterdir()) == []


def test_a_job_file_names_tables_of_a_server(server, tmp_path, monkeypatch, capsys):
    before, after = f"{server}::asked {tmp_path.name}", f"{server}::given {tmp_path.name}"
    stored(before, people())
    asked = job.parse(
        {
            "input": {"path": before, "engine": "duckdb"},
            "columns": {name: {"role": role} for role, names in ROLES.items() for name in names},
            "policy": {"models": ["k-anonymity:k=5"], "seed": 3},
            "algorithm": "mondrian",
            "output": {"path": after, "manifest": "m.json"},
        },
        tmp_path,
    )
    outcome = shoal.run(asked, save=tmp_path / "saved.toml")
    assert alike(there(after), released(before).frame) and outcome.files[1] == tmp_path / "m.json"
    saved = job.load(tmp_path / "saved.toml")
    assert (saved.input, saved.output, saved.manifest) == (asked.input, asked.output, asked.manifest)
    monkeypatch.chdir(tmp_path)
    assert ran("verify", "--job", "saved.toml") == 0
    assert all(SECRET not in said for said in capsys.readouterr())
    with pytest.raises(InputError, match="--manifest"):
        shoal.run(replace(asked, manifest=None))


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_release_goes_into_the_database_that_the_table_is_in(kind, tmp_path):
    base = f"{tmp_path}/base.{kind}"
    stored(f"{base}::people", people())
    release = released(f"{base}::people", engine=None)
    release.write(f"{base}::release")
    with pytest.raises(OutputError, match="overwrite the table 'people', which is read"):
        release.write(f"{base}::people")
    assert shoal.verify(f"{base}::release").holds
    release.write(f"{base}::release")  # again, while the table is still read
    expected = release.frame
    assert shoal.diagnose(release.origin)["k"].value >= 1  # which asks the database
    del release
    assert alike(there(f"{base}::release"), expected) and alike(there(f"{base}::people"), people())


def test_nothing_stays_of_a_release_that_failed_in_its_own_database(tmp_path, monkeypatch):
    base = f"{tmp_path}/base.duckdb"
    stored(f"{base}::people", people())
    release = released(f"{base}::people")
    monkeypatch.setattr(type(release), "manifest", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release.write(f"{base}::release")
    del release
    gc.collect()
    with closing(Connection(spot(f"{base}::people"))) as connection:
        assert connection.tables() == [("main", "people")]


def test_an_engine_for_tables_need_not_be_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people().write_csv("people.csv")
    stored("base.duckdb::people", people())
    named = ["--quasi", "age,town", "--sensitive", "disease", "--k", "5", "--algorithm", "mondrian"]
    assert ran("anonymize", "base.duckdb::people", "-o", "base.duckdb::release", *named) == 0
    gc.collect()
    assert ran("anonymize", "people.csv", "-o", "base.duckdb::release", *named) == 2
    assert "base.duckdb::release exists already" in capsys.readouterr().err
    assert ran("anonymize", "people.csv", "-o", "base.duckdb::release", *named, "--overwrite") == 0
    gc.collect()
    assert ran("anonymize", "base.duckdb::people", "-o", "base.duckdb::people", *named, "--overwrite") == 2
    assert "overwrite the table that is read" in capsys.readouterr().err
    gc.collect()
    for command in (
        ("verify", "base.duckdb::release"), ("query", "base.duckdb::release"),
        ("evaluate", "people.csv", "base.duckdb::release", "--metrics", "gcp"),
        ("diagnose", "base.duckdb::people", "--quasi", "age"),
        ("attack", "people.csv", "base.duckdb::release", "--attack", "prosecutor"),
    ):  # fmt: skip
        assert ran(*command) == 0, command
        gc.collect()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("base.duckdb", "base.duckdb::people"), ("base.sqlite", "base.sqlite::people"),
        (f"postgres://me:{SECRET}@host/base", "postgres://user@server/base::table"),
        (f"mysql://me:{SECRET}@host/base::people", "postgres://user@server/base::table"),
    ],
)  # fmt: skip
def test_a_database_without_a_table_is_told_how_to_name_one(source, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored("base.duckdb::people", people(20)), stored("base.sqlite::people", people(20))
    with pytest.raises(InputError) as caught:
        shoal.read(source, **ROLES)
    assert said in str(caught.value) and SECRET not in str(caught.value)


def test_the_cause_of_a_lost_connection_is_told_without_its_secrets(server, tmp_path):
    host = server.rpartition("@")[2]
    stored(f"{tmp_path}/locked.duckdb::people", people(20))
    opened = f"import duckdb; c = duckdb.connect({str(tmp_path / 'locked.duckdb')!r}); print(1, flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", opened], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout.readline()
    causes = {
        f"postgres://holder:{SECRET}@127.0.0.1:1/postgres::t": "nothing listens at this address and port",
        f"postgres://holder:{SECRET}@{SECRET}.invalid/postgres::t": "no server has this name",
        f"postgres://{SECRET}@{host}::t": "no such user",
        f"postgres://holder@{host.partition('/')[0]}/{SECRET}::t": "no such database",
        f"{tmp_path}/locked.duckdb::people": "another process has the database open",
    }
    for source, cause in causes.items():
        with pytest.raises(InputError) as caught:
            shoal.read(source, **ROLES)
        assert cause in str(caught.value) and SECRET not in str(caught.value), source
    other.communicate(b"\n")


@pytest.mark.parametrize(
    "target", ["nowhere/x.sqlite::release", "x.sqlite::", f"postgres://me:{SECRET}@127.0.0.1:1/base::release"]
)
def test_targets_that_cannot_be_are_refused_first(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ShoalError) as caught:
        released(people()).write(target, manifest="m.json")
    assert SECRET not in str(caught.value) and list(tmp_path.iterdir()) == []


def test_the_command_writes_to_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().write_parquet("people.parquet")
    named = ["--quasi", "age,town", "--sensitive", "disease", "--k", "5", "--algorithm", "mondrian"]
    assert ran("anonymize", "people.parquet", "-o", "out.sqlite::release", "--engine", "duckdb", *named) == 0
    assert Path("out.sqlite.release.manifest.json").exists()
    gc.collect()
    assert ran("verify", "out.sqlite::release", "--engine", "duckdb") == 0
