"""Log-linear models of the table that quasi-identifiers span: what its cells have in the mean.

C. Skinner, D. Holmes, Estimating the re-identification risk per record in microdata, 1998; C. Skinner, N. Shlomo,
Assessing identification risk in survey microdata using log-linear models, 2008.
"""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.run import Run
from shoal.errors import NotDefined

CELLS = 2_000_000
"""Cells of the table of all combinations of values up to which interactions are fitted."""
ROUNDS = 500
ACCURACY = 1e-9


def cell_means(keys: Codes, amounts: Floats, *, interactions: bool, run: Run) -> Floats:
    """The means of classes with such keys under the log-linear model of main effects, or with two-way interactions,
    whose margins are those of the amounts.

    Example:
        >>> keys = np.array([[0, 0, 1], [0, 1, 1]], np.int32)
        >>> cell_means(keys, np.array([1.0, 1.0, 2.0]), interactions=False, run=Run()).tolist()
        [0.5, 1.5, 1.5]
    """
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in keys]
    shape = [int(column.max(initial=0)) + 1 for column in codes]
    whole = float(amounts.sum())
    if not interactions or len(codes) < 2:
        means = np.full(len(amounts), whole)
        for column in codes:
            means *= (np.bincount(column, amounts) / whole)[column]
        return means
    if prod(shape) > CELLS:
        raise NotDefined(
            f"all combinations of the quasi-identifiers' values are {prod(shape):,} cells, and interactions are fitted "
            f"up to {CELLS:,}; use log-linear:interactions=no, or name fewer quasi-identifiers"
        )
    fitted = _fit(codes, amounts, shape, run)
    return np.asarray(fitted[tuple(codes)], np.float64)


def _fit(codes: list[Codes], amounts: Floats, shape: list[int], run: Run) -> Floats:
    """Iterative proportional fitting to all two-way margins."""
    axes = list(combinations(range(len(shape)), 2))
    if len(shape) == 2:
        table = np.zeros(shape)
        table[tuple(codes)] = amounts
        return table
    margins = {}
    for first, second in axes:
        margin = np.zeros((shape[first], shape[second]))
        np.add.at(margin, (codes[first], codes[second]), amounts)
        margins[first, second] = margin
    fitted, whole = np.ones(shape), float(amounts.sum())
    for _ in range(ROUNDS):
        run.check()
        off = 0.0
        for pair in axes:
            others = tuple(axis for axis in range(len(shape)) if axis not in pair)
            now = fitted.sum(axis=others)
            off = max(off, float(np.abs(now - margins[pair]).max()))
            factors = np.divide(margins[pair], now, out=np.zeros_like(now), where=now > 0)
            fitted *= np.expand_dims(factors, others)
        if off <= ACCURACY * whole:
            break
    return fitted


def risk_of_uniques(means: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Of people who are alone in the sample, the chance that they are alone in the population, and the mean of 1 over
    how many people there are: their number is 1 and a Poisson number of others, whose mean is that of the cell without
    the share that the sample takes.

    Example:
        >>> [each.round(4).tolist() for each in risk_of_uniques(np.array([0.0, 2.0]), np.array([0.5, 0.5]))]
        [[1.0, 0.3679], [1.0, 0.6321]]
    """
    others = means * (1 - share)
    safe = np.where(others > 0, others, 1.0)
    return np.exp(-others), np.where(others > 0, -np.expm1(-others) / safe, 1.0)
