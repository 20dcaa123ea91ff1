"""The definition that CONTRIBUTING shows for the fuzzer says the same as the model that it shows."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import polars
import pytest
from tests.fuzz.definitions import Attribute, Definition, Group

import shoal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_definition_agrees_with_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class MyModel" in block)
    (tmp_path / "my_model.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    model = import_module("my_model").MyModel(others=2)
    (entry,) = re.findall(r'^ +"my-model": (Definition\(.*?^ +\)),$', PAGE, re.DOTALL | re.MULTILINE)
    definition: Definition = eval(entry, {"Counter": Counter, "Definition": Definition})
    drawn = np.random.default_rng(5)
    table = polars.DataFrame({"zip": drawn.integers(0, 20, 90), "disease": drawn.choice(["flu", "hiv", "cold"], 90)})
    found = model.measure(shoal.read(table, quasi=["zip"], sensitive=["disease"]).summary)
    groups = [Group(part["disease"].to_list()) for part in table.partition_by("zip")]
    assert found.value == definition.worst([definition.level(group, Attribute({}, {}), {}) for group in groups])
    assert definition.bound == "others"


def test_the_files_that_it_names_are_there() -> None:
    named = set(re.findall(r"`((?:src|tests|docs|kernels|core|models|benchmarks)/[\w./]+)`", PAGE))
    assert len(named) > 10
    missing = {path for path in named if not any((root / path).exists() for root in (ROOT, ROOT / "src" / "shoal"))}
    assert {path for path in missing if "my_model" not in path and path != "core/sensitive.SensitiveModel"} == set()
