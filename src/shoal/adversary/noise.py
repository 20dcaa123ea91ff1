"""What noise hides and what comes through: measures of perturbations, as functions of plain arrays.

A distribution of noise is `normal`, whose spread is its standard deviation, or `uniform`, whose
spread is half its width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ParameterError

Floats = NDArray[np.float64]
Distribution = Literal["normal", "uniform"]

POINTS = 40_001
"""Points at which the density of noisy values is worked out for its entropy."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The estimated share of each cell, and the logarithm of the likelihood after each round, which never falls."""

    shares: Floats
    likelihoods: tuple[float, ...]


def likelihood(observed: ArrayLike, edges: ArrayLike, distribution: Distribution, spread: float) -> Floats:
    """The density of each observed value, a row each, when the true one is anywhere in each cell between two edges, a
    column each, and independent noise was added.

    Example:
        >>> likelihood([0.5, 3.0], [0, 1, 2], "uniform", 1.0).tolist()
        [[0.5, 0.25], [0.0, 0.0]]
    """
    ends = _edges(edges)
    _check_spread(spread)
    # The integral of the noise's density over the cell: a difference of the integral of the density at its two ends.
    reach = _cumulative(np.asarray(observed, np.float64)[:, None] - ends, distribution, spread)
    return (reach[:, :-1] - reach[:, 1:]) / np.diff(ends)


def reconstructed(
    chances: ArrayLike, counts: ArrayLike | None = None, *, rounds: int = 10_000, tolerance: float = 1e-12
) -> Reconstruction:
    """The distribution of the true values, by the Bayes iteration of Agrawal and Srikant.

    `chances[i, a]` is the chance (or density) of the observation i when the true value is in cell a, and `counts[i]`
    how often it was observed. It begins with equal shares, and ends after so many rounds, or when χ² between two of
    them is below the tolerance. This is expectation maximization: no round makes the observations less likely.

    Reference: R. Agrawal, R. Srikant, Privacy-preserving data mining, 2000.

    Example:
        >>> found = reconstructed([[0.5, 0], [0.5, 0.5], [0, 0.5]], [2, 5, 3])
        >>> found.shares.round(4).tolist()
        [0.4, 0.6]
    """
    table = np.asarray(chances, np.float64)
    weights = np.ones(len(table)) if counts is None else np.asarray(counts, np.float64)
    if table.ndim != 2 or weights.shape != (len(table),) or not weights.sum() > 0:
        raise ParameterError("the reconstruction needs a row of chances and a count for each observation")
    occurring = weights > 0
    table, weights = table[occurring], weights[occurring]
    if not (table.sum(axis=1) > 0).all():
        raise ParameterError("some observations are impossible wherever the true value is; widen the cells")
    shares = np.full(table.shape[1], 1 / table.shape[1])
    likelihoods = [_logarithm(table, weights, shares)]
    for _ in range(rounds):
        after = shares * (weights / (table @ shares) @ table) / weights.sum()
        change = np.sum((after - shares)[shares > 0] ** 2 / shares[shares > 0])
        shares = after
        likelihoods.append(_logarithm(table, weights, shares))
        if change < tolerance:
            break
    return Reconstruction(shares, tuple(likelihoods))


def interval_width(distribution: Distribution, spread: float, confidence: float) -> float:
    """The width of the interval that holds the true value with some confidence, when only the noise hides it.

    Example:
        >>> interval_width("uniform", 10.0, 0.5), round(interval_width("normal", 1.0, 0.95), 5)
        (10.0, 3.91993)
    """
    _check_spread(spread)
    if not 0 < confidence < 1:
        raise ParameterError("the confidence is between 0 and 1")
    return 2 * spread * (confidence if distribution == "uniform" else NormalDist().inv_cdf((1 + confidence) / 2))


