"""A Spark session of one engine: where its queries run, and what becomes of their errors."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa

from shoal.core.run import Run
from shoal.errors import CancelledError, InputError, MissingExtraError, MissingProgramError, OutputError, ShoalError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

POLL, REPORTED = 0.1, 5
"""Seconds between two looks at whether a run was cancelled; and after how many looks it is told how far it is."""

SMALL = 2_000_000
"""Rows that a table may have to be sent to every worker whole."""

BATCH = 1 << 16
"""Rows that go to Python at a time, on the cluster."""

DISK_FULL = "shoal-disk-full"
"""What a function of Shoal on a worker says when there is no room for what it writes."""

_FULL = ("No space left", "Disk quota exceeded", "not enough space on the disk")
"""What Java says of a disk on which Spark itself spills; it has no number for that."""

JAVA = "openjdk-17-jre-headless"
"""Debian's package of the Java that Spark needs."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what Spark logs of a failed task may quote cells
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
}
_start_lock, _warning_lock = Lock(), Lock()


def active_session(master: str | None = None) -> SparkSession:
    """The session that runs in this process, or a new one; it is stopped when the process ends."""
    try:
        with _without_warnings():
            from pyspark.errors import PySparkRuntimeError
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("the spark engine", "spark") from None
    with _start_lock:
        try:
            running = SparkSession.active()
        except PySparkRuntimeError:
            return _new(SparkSession.builder, master)
    if master is not None and running.sparkContext.master != master:
        raise InputError(
            "a Spark session on another master is running in this process; leave the master out, or stop it first"
        )
    return running


def _new(builder: Any, master: str | None) -> SparkSession:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=None if home is None else str(Path(home) / "bin")) is None:
        raise MissingProgramError("the spark engine", "Java 17", JAVA)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = dict(_QUIET)
    if master is not None:
        settings["spark.master"] = master
        if urlsplit(master).hostname in _LOOPBACK:
            settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
    try:
        with plain_errors("the cluster"), _without_warnings(), nullcontext() if _start_java(settings) else _silent():
            session: SparkSession = builder.appName("shoal").config(map=settings).getOrCreate()
            return session
    except MissingProgramError:
        raise
    except ShoalError:
        raise InputError("Spark does not start: check its settings, and that a master runs at the address") from None


def _start_java(settings: Mapping[str, str]) -> bool:
    """Starts the Java that Spark runs in, unless it runs already. Nobody sees what it says: it may quote cells.

    Returns False where PySpark has other private names than those that this takes.
    """
    from pyspark import SparkConf, SparkContext

    try:
        from pyspark.java_gateway import launch_gateway

        if SparkContext._gateway is None:
            silent = {"stderr": subprocess.DEVNULL}
            gateway = launch_gateway(SparkConf().setAll(list(settings.items())), silent)  # type: ignore[no-untyped-call]
            SparkContext._ensure_initialized(gateway=gateway)
    except (AttributeError, ImportError, TypeError):
        return False
    return True


@contextmanager
def _silent() -> Iterator[None]:
    """What programs that are started meanwhile say on the standard error, and this one too, is seen by nobody."""
    standard_error = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(standard_error, 2)
        os.close(standard_error)


class ClusterSession:
    """Where everything of a table is done. Any number of threads may call.

    Spark's error messages quote cells of the table: none of them is passed on.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    @classmethod
    def start(cls, master: str | None = None) -> ClusterSession:
        return cls(active_session(master))

    def load(self, table: pa.Table, kinds: Mapping[str, DataType] | None = None) -> DataFrame:
        """A table of the driver as a frame, its columns of the Spark types `kinds` where these are given."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructField, StructType

        usual, given = from_arrow_schema(table.schema, prefer_timestamp_ntz=True), kinds or {}
        schema = StructType([StructField(each.name, given.get(each.name, each.dataType)) for each in usual])
        with plain_errors("the table"):
            frame: DataFrame = self.spark.createDataFrame(table, schema)
            return frame

    def fetch(self, frame: DataFrame, *, what: str = "the table") -> pa.Table:
        """A result as a whole."""
        with plain_errors(what):
            return frame.toArrow()

    def batches(self, frame: DataFrame, *, what: str = "the table") -> Iterator[pa.Table]:
        """A result piece by piece in its order: one partition at a time is in the driver."""
        packed = map_batches(frame, _as_cells, "piece binary")
        with plain_errors(what):
            for row in packed.toLocalIterator():
                yield pa.ipc.open_stream(row["piece"]).read_all()

    def hold(self, frame: DataFrame, *, what: str = "the table") -> DataFrame:
        """A result that is computed now, and never again: it stays on the workers until nobody needs it."""
        with plain_errors(what):
            return frame.localCheckpoint(eager=True)

    def count(self, frame: DataFrame, *, what: str = "the table") -> int:
        with plain_errors(what):
            return int(frame.count())

    @contextmanager
    def stopped_by(self, run: Run, doing: str = "", progress: Callable[[], float] | None = None) -> Iterator[None]:
        """Meanwhile, the jobs of this thread stop when the run is cancelled. Where it is said what they are `doing`,
        the run is told how far they are: as `progress` says, or by their tasks."""
        context, over, tag = self.spark.sparkContext, Event(), f"shoal-{secrets.token_hex(8)}"
        share = progress or (lambda: _share_done(context, tag))

        def watch() -> None:
            polls = 0
            while not over.wait(POLL):
                polls += 1
                with suppress(CancelledError, *_failures()):  # a cluster that is lost is told of by its jobs
                    if doing and polls % REPORTED == 0:
                        run.report(share(), doing)
                if run.cancelled:
                    context.cancelJobsWithTag(tag)

        watcher = Thread(target=watch, daemon=True)
        context.addJobTag(tag)
        watcher.start()
        try:
            yield
        except ShoalError:
            run.check()
            raise
        finally:
            over.set()
            watcher.join()
            context.removeJobTag(tag)
        if doing:
            run.report(1.0, doing)


