"""Full-domain optima on the samples, held against an enumeration of the whole lattice that shares no code with them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal import job

FACTS = json.loads(Path(__file__).with_name("optima.json").read_text(encoding="utf-8"))
CLOSE = {"rel": 1e-9, "abs": 1e-9}


def name(case: dict[str, Any]) -> str:
    models = "+".join(case["models"])
    return f"{case['part']}-{len(case['quasi'])}-{models}-{case['suppression']:g}-{case['objective']}"


@cache
def opened(part: Any, quasi: tuple[str, ...]) -> shoal.Dataset:
    return shoal.read(
        shoal.samples.adult(part=part).drop("education-num"), quasi=quasi, sensitive=["occupation"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )  # fmt: skip


@pytest.mark.parametrize("case", FACTS["cases"], ids=name)
def test_the_optimum_is_the_best_of_all_nodes(case: dict[str, Any]) -> None:
    data = opened(case["part"], tuple(case["quasi"]))
    objective = job.plugin("metrics", case["objective"])
    models = tuple(job.plugin("models", model) for model in case["models"])
    release = shoal.anonymize(
        data, *models, algorithm="optimal", suppression=case["suppression"], objective=objective, seed=1
    )
    assert release.recoding is not None
    facts = release.recoding.facts
    assert facts["proven"] and facts["nodes"]["total"] == case["nodes"]
    assert facts["score"] == pytest.approx(case["score"], **CLOSE)
    assert objective.score(data, release).value == pytest.approx(case["score"], **CLOSE)
    if [facts["levels"][column] for column in case["quasi"]] == case["levels"]:  # another node may be as good
        assert (release.suppressed, len(release.classes)) == (case["suppressed"], case["classes"])
