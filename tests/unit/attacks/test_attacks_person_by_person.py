"""Attacks on random tables against the plain count: each person is attacked, in every form that allows it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError


def released(seed: int, rows: int, algorithm: str) -> tuple[shoal.Dataset, shoal.Release] | None:
    generator = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": generator.integers(20, 28, rows),
            "sex": generator.choice(["f", "m"], rows),
            "disease": generator.choice(["flu", "hiv", "cold"], rows, p=[0.5, 0.3, 0.2]),
            "row": range(rows),
        }
    )
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"])
    model = shoal.FrequencyLDiversity(l=2) if algorithm == "anatomy" else shoal.KAnonymity(k=2)
    try:
        return data, shoal.anonymize(data, model, algorithm=algorithm, suppression=0.3, seed=seed)
    except InfeasibleError:
        return None


def figures(risks: list[float], threshold: float) -> tuple[float, float, float]:
    above = sum(risk > threshold for risk in risks) / len(risks)
    return pytest.approx(sum(risks) / len(risks)), pytest.approx(max(risks)), pytest.approx(above)


algorithms = st.sampled_from(["mondrian", "optimal", "anatomy", "k-member"])


@given(st.integers(0, 9999), st.integers(6, 40), algorithms, st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8]))
@settings(max_examples=count(22, 80), deadline=None)
def test_prosecutor(seed: int, rows: int, algorithm: str, threshold: float) -> None:
    made = released(seed, rows, algorithm)
    if made is None:
        return
    data, release = made
    (found,) = shoal.attack(data, release, shoal.attacks.Prosecutor(threshold=threshold))
    published = list(release.frame.select("age", "sex").iter_rows())
    alike = Counter(published)
    risks = [1 / alike[row] for row in published]
    assert (found.success, found.worst, found.above) == figures(risks, threshold)
    assert found.baseline == pytest.approx(1 / len(published))


@given(st.integers(0, 9999), st.integers(6, 40), algorithms, st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9]))
@settings(max_examples=count(22, 80), deadline=None)
def test_homogeneity(seed: int, rows: int, algorithm: str, threshold: float) -> None:
    """Whoever knows the group guesses its most frequent value; the guess is right for as many as have it."""
    made = released(seed, rows, algorithm)
    if made is None:
        return
    data, release = made
    (found,) = shoal.attack(data, release, shoal.attacks.Homogeneity(threshold=threshold))
    truth = dict(zip(range(rows), data.table.source.frame["disease"].to_pylist(), strict=True))
    key: Any = ["group"] if "group" in release.frame.columns else ["age", "sex"]
    groups: dict[Any, Counter[str]] = {}
    for row, *group in release.frame.select("row", *key).iter_rows():
        groups.setdefault(tuple(group), Counter())[truth[row]] += 1
    shares = [max(values.values()) / values.total() for values in groups.values() for _ in range(values.total())]
    assert (found.success, found.worst, found.above) == figures(shares, threshold)
    assert found.baseline == pytest.approx(max(Counter(truth.values()).values()) / rows)
