"""Runs that are killed at each of their stages and go on: the release of an undisturbed run, byte for byte."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from command import MAIN, Commands, Ended
from counts import LONG, long_on_spark

import shoal
from shoal.cli import main
from shoal.core.run import Run
from shoal.storage.checkpoint import HEADER
from shoal.storage.files import sha256

KILLING = """
import os, signal, sys
from shoal.core import run

stage, passes = sys.argv.pop(1), int(sys.argv.pop(1))
reported = run.Run.report

def report(self, share, doing):
    global passes
    reported(self, share, doing)
    if doing == stage and self.within is None:
        passes -= 1
        if passes < 0:
            os.kill(os.getpid(), signal.SIGKILL)

run.Run.report = report
from shoal.cli import main
main()
"""
"""The command, killed the moment it says for so many times that it is at a stage."""

FORBIDDING = """
import sys
from importlib import import_module

for place in filter(None, sys.argv.pop(1).split(",")):
    module, _, name = place.partition(":")
    owner, _, last = name.rpartition(".")
    held = import_module(module)
    for part in filter(None, owner.split(".")):
        held = getattr(held, part)

    def forbidden(*given, place=place, **named):
        raise AssertionError(f"{place} is done again")

    setattr(held, last, forbidden)
from shoal.cli import main
main()
"""
"""The command, in which some functions must not be called."""

READS = {
    "duckdb": "shoal.engines.duckdb:_distinct,shoal.engines.duckdb:_counts_left",
    "spark": "shoal.engines.spark.reading_checkpoint:tally",
    "embedded": "",
}
SEARCH = "shoal.algorithms.full_domain.optimal:Optimal.search"
OPTIMAL, MONDRIAN = ("--algorithm", "optimal"), ("--algorithm", "mondrian")
QUASI = "age,gender,education,marital-status"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two files: quasi-identifiers, a sensitive attribute, a column without a role, an identifier."""
    folder = tmp_path_factory.mktemp("tables") / "warehouse"
    folder.mkdir()
    for number in range(2):
        people = shoal.samples.census(600, seed=number)
        people.with_row_index("number", number * 600).write_parquet(folder / f"{number}.parquet")
    return folder


def arguments(warehouse: Path, engine: str, out: Path, *more: object) -> list[str]:
    given = [
        "anonymize", warehouse, "-o", out, "--quasi", QUASI, "--sensitive", "occupation", "--identifiers", "number",
        "--allow-plain", "salary-class", "--suppression", "0.02", "--k", 4, "--seed", 7, "--engine", engine,
        "--rows-per-file", 150, *more,
    ]  # fmt: skip
    return [str(each) for each in given]


Ran = Callable[..., Ended]


@pytest.fixture(scope="module")
def ran(commands: Commands) -> Ran:
    """Runs a script with some arguments in a process of its own."""
    return lambda script, *given: commands.run(*given, script=script)


def published(out: Path) -> tuple[str, str]:
    """The hashes of a release and of its manifest."""
    return sha256(out), sha256(out.with_name(f"{out.name}.manifest.json"))


def done(given: list[str]) -> int:
    """The code with which a command ends that is run here."""
    try:
        main(given)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def killed(ran: Ran, given: list[str], state: Path, stage: str, passes: int = 0) -> None:
    """Begins a run and kills it at a stage; what it leaves is for its owner alone."""
    first = ran(KILLING, stage, passes, *given, "--resume-dir", state)
    assert first.code == -signal.SIGKILL, first.err
    assert state.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in state.iterdir())


def resumed(given: list[str], state: Path, places: str = "") -> None:
    """Goes on in this process, without some functions."""
    with pytest.MonkeyPatch.context() as patched:
        for place in filter(None, places.split(",")):
            patched.setattr(place.replace(":", "."), forbidden)
        assert done([*given, "--resume-dir", str(state)]) == 0
    assert not state.exists()


STAGES = {
    "looking at the plain columns": ("reading",),
    "searching": ("reading",),
    "publishing": ("reading", "searching"),
    "verifying": ("reading", "searching"),
    "writing": ("reading", "searching"),
    "reading back": ("reading", "searching"),
}
"""Where a run is killed, and what is done by then."""
DAILY = ("searching", "writing", "reading back")
"""One stage of each state that a kill leaves; where the plan is made, Ctrl+C stops a run."""


