"""Propensity: how well a model tells the release from the table (Woo et al., 2009; Snoke et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.expected import Expected
from shoal.utility.regressions import chances


@dataclass(frozen=True, kw_only=True)
class Propensity(Metric):
    """The propensity score mean-squared error (pMSE): how far a logistic regression's guess, whether a record is of the
    table or of the release, is from a toss of a coin: 0 where it cannot tell, 0.25 where it always can. The detail has
    what chance alone would give, and the ratio.

    As many records of each are compared. Of a cell that stands for several values, one is drawn. Columns count in at
    most `bins` values: bins with equally many records of the table, or names of which the rare ones are one. The
    regression has all of them and all pairs.

    Does not see what takes three columns, and draws: another `seed` gives a slightly other figure. Left-out records do
    not count. Only for truthful forms.

    Reference: J. Snoke and others, General and specific utility measures for synthetic data, 2018.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["f", "m"] * 2000, "job": ["a", "b"] * 2000})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["job"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=4000))
        >>> 0.05 < shoal.metrics.Propensity().score(data, release).value < 0.15
        True
    """

    bins: Annotated[int, Ge(2), Doc("the greatest number of values of a column")] = 4
    records: Annotated[int, Ge(10), Doc("records of each table that are compared")] = 5000
    seed: Annotated[int, Ge(0), Doc("decides which values are drawn")] = 1

    quick: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"bins": 2, "records": 50, "seed": 3})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        if not release.view.truthful:
            raise NotDefined("the values are perturbed, so that cells do not say which values they stand for")
        names = (*dataset.schema.quasi, *dataset.schema.sensitive)
        before, after = Expected.of_dataset(dataset, names), Expected.of_release(release, names)
        if not after.records:
            raise NotDefined("no record is published")
        count = min(self.records, dataset.records)
        drawn = [table.drawn(count, self.seed) for table in (before, after)]
        columns = []
        for name in names:
            shares = before.marginal(name, np.arange(before.trees[name].size, dtype=np.int32))
            coarse = _coarse(shares, self.bins, ordered=before.trees[name].ordered)
            codes = np.concatenate([coarse[each[name]] for each in drawn])
            columns.append((codes[:, None] == np.unique(codes)[1:]).astype(np.float64))
        pairs = [
            (one[:, :, None] * other[:, None, :]).reshape(2 * count, -1) for one, other in combinations(columns, 2)
        ]
        terms = np.hstack([*columns, *pairs])
        varying = np.flatnonzero(terms.any(axis=0) & ~terms.all(axis=0))
        guesses = chances(terms[:, varying], np.repeat([0.0, 1.0], count))
        error = float(np.mean((guesses - 0.5) ** 2))
        by_chance = len(varying) / 8 / (2 * count)
        label = "propensity: how well records of the release can be told"
        how = (
            "pMSE: mean squared distance from a coin toss of the guess whether a record is of the release, at most 0.25"
        )
        detail = {"by chance": by_chance, "ratio": error / by_chance if by_chance else 0.0}
        return Finding(name="propensity", label=label, value=error, how=how, detail=detail)


def _coarse(shares: Floats, most: int, *, ordered: bool) -> np.ndarray:
    """Each leaf as one of at most so many values."""
    if np.count_nonzero(shares) <= most:
        return np.arange(len(shares))
    if ordered:
        bins: np.ndarray = np.minimum((np.cumsum(shares) - shares) * most + 1e-9, most - 1).astype(np.int64)
        return bins
    places = np.full(len(shares), most - 1)
    places[np.argsort(-shares, kind="stable")[: most - 1]] = np.arange(most - 1)
    return places
