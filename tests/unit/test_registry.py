"""Plug-ins by their spelling."""

import subprocess
import sys

import pytest

import shoal
from shoal import job, registry
from shoal.errors import ParameterError

PLUGIN = """
from dataclasses import dataclass
from typing import Annotated, ClassVar
from annotated_types import Gt, Le
from typing_extensions import Doc
from shoal.core.contracts.model import Model

@dataclass(frozen=True, kw_only=True)
class LeastShare(Model):
    share: Annotated[float, Gt(0), Le(1), Doc("the least share")]
    asks: ClassVar[str] = "share"
    level: ClassVar[str] = "share"
    how: ClassVar[str] = "the least share of the records that a class has"
    merge_monotone: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    examples: ClassVar = ({"share": 0.3},)

    def levels(self, classes):
        return classes.sizes / max(classes.records, 1)
"""

SCRIPT = """
import polars, shoal
from shoal import registry
assert "least-share" in registry.names("models")
data = shoal.read(polars.DataFrame({"a": [1, 1, 2, 2, 3, 3]}), quasi=["a"])
release = shoal.anonymize(data, "least-share:share=0.3")
release.write("out.csv")
found = shoal.verify("out.csv")
print(found.holds, round(found["share"].value, 3))
asked = shoal.ask(data, notion="least-share", bound=0.3)
print(asked.positive_border, round(shoal.ask(data, notion="least-share", attributes=["a"]).answer, 3))
"""


@pytest.mark.smoke
def test_a_package_adds_a_model_by_an_entry_point(tmp_path):
    (tmp_path / "least_share.py").write_text(PLUGIN, encoding="utf-8")
    metadata = tmp_path / "least_share-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: least-share\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[shoal.models]\nleast-share = least_share:LeastShare\n")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + SCRIPT
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True 0.333", "(('a',),) 0.333"]


def test_spelling_and_back():
    algorithm = job.plugin("algorithms", "mondrian:strict=false,numeric=interval")
    assert algorithm == shoal.algorithms.Mondrian(strict=False, numeric="interval")
    assert job.plugin("algorithms", job.spelled(algorithm)) == algorithm
    assert registry.name_of(shoal.KAnonymity(k=2)) == "k-anonymity"
    assert job.plugin("hierarchies", "ordering:order=a|b|c").order == ("a", "b", "c")
    assert job.plugin("hierarchies", "dates:units=year").units == ("year",)


@pytest.mark.parametrize("text", ["k-anonymity", "k-anonymity:k=0", "k-anonymity:k=many", "k-anonymity:5", "no-such"])
def test_wrong_spellings_are_refused(text):
    with pytest.raises(ParameterError):
        job.plugin("models", text)


def test_a_plugin_of_another_family_is_refused():
    with pytest.raises(ParameterError):
        job.plugin("models", shoal.algorithms.Mondrian())
