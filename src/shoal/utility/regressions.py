"""Regressions on weighted rows: linear and logistic, with standard errors, and how far confidence intervals overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.core.hierarchy import Floats
from shoal.errors import NotDefined
from shoal.utility.one_thread import one_thread

WIDTH = 1.959963984540054
"""Standard errors from the estimate to the end of a 95 % confidence interval."""
STEPS = 100
TINY = 1e-9

Method = Literal["linear", "logistic"]


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, the intercept first, and their standard errors; not-a-number where the rows do not tell."""

    coefficients: Floats
    errors: Floats

    @property
    def intervals(self) -> tuple[Floats, Floats]:
        return self.coefficients - WIDTH * self.errors, self.coefficients + WIDTH * self.errors


@one_thread()
def fit(method: Method, terms: Floats, outcome: Floats, weights: Floats) -> Fit:
    """The regression of an outcome on terms (rows by terms), each row counted as often as its weight says.

    The outcome of a logistic regression may be a chance: then a row counts in proportion as both.

    Example:
        >>> line = fit("linear", np.array([[0.0], [1], [2], [3]]), np.array([1.0, 3, 5, 7]), np.ones(4))
        >>> line.coefficients.round(6).tolist()
        [1.0, 2.0]
    """
    total = float(weights.sum())
    if total <= 0:
        raise NotDefined("no record has a value in each of the columns")
    means = weights @ terms / total
    spreads = np.sqrt(weights @ (terms - means) ** 2 / total)
    scales = np.where(spreads > TINY * np.maximum(1.0, np.abs(means)), spreads, 1.0)
    design = np.column_stack([np.ones(len(terms)), (terms - means) / scales])
    if method == "linear":
        moments = design.T @ (design * weights[:, None])
        inverse = _inverse(moments)
        slopes = inverse @ (design.T @ (weights * outcome))
        left = float(weights @ (outcome - design @ slopes) ** 2)
        free = total - len(slopes)
        covariance = inverse * (left / free if free > 0 else np.nan)
    else:
        slopes, moments, inverse = _logistic(design, outcome, weights)
        covariance = inverse
    determined = _determined(moments, inverse)
    back = np.diag(np.append(1.0, 1 / scales))
    back[0, 1:] = -means / scales
    coefficients, errors = back @ slopes, np.sqrt(np.maximum(np.diag(back @ covariance @ back.T), 0.0))
    coefficients[~determined], errors[~determined] = np.nan, np.nan
    return Fit(coefficients, errors)


def _inverse(moments: Floats) -> Floats:
    return np.linalg.pinv(moments, rcond=TINY, hermitian=True).astype(np.float64)


@one_thread()
def chances(terms: Floats, outcome: Floats, ridge: float = 1.0) -> Floats:
    """How likely a logistic regression takes each row to have the outcome. Coefficients are held back by the `ridge`,
    so that there is a solution also where terms tell one another or the outcome.

    Example:
        >>> chances(np.zeros((4, 1)), np.array([0.0, 0, 0, 1])).round(3).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    design = np.column_stack([np.ones(len(terms)), terms])
    distinct, index, counts = np.unique(
        np.column_stack([design, outcome]), axis=0, return_inverse=True, return_counts=True
    )
    rows, weights = distinct[:, :-1], counts.astype(np.float64)
    coefficients, _, _ = _logistic(rows, distinct[:, -1], weights, ridge)
    by_row: Floats = 1 / (1 + np.exp(-(rows @ coefficients)))
    return by_row[index.ravel()]


def _logistic(design: Floats, outcome: Floats, weights: Floats, ridge: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Newton's method, halving steps that overshoot."""
    coefficients: Floats = np.zeros(design.shape[1])
    penalties = np.append(0.0, np.full(len(coefficients) - 1, ridge))

    def likelihood_of(tried: Floats) -> float:
        scores = design @ tried
        return float(weights @ (outcome * scores - np.logaddexp(0.0, scores))) - float(penalties @ tried**2) / 2

    likelihood = likelihood_of(coefficients)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ coefficients, -500, 500)))
        moments = design.T @ (design * (weights * chance * (1 - chance))[:, None]) + np.diag(penalties)
        inverse = _inverse(moments)
        step = inverse @ (design.T @ (weights * (outcome - chance)) - penalties * coefficients)
        for _ in range(40):
            better = likelihood_of(coefficients + step)
            if better >= likelihood - 1e-12 * abs(likelihood):
                break
            step = step / 2
        coefficients, gain, likelihood = coefficients + step, better - likelihood, better
        if np.abs(step).max() < 1e-8 or abs(gain) < 1e-12 * max(abs(likelihood), 1.0):
            if not ridge and np.abs(coefficients).max() > 15:
                break
            return coefficients, moments, inverse
    raise NotDefined(
        "the columns tell the two outcomes apart completely, so that a logistic regression has no solution"
    )


def _determined(moments: Floats, inverse: Floats) -> np.ndarray:
    """Which coefficients the rows determine."""
    identity = inverse @ moments
    determined: np.ndarray = np.abs(identity - np.eye(len(identity))).max(axis=1) < 1e-6
    determined[0] = determined.all()
    return determined


def overlaps(one: Fit, other: Fit) -> Floats:
    """How far the 95 % confidence intervals of each coefficient overlap: the shared part as a share of each interval,
    the mean of both; 1 where they are the same, 0 where they are apart or one is not told (Karr et al., 2006)."""
    (low, high), (low2, high2) = one.intervals, other.intervals
    shared = np.maximum(np.minimum(high, high2) - np.maximum(low, low2), 0.0)
    lengths = high - low, high2 - low2
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [np.where(length > 0, shared / length, (low == low2) & (high == high2)) for length in lengths]
    means: Floats = np.nan_to_num((shares[0] + shares[1]) / 2)
    return means.round(9)  # the same fit twice differs by rounding
