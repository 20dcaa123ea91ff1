"""The attack by a functional dependency on small releases that were worked through by hand, figure by figure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api import publish
from shoal.attacks.functional_dependency import FunctionalDependency
from shoal.core.recoding import Plan, Recoding

Classes = list[tuple[str, str]]
THIRD, HALF, QUARTER = 1 / 3, 1 / 2, 1 / 4
EXAMPLES: dict[str, tuple[Classes, bool, int, list[float]]] = {
    "A": ([("A B C", "1 2 3"), ("A D E", "1 4 5")], True, 4, [1, HALF, HALF, 1, HALF, HALF]),
    "B": ([("A A B C", "1 1 2 3")], True, 2, [1, 1, HALF, HALF]),
    "C": ([("A B C D", "1 2 3 4"), ("A B C", "1 2 3")], True, 6, [THIRD, THIRD, THIRD, 1, THIRD, THIRD, THIRD]),
    "C2": ([("A B C D", "1 2 3 4"), ("A B", "1 2")], True, 4, [HALF] * 6),
    "D": ([("A B C", "1 2 3"), ("A B C", "1 2 3")], True, 6, [THIRD] * 6),
    "D2": ([("A A C", "1 2 3"), ("A A C", "1 2 3")], True, 3, [THIRD] * 6),
    "E": ([("a a b", "flu flu hiv")], False, 1, [1, 1, 1]),
    "E2": ([("b a", "flu hiv"), ("a c", "hiv cold")], False, 1, [1, 1, 1, 1]),
    "M": ([("A A B C", "1 2 3 4"), ("A B D", "1 3 5")], True, 4, [QUARTER, QUARTER, HALF, HALF, HALF, HALF, 1]),
}
"""The people's cities and illnesses by class, whether the illness determines the city (or the city the illness), the
maps that are left, and what each person's most likely illness has."""


def released(classes: Classes, form: str) -> tuple[shoal.Dataset, shoal.Release]:
    people = [
        (age, city, ill)
        for age, (cities, ills) in enumerate(classes)
        for city, ill in zip(cities.split(), ills.split(), strict=True)
    ]
    table = pl.DataFrame(people, schema={"age": pl.Int64, "city": pl.String, "ill": pl.String}, orient="row")
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["city"])
    nobody = np.zeros(len(classes), dtype=np.bool_)
    if form == "generalized":
        return data, publish(data, Recoding.at_levels(data.summary, (0,), nobody))
    if form == "multisets":
        return data, shoal.anonymize(data, shoal.DistinctLDiversity(l=1), algorithm="multiset:base=optimal", seed=1)
    groups = np.arange(len(classes), dtype=np.int32)
    plan = Plan(data.summary.keys, groups, nobody, np.zeros((0, len(classes)), np.int32), ())
    return data, publish(data, Recoding(plan, form=form))


@pytest.mark.parametrize("form", ["generalized", "two-table", "multisets", "sliced"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_posteriors(name: str, form: str) -> None:
    classes, determines, maps, expected = EXAMPLES[name]
    data, release = released(classes, form)
    left, right = ("ill", "city") if determines else ("city", "ill")
    (found,) = shoal.attack(
        data, release, FunctionalDependency(determinant=(left,), dependent=right, threshold=0.6)
    )  # fmt: skip
    assert found.detail["exact"] and found.detail["maps"] == maps
    assert found.success == pytest.approx(sum(expected) / len(expected))
    assert found.worst == max(expected)
    assert found.above == sum(each > 0.6 for each in expected) / len(expected)
    most = [max(map(ills.split().count, ills.split())) for _, ills in classes]
    assert found.baseline == pytest.approx(sum(most) / len(expected)), "without the dependency"


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("D", "D2", "E")])
def test_bounds_hold_where_nothing_is_counted(name: str) -> None:
    """Propagation alone finds every certainty of these examples; the upper bounds are those of twins.

    In the examples that are left out every step is forced, so that they are counted without a search.
    """
    classes, determines, _, expected = EXAMPLES[name]
    data, release = released(classes, "generalized")
    left, right = ("ill", "city") if determines else ("city", "ill")
    attack = FunctionalDependency(determinant=(left,), dependent=right, nodes=0, draws=500)
    (found,) = shoal.attack(data, release, attack)
    mean = sum(expected) / len(expected)
    assert not found.detail["exact"]
    assert found.detail["low"] <= mean + 1e-12 and mean <= found.detail["high"] + 1e-12
    assert found.worst >= max(expected)
    if max(expected) == 1:
        assert found.detail["worst_low"] == 1
    assert abs(found.success - mean) <= max(found.detail["error"], 1e-12)
