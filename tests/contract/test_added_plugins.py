"""Another package adds one plug-in of each family by entry points: nothing else has to change for it to be found by its
name, used in job files and on the command line, and asked every question of the contract tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal

HERE = Path(__file__).parent
ADDED = {
    "models": {"least-share": "LeastShare"},
    "metrics": {"weighted-suppression": "WeightedSuppression", "root-size": "RootSize"},
    "algorithms": {"one-class": "OneClass"},
    "forms": {"sensitive-last": "SensitiveLast"},
    "attacks": {"any-record": "AnyRecord"},
    "hierarchies": {"first-letter": "FirstLetter"},
}


def package(folder: Path, module: str, plugins: dict[str, dict[str, str]]) -> None:
    """The metadata that an installed package has."""
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = [
        line
        for family, named in plugins.items()
        for line in (f"[shoal.{family}]", *(f"{name} = {module}:{found}" for name, found in named.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder in which the package lies, and a table."""
    shutil.copy(HERE / "added_plugins.py", tmp_path)
    package(tmp_path, "added_plugins", ADDED)
    rows = [f"{20 + row % 4},{'ABC'[row % 3]}da,{'xy'[row % 2]}" for row in range(24)]
    (tmp_path / "table.csv").write_text("\n".join(["age,name,disease", *rows]) + "\n")
    return tmp_path


