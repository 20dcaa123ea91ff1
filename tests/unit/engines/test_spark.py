"""The Spark engine on a real cluster: frames, files, what stops it, and what it says when something is wrong."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from counts import LONG, long_on_spark

import shoal
from shoal.algorithms.in_blocks import InBlocks
from shoal.algorithms.k_member import KMember
from shoal.api.anonymizing import _in_blocks
from shoal.core.blocks import Blocks
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.engines.spark import Spark
from shoal.engines.spark.hashing import ascending, row_hash
from shoal.engines.spark.session import DISK_FULL, ClusterSession, _plain, compute
from shoal.errors import CancelledError, InfeasibleError, InputError, OutputError, ShoalError

SECRET = "canary4711"
ROLES = {"quasi": ["age", "sex"], "sensitive": ["disease"]}
TESTS = Path(__file__).parents[2]


def table(rows=60, start=0):
    return pl.DataFrame(
        {
            "age": [20 + (start + row) % 7 for row in range(rows)],
            "sex": ["fm"[(start + row) % 2] for row in range(rows)],
            "disease": [("flu", "cold", SECRET)[(start + row) % 3] for row in range(rows)],
        }
    )


def test_a_frame_of_spark_is_worked_on_where_it_lives(spark):
    given = table(200).with_columns(note=pl.int_range(200) % 5)
    data = shoal.read(spark.createDataFrame(given.to_arrow()), **ROLES)
    assert type(data.engine).__name__ == "Spark"
    reference = shoal.read(given, **ROLES)
    made = [shoal.anonymize(each, "k-anonymity:k=4", algorithm="mondrian", seed=3) for each in (reference, data)]
    frame = made[1].frame
    assert type(frame).__module__.startswith("pyspark.sql") and frame.columns == given.columns
    assert pl.from_arrow(frame.toArrow()).equals(made[0].frame)


def test_codes_for_missing_answers_are_those_of_the_embedded_engine(spark, tmp_path):
    statistics = pytest.importorskip("pyreadstat")
    given = pl.DataFrame({"sex": [1.0, 2.0] * 6, "income": [1000.5, -9.0, -8.0, 2.5] * 3})
    statistics.write_sav(given, str(tmp_path / "survey.sav"), missing_ranges={"income": [-8, -9]})
    written = []
    for engine in ("embedded", "spark"):
        data = shoal.read(tmp_path / "survey.sav", quasi=["sex"], engine=engine)
        release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=3)
        release.write(tmp_path / f"{engine}.sav")
        release.write(tmp_path / engine)
        written.append((tmp_path / f"{engine}.sav").read_bytes())
        incomes = pl.read_parquet(tmp_path / engine / "*.parquet")["income"]
        assert incomes.null_count() == 6 and incomes.min() == 2.5
    assert written[0] == written[1]


def test_parquet_files_with_odd_names_stand_in_their_order(spark, tmp_path):
    folder = tmp_path / "a folder, 50% ümlaut"
    (folder / "deeper").mkdir(parents=True)
    table(40).write_parquet(folder / "b 1.parquet")
    table(20, 40).write_parquet(folder / "deeper" / "a#2.parquet")
    expected, found = (shoal.read(folder, **ROLES, engine=name) for name in ("embedded", "spark"))
    for name in ("age", "disease"):
        assert np.array_equal(found.codes(name), expected.codes(name))


@pytest.mark.parametrize("algorithm", ["k-member", "mondrian:strict=false"])
def test_classes_that_are_published_alike_are_cut_into_files_as_one(spark, algorithm, tmp_path):
    long_on_spark("spark")
    given = pl.DataFrame({"age": [row % 3 for row in range(240)], "disease": ["flu"] * 240})
    data = shoal.read(spark.createDataFrame(given.to_arrow()), quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=algorithm, seed=1)
    release.write(tmp_path / "out", rows_per_file=33)
    files = [pl.read_parquet(path) for path in sorted((tmp_path / "out").iterdir())]
    assert [len(file) for file in files] == [33] * 7 + [9]
    release.write(tmp_path / "one.parquet")
    assert pl.concat(files).equals(pl.read_parquet(tmp_path / "one.parquet"))


def test_a_row_algorithm_gets_blocks_of_a_large_table_and_says_so():
    """What the workers make of blocks is compared with other engines in the contract tests."""
    data = replace(shoal.read(table(400), **ROLES), engine=Spark(block_records=150))
    chosen = {}
    for text in ("k-member", "mdav:refine=true", "mondrian:strict=false", "mondrian", "optimal", "l-member"):
        method = shoal.job.plugin("algorithms", text)
        made, note = _in_blocks(data, Policy(models=(shoal.KAnonymity(k=4),)), method)
        if made is method:
            assert not note
        else:
            assert made == InBlocks(base=method, records=150) and "base=" in note and "records=150" in note
            chosen[text] = made
    assert list(chosen) == ["k-member", "mdav:refine=true", "mondrian:strict=false"]
    method, relaxed = KMember(), shoal.models.DeltaDisclosure(delta=3.0, strict=False)
    assert _in_blocks(data, Policy(models=(relaxed,)), method) == (method, "")
    assert _in_blocks(replace(data, engine=Spark(block_records=400)), Policy(models=()), method) == (method, "")


def test_what_a_worker_raises_is_raised_here(spark, tmp_path):
    table(60).write_parquet(tmp_path / "t.parquet")
    data = shoal.read(tmp_path / "t.parquet", **ROLES, engine="spark")

    def work(part, schema, engine):
        if part.records == 60:
            raise InfeasibleError(f"{part.records} records", {"records": part.records})
        return part.records

    whole = Blocks(np.array([-1]), np.array([-1]), np.array([-1]))
    with pytest.raises(InfeasibleError, match="60 records") as caught:
        data.table.map_blocks(data.schema, whole, work, seed=1, run=Run(), doing="testing")
    assert caught.value.attempt == {"records": 60}
    halves = Blocks(np.array([1, -1, -1]), np.array([0, -1, -1]), np.array([1, -1, -1]))
    assert data.table.map_blocks(data.schema, halves, work, seed=1, run=Run(), doing="testing") == [30, 30]


def test_hashes_are_added_without_an_overflow(spark):
    from pyspark.sql import functions

    draw = np.random.default_rng(1)
    parts = draw.integers(0, 2**64, (3, 500), dtype=np.uint64)
    frame = spark.createDataFrame(pa.table({f"h{at}": part.view(np.int64) for at, part in enumerate(parts)}))
    total = row_hash([functions.col(f"h{at}") for at in range(3)])
    found = frame.select(total.alias("sum"), ascending(total).alias("place")).toArrow()
    expected = parts.sum(axis=0)
    assert np.array_equal(found["sum"].to_numpy().view(np.uint64), expected)
    assert np.array_equal(np.argsort(found["place"].to_numpy()), np.argsort(expected))


def test_a_schema_that_differs_between_files_is_refused(spark, tmp_path):
    table().write_parquet(tmp_path / "a.parquet")
    table().with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: its columns are not those of a\.parquet"):
        shoal.read(tmp_path, **ROLES, engine="spark")


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_file_is_refused_without_a_word_of_it(spark, damage, tmp_path):
    path = tmp_path / "people.parquet"
    table(5000).write_parquet(path, compression="uncompressed")
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    else:
        path.write_bytes(whole[:100] + bytes(255 - byte for byte in whole[100:2000]) + whole[2000:])
    with pytest.raises(InputError, match=r"people\.parquet") as caught:
        data = shoal.read(path, **ROLES, engine="spark")
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian")
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


def test_a_run_that_is_cancelled_stops_the_job(spark):
    slow = compute(lambda values: time.sleep(600) or values, ["id"], "bigint")
    session, run = ClusterSession(spark), Run()
    threading.Timer(1.5, run.cancel).start()
    began = time.monotonic()
    with pytest.raises(CancelledError), session.stopped_by(run):
        session.count(spark.range(1000, numPartitions=2).select(slow.alias("x")).where("x >= 0"))
    assert time.monotonic() - began < 400


def test_what_spark_says_is_not_passed_on():
    for text in (
        "No space left on device",
        DISK_FULL,
        "Checkpoint block rdd_1 not found",
        "cancelled",
        "anything",
        "OutOfMemoryError",
    ):
        assert SECRET not in str(_plain(f"{text} {SECRET}", "the table", "Py4JJavaError"))


@pytest.mark.parametrize("text", ["Job 2 cancelled because SparkContext was shut down", "TaskResultLost (result lost)"])
def test_a_driver_without_memory_is_told_what_to_do(text):
    told = _plain(f"{text} {SECRET}", "the table", "Py4JJavaError")
    assert "spark.driver.memory" in str(told) and SECRET not in str(told) and not isinstance(told, CancelledError)


def test_a_result_that_is_too_large_for_the_driver_says_what_to_raise(spark):
    data = shoal.read(spark.createDataFrame(table(200).to_arrow()), **ROLES)
    settings = spark.sparkContext._jsc.sc().conf()
    settings.set("spark.driver.maxResultSize", "1b")
    try:
        with pytest.raises(ShoalError, match=r"^[^:]+: its distinct rows .* raise spark\.driver\.maxResultSize"):
            shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=3)
    finally:
        settings.remove("spark.driver.maxResultSize")
    assert data.records == 200


def test_a_worker_whose_disk_is_full_says_so_and_nothing_is_left(spark, small_disk):
    draw = np.random.default_rng(1)
    given = pl.DataFrame({"age": draw.integers(0, 90, 20_000), "disease": draw.integers(0, 10_000, 20_000)})
    data = shoal.read(spark.createDataFrame(given.to_arrow()), quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    with pytest.raises(OutputError, match="disk is full"):
        release.write(small_disk / "out", rows_per_file=5_000)
    assert list(small_disk.iterdir()) == []


def test_the_diagnosis_and_attacks_run_on_spark(spark):
    given = table(300)
    datasets = [shoal.read(each, **ROLES) for each in (given, spark.createDataFrame(given.to_arrow()))]
    if LONG:  # from a file they are compared every day, in the contract tests
        releases = [shoal.anonymize(each, "k-anonymity:k=5", algorithm="mondrian", seed=1) for each in datasets]
        attempts = [
            [attempt.as_dict() for attempt in shoal.attack(data, release, "prosecutor", "homogeneity")]
            for data, release in zip(datasets, releases, strict=True)
        ]
        assert attempts[0] == attempts[1]
    diagnoses = [shoal.diagnose(data, k=3).as_dict() for data in datasets]
    assert diagnoses[0] == diagnoses[1]
    found = [shoal.dependencies(each).found for each in (given, spark.createDataFrame(given.to_arrow()))]
    assert found[0] == found[1]


def _run(script, **more):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(shoal.__file__).parents[1]), str(TESTS)]), **more},
    )  # fmt: skip


def test_without_java_the_package_to_install_is_named(tmp_path):
    pytest.importorskip("pyspark")
    script = (
        "import shoal, polars\nfrom shoal.errors import ShoalError\n"
        "try:\n    shoal.read(polars.DataFrame({'a': [1]}), quasi=['a'], engine='spark')\n"
        "except ShoalError as error:\n    print(error)"
    )
    assert "openjdk-17-jre-headless" in _run(script, PATH=str(tmp_path), JAVA_HOME=str(tmp_path)).stdout


def test_without_pyspark_the_extra_is_named():
    script = (
        "import sys\nsys.modules['pyspark'] = None\nimport shoal\nfrom shoal.errors import ShoalError\n"
        "try:\n    shoal.read('x.parquet', quasi=['a'], engine='spark')\n"
        "except ShoalError as error:\n    print(error)"
    )
    assert "shoal[spark]" in _run(script).stdout


LOST = """
import sys, threading, time, tempfile
from pathlib import Path
import cluster, shoal, polars as pl
from shoal.errors import ShoalError
folder = Path(sys.argv[1])
with cluster.started(folder) as running:
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master(running.url).config(map=cluster.SETTINGS).getOrCreate()
    from shoal.engines.spark.session import compute
    slow = compute(lambda values: time.sleep(1) or values, ["id"], "bigint")
    rows = session.range(400, numPartitions=4)
    frame = rows.select((slow % 7).alias("age"), (rows.id % 2).alias("sex"), (rows.id % 3).alias("disease"))
    threading.Timer(1.0, running.kill, [0]).start()
    try:
        data = shoal.read(frame, quasi=["age", "sex"], sensitive=["disease"])
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
        release.write(folder / "out", rows_per_file=200)
    except ShoalError as error:
        print("failed", (folder / "out").exists(), (folder / "out.manifest.json").exists())
    else:
        rows = pl.read_parquet(folder / "out" / "*.parquet")
        print("right", len(rows) + release.suppressed == 400, shoal.verify(folder / "out").holds)
    session.stop()
