"""Another package adds one plug-in of each family by entry points: nothing else has to change for it to be found by its
name, used in job files and on the command line, and asked every question of the contract tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from counts import LONG

import shoal

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ADDED = {
    "models": {"least-share": "LeastShare"},
    "metrics": {"weighted-suppression": "WeightedSuppression", "root-size": "RootSize"},
    "algorithms": {"one-class": "OneClass"},
    "forms": {"sensitive-last": "SensitiveLastForm"},
    "attacks": {"any-record": "AnyRecord"},
    "hierarchies": {"first-letter": "FirstLetter"},
    "engines": {"row-by-row": "RowByRow"},
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


def install(folder: Path) -> Path:
    """Puts the package into a folder, and a table."""
    shutil.copy(HERE / "added_plugins.py", folder)
    package(folder, "added_plugins", ADDED)
    rows = [f"{20 + row % 4},{'ABC'[row % 3]}da,{'xy'[row % 2]}" for row in range(24)]
    (folder / "table.csv").write_text("\n".join(["age,name,disease", *rows]) + "\n")
    return folder


def ran(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A Python process that sees the package."""
    paths = [str(folder), str(Path(shoal.__file__).parents[1])]
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=500,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
    )  # fmt: skip


SEVERAL = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from shoal.cli import main

def command(arguments):
    out, err = StringIO(), StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(arguments)
    except SystemExit as end:
        return end.code or 0, out.getvalue(), err.getvalue()

