"""What somebody sees who types `shoal.` in an editor."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from counts import LONG

import shoal

SCRIPT = """
import shoal
from shoal.models import KMap

reveal_type(shoal.read)
data = shoal.read("patients.csv", quasi=["age"])
reveal_type(data)
reveal_type(shoal.KAnonymity(k=5))
reveal_type(shoal.models.RecursiveLDiversity)
reveal_type(KMap)
reveal_type(shoal.attacks.Linkage)
reveal_type(shoal.algorithms.Mondrian())
release = shoal.anonymize(data, shoal.KAnonymity(k=5), seed=1)
reveal_type(release)
reveal_type(release.write("out.csv"))
reveal_type(shoal.verify("out.csv"))
"""
REVEALED = [
    r"def \(source: Any, .*\) -> shoal.core.dataset.Dataset",
    "shoal.core.dataset.Dataset",
    "shoal.models.k_anonymity.KAnonymity",
    r".*-> shoal.models.recursive_l_diversity.RecursiveLDiversity",
    r".*-> shoal.models.k_map.KMap",
    r".*-> shoal.attacks.linkage.Linkage",
    "shoal.algorithms.mondrian.Mondrian",
    "shoal.publishing.writable_release.WritableRelease",
    "pathlib.Path",
    "shoal.api.verifying.Verification|shoal.core.finding.Findings",
]


def test_the_top_level_has_verbs_nouns_and_the_models_that_everybody_uses() -> None:
    assert len(shoal.__all__) <= 45
    assert not {"Table", "Tree", "Loss", "Clustering", "Dates"} & set(dir(shoal))
    for name in ("Mondrian", "Linkage"):
        with pytest.raises(AttributeError):
            getattr(shoal, name)


@pytest.mark.parametrize("folder", ["", "models", "metrics", "algorithms", "perturbation", "attacks", "hierarchies"])
def test_what_type_checkers_read_is_there(folder: str) -> None:
    package = import_module(f"shoal.{folder}" if folder else "shoal")
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    names = re.findall(r"^from ([\w.]+) import (\w+) as", stub, re.MULTILINE)
    assert {name for _, name in names} >= set(dir(package)) - {"__version__"}
    for module, name in names:
        assert getattr(package, name) is getattr(import_module(module), name)


@pytest.mark.skipif(not LONG, reason="they belong to the long suite: make test-long")
def test_a_type_checker_knows_the_types(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--no-color-output", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(revealed) == len(REVEALED), done.stdout
    for found, expected in zip(revealed, REVEALED, strict=True):
        assert re.fullmatch(expected, found.replace("builtins.", "")), (found, expected)
