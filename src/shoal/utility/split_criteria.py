"""Split criteria of C4.5 as J48 computes them: information gain, gain ratio, and the pessimistic error of a leaf."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from shoal.core.hierarchy import Floats

SMALL = 1e-6
"""Differences below it do not count, as in J48."""


def _entropy_terms(counts: Floats) -> Floats:
    """x log2 x, nothing where there is (almost) nothing."""
    safe = np.where(counts < SMALL, 1.0, counts)
    return safe * np.log2(safe)


def information_gains(counts: Floats, total: float) -> Floats:
    """The information gain of each split `counts[s, branch, class]`; records whose value is missing lower it."""
    known = counts.sum(axis=(1, 2))
    before = _entropy_terms(known) - _entropy_terms(counts.sum(axis=1)).sum(axis=1)
    after = (_entropy_terms(counts.sum(axis=2)) - _entropy_terms(counts).sum(axis=2)).sum(axis=1)
    gained = (before - after) * known / total
    return np.where(np.abs(gained) < SMALL, 0.0, gained / np.where(known > 0, known, 1.0))


def gain_ratio(counts: Floats, total: float, gain: float) -> float:
    """The gain by the information of the split itself, missing values as a branch of their own."""
    sizes = counts.sum(axis=1)
    known = float(sizes.sum())
    information = 0.0
    if known > SMALL:
        parts = np.append(sizes, max(total - known, 0.0))
        information = float(_entropy_terms(np.array([total]))[0] - _entropy_terms(parts).sum())
    return 0.0 if abs(information) < SMALL else gain / (information / total)


def pessimistic_errors(total: float, wrong: float, confidence: float) -> float:
    """The errors of a leaf and what must be added for the upper end of their confidence interval."""
    return wrong + _added_errors(total, wrong, confidence) if total > SMALL else 0.0


@lru_cache(maxsize=1 << 16)
def _added_errors(total: float, wrong: float, confidence: float) -> float:
    if wrong < 1:
        base = total * (1 - confidence ** (1 / total))
        return float(base) if wrong == 0 else base + wrong * (_added_errors(total, 1.0, confidence) - base)
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (wrong + 0.5) / total
    root = math.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    upper = (f + z * z / (2 * total) + z * root) / (1 + z * z / total)
    return float(upper * total - wrong)
