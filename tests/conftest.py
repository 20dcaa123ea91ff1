"""What all tests share: where the reference data lie, the checks of the contract tests, and what a run says it left
out."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parent / "contract"))
sys.path.insert(0, str(Path(__file__).parent))

import bytecode
from counts import LONG

REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "adult"
LACKING = "they need the reference data beside the repository"

for library in (
    "OMP",
    "OPENBLAS",
    "MKL",
):  # the tests run beside one another: each keeps to one thread for linear algebra
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

bytecode.keep()

IN_MEMORY, ROOM = Path("/dev/shm"), 4 << 30


def in_memory() -> bool:
    """Whether files of the tests can lie in memory: there is room, and programs may be run from there."""
    try:
        return shutil.disk_usage(IN_MEMORY).free >= ROOM and not os.statvfs(IN_MEMORY).f_flag & os.ST_NOEXEC
    except OSError:
        return False


if "TMPDIR" not in os.environ and os.access(IN_MEMORY, os.W_OK) and in_memory():
    # Every file that Shoal writes is brought to the disk before it takes its place: milliseconds, thousands of times.
    os.environ["TMPDIR"] = str(IN_MEMORY)
    tempfile.tempdir = None

# Every day's run tries the same examples, so that it fails only when something changed; the long one draws others. How
# long drawing takes is the machine's affair.
hypothesis.settings.register_profile(
    "shoal", derandomize=not LONG, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("shoal")

if "SHOAL_KERNELS" in os.environ:
    from kernels import record

    record(Path(os.environ["SHOAL_KERNELS"]))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell has its background jobs, and all they start, ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place of the tests' own for what Shoal notes between runs."""
    folder = tmp_path_factory.mktemp("state")
    os.environ["XDG_STATE_HOME"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def commands() -> Iterator[Any]:
    """Starts real processes quickly: `commands.run("verify", path)`, `commands.start(...)`; see `tests/command.py`."""
    from command import Commands

    made = Commands()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference copy of Adult with its hierarchies, which lies beside the repository and is not part of it."""
    if not REFERENCE.is_dir():
        pytest.skip(LACKING)
    return REFERENCE


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Any]:
    """A real browser, one for all tests of a process: to start it takes two seconds."""
    import browser as browsers

    if browsers.CHROMIUM is None or find_spec("playwright") is None:
        pytest.skip("they need a browser: Chromium and playwright")
    with browsers.started() as running:
        yield running


@pytest.fixture(scope="module")
def browser(started_browser: Any) -> Iterator[Any]:
    """The browser for the tests of a file: until its end, no test can run an event loop of its own."""
    with started_browser.used() as running:
        yield running


@pytest.fixture
def looking(browser: Any) -> Iterator[Any]:
    """A fresh page that notes what it does: `looking.open(path or address)`, then ask `.quiet`, `.elsewhere`."""
    import browser as browsers

    with browsers.looking(browser) as seen:
        yield seen


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session, one for all tests that ask for it; in the long suite on a cluster of two workers.

    With several processes, one of them has them all: `pytest_xdist_make_scheduler`.
    """
    import cluster

    if cluster.java() is None or find_spec("pyspark") is None:
        pytest.skip("they need Java 17 and pyspark")
    from counts import LONG
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = cluster.SETTINGS if LONG else {**cluster.SETTINGS, **cluster.INTERPRETED}
    with cluster.started(tmp_path_factory.mktemp("cluster")) if LONG else cluster.in_one_process() as running:
        session = SparkSession.builder.master(running.url).config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[int]:
    """The port of a PostgreSQL server."""
    import postgres as servers

    if not servers.PROGRAMS:
        pytest.skip("they need a PostgreSQL server: initdb")
    with servers.started() as port:
        yield port


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("they need a small disk, which only root can mount")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.fixture(autouse=True)
def drawn_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds that nobody gives are drawn; here from a stream of the test, so that a failure can be repeated."""
    monkeypatch.setattr("secrets.randbits", random.Random(request.node.nodeid).getrandbits)


TESTS = Path(__file__).parent
ORDER = ("acceptance", "contract", "robustness", "property", "fuzz", "docs", "golden", "unit")
"""Folders with long tests go first, and in a folder large files, so that no process is left with them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    @cache
    def turn(path: Path) -> tuple[int, int]:
        folder = next((place for place, name in enumerate(ORDER) if TESTS / name in path.parents), len(ORDER))
        return folder, -path.stat().st_size

    items.sort(key=lambda item: ("spark" not in item.nodeid, turn(item.path)))


gc.disable()  # while the tests are collected, next to nothing of the millions of objects is garbage


def pytest_collection_finish() -> None:
    """What thousands of tests consist of stays until the end: it need not be looked through for garbage again."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # libraries complain of what is left when they end


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hands out the tests of a file together, which share what they ask about, and those of Spark to one process: a
    cluster takes a while to start."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "spark" in nodeid else nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # which would leave the files with one long test to the end
    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each reason why tests were skipped, so that no oracle is missing in silence; and what was slow."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped: {count} {'test' if count == 1 else 'tests'}: {reason}")
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                seconds[report.nodeid] += report.duration
    if len(seconds) < FEW:
        return
    for test, taken in seconds.most_common(SLOWEST):
        terminalreporter.write_line(f"slow: {taken:6.1f} s {test}")
    folders: Counter[str] = Counter()
    for test, taken in seconds.items():
        folders["Spark" if "spark" in test else "/".join(test.split("/")[1:2]) or "elsewhere"] += taken
    shares = (f"{folder} {taken / max(seconds.total(), 1e-9):.0%}" for folder, taken in folders.most_common())
    terminalreporter.write_line(f"time: {', '.join(shares)} of {seconds.total():.0f} s in all processes")


SLOWEST, FEW = 10, 200
"""How many of the slowest tests are named, and how many tests a run must have for that."""