def ran(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A Python process that sees the package."""
    paths = [str(folder), str(Path(shoal.__file__).parents[1])]
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=500,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip


def command(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return ran(folder, "-m", "shoal", *arguments)


def test_the_contract_suite_asks_them(installed: Path) -> None:
    names = [name for named in ADDED.values() for name in named]
    suites = sorted(path for path in HERE.glob("test_*.py") if path.name != Path(__file__).name)
    done = ran(
        installed, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-c", HERE.parents[1] / "pyproject.toml",
        "--rootdir", HERE.parents[1], *suites, "-k", " or ".join(names),
    )  # fmt: skip
    broken = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    assert done.returncode == 0, "\n".join(broken) + done.stderr[-3000:]
    passed = [line for line in done.stdout.splitlines() if line.startswith("PASSED")]
    asked = Counter(name for name in names for line in passed if name in line)
    for family, named in ADDED.items():
        for name in named:
            assert asked[name] >= (5 if family != "models" else 1), f"{name} was asked {asked[name]} times"


SCRIPT = """
import polars, shoal
data = shoal.read(polars.read_csv("table.csv"), quasi=["age", "name"], sensitive=["disease"],
                  hierarchies={"name": shoal.FirstLetter()})
assert data.schema["name"].hierarchy.labels[1].tolist() == ["A..", "B..", "C.."]
release = shoal.anonymize(data, shoal.LeastShare(share=0.2), algorithm=shoal.OneClass(), seed=1)
assert type(release.form) is shoal.SensitiveLast, release.form
best = shoal.anonymize(data, "least-share:share=0.2", algorithm="optimal", objective=shoal.RootSize(), seed=1)
assert best.recoding.facts["score"] == shoal.evaluate(data, best, "root-size")["root-size"].value
assert shoal.attack(data, release, "any-record")[0].success == 1 / 24
assert {"LeastShare", "WeightedSuppression", "RootSize", "OneClass", "SensitiveLast", "AnyRecord"} <= set(dir(shoal))
found = {finding.name for finding in shoal.evaluate(data, release)}
assert "root-size" in found and "weighted-suppression" not in found
assert shoal.evaluate(data, release, "weighted-suppression:weight=2")["weighted-suppression"].value == 0
assert "any-record" in {attempt.name for attempt in shoal.attack(data, release)}
print("fine")
"""


def test_they_are_public_names(installed: Path) -> None:
    done = ran(installed, "-c", SCRIPT)
    assert done.stdout.strip() == "fine", done.stderr


ROLES = ("--quasi", "age,name", "--sensitive", "disease", "--hierarchy", "name=first-letter")


def test_on_the_command_line(installed: Path) -> None:
    """The metric that needs a parameter neither stands in the way nor is left behind."""
    done = command(
        installed, "anonymize", "table.csv", "-o", "out.csv", *ROLES, "--model", "least-share:share=0.2",
        "--algorithm", "one-class", "--json", "--save-job", "job.toml",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert findings["share"]["holds"] and "root-size" in findings and "weighted-suppression" not in findings
    assert json.loads((installed / "out.csv.manifest.json").read_text())["form"] == "sensitive-last"
    assert command(installed, "verify", "out.csv").returncode == 0
    done = command(
        installed, "evaluate", "table.csv", "out.csv", *ROLES, "--metrics", "weighted-suppression:weight=3", "--json"
    )
    assert json.loads(done.stdout)["findings"]["weighted-suppression"]["value"] == 0, done.stderr
    before = (installed / "out.csv").read_bytes()
    assert command(installed, "anonymize", "--job", "job.toml").returncode == 0
    assert (installed / "out.csv").read_bytes() == before


def test_in_a_job_file(installed: Path) -> None:
    job = """
        algorithm = "optimal"
        [input]
        path = "table.csv"
        [columns.age]
        role = "quasi"
        [columns.name]
        role = "quasi"
        hierarchy = "first-letter"
        [policy]
        models = [{ name = "least-share", share = 0.2 }]
        objective = "root-size"
        [output]
        path = "out.csv"
    """
    (installed / "job.toml").write_text(job)
    done = command(installed, "anonymize", "--job", "job.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"]["share"]["value"] >= 0.2


HEADER = "from dataclasses import dataclass\nfrom typing import ClassVar\nfrom shoal.core.contracts import *\n"
FROZEN = "@dataclass(frozen=True, kw_only=True)\n"
METHODS = (
    "    merge_monotone = suppression_monotone = True\n"
    "    asks = level = how = 'k'\n    levels = None\n    examples = ()\n"
)
BROKEN: dict[str, tuple[str, str]] = {
    "another contract": (FROZEN + "class Broken(Metric):\n    score = None\n", "must be a subclass of Model"),
    "no class": ("def Broken():\n    pass\n", "must be a subclass of Model"),
    "not frozen": ("@dataclass(kw_only=True)\nclass Broken(Model):\n" + METHODS, "must be a frozen dataclass"),
    "positional": (
        "@dataclass(frozen=True)\nclass Broken(Model):\n    k: int\n" + METHODS, "fields must be keyword-only",
    ),
    "abstract": (
        FROZEN + "class Broken(Model):\n    merge_monotone = suppression_monotone = True\n", "every method",
    ),
    "undeclared": (
        FROZEN + "class Broken(Model):\n" + METHODS.replace(" = suppression_monotone", ""),
        "must set suppression_monotone",
    ),
    "another name": (
        FROZEN + "class Other(Model):\n" + METHODS + "Broken = Other\n", "its class must be named Broken",
    ),
    "not importable": ("import nowhere_to_be_found\n", "cannot be loaded"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_with_its_rule(case: str, installed: Path) -> None:
    source, rule = BROKEN[case]
    (installed / "broken_plugins.py").write_text(HEADER + source)
    package(installed, "broken_plugins", {"models": {"broken": "Broken"}})
    done = command(installed, "anonymize", "table.csv", "-o", "out.csv", *ROLES, "--model", "broken")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    said = " ".join(done.stderr.split())
    assert "'broken'" in said and rule in said, said
    assert not (installed / "out.csv").exists()


def test_a_broken_metric_does_not_stand_in_the_way(installed: Path) -> None:
    """Nobody asked for it: the release is made and measured, and the rule that it breaks is shown in its place."""
    (installed / "broken_plugins.py").write_text(HEADER + "class Broken(Metric):\n    pass\n")
    package(installed, "broken_plugins", {"metrics": {"broken": "Broken"}, "attacks": {"broken": "Broken"}})
    script = """
import polars, shoal
data = shoal.read(polars.read_csv("table.csv"), quasi=["age"], sensitive=["disease"], identifiers=["name"])
release = shoal.anonymize(data, "k-anonymity:k=2", seed=1, rows_are_people=True)
found = shoal.evaluate(data, release)["broken"]
print(found.value, found.how)
assert "prosecutor" in {attempt.name for attempt in shoal.attack(data, release)}
assert "KAnonymity" in dir(shoal)
"""
    done = ran(installed, "-c", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("None") and "must be a frozen dataclass" in done.stdout
    done: Any = command(installed, "anonymize", "table.csv", "-o", "out.csv", *ROLES, "--k", 2)
    assert done.returncode == 0, done.stderr
