"""Individual risk: the chance that a record of a survey is linked to the right person of the population.

R. Benedetti, L. Franconi, Statistical and technological solutions for controlled data dissemination, 1998; L. Franconi,
S. Polettini, Individual risk estimation in µ-Argus: a review, 2004.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import Floats
from shoal.errors import MissingExtraError

Method = Literal["exact", "approximate", "simple"]

LARGE = 3
"""The sample frequency from which the approximation is taken; below it everybody computes exactly."""
CONVERGES, LARGE_SHARE, TERMS = 40, 0.4, 64
"""The sample frequency and the sampling share from which floating point sees no more terms of the series than these."""


def individual_risk(frequencies: NDArray[np.number], population: Floats, method: Method = "exact") -> Floats:
    """The risk of each of `frequencies` records that agree, when `population` people of the population do.

    The population frequency F of a class that has f people in the sample is taken to be negative binomial with the
    sampling share p = f / F̂; the risk is the mean of 1 / F. `exact` computes it (p/f · ₂F₁(1, 1; f + 1; 1 − p)),
    `approximate` takes p / (f − (1 − p)) from three people on, `simple` is 1 / F̂. A class never has fewer people in the
    population than in the sample.

    Example:
        >>> individual_risk(np.array([1, 2, 3]), np.array([45.5, 100.0, 108.0])).round(5).tolist()
        [0.08579, 0.01878, 0.01355]
        >>> individual_risk(np.array([3]), np.array([108.0]), "approximate").round(5).tolist()
        [0.0137]
        >>> individual_risk(np.array([4]), np.array([4.0])).tolist()
        [0.25]
    """
    sample = np.asarray(frequencies, np.float64)
    there = np.maximum(population, sample)
    if method == "simple":
        return np.asarray(1 / there, np.float64)
    share = sample / there
    risks = np.empty(len(sample))
    by_series = sample < LARGE if method == "approximate" else np.ones(len(sample), np.bool_)
    risks[by_series] = _mean_inverse(sample[by_series], share[by_series])
    rest = ~by_series
    risks[rest] = share[rest] / (sample[rest] - (1 - share[rest]))
    return risks


def _mean_inverse(sample: Floats, share: Floats) -> Floats:
    """The mean of 1 / F: share · ∫ u^(f−1) / (p + (1 − p)u) du from 0 to 1, nowhere by a difference of near numbers."""
    means = np.empty(len(sample))
    quickly = (sample >= CONVERGES) | (share > LARGE_SHARE)
    means[quickly] = _by_series(sample[quickly], share[quickly])
    whole = ~quickly & (sample == np.rint(sample))
    means[whole] = _by_steps(sample[whole], share[whole])
    rest = ~quickly & ~whole
    if rest.any():
        means[rest] = _by_scipy(sample[rest], share[rest])
    return means


def _by_series(sample: Floats, share: Floats) -> Floats:
    """All terms of the hypergeometric series are positive, and shrink quickly here."""
    sums, term = np.ones(len(sample)), np.ones(len(sample))
    for step in range(1, TERMS + 1):
        term *= step / (sample + step) * (1 - share)
        sums += term
    return np.asarray(share / sample * sums, np.float64)


def _by_steps(sample: Floats, share: Floats) -> Floats:
    """From one person to the next: errors shrink as long as less than half of the population is in the sample."""
    integrals = -np.log(share) / (1 - share)
    for size in range(1, CONVERGES):
        integrals = np.where(sample > size, (1 / size - share * integrals) / (1 - share), integrals)
    return np.asarray(share * integrals, np.float64)


def _by_scipy(sample: Floats, share: Floats) -> Floats:
    """For parts of people, which there are where matches by missing values count less."""
    try:
        from scipy.special import hyp2f1
    except ImportError:
        raise MissingExtraError("individual risk with alpha below 1", "exact") from None
    return np.asarray(share / sample * hyp2f1(1.0, 1.0, sample + 1, 1 - share), np.float64)