def _share_done(context: SparkContext, tag: str) -> float:
    """The share of the tasks of jobs with a tag that are done. More of them may be to come: as many as the cluster does
    at a time are added to those that are known."""
    tracker = context.statusTracker()
    try:
        jobs = [tracker.getJobInfo(job) for job in context._jsc.sc().statusTracker().getJobIdsForTag(tag)]
    except (AttributeError, TypeError):  # PySpark has no public way from a tag to its jobs
        return 0.0
    numbers = {stage for job in jobs if job is not None for stage in job.stageIds}
    stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
    known = sum(stage.numTasks for stage in stages)
    return sum(stage.numCompletedTasks for stage in stages) / (known + context.defaultParallelism)


def map_batches(frame: DataFrame, function: Callable[..., Any], schema: str | StructType) -> DataFrame:
    """The batches of a frame, through a function of Arrow batches on the workers."""
    with _without_warnings():
        results: DataFrame = frame.mapInArrow(function, schema)
        return results


@contextmanager
def _without_warnings() -> Iterator[None]:
    """PySpark looks at which pandas there is, and warns of the newest, though Arrow's batches never meet it."""
    with _warning_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def compute(function: Callable[..., Any], columns: Sequence[str], kind: str) -> Column:
    """What a function of Arrow arrays makes of columns on the workers, of a type that Spark names."""
    with _without_warnings():
        from pyspark.sql.pandas.functions import arrow_udf

    def apply(*arrays):  # type: ignore[no-untyped-def]
        return function(*arrays)

    apply.__annotations__ = {"arrays": pa.Array, "return": pa.Array}  # which PySpark reads, and not as texts
    results: Column = arrow_udf(apply, kind)(*columns)  # type: ignore[call-overload]
    return results


def _as_cells(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as one cell that holds all of it."""
    for batch in batches:
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch({"piece": pa.array([stream.getvalue().to_pybytes()], pa.binary())})


def _failures() -> tuple[type[Exception], ...]:
    """What goes wrong in Spark, and on the way there."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError, ConnectionError


@contextmanager
def plain_errors(what: str) -> Iterator[None]:
    """Errors of Spark as Shoal's own, without their texts."""
    try:
        yield
    except _failures() as error:
        raise _plain(str(error), what, type(error).__name__) from None


def _plain(text: str, what: str, name: str) -> ShoalError:
    """What went wrong, by words that Spark uses for it; nothing of the text itself is told."""
    if "JAVA_GATEWAY_EXITED" in text or "JAVA_GATEWAY" in text:
        return MissingProgramError("the spark engine", "Java 17", JAVA)
    if "SparkContext was shut down" in text or "TaskResultLost" in text:
        return ShoalError(
            f"{what}: Spark stopped in the middle of the work, most likely for lack of memory in the driver; give it "
            "more (spark.driver.memory) and run it again"
        )
    if "maxResultSize" in text:
        return ShoalError(
            f"{what}: its distinct rows take more room on their way to the driver than Spark allows; raise "
            "spark.driver.maxResultSize, name fewer columns, or use the duckdb engine"
        )
    if "cancelled" in text:
        return CancelledError("the job was stopped; nothing was written")
    if DISK_FULL in text or any(words in text for words in _FULL):
        return OutputError(f"{what}: the disk is full, here or on a worker of the cluster")
    if (
        "Checkpoint block" in text
        or "ExecutorLost" in text
        or "has been shutdown" in text
        or "stopped SparkContext" in text
    ):
        return ShoalError(f"{what}: the cluster lost a worker, or was stopped, and what it held is gone; run it again")
    if "OutOfMemoryError" in text:
        return ShoalError(f"{what}: a worker of the cluster ran out of memory; give Spark's executors more")
    if "ModuleNotFoundError" in text or "Cannot run program" in text:
        return ShoalError("the workers of the cluster lack Shoal or its packages; install 'shoal[spark]' there too")
    return InputError(f"{what}: Spark cannot work on it ({name})")