"""


@pytest.mark.skipif(not LONG, reason="they belong to the long suite: make test-long")
def test_a_worker_that_dies_leaves_a_right_release_or_none(tmp_path):
    import cluster

    if cluster.java() is None:
        pytest.skip("they need Java 17 and pyspark")
    pytest.importorskip("pyspark")
    (tmp_path / "cluster").mkdir()
    script = LOST.replace("sys.argv[1]", repr(str(tmp_path / "cluster")))
    done = _run(script)
    assert done.stdout.splitlines()[-1] in ("right True True", "failed False False"), done.stderr[-2000:]


def test_the_command_takes_the_address_of_a_cluster(spark, tmp_path, capsys):
    from shoal.cli import main

    (tmp_path / "parts").mkdir()
    for at in range(2):
        table(100, at * 100).write_parquet(tmp_path / "parts" / f"{at}.parquet")
    with pytest.raises(SystemExit) as stopped:
        main([
            "anonymize", f"{tmp_path}/parts/*.parquet", "-o", f"{tmp_path}/out", "--quasi", "age,sex", "--sensitive",
            "disease", "--k", "5", "--algorithm", "optimal", "--engine", "spark", "--master",
            spark.sparkContext.master,
        ])  # fmt: skip
    assert stopped.value.code in (0, None)
    assert len(pl.read_parquet(tmp_path / "out" / "*.parquet")) == 200
    assert shoal.verify(tmp_path / "out").holds
