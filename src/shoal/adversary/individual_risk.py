"""Individual risk: the chance that a record of a survey is linked to the right person of the population.

R. Benedetti, L. Franconi, Statistical and technological solutions for controlled data dissemination, 1998; L. Franconi,
S. Polettini, Individual risk estimation in µ-Argus: a review, 2004.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import Floats

Method = Literal["exact", "approximate", "simple"]

LARGE = 3
"""The sample frequency from which the approximation is taken; below it everybody computes exactly."""
CONVERGES = 40
"""The sample frequency from which so many terms of the series are all that floating point sees; for some, the function
of scipy overflows there."""


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
    """The mean of 1 / F. In this form the hypergeometric series has positive terms only, so nothing cancels."""
    from scipy.special import hyp2f1

    sums = np.ones(len(sample))
    few = sample < CONVERGES
    sums[few] = hyp2f1(1.0, 1.0, sample[few] + 1, 1 - share[few])
    many, left = sample[~few], 1 - share[~few]
    term = np.ones(len(many))
    for step in range(1, CONVERGES + 1):
        term *= step / (many + step) * left
        sums[~few] += term
    return share / sample * sums
