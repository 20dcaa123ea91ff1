"""One-way marginals: how far the distribution of each column moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns, perturbed_categories
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.expected import Expected, total_variation


@dataclass(frozen=True, kw_only=True)
class Marginals(Metric):
    """The share of the records that would have to change for each column to have the distribution that it had (total
    variation distance), as a mean over the quasi-identifiers and sensitive attributes, of a perturbed release over the
    changed columns; by column in the detail. A cell that stands for several values stands for each of them alike.
    Missing is a value; a column with more values than `bins` is counted in bins that have equally many records of the
    table.

    Does not look at several columns together (`two-way-marginals` does), or at single records. Left-out records do not
    count. Perturbed releases only as they were made, not from a file.

    Reference: J. Gouweleeuw and others, Post randomisation for statistical disclosure control, 1998.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"town": ["a", "b", "b", "b"] * 9}), quasi=["town"])
        >>> release = shoal.anonymize(data, algorithm="pram:keep=1", seed=1)
        >>> shoal.metrics.Marginals().score(data, release).value
        0.0
        >>> shoal.metrics.Marginals().score(data, shoal.anonymize(data, "k-anonymity:k=10", algorithm="optimal")).value
        0.25
    """

    bins: Annotated[int, Ge(2), Doc("the greatest number of bins of a column")] = 20

    quick: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"bins": 5})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        moves = self._expected(dataset, release) if release.view.truthful else self._changed(dataset, release)
        mean = float(np.mean(list(moves.values())))
        label = "marginals: how far a column's distribution moved"
        how = "share of the records by which the distributions of columns differ, on average (total variation)"
        return Finding(name="marginals", label=label, value=mean, unit="share", detail=moves, how=how)

    def _expected(self, dataset: Dataset, release: Release) -> dict[str, float]:
        names = (*dataset.schema.quasi, *dataset.schema.sensitive)
        before, after = Expected.of_dataset(dataset, names), Expected.of_release(release, names)
        bins = {name: before.bins(name, self.bins) for name in names}
        return {
            name: total_variation(before.marginal(name, bins[name]), after.marginal(name, bins[name])) for name in names
        }

    def _changed(self, dataset: Dataset, release: Release) -> dict[str, float]:
        detail = {name: _distance(*codes) for name, codes in perturbed_categories(dataset, release).items()}
        try:
            masked = PerturbedColumns.of(dataset, release)
        except NotDefined:
            if not detail:
                raise
            return detail
        for name, before, after in zip(masked.names, masked.before.T, masked.after.T, strict=True):
            edges = np.unique(np.nanquantile(before, np.arange(1, self.bins) / self.bins))
            detail[name] = _distance(_binned(before, edges), _binned(after, edges))
        return detail


def _binned(values: Floats, edges: Floats) -> Codes:
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right")).astype(np.int32)


def _distance(before: Codes, after: Codes) -> float:
    """The distance of two distributions over codes from -1 up."""
    left, right = (codes + 1 for codes in (before, after))
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    shares = [np.bincount(codes, minlength=size) / max(len(codes), 1) for codes in (left, right)]
    return total_variation(*shares)
