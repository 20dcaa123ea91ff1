"""A real Spark cluster of one master and two workers on this machine, for tests and benchmarks."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HERE = "127.0.0.1"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:-UsePerfData"
"""Java that lives for minutes is not optimized for hours: half of its processor time went into that. Without room for
all that it compiled it would compile it again."""
PATIENCE = 120
"""Seconds to wait for the master and its workers."""


def java() -> str | None:
    return shutil.which("java")


@dataclass(frozen=True)
class Cluster:
    url: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill(self, place: int) -> None:
        """Ends a worker with its executors, as a machine that is switched off."""
        _end(self.workers[place], forcibly=True)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind((HERE, 0))
        return int(listening.getsockname()[1])


def _end(process: subprocess.Popen[bytes], *, forcibly: bool = False) -> None:
    """Ends a process with all that it started, which it leads as a session of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL if forcibly else signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        _end(process, forcibly=True)


def _begun(folder: Path, name: str, kind: str, *options: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HERE, "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(folder / name), "SPARK_NO_DAEMONIZE": "1",
    }  # fmt: skip
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *options],
            stdout=log, stderr=log, env=environment, start_new_session=True, cwd=folder, preexec_fn=_ending_with_us,
        )  # fmt: skip


def _ending_with_us() -> None:
    """On Linux, asks to be ended when the process that started it is killed and cannot end it any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _told(log: Path, pattern: str, process: subprocess.Popen[bytes], count: int = 1) -> None:
    until = time.monotonic() + PATIENCE
    while len(re.findall(pattern, log.read_text(errors="replace"))) < count:
        if time.monotonic() > until or process.poll() is not None:
            raise RuntimeError(f"the Spark cluster did not start; see {log.name}")
        time.sleep(0.1)


@contextmanager
def started(folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[Cluster]:
    """The cluster while it runs; its logs lie in a folder."""
    port = _free_port()
    url, running = f"spark://{HERE}:{port}", []
    shared = ("--host", HERE, "--webui-port", "0")
    try:
        running.append(_begun(folder, "master", "master.Master", "--port", str(port), *shared))
        _told(folder / "master.log", "New state: ALIVE", running[0])
        for at in range(workers):
            running.append(_begun(folder, f"worker{at}", "worker.Worker", *shared, "-c", str(cores), "-m", memory, url))
        _told(folder / "master.log", "Registering worker", running[0], workers)
        yield Cluster(url, tuple(running[1:]))
    finally:
        for process in reversed(running):
            _end(process)


@contextmanager
def in_one_process() -> Iterator[Cluster]:
    """No cluster: Spark plans and exchanges as on one, in two threads of the driver, which start at once. Functions of
    Python still run in processes of their own."""
    yield Cluster("local[2]", ())


SETTINGS = {
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.executor.memory": "640m",
    "spark.driver.memory": "640m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.buffer.pageSize": "1m",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "500ms",
}
"""What keeps small jobs quick, also those that ask a worker for something that was killed: it is not asked for long. A
page of memory has 20 MB otherwise, for a few rows, and what finished jobs did is kept for a page that nobody sees: a
fifth of Java's time went into clearing that away."""
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": f"{SHORT_LIVED} -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
}
"""Queries that run once over a few rows are not worth compiling, and Spark's own classes need not be looked through for
faults of a compiler whenever it starts. The long suite has all of that as everybody has it."""
