"""Two-way marginals: how far the joint distributions of pairs of columns moved."""

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
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.expected import Expected, total_variation


@dataclass(frozen=True, kw_only=True)
class TwoWayMarginals(Metric):
    """The share of the records that would have to change for each pair of columns to have the joint distribution that
    it had (total variation distance), as a mean over all pairs of quasi-identifiers and sensitive attributes; by pair
    in the detail. A cell that stands for several values stands for each of them alike. A column with more values than
    `bins` is counted in bins that have equally many records of the table.

    Does not look at three columns together, or at single records. Left-out records do not count. Only for truthful
    forms.

    Reference: A. Karr and others, A framework for evaluating the utility of data altered to protect confidentiality,
    2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["job"])
        >>> shoal.metrics.TwoWayMarginals().score(data, shoal.anonymize(data, shoal.KAnonymity(k=4))).value
        0.5
    """

    bins: Annotated[int, Ge(2), Doc("the greatest number of bins of a column")] = 20

    quick: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"bins": 5})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        if not release.view.truthful:
            raise NotDefined("the values are perturbed, so that cells do not say which values they stand for")
        names = (*dataset.schema.quasi, *dataset.schema.sensitive)
        if len(names) < 2:
            raise NotDefined("there are no two columns with a role that could be looked at together")
        before, after = Expected.of_dataset(dataset, names), Expected.of_release(release, names)
        bins = {name: before.bins(name, self.bins) for name in names}
        detail = {}
        for pair in combinations(names, 2):
            chosen = bins[pair[0]], bins[pair[1]]
            detail[" and ".join(pair)] = total_variation(before.joint(pair, chosen), after.joint(pair, chosen))
        mean = float(np.mean(list(detail.values())))
        label = "two-way-marginals: the same for two columns"
        how = (
            "share of the records by which the joint distributions of two columns differ (total variation), on average"
        )
        return Finding(name="two-way-marginals", label=label, value=mean, unit="share", detail=detail, how=how)
