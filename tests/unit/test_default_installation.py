"""What `pip install shoal` brings is enough to diagnose, anonymize, verify, measure and attack a file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USED = r"""
import sys

absent = set(sys.argv[1].split(","))

class Installed:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in absent else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Installed, sys.meta_path)

import pyarrow as pa
import shoal
from shoal.cli import main
from shoal.errors import MissingExtraError

def run(command):
    try:
        main(command.split())
    except SystemExit as ended:
        assert not ended.code, command

ROLES = "--quasi birth_date,sex,zip --sensitive diagnosis --identifiers first_name,last_name --person patient_id"
run("demo --write-sample admissions.csv --sample admissions")
run("diagnose admissions.csv --detect")
run(f"anonymize admissions.csv -o release.csv {ROLES} --k 3 --algorithm mondrian --seed 1")
run("verify release.csv")
run("evaluate admissions.csv release.csv")
run("attack admissions.csv release.csv --attack prosecutor")

def told(work):
    try:
        work()
    except MissingExtraError as error:
        print(error)

with open("ages.csv", "w") as file:
    file.write("age,sex\n30,f\n31,f\n30,f\n31,m\n")
data = shoal.read("ages.csv", quasi=["age", "sex"])
told(lambda: shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", seed=1).frame)
told(shoal.samples.adult)
told(lambda: shoal.suda(data).by_record())
frame = pa.table({"age": [30, 31, 30, 31]})
data = shoal.read(frame, quasi=["age"])
released = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", seed=1).frame
assert isinstance(released, pa.Table) and released.num_rows == 4
"""


def normalized(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def default_distributions() -> set[str]:
    """What the default installation consists of, as it is installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, seen = [normalized(each) for each in project["dependencies"]], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            needed = requires(name) or []
        except PackageNotFoundError:  # for another platform or Python
            continue
        waiting += [normalized(each) for each in needed if "extra ==" not in each]
    return seen


def other_modules() -> list[str]:
    """The modules that are installed here and would not be by default."""
    default = default_distributions()
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if module.isidentifier() and module != "shoal" and not {normalized(owner) for owner in owners} & default
    )


@pytest.mark.smoke
def test_the_default_installation_is_enough_for_a_file(tmp_path: Path) -> None:
    absent = other_modules()
    assert {"polars", "pandas", "duckdb", "scipy", "altair"} <= set(absent)
    assert not {"numpy", "numba", "pyarrow", "typer"} & set(absent)
    done = subprocess.run(
        [sys.executable, "-c", USED, ",".join(absent)],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pip install 'shoal[polars]'") == 3
    assert (tmp_path / "release.csv.manifest.json").is_file()
