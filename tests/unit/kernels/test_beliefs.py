"""Beliefs by code: the kernels add what plain loops add, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.beliefs import add_by_code, sums_by_code


def summed(beliefs, codes, count):
    sums = [[0.0] * beliefs.shape[1] for _ in range(count)]
    for own, known in zip(beliefs.tolist(), codes.T.tolist(), strict=True):
        for code in known:
            sums[code] = [one + more for one, more in zip(sums[code], own, strict=True)]
    return sums


def added(scores, table, codes):
    rows = []
    for own, known in zip(scores.tolist(), codes.T.tolist(), strict=True):
        rows.append([score + sum(table[code, value].item() for code in known) for value, score in enumerate(own)])
    return rows, [[score - max(row) for score in row] for row in rows]


@pytest.mark.parametrize(("people", "width"), [(1, 1), (40, 3), (300, 17)])
@pytest.mark.parametrize("features", [1, 4])
def test_beliefs_by_code(people: int, width: int, features: int) -> None:
    generator = np.random.default_rng(people + features)
    codes = generator.integers(0, 5, (features, people)) + 5 * np.arange(features)[:, None]
    beliefs = generator.random((people, width))
    assert sums_by_code(beliefs, codes, 5 * features).tolist() == summed(beliefs, codes, 5 * features)
    scores, table = generator.normal(size=(people, width)), generator.normal(size=(5 * features, width))
    expected, lower = added(scores, table, codes)
    below = np.full_like(scores, np.nan)
    add_by_code(scores, table, codes, below)
    assert scores.tolist() == expected and below.tolist() == lower