def forbidden_after(stage: str, engine: str) -> str:
    done = {"reading": READS[engine], "searching": SEARCH}
    return ",".join(filter(None, (done[each] for each in STAGES[stage])))


@pytest.fixture(scope="module")
def whole(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of an undisturbed run on DuckDB."""
    out = tmp_path_factory.mktemp("releases") / "out"
    assert done(arguments(warehouse, "duckdb", out, *OPTIMAL)) == 0
    assert len(list(out.iterdir())) > 5
    return out


@pytest.mark.parametrize("stage", STAGES if LONG else DAILY)
def test_a_run_that_was_killed_goes_on(ran: Ran, warehouse: Path, whole: Path, tmp_path: Path, stage: str) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    given = arguments(warehouse, "duckdb", out, *OPTIMAL)
    killed(ran, given, state, stage, passes=4 if stage == "writing" else 0)
    resumed(given, state, forbidden_after(stage, "duckdb"))
    assert published(out) == published(whole) and shoal.verify(out, engine="duckdb").holds


def test_another_engine_takes_the_plan_and_reads_anew(ran: Ran, warehouse: Path, whole: Path, tmp_path: Path) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    killed(ran, arguments(warehouse, "embedded", out, *OPTIMAL), state, "publishing")
    resumed(arguments(warehouse, "duckdb:memory_limit=1GB", out, *OPTIMAL), state, SEARCH)
    assert published(out) == published(whole)


def test_a_run_on_spark_goes_on(
    spark: Any, warehouse: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster takes a while to start: the run goes on in the same one, from what a kill would have left."""
    long_on_spark("spark")
    out, state, left = tmp_path / "out", tmp_path / "state", tmp_path / "left"
    given = [*arguments(warehouse, "spark", out, *OPTIMAL), "--resume-dir", str(state)]
    reported = Run.report

    def report(run: Run, share: float, doing: str) -> None:
        reported(run, share, doing)
        if doing == "writing" and not left.exists():
            shutil.copytree(state, left)
            run.cancel()

    with monkeypatch.context() as patched:
        patched.setattr(Run, "report", report)
        assert done(given) == 130
    assert not out.exists()
    shutil.rmtree(state)
    left.rename(state)
    for place in forbidden_after("writing", "spark").split(","):
        monkeypatch.setattr(place.replace(":", "."), forbidden)
    assert done(given) == 0
    assert not state.exists() and shoal.verify(out).holds
    assert rows_of(out).equals(rows_of(whole))


def forbidden(*given: object, **named: object) -> None:
    raise AssertionError("this is done again")


def rows_of(folder: Path) -> polars.DataFrame:
    return polars.concat(map(polars.read_parquet, sorted(folder.iterdir())))


SESSION = """
import os, sys
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
sys.path.insert(0, {tests!r})
import cluster
from pyspark.sql import SparkSession
SparkSession.builder.master("local[2]").config(map=cluster.SETTINGS).getOrCreate()
"""
"""Starts a session, which the command takes."""


@pytest.mark.skipif(not LONG, reason="they belong to the long suite: make test-long")
def test_a_run_on_spark_that_was_killed_goes_on(ran: Ran, warehouse: Path, whole: Path, tmp_path: Path) -> None:
    import cluster

    if cluster.java() is None or find_spec("pyspark") is None:
        pytest.skip("they need Java 17 and pyspark")
    begins = SESSION.format(tests=str(Path(cluster.__file__).parent))

    def running(script: str, *given: object) -> Ended:
        return ran(begins + script, *given)

    out, other = tmp_path / "out", tmp_path / "whole"
    given = arguments(warehouse, "spark", out, *OPTIMAL)
    killed(running, given, tmp_path / "state", "writing")
    again = running(FORBIDDING, forbidden_after("writing", "spark"), *given, "--resume-dir", tmp_path / "state")
    assert again.code == 0 and not (tmp_path / "state").exists(), again.err
    assert shoal.verify(out).holds and rows_of(out).equals(rows_of(whole))
    assert running(MAIN, *arguments(warehouse, "spark", other, *OPTIMAL)).code == 0
    assert published(out) == published(other)


BLOCKS = ("--algorithm", "in-blocks:base=mondrian,records=200")


def test_blocks_that_were_solved_are_not_solved_again(ran: Ran, warehouse: Path, tmp_path: Path) -> None:
    out, other, state = tmp_path / "out", tmp_path / "whole", tmp_path / "state"
    assert done(arguments(warehouse, "duckdb", other, *BLOCKS)) == 0
    given = arguments(warehouse, "duckdb", out, *BLOCKS)
    killed(ran, given, state, "recoding blocks", passes=2)
    parts = json.loads((state / HEADER).read_text())["parts"]
    solved = [name for name in parts if name.startswith("block-") and "cuts" not in name]
    assert len(solved) >= 2  # another one may be on its way
    again = ran(COUNTING, *given, "--resume-dir", state)
    assert again.code == 0, again.err
    blocks = int(again.err.split("blocks: ")[1].split()[0])
    searched = int(again.err.split("searched: ")[1].split()[0])
    assert searched == blocks - len(solved) > 0
    assert published(out) == published(other)


COUNTING = """
import sys
from shoal.algorithms import in_blocks
searched, search, together = [], in_blocks.Mondrian.search, in_blocks._together

def counting(self, *given):
    searched.append(1)
    return search(self, *given)

def telling(parts, *given):
    print("blocks:", len(parts), "searched:", len(searched), file=sys.stderr)
    return together(parts, *given)

in_blocks.Mondrian.search, in_blocks._together = counting, telling
from shoal.cli import main
main()
"""
"""The command, which says how many blocks there are and in how many of them it searched."""


@pytest.fixture(scope="module")
def left(ran: Ran, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a run that was killed when its plan was made."""
    folder = tmp_path_factory.mktemp("left")
    killed(ran, arguments(warehouse, "duckdb", folder / "out", *MONDRIAN), folder / "state", "publishing")
    return folder / "state"


@pytest.fixture
def begun(left: Path, warehouse: Path, tmp_path: Path) -> tuple[list[str], Path]:
    """A run that was killed when its plan was made, and its state."""
    shutil.copytree(left, tmp_path / "state")
    return arguments(warehouse, "duckdb", tmp_path / "out", *MONDRIAN), tmp_path / "state"


@pytest.fixture
def here(request: pytest.FixtureRequest) -> Callable[..., Ended]:
    """Runs a command in this process."""
    return request.getfixturevalue("shoal")


def refused(here: Callable[..., Ended], *given: object) -> Ended:
    """What a command says that is given something wrong."""
    told = here(*given)
    assert told.code
    return told


def test_a_state_is_of_one_run(
    here: Callable[..., Ended], begun: tuple[list[str], Path], warehouse: Path, tmp_path: Path
) -> None:
    given, state = begun
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    others = {
        "another seed": ("--seed", "8"), "another policy": ("--k", "5"),
        "another policy, algorithm": OPTIMAL,
        "other pseudonyms": ("--pseudonyms", "random"),
        "another table": ("--missing", "?"), "another table, or": ("--protect-jointly",),
    }  # fmt: skip
    for message, changed in others.items():
        told = refused(here, *given, "--resume-dir", state, *changed)
        assert told.code == 2 and message in told.err and "name another" in told.err, told.err
    grown = tmp_path / "grown"
    grown.mkdir()
    for path in warehouse.iterdir():
        (grown / path.name).write_bytes(path.read_bytes())
    shoal.samples.census(10, seed=5).with_row_index("number", 9000).write_parquet(grown / "2.parquet")
    told = refused(here, *given[:1], grown, *given[2:], "--resume-dir", state)
    assert told.code == 2 and "another table" in told.err
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("harm", ["cut short", "changed", "lost", "header"])
def test_a_damaged_state_is_refused(here: Callable[..., Ended], begun: tuple[list[str], Path], harm: str) -> None:
    given, state = begun
    part = state / HEADER if harm == "header" else next(state.glob("decided*"))
    content = part.read_bytes()
    if harm == "lost":
        part.unlink()
    else:
        flipped = content[:200] + bytes([content[200] ^ 1]) + content[201:]
        part.write_bytes(flipped if harm == "changed" else content[:-10])
    told = refused(here, *given, "--resume-dir", state)
    assert told.code == 2 and "damaged" in told.err and "begin anew" in told.err
    assert not Path(given[3]).exists()


@pytest.mark.parametrize("bound", [{}, {"policy": "0" * 64}])
def test_a_state_that_was_not_begun_on_a_table_chooses_no_seed(
    here: Callable[..., Ended], begun: tuple[list[str], Path], bound: dict[str, str]
) -> None:
    """Whoever sends a folder does not know the table, and must not know the seed of its release."""
    given, state = begun
    header = json.loads((state / HEADER).read_text())
    for path in state.iterdir():
        path.unlink()
    (state / HEADER).write_text(json.dumps({**header, "seed": 7, "given": 7, "bound": bound, "parts": {}}))
    told = refused(here, *given, "--resume-dir", state)
    assert told.code == 2 and "damaged" in told.err and "begin anew" in told.err
    assert not Path(given[3]).exists()


def test_a_forged_plan_is_never_published(here: Callable[..., Ended], begun: tuple[list[str], Path]) -> None:
    """Whoever can write there can also set the hash: what a run goes on with is verified all the same."""
    given, state = begun
    part = next(state.glob("decided*"))
    with np.load(part) as held:
        arrays = dict(held)
    arrays["withheld"] = np.zeros_like(arrays["withheld"])
    arrays["classes"] = np.arange(len(arrays["classes"]), dtype=np.int32) % arrays["cells"].shape[1]
    np.savez(part, **arrays)
    header = json.loads((state / HEADER).read_text())
    header["parts"][part.name] = sha256(part)
    (state / HEADER).write_text(json.dumps(header))
    told = refused(here, *given, "--resume-dir", state)
    assert told.code == 3 and "does not cover" in told.err, told.err
    assert not Path(given[3]).exists()


def test_a_folder_with_other_files_is_left_alone(here: Callable[..., Ended], warehouse: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "thesis.txt").write_text("years of work")
    given = arguments(warehouse, "embedded", tmp_path / "out")
    told = refused(here, *given, "--resume-dir", state)
    assert told.code == 2 and "other files" in told.err
    assert (state / "thesis.txt").read_text() == "years of work"
    told = refused(here, *given, "--resume-dir", tmp_path / "nowhere" / "state")
    assert told.code == 2 and "does not exist" in told.err


def test_ctrl_c_says_how_to_go_on(ran: Ran, warehouse: Path, tmp_path: Path) -> None:
    given, state = arguments(warehouse, "duckdb", tmp_path / "out", *OPTIMAL), tmp_path / "state"
    stopped = ran(KILLING.replace("SIGKILL", "SIGINT"), "publishing", 0, *given, "--resume-dir", state)
    assert stopped.code == 130 and f"progress is saved in {state}" in stopped.err
    assert not (tmp_path / "out").exists()
    resumed(given, state, forbidden_after("publishing", "duckdb"))


def test_random_pseudonyms_are_drawn_anew(ran: Ran, warehouse: Path, tmp_path: Path) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    given = arguments(warehouse, "duckdb", out, *MONDRIAN, "--pseudonyms", "random")
    killed(ran, given, state, "writing", passes=4)
    assert not any(path.suffix == ".parquet" for path in state.iterdir())  # no row of the first run comes back
    resumed(given, state)
    drawn = polars.concat([polars.read_parquet(path, columns=["number"]) for path in out.iterdir()])
    assert drawn["number"].n_unique() == len(drawn) > 1150


def test_the_library_goes_on_as_well(warehouse: Path, tmp_path: Path) -> None:
    state, roles = tmp_path / "state", {"quasi": ["age", "gender"], "sensitive": ["occupation"]}

    def read() -> shoal.Dataset:
        return shoal.read(warehouse, **roles, identifiers=["number"], engine="duckdb", resume_dir=state)

    plain = {"allow_plain": ["salary-class"], "algorithm": "mondrian"}
    first = shoal.anonymize(read(), "k-anonymity:k=5", **plain)
    second = shoal.anonymize(read(), "k-anonymity:k=5", **plain)
    assert second.policy.seed == first.policy.seed and second.frame.equals(first.frame)
    with pytest.raises(shoal.errors.InputError, match="another policy"):
        shoal.anonymize(read(), "k-anonymity:k=6", **plain)
    second.write(tmp_path / "release.parquet")
    assert not state.exists()
    with pytest.raises(shoal.errors.InputError, match="lies in files"):
        shoal.read(shoal.samples.adult(), quasi=["age"], resume_dir=state)
    assert not state.exists()