def entropy_privacy(shares: ArrayLike, edges: ArrayLike) -> float:
    """Two to the entropy of a distribution over cells: the width of the uniform one that is as uncertain.

    Reference: D. Agrawal, C. Aggarwal, On the design and quantification of privacy preserving data mining algorithms,
    2001.

    Example:
        >>> entropy_privacy([0.5, 0, 0, 0, 0.5], [0, 1, 2, 3, 4, 5])
        2.0
    """
    return float(2 ** _entropy(_shares(shares, edges), np.diff(_edges(edges))))


def noise_privacy(distribution: Distribution, spread: float) -> float:
    """Two to the entropy of the noise itself.

    Example:
        >>> noise_privacy("uniform", 1.0), round(noise_privacy("normal", 1.0), 5)
        (2.0, 4.13273)
    """
    _check_spread(spread)
    return 2 * spread if distribution == "uniform" else spread * math.sqrt(2 * math.pi * math.e)


def privacy_loss(shares: ArrayLike, edges: ArrayLike, distribution: Distribution, spread: float) -> float:
    """The share of the entropy privacy of a distribution over cells that is gone once its noisy values are seen:
    0 when they tell nothing, 1 when they tell everything.

    Example:
        >>> round(privacy_loss([0.5, 0, 0, 0, 0.5], [0, 1, 2, 3, 4, 5], "uniform", 1.0), 4)
        0.6106
    """
    parts, ends = _shares(shares, edges), _edges(edges)
    reach = spread if distribution == "uniform" else 9 * spread
    points = np.linspace(ends[0] - reach, ends[-1] + reach, POINTS)
    density = np.zeros(POINTS)
    for cell in np.flatnonzero(parts):
        density += parts[cell] * likelihood(points, ends[cell : cell + 2], distribution, spread)[:, 0]
    noisy = _entropy(density * (points[1] - points[0]), np.full(POINTS, points[1] - points[0]))
    # What is learned is h(W) - h(noise), whatever the true values are, because the noise is independent of them.
    return float(1 - 2 ** (math.log2(noise_privacy(distribution, spread)) - noisy))


def information_loss(true: ArrayLike, estimated: ArrayLike) -> float:
    """Half the summed difference of two distributions over the same cells: 0 when they are equal, 1 when apart.

    Example:
        >>> information_loss([0.5, 0.5, 0.0], [0.25, 0.5, 0.25])
        0.25
    """
    return float(np.abs(np.asarray(true, np.float64) - np.asarray(estimated, np.float64)).sum() / 2)


class ProjectionVariances(NamedTuple):
    """The variances of what a random projection estimates: an inner product, and a squared distance."""

    product: float
    distance: float


def projection_variances(left: ArrayLike, right: ArrayLike, directions: int) -> ProjectionVariances:
    """How far the inner product and the squared distance of two records vary when they are projected onto so many
    random directions; both are right on average.

    Reference: K. Liu, H. Kargupta, J. Ryan, Random projection-based multiplicative data perturbation, 2006.

    Example:
        >>> tuple(projection_variances([1, 2, 2], [2, 0, 1], 2))
        (30.5, 36.0)
    """
    x, y = np.asarray(left, np.float64), np.asarray(right, np.float64)
    apart = float(((x - y) ** 2).sum())
    return ProjectionVariances(float((x @ x) * (y @ y) + (x @ y) ** 2) / directions, 2 * apart**2 / directions)


class Filtered(NamedTuple):
    """Values with noise filtered out, how many directions were kept, and the variance that a kept one exceeds."""

    values: Any
    kept: int
    bound: float


