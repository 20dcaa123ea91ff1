"""A regression that is fitted to groups: which values go with which quasi-identifiers, when only groups tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.run import Run

Places = NDArray[np.int64]
Feature = tuple[Places, int]
"""A code for each person, and how many codes there are."""

MANY, BINS = 12, 8
"""A column with more codes than the first also counts in so many parts of about as many people each: few people say
much about each code."""
RIDGE = 3.0
"""How strongly the coefficients are held near zero; a code of fewer people than this says little."""
BALANCED = 3
"""Rounds of balancing groups in each step; what they miss, the next step makes up for."""


def features_of(columns: list[Places]) -> list[Feature]:
    """What is known of each person: every column, and long ones also in parts of neighbouring codes."""
    features = []
    for codes in columns:
        count = int(codes.max(initial=0)) + 1
        features.append((codes, count))
        if count > MANY:
            ranks = np.searchsorted(np.sort(codes), codes)
            parts = np.unique(ranks * BINS // len(codes), return_inverse=True)[1]
            features.append((parts, int(parts.max()) + 1))
    return features


def stacked(known: list[Feature]) -> tuple[Places, list[slice]]:
    """The codes of all features, a row each, numbered on from one to the next; and the numbers of each feature."""
    ends = np.cumsum([count for _, count in known], dtype=np.int64)
    begins = ends - [count for _, count in known]
    codes = np.stack([codes + begin for (codes, _), begin in zip(known, begins, strict=True)]).astype(np.int64)
    return codes, [slice(begin, end) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


class Regression:
    """Multinomial logistic regression of beliefs on features, a coefficient for each code and value."""

    def __init__(self, known: list[Feature], width: int, ridge: float = RIDGE) -> None:
        self.known, self.ridge = [(codes[None].astype(np.int64), count) for codes, count in known], ridge
        self.codes, self.parts = stacked(known)
        self.weights = np.zeros((self.parts[-1].stop, width))

    def improve(self, beliefs: Floats) -> Floats:
        """After one round of steps, feature by feature: by how much each value is likelier of each person than of
        anybody, as a logarithm.

        A step is Newton's with the chances for the curvature, which are no less than it: no step goes too far.
        """
        from shoal.kernels.beliefs import add_by_code, sums_by_code

        usual = np.log(np.maximum(np.ascontiguousarray(beliefs.T).mean(axis=1), 1e-300))
        observed = sums_by_code(beliefs, self.codes, len(self.weights))
        scores, chances = np.tile(usual, (len(beliefs), 1)), np.empty_like(beliefs)
        add_by_code(scores, self.weights, self.codes, chances)
        for (codes, count), part in zip(self.known, self.parts, strict=True):
            weights = self.weights[part]
            np.exp(chances, out=chances)
            chances /= chances.sum(axis=1, keepdims=True)
            expected = sums_by_code(chances, codes, count)
            step = (observed[part] - expected - self.ridge * weights) / (expected + self.ridge)
            weights += step
            add_by_code(scores, step, codes, chances)
        scores -= usual
        return scores


@dataclass(eq=False)
class BalancedGroups:
    """People of groups too large for permutations: beliefs whose sums over a group are the group's own counts."""

    homes: Places
    counts: Floats
    factors: Floats

    @classmethod
    def of(cls, homes: Codes, owners: Places, values: NDArray[np.integer], width: int) -> BalancedGroups:
        """The group of each person, and the values of these groups, each in the group that has it."""
        groups, places = np.unique(homes, return_inverse=True)
        at = np.searchsorted(groups, owners)
        counts = np.bincount(at * width + values, minlength=len(groups) * width).reshape(-1, width).astype(np.float64)
        return cls(places.astype(np.int64), counts, (counts > 0).astype(np.float64))

    def beliefs(self, logs: Floats, rounds: int = BALANCED) -> Floats:
        """The beliefs about these people, which sum to one for each of them."""
        from shoal.kernels.beliefs import sums_by_code

        chances: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        for _ in range(rounds):
            sums = sums_by_code(self._balanced(chances), self.homes[None], len(self.counts))
            self.factors *= self.counts / np.maximum(sums, 1e-300)
            self.factors /= np.maximum(self.factors.max(axis=1, keepdims=True), 1e-300)
        return self._balanced(chances)

    def _balanced(self, chances: Floats) -> Floats:
        beliefs = chances * self.factors[self.homes]
        beliefs /= np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-300)
        return beliefs


def reconcile(
    beliefs: Floats,
    regression: Regression,
    deal: Callable[[Floats], Floats],
    steps: int,
    tolerance: float,
    run: Run,
) -> tuple[Floats, int]:
    """Beliefs and a regression of them brought into line, and after how many steps; `deal` gives the beliefs that fit
    both the groups and how likely each value is of each person."""
    for step in range(1, steps + 1):
        run.report(step / steps, "learning from groups")
        before, beliefs = beliefs, deal(regression.improve(beliefs))
        if float(np.abs(beliefs - before).max(initial=0.0)) < tolerance:
            return beliefs, step
    return beliefs, steps
