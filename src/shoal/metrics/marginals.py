"""One-way marginals: how far the distribution of each column moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes
from shoal.core.masked import Floats, Masked, masked_categories
from shoal.core.noise import information_loss
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class Marginals(Metric):
    """The share of the records that would have to change for each changed column to have the distribution that it had
    (total variation distance), as a mean; by column in the detail. Categories count as they are, missing as one more;
    numbers count by bins that have equally many records of the table.

    Does not look at several columns together, or at single records. Only for perturbed releases, as they were made.

    Reference: J. Gouweleeuw and others, Post randomisation for statistical disclosure control, 1998.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"town": ["a", "b", "b", "b"] * 9}), quasi=["town"])
        >>> release = shoal.anonymize(data, algorithm="pram:keep=1", seed=1)
        >>> shoal.Marginals().score(data, release).value
        0.0
    """

    bins: Annotated[int, Ge(2), Doc("bins that numbers are counted in")] = 20

    examples: ClassVar[Examples] = ({}, {"bins": 5})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        detail = {name: _distance(*codes) for name, codes in masked_categories(dataset, release).items()}
        try:
            masked = Masked.of(dataset, release)
        except NotDefined:
            if not detail:
                raise
        else:
            for name, before, after in zip(masked.names, masked.before.T, masked.after.T, strict=True):
                edges = np.unique(np.nanquantile(before, np.arange(1, self.bins) / self.bins))
                detail[name] = _distance(_binned(before, edges), _binned(after, edges))
        return Finding(
            name="marginals", value=float(np.mean(list(detail.values()))), unit="share", detail=detail,
            how="share of the records by which the distributions of the changed columns differ, on average",
        )  # fmt: skip


def _binned(values: Floats, edges: Floats) -> Codes:
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right")).astype(np.int32)


def _distance(before: Codes, after: Codes) -> float:
    """Half the summed difference of two distributions over codes from -1 up."""
    left, right = (codes + 1 for codes in (before, after))
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    shares = [np.bincount(codes, minlength=size) / max(len(codes), 1) for codes in (left, right)]
    return information_loss(*shares)
