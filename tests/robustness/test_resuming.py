"""Runs that are killed at each of their stages and go on: the release of an undisturbed run, byte for byte."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars
import pytest
from counts import LONG

import shoal
from shoal.core.checkpoint import HEADER
from shoal.core.files import sha256

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
    "duckdb": "shoal.engines.duckdb:_distinct,shoal.engines.duckdb:_kept",
    "spark": "shoal.engines.spark.kept:tally",
    "embedded": "",
}
SEARCH = "shoal.algorithms.full_domain.optimal:Optimal.search"
QUASI = "age,gender,education,marital-status"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two files: quasi-identifiers, a sensitive attribute, a column without a role, an identifier."""
    folder = tmp_path_factory.mktemp("tables") / "warehouse"
    folder.mkdir()
    for number in range(2):
        people = shoal.samples.census(1500, seed=number)
        people.with_row_index("number", number * 1500).write_parquet(folder / f"{number}.parquet")
    return folder


def arguments(warehouse: Path, engine: str, out: Path, *more: object) -> list[str]:
    given = [
        "anonymize", warehouse, "-o", out, "--quasi", QUASI, "--sensitive", "occupation", "--identifiers", "number",
        "--allow-plain", "salary-class", "--suppression", "0.02", "--k", 4, "--seed", 7, "--engine", engine,
        "--rows-per-file", 400, *more,
    ]  # fmt: skip
    return [str(each) for each in given]


def ran(script: str, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *given], capture_output=True, text=True, timeout=300)


def published(out: Path) -> tuple[str, str]:
    """The hashes of a release and of its manifest."""
    return sha256(out), sha256(out.with_name(f"{out.name}.manifest.json"))


def undisturbed(given: list[str], begins: str = "") -> None:
    done = ran(begins + FORBIDDING, "", *given)
    assert done.returncode == 0, done.stderr


def killed(given: list[str], state: Path, stage: str, passes: int = 0, begins: str = "") -> None:
    """Begins a run and kills it at a stage; what it leaves is for its owner alone."""
    first = ran(begins + KILLING, stage, str(passes), *given, "--state", str(state))
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert state.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in state.iterdir())


def resumed(given: list[str], state: Path, forbidden: str = "", begins: str = "") -> None:
    again = ran(begins + FORBIDDING, forbidden, *given, "--state", str(state))
    assert again.returncode == 0, again.stderr
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


def forbidden_after(stage: str, engine: str) -> str:
    done = {"reading": READS[engine], "searching": SEARCH}
    return ",".join(filter(None, (done[each] for each in STAGES[stage])))


