"""Uniqueness: how many people of a population are alone with their values, estimated from a sample of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp, isfinite, lgamma, log

import numpy as np

from shoal.core.grouping import Counts

Pair = tuple[float, float]

STEPS = 300
ACCURACY = 1e-9
FRACTION = 0.1
"""The fraction up to which Pitman's model is taken."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The classes of a sample: `counts[i]` of them have `sizes[i]` people. The sample is a `fraction` of a population.

    Example:
        >>> sample = Sample.of(np.array([1, 1, 2, 3]), 0.5)
        >>> sample.people, sample.population, sample.having(1)
        (7, 14, 2)
    """

    sizes: Counts
    counts: Counts
    fraction: float

    @classmethod
    def of(cls, sizes: Counts, fraction: float) -> Sample:
        """The sample whose classes have such sizes."""
        distinct, counts = np.unique(sizes[sizes > 0], return_counts=True)
        return cls(distinct.astype(np.int64), counts.astype(np.int64), fraction)

    @cached_property
    def people(self) -> int:
        return int(self.sizes @ self.counts)

    @cached_property
    def population(self) -> int:
        return int(self.people / self.fraction)

    @cached_property
    def classes(self) -> int:
        return int(self.counts.sum())

    def having(self, size: int) -> int:
        """How many classes have so many people."""
        return int(self.counts[self.sizes == size].sum())


def zayatz(sample: Sample) -> float | None:
    """The people who are alone in the population, if its classes were spread over sizes as those of the sample are.

    A class that has one person in the sample then is one of one person in the population with a probability that
    follows from how likely the sample takes exactly one of a class of each size (L. Zayatz, 1991).
    """
    fraction, left = sample.people / sample.population, sample.population - sample.people
    most = int(sample.sizes.max(initial=1))
    # Of a class of k, exactly one is taken with k · n/N · (N−n)/(N−1) · (N−n−1)/(N−2) · …, k − 1 factors.
    others = np.arange(most - 1)
    with np.errstate(divide="ignore"):
        factors = np.log(np.maximum(left - others, 0)) - np.log(sample.population - 1 - others)
    sums = np.append(0.0, np.cumsum(factors))
    alone = sample.sizes * fraction * np.exp(sums[sample.sizes - 1])
    likely = float(sample.counts @ alone)
    uniques = sample.having(1)
    return uniques * (uniques * fraction / likely) / sample.fraction if likely > 0 else None


def pitman(sample: Sample) -> float | None:
    """The people who are alone in the population by Pitman's model, whose two parameters are those under which the
    sample is most likely (N. Hoshino, 2001); None where no such parameters are found."""
    n, classes, ones = sample.people, sample.classes, sample.having(1)
    twos = sample.having(2) or 1
    ratio = ones * (ones - 1) / twos
    below = 2 * ones * classes + ones * ratio - n * ratio
    if not below or classes < 2:
        return None
    theta = (n * classes * ratio - ones * (n - 1) * (2 * classes + ratio)) / below
    alpha = (theta * (ones - n) + (n - 1) * ones) / (n * classes)
    ranks, others = np.arange(1, classes, dtype=np.float64), np.arange(1, n, dtype=np.float64)
    # sums over j < size of 1/(j − α), for all classes: how many classes are larger than j
    steps = np.arange(1, int(sample.sizes.max()), dtype=np.float64)
    larger = sample.counts[::-1].cumsum()[::-1][np.searchsorted(sample.sizes, steps, side="right")]

    def slopes(theta: float, alpha: float) -> tuple[Pair, tuple[float, float, float]]:
        """The derivatives of the likelihood, and theirs."""
        over, more, inner = 1 / (theta + ranks * alpha), 1 / (theta + others), 1 / (steps - alpha)
        first = float(over.sum() - more.sum()), float(ranks @ over - larger @ inner)
        mixed = -float(ranks @ over**2)
        return first, (float((more**2).sum() - (over**2).sum()), mixed, -float(ranks**2 @ over**2 + larger @ inner**2))

    for _ in range(STEPS):
        (one, two), (first, mixed, second) = slopes(theta, alpha)
        determinant = first * second - mixed * mixed
        if not isfinite(determinant) or not determinant:
            return None
        step = (second * one - mixed * two) / determinant, (first * two - mixed * one) / determinant
        theta, alpha = theta - step[0], alpha - step[1]
        if theta < 0 or alpha >= 1 or not isfinite(theta + alpha):
            return None
        if abs(step[0]) + abs(step[1]) < ACCURACY * max(1.0, abs(theta)):
            break
    if theta + alpha <= 0:
        return None
    alone = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(sample.population))
    return alone if alone <= sample.population else None


def snb(sample: Sample) -> float | None:
    """The people who are alone in the population by the slide negative binomial model (G. Chen, S. Keller-McNulty,
    1998), with Shlosser's estimate of how many classes the population has; None where its equations have no solution.
    """
    f, ones, twos = sample.fraction, sample.having(1), sample.having(2)
    if f >= 1:
        return float(ones)
    if not twos:
        return None
    classes = _shlosser(sample)

    def missed(a: float, b: float) -> Pair:
        """How far the classes of one and of two that the model expects are off, as shares."""
        inner = (1 - f) * (1 - b)
        outer = 1 - inner
        one = classes * f * (b / outer) ** a * (a * inner / outer + 1)
        two = classes * a * b**a * f * f * (1 - b) / (2 * outer ** (a + 2)) * (2 - (1 - a) * inner)
        return one / ones - 1, two / twos - 1

    solution = _solve(missed)
    return None if solution is None else classes * solution[1] ** solution[0]


def _shlosser(sample: Sample) -> float:
    """How many classes the population has (P. Haas, L. Stokes, 1998, the third of Shlosser's estimators)."""
    f, sizes, counts = sample.fraction, sample.sizes.astype(np.float64), sample.counts
    twice = float(counts @ (sizes * f * f * (1 - f * f) ** (sizes - 1)))
    sampled = float(counts @ ((1 - f) ** sizes * ((1 + f) ** sizes - 1)))
    unseen = float(counts @ (1 - f) ** sizes)
    once = float(counts @ (sizes * f * (1 - f) ** (sizes - 1)))
    return sample.classes + sample.having(1) * (twice / sampled) * (unseen / once) ** 2


def _solve(missed: Callable[[float, float], Pair]) -> Pair | None:
    """An `a` above 0 and a `b` between 0 and 1 at which two equations hold, by Newton's method from several places;
    the logarithm of a and the log-odds of b are walked, so that no step leaves the range."""

    def at(x: float, y: float) -> Pair:
        return missed(exp(x), 1 / (1 + exp(-y)))

    for begin in ((x, y) for x in (-2.0, 0.0, 2.0, -5.0) for y in (0.0, -3.0, 3.0, -6.0)):
        x, y = begin
        try:
            for _ in range(STEPS):
                here = at(x, y)
                if max(map(abs, here)) < ACCURACY:
                    return exp(x), 1 / (1 + exp(-y))
                h = 1e-6
                along, up = at(x + h, y), at(x, y + h)
                a, b = (along[0] - here[0]) / h, (up[0] - here[0]) / h
                c, d = (along[1] - here[1]) / h, (up[1] - here[1]) / h
                determinant = a * d - b * c
                step = (d * here[0] - b * here[1]) / determinant, (a * here[1] - c * here[0]) / determinant
                scale = min(1.0, 2.0 / max(abs(step[0]), abs(step[1]), 1e-300))
                x, y = x - scale * step[0], y - scale * step[1]
        except (ZeroDivisionError, OverflowError, ValueError):
            continue
    return None


def dankar(sample: Sample) -> tuple[float | None, str]:
    """The estimate that a rule prefers, and whose it is (F. Dankar and others, 2012): of a small sample Pitman's, or
    Zayatz's where there is none; of a larger one the lower of Zayatz's and that of the slide negative binomial."""
    if sample.fraction <= FRACTION:
        alone = pitman(sample)
        return (alone, "pitman") if alone else (zayatz(sample), "zayatz")
    other, simple = snb(sample), zayatz(sample)
    if other and (simple is None or other <= simple):
        return other, "snb"
    return simple, "zayatz"


MODELS: dict[str, Callable[[Sample], float | None]] = {"pitman": pitman, "zayatz": zayatz, "snb": snb}


def uniques(sample: Sample, model: str) -> tuple[float | None, str]:
    """The people of the population who are alone with their values, and by which model; none where nobody is alone in
    the sample."""
    if not sample.having(1):
        return 0.0, model
    return dankar(sample) if model == "dankar" else (MODELS[model](sample), model)