def spectral_filter(values: ArrayLike, variance: float) -> Filtered:
    """Records by columns without the directions in which they vary no more than independent noise of that variance
    does: its eigenvalues stay below σ²(1 + √(columns/records))².

    Reference: H. Kargupta and others, On the privacy preserving properties of random data perturbation techniques,
    2003.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> signal = np.repeat(generator.normal(0, 5, (500, 1)), 4, axis=1)
        >>> spectral_filter(signal + generator.normal(0, 1, signal.shape), 1.0).kept
        1
    """
    table = np.asarray(values, np.float64)
    records, columns = table.shape
    means = table.mean(axis=0)
    covariance = np.atleast_2d(np.cov(table, rowvar=False, bias=True))
    sizes, directions = np.linalg.eigh(covariance)
    bound = variance * (1 + math.sqrt(columns / records)) ** 2
    signal = directions[:, sizes > bound]
    return Filtered(means + (table - means) @ signal @ signal.T, signal.shape[1], bound)


def linear_estimate(values: ArrayLike, means: ArrayLike, gains: ArrayLike, noise: ArrayLike) -> Floats:
    """The true values of records by columns, as the linear estimate with the least mean squared error.

    A published value is the mean of its column, the true deviation from it times the gain of the column, and noise of
    the given covariance that has nothing to do with the true values. How the true columns vary together follows from
    how the published ones do. For normal values no estimate at all has a smaller error.

    Reference: Z. Huang, W. Du, B. Chen, Deriving private information from randomized data, 2005.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> true = np.repeat(generator.normal(0, 1, (2000, 1)), 4, axis=1)
        >>> noisy = true + generator.normal(0, 1, true.shape)
        >>> found = linear_estimate(noisy, np.zeros(4), np.ones(4), np.eye(4))
        >>> round(float(((found - true) ** 2).mean()), 1), round(float(((noisy - true) ** 2).mean()), 1)
        (0.2, 1.0)
    """
    table, center, scale = (np.asarray(part, np.float64) for part in (values, means, gains))
    shown = np.atleast_2d(np.cov(table, rowvar=False, bias=True))
    sizes, directions = np.linalg.eigh(shown - np.atleast_2d(np.asarray(noise, np.float64)))
    # What is left after the noise may vary in no direction less than not at all.
    signal = (directions * np.maximum(sizes, 0.0)) @ directions.T
    inverse = np.linalg.pinv(shown, hermitian=True)
    weights = inverse @ signal * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale != 0)
    estimates = (table - table.mean(axis=0)) @ weights
    # No such estimate varies more than the values; where it would, a column does not follow the true one by itself.
    most = np.sqrt(np.maximum(np.diag(signal), 0.0)) / np.maximum(np.abs(scale), 1e-300)
    spread = estimates.std(axis=0)
    shrunk: Floats = estimates * np.minimum(1.0, np.divide(most, spread, out=np.ones_like(spread), where=spread > 0))
    return center + shrunk


def _cumulative(values: Floats, distribution: Distribution, spread: float) -> Floats:
    if distribution == "uniform":
        return np.clip((values + spread) / (2 * spread), 0, 1)
    chances: Floats = np.vectorize(NormalDist(0, spread).cdf, otypes=[np.float64])(values)
    return chances


def _logarithm(table: Floats, weights: Floats, shares: Floats) -> float:
    return float(weights @ np.log(table @ shares))


def _entropy(shares: Floats, widths: Floats) -> float:
    some = shares > 0
    return float(-(shares[some] * np.log2(shares[some] / widths[some])).sum())


def _edges(edges: ArrayLike) -> Floats:
    ends = np.asarray(edges, np.float64)
    if ends.ndim != 1 or len(ends) < 2 or not (np.diff(ends) > 0).all():
        raise ParameterError("the edges of cells are ascending numbers, at least two")
    return ends


def _shares(shares: ArrayLike, edges: ArrayLike) -> Floats:
    parts = np.asarray(shares, np.float64)
    if parts.shape != (len(_edges(edges)) - 1,) or (parts < 0).any() or not math.isclose(parts.sum(), 1, abs_tol=1e-9):
        raise ParameterError("the shares of the cells are from 0 up, one a cell, and sum to 1")
    return parts


def _check_spread(spread: float) -> None:
    if not (spread > 0 and math.isfinite(spread)):
        raise ParameterError("the spread of the noise is a number above 0")