print(json.dumps([command(arguments) for arguments in json.loads(sys.argv[1])]))
"""
"""Several commands in one process, which has to start only once."""


def used(folder: Path, *several: tuple[object, ...]) -> tuple[list[tuple[int, str, str]], Any]:
    """The exit code, the output and the error output of each of several commands, and then what a Python program sees
    of the plug-ins, in the same process."""
    done = ran(folder, "-c", SEVERAL + SCRIPT, json.dumps([[str(argument) for argument in one] for one in several]))
    assert done.returncode == 0, done.stderr
    commands, program = done.stdout.splitlines()
    return [(code, out, err) for code, out, err in json.loads(commands)], json.loads(program)


NAMES = [name for named in ADDED.values() for name in named]
DAILY = {} if LONG else {"row-by-row": "(row-by-row and (read_alike or same_to_the_byte))"}
"""Where few of the tests are asked every day, which those are: an engine has the most."""
EXAMPLE = "my-model"
"""The model that CONTRIBUTING shows."""
OTHERS = ("anatomy", "mondrian")
"""Algorithms of Shoal, so that metrics and attacks are asked about releases of other forms too."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What passed when the contract tests ran with the package installed, and with the model of CONTRIBUTING."""
    folder = install(tmp_path_factory.mktemp("asked"))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (example,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class MyModel" in block)
    (folder / "my_model.py").write_text(example, encoding="utf-8")
    package(folder, "my_model", {"models": {EXAMPLE: "MyModel"}})
    suites = sorted(path for path in HERE.glob("test_*.py") if path.name != Path(__file__).name)
    done = ran(
        folder, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain",
        "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, "--doctest-modules", *suites,
        ROOT / "tests" / "property" / "test_models_monotone.py", folder / "my_model.py",
        "-k", " or ".join([*(DAILY.get(name, name) for name in NAMES), EXAMPLE, "my_model"]),
        SHOAL_ONLY=" ".join([*NAMES, EXAMPLE, *OTHERS]),
    )  # fmt: skip
    broken = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR", ">  ", "E  "))]
    assert done.returncode == 0, "\n".join(broken) + done.stderr[-3000:]
    return [line for line in done.stdout.splitlines() if line.startswith("PASSED")]


def test_the_contract_suite_asks_them(asked: list[str]) -> None:
    times = Counter(name for name in NAMES for line in asked if name in line)
    for family, named in ADDED.items():
        for name in named:
            assert times[name] >= (5 if family != "models" else 1), f"{name} was asked {times[name]} times"


def test_the_example_of_contributing_passes_it(asked: list[str]) -> None:
    """The model that the page shows passes the very tests that every model passes, and its own example runs."""
    passed = [line for line in asked if EXAMPLE in line]
    for suite in ("contract/test_models.py", "contract/test_plugins.py", "property/test_models_monotone.py"):
        assert any(f"/tests/{suite}::" in line for line in passed), suite
    assert any(re.search(r"\bmy_model\.MyModel$", line) for line in asked), "its example did not run"


ROLES = ("--quasi", "age,name", "--sensitive", "disease", "--hierarchy", "name=first-letter")


JOB = """
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
path = "by-job.csv"
"""
ASKED: dict[str, tuple[object, ...]] = {
    "made": ("anonymize", "table.csv", "-o", "out.csv", *ROLES, "--model", "least-share:share=0.2",
             "--algorithm", "one-class", "--json", "--save-job", "saved.toml"),
    "verified": ("verify", "out.csv"),
    "evaluated": ("evaluate", "table.csv", "out.csv", *ROLES, "--metrics", "weighted-suppression:weight=3", "--json"),
    "again": ("anonymize", "--job", "saved.toml", "-o", "again.csv"),
    "job": ("anonymize", "--job", "job.toml", "--json"),
}  # fmt: skip


def test_on_the_command_line(answers: dict[str, tuple[int, str, str]], beside_broken: Path) -> None:
    """The metric that needs a parameter neither stands in the way nor is left behind."""
    assert [answers[name][0] for name in ASKED] == [0] * len(ASKED), answers
    findings = json.loads(answers["made"][1])["findings"]
    assert findings["share"]["holds"] and "root-size" in findings and "weighted-suppression" not in findings
    assert json.loads((beside_broken / "out.csv.manifest.json").read_text())["form"] == "sensitive-last"
    assert json.loads(answers["evaluated"][1])["findings"]["weighted-suppression"]["value"] == 0
    assert (beside_broken / "again.csv").read_bytes() == (beside_broken / "out.csv").read_bytes()


def test_in_a_job_file(answers: dict[str, tuple[int, str, str]]) -> None:
    code, out, err = answers["job"]
    assert code == 0, err
    assert json.loads(out)["findings"]["share"]["value"] >= 0.2


HEADER = (
    "from dataclasses import dataclass, replace\nfrom types import SimpleNamespace\nfrom typing import ClassVar\n"
    "from added_plugins import RowApplication, RowByRow\n"
    "from shoal.core.contracts.engine import Engine\n"
    "from shoal.core.contracts.metric import Metric\n"
    "from shoal.core.contracts.model import Model\n"
)
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
ENGINES: dict[str, tuple[str, str]] = {
    "engine without methods": (FROZEN + "class Broken(Engine):\n    pass\n", "it must define every method"),
    "engine without digests": (
        FROZEN + "class Broken(RowByRow):\n"
        "    def _encode(self, *given):\n"
        "        table, columns = super()._encode(*given)\n"
        "        return SimpleNamespace(**{name: getattr(table, name) for name in dir(table) if name != 'digests'}), "
        "columns\n",
        "the EngineTable that it hands over must have digests",
    ),
    "engine of other columns": (
        "class Sorted(RowApplication):\n"
        "    def _finish(self, draft, sheet):\n"
        "        columns = sorted(draft.columns.items())\n"
        "        return super()._finish(replace(draft, columns=dict(columns)), sheet)\n"
        + FROZEN + "class Broken(RowByRow):\n"
        "    def _encode(self, *given):\n"
        "        table, columns = super()._encode(*given)\n"
        "        return replace(table, application=Sorted), columns\n",
        "a published table must have the columns of its sheet, in their order",
    ),
}  # fmt: skip


def broken(case: str) -> str:
    """The name of the plug-in that breaks a rule."""
    return f"broken-{case.replace(' ', '-')}"


def class_of(name: str) -> str:
    return "".join(word.title() for word in name.split("-"))


SCRIPT = """
import json, polars, shoal
from added_plugins import FirstLetter, LeastShare, OneClass, RootSize, SensitiveLastForm
data = shoal.read(polars.read_csv("table.csv"), quasi=["age", "name"], sensitive=["disease"],
                  hierarchies={"name": FirstLetter()})
release = shoal.anonymize(data, LeastShare(share=0.2), algorithm=OneClass(), seed=1)
best = shoal.anonymize(data, "least-share:share=0.2", algorithm="optimal", objective=RootSize(), seed=1)
found = shoal.evaluate(data, release)
print(json.dumps({
    "labels": data.schema["name"].hierarchy.labels[1].tolist(),
    "form": type(release.form) is SensitiveLastForm,
    "score": best.recoding.facts["score"],
    "root-size": shoal.evaluate(data, best, "root-size")["root-size"].value,
    "any-record": shoal.attack(data, release, "any-record")[0].success,
    "weighted": shoal.evaluate(data, release, "weighted-suppression:weight=2")["weighted-suppression"].value,
    "findings": {finding.name: [finding.value, finding.how] for finding in found},
    "attempts": [attempt.name for attempt in shoal.attack(data, release)],
}))
"""


@pytest.fixture(scope="module")
def beside_broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package is installed, and another one whose plug-ins all break a rule."""
    folder = install(tmp_path_factory.mktemp("installed"))
    (folder / "broken_plugins.py").write_text(HEADER + "class Broken(Metric):\n    pass\n")
    for case, (source, _) in {**BROKEN, **ENGINES}.items():
        module, named = broken(case).replace("-", "_"), class_of(broken(case))
        (folder / f"{module}.py").write_text(HEADER + source.replace("Broken", named))
        package(folder, module, {"engines" if case in ENGINES else "models": {broken(case): named}})
    package(folder, "broken_plugins", {"metrics": {"broken": "Broken"}, "attacks": {"broken": "Broken"}})
    return folder


@pytest.fixture(scope="module")
def told(beside_broken: Path) -> tuple[dict[str, tuple[int, str, str]], Any]:
    """What the commands say that are given each broken model, one that is not given any, and the added plug-ins; and
    what a Python program sees."""
    policies = {**{case: ("--model", broken(case)) for case in BROKEN}, "none": ("--k", 2)}
    policies |= {case: ("--k", 2, "--engine", broken(case)) for case in ENGINES}
    (beside_broken / "job.toml").write_text(JOB)
    asked = {
        **{case: ("anonymize", "table.csv", "-o", f"{case}.csv", *ROLES, *given) for case, given in policies.items()},
        **ASKED,
    }
    commands, program = used(beside_broken, *asked.values())
    return dict(zip(asked, commands, strict=True)), program


@pytest.fixture(scope="module")
def answers(told: tuple[dict[str, tuple[int, str, str]], Any]) -> dict[str, tuple[int, str, str]]:
    return told[0]


@pytest.fixture(scope="module")
def in_python(told: tuple[dict[str, tuple[int, str, str]], Any]) -> Any:
    return told[1]


def test_a_program_uses_them(in_python: Any) -> None:
    assert in_python["labels"] == ["A..", "B..", "C.."]
    assert in_python["form"] and in_python["score"] == in_python["root-size"]
    assert in_python["any-record"] == 1 / 24 and in_python["weighted"] == 0
    assert "root-size" in in_python["findings"] and "weighted-suppression" not in in_python["findings"]
    assert "any-record" in in_python["attempts"]


def test_a_broken_metric_does_not_stand_in_the_way(in_python: Any) -> None:
    """Nobody asked for it: the release is measured and attacked, and the rule that it breaks is shown in its place."""
    value, how = in_python["findings"]["broken"]
    assert value is None and "must be a frozen dataclass" in how
    assert "prosecutor" in in_python["attempts"]


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_with_its_rule(
    case: str, answers: dict[str, tuple[int, str, str]], beside_broken: Path
) -> None:  # fmt: skip
    (code, _, err), rule = answers[case], BROKEN[case][1].replace("Broken", class_of(broken(case)))
    assert code == 2 and "Traceback" not in err
    said = " ".join(err.split())
    assert f"'{broken(case)}'" in said and rule in said, said
    assert not (beside_broken / f"{case}.csv").exists()


@pytest.mark.parametrize("case", ENGINES)
def test_an_engine_that_breaks_its_contract_is_named_with_the_rule(
    case: str, answers: dict[str, tuple[int, str, str]], beside_broken: Path
) -> None:  # fmt: skip
    """Also where that shows only in what it hands over."""
    (code, _, err), rule = answers[case], ENGINES[case][1]
    assert code == 2 and "Traceback" not in err
    said = " ".join(err.split())
    assert (f"'{broken(case)}'" in said or class_of(broken(case)) in said) and rule in said, said
    assert not (beside_broken / f"{case}.csv").exists()


def test_broken_plugins_that_nobody_asked_for_do_not_stand_in_the_way(
    answers: dict[str, tuple[int, str, str]], beside_broken: Path
) -> None:  # fmt: skip
    code, _, err = answers["none"]
    assert code == 0, err
    assert (beside_broken / "none.csv").exists()