@pytest.fixture(scope="module")
def whole(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of an undisturbed run on DuckDB."""
    out = tmp_path_factory.mktemp("releases") / "out"
    undisturbed(arguments(warehouse, "duckdb", out, "--algorithm", "optimal"))
    assert len(list(out.iterdir())) > 5
    return out


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_was_killed_goes_on(warehouse: Path, whole: Path, tmp_path: Path, stage: str) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    given = arguments(warehouse, "duckdb", out, "--algorithm", "optimal")
    killed(given, state, stage, passes=4 if stage == "writing" else 0)
    resumed(given, state, forbidden_after(stage, "duckdb"))
    assert published(out) == published(whole) and shoal.verify(out, engine="duckdb").holds


def test_another_engine_takes_the_plan_and_reads_anew(warehouse: Path, whole: Path, tmp_path: Path) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    killed(arguments(warehouse, "embedded", out, "--algorithm", "optimal"), state, "publishing")
    resumed(arguments(warehouse, "duckdb:memory_limit=1GB", out, "--algorithm", "optimal"), state, SEARCH)
    assert published(out) == published(whole)


SESSION = """
import os, sys
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
sys.path.insert(0, {tests!r})
import cluster
from pyspark.sql import SparkSession
SparkSession.builder.master("local[2]").config(map=cluster.SETTINGS).getOrCreate()
"""
"""Starts a session, which the command takes."""


def test_a_run_on_spark_goes_on(warehouse: Path, whole: Path, tmp_path: Path) -> None:
    import cluster

    if cluster.java() is None or find_spec("pyspark") is None:
        pytest.skip("they need Java 17 and pyspark")
    out = tmp_path / "out"
    begins = SESSION.format(tests=str(Path(cluster.__file__).parent))
    given = arguments(warehouse, "spark", out, "--algorithm", "optimal")
    killed(given, tmp_path / "state", "writing", begins=begins)
    resumed(given, tmp_path / "state", forbidden_after("writing", "spark"), begins)
    assert shoal.verify(out).holds
    read = [polars.concat(map(polars.read_parquet, sorted(folder.iterdir()))) for folder in (out, whole)]
    assert read[0].equals(read[1])
    if LONG:  # the same bytes as a run that nobody disturbed
        other = tmp_path / "whole"
        undisturbed(arguments(warehouse, "spark", other, "--algorithm", "optimal"), begins)
        assert published(out) == published(other)


BLOCKS = ("--algorithm", "in-blocks:base=mondrian,records=500")


def test_blocks_that_were_solved_are_not_solved_again(warehouse: Path, tmp_path: Path) -> None:
    out, other, state = tmp_path / "out", tmp_path / "whole", tmp_path / "state"
    undisturbed(arguments(warehouse, "duckdb", other, *BLOCKS))
    given = arguments(warehouse, "duckdb", out, *BLOCKS)
    killed(given, state, "recoding blocks", passes=2)
    parts = json.loads((state / HEADER).read_text())["parts"]
    solved = [name for name in parts if name.startswith("block-") and "cuts" not in name]
    assert len(solved) >= 2  # another one may be on its way
    again = ran(COUNTING, *given, "--state", str(state))
    assert again.returncode == 0, again.stderr
    blocks = int(again.stderr.split("blocks: ")[1].split()[0])
    searched = int(again.stderr.split("searched: ")[1].split()[0])
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


@pytest.fixture
def begun(warehouse: Path, tmp_path: Path) -> tuple[list[str], Path]:
    """A run that was killed when its plan was made, and its state."""
    given, state = arguments(warehouse, "duckdb", tmp_path / "out", "--algorithm", "mondrian"), tmp_path / "state"
    killed(given, state, "publishing")
    return given, state


def test_a_state_is_of_one_run(begun: tuple[list[str], Path], warehouse: Path, tmp_path: Path, process) -> None:
    given, state = begun
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    others = {
        "another seed": ("--seed", "8"), "another policy": ("--k", "5"),
        "another policy, algorithm": ("--algorithm", "optimal"),
        "other pseudonyms": ("--pseudonyms", "random"),
        "another table": ("--missing", "?"), "another table, or": ("--strict",),
    }  # fmt: skip
    for message, changed in others.items():
        refused = process(*given, "--state", state, *changed)
        assert refused.code == 2 and message in refused.err and "name another" in refused.err, refused.err
    grown = tmp_path / "grown"
    grown.mkdir()
    for path in warehouse.iterdir():
        (grown / path.name).write_bytes(path.read_bytes())
    shoal.samples.census(10, seed=5).with_row_index("number", 9000).write_parquet(grown / "2.parquet")
    refused = process(*given[:1], grown, *given[2:], "--state", state)
    assert refused.code == 2 and "another table" in refused.err
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("harm", ["cut short", "changed", "lost", "header"])
def test_a_damaged_state_is_refused(begun: tuple[list[str], Path], harm: str, process) -> None:
    given, state = begun
    part = state / HEADER if harm == "header" else next(state.glob("decided*"))
    content = part.read_bytes()
    if harm == "lost":
        part.unlink()
    else:
        flipped = content[:200] + bytes([content[200] ^ 1]) + content[201:]
        part.write_bytes(flipped if harm == "changed" else content[:-10])
    refused = process(*given, "--state", state)
    assert refused.code == 2 and "damaged" in refused.err and "begin anew" in refused.err
    assert not Path(given[3]).exists()


def test_a_forged_plan_is_never_published(begun: tuple[list[str], Path], process) -> None:
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
    refused = process(*given, "--state", state)
    assert refused.code == 3 and "does not cover" in refused.err, refused.err
    assert not Path(given[3]).exists()


def test_a_folder_with_other_files_is_left_alone(warehouse: Path, tmp_path: Path, process) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "thesis.txt").write_text("years of work")
    given = arguments(warehouse, "embedded", tmp_path / "out")
    refused = process(*given, "--state", state)
    assert refused.code == 2 and "other files" in refused.err
    assert (state / "thesis.txt").read_text() == "years of work"
    refused = process(*given, "--state", tmp_path / "nowhere" / "state")
    assert refused.code == 2 and "does not exist" in refused.err


def test_ctrl_c_says_how_to_go_on(warehouse: Path, tmp_path: Path) -> None:
    given, state = arguments(warehouse, "duckdb", tmp_path / "out", "--algorithm", "optimal"), tmp_path / "state"
    stopped = ran(KILLING.replace("SIGKILL", "SIGINT"), "publishing", "0", *given, "--state", str(state))
    assert stopped.returncode == 130 and f"what was done is kept in {state}" in stopped.stderr
    assert not (tmp_path / "out").exists()
    resumed(given, state, forbidden_after("publishing", "duckdb"))


def test_random_pseudonyms_are_drawn_anew(warehouse: Path, tmp_path: Path) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    given = arguments(warehouse, "duckdb", out, "--algorithm", "mondrian", "--pseudonyms", "random")
    killed(given, state, "writing", passes=4)
    assert not any(path.suffix == ".parquet" for path in state.iterdir())  # no row of the first run comes back
    resumed(given, state)
    drawn = polars.concat([polars.read_parquet(path, columns=["number"]) for path in out.iterdir()])
    assert drawn["number"].n_unique() == len(drawn) > 2900


def test_the_library_goes_on_as_well(warehouse: Path, tmp_path: Path) -> None:
    state, roles = tmp_path / "state", {"quasi": ["age", "gender"], "sensitive": ["occupation"]}

    def read() -> shoal.Dataset:
        return shoal.read(warehouse, **roles, identifiers=["number"], engine="duckdb", state=state)

    plain = {"allow_plain": ["salary-class"], "algorithm": "mondrian"}
    first = shoal.anonymize(read(), "k-anonymity:k=5", **plain)
    second = shoal.anonymize(read(), "k-anonymity:k=5", **plain)
    assert second.policy.seed == first.policy.seed and second.frame.equals(first.frame)
    with pytest.raises(shoal.errors.InputError, match="another policy"):
        shoal.anonymize(read(), "k-anonymity:k=6", **plain)
    second.write(tmp_path / "release.parquet")
    assert not state.exists()
    with pytest.raises(shoal.errors.InputError, match="lies in files"):
        shoal.read(shoal.samples.adult(), quasi=["age"], state=state)
    assert not state.exists()
