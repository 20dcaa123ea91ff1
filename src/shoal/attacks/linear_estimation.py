"""Linear estimation: each true value is estimated from all published ones of its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.adversary.noise import linear_estimate
from shoal.attacks._estimation import Estimation
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class LinearEstimation(Estimation):
    """Knows how strong the noise is, how it is correlated, and how closely each published column follows the true one,
    as anybody does who knows the algorithm. Estimates every true value from all published ones of its record, by the
    linear estimate with the least mean squared error.

    Correlated columns help, as with `spectral-filtering`, which keeps a direction whole or not at all; here each
    direction counts as much as it is signal and not noise. That gains something also against noise that has the
    correlations of the columns. A column whose published values are near the true ones more often than the estimates,
    as where most values stay as they are, is taken as it is; `as_published` in the detail counts these.

    A value counts as found when the estimate is off by at most `within` standard deviations of its column; the risk of
    a record is the share of its values that are found. The detail has the error of the estimates (`rmse`) beside that
    of the published values (`noise`), in standard deviations.

    Does not use columns that were not changed. Records that lack one of the values are left alone. It needs the release
    as it was made, because a file does not tell which record became which. Values that are not normal may be estimated
    better in other ways, so the figure is a lower bound.

    Reference: Z. Huang, W. Du, B. Chen, Deriving private information from randomized data, 2005.

    Example:
        >>> import numpy, polars, shoal
        >>> signal = numpy.random.default_rng(1).normal(size=400)
        >>> data = shoal.read(polars.DataFrame({name: signal for name in "abcdef"}), quasi=list("abcdef"))
        >>> release = shoal.anonymize(data, algorithm="additive-noise:share=0.3")
        >>> filtered, estimated = shoal.attack(data, release, "spectral-filtering", "linear-estimation")
        >>> estimated.detail["rmse"] < filtered.detail["rmse"] < estimated.detail["noise"]
        True
    """

    examples: ClassVar[Examples] = ({}, {"within": 0.5, "threshold": 0.2})
    knowledge: ClassVar[str] = "the algorithm: how strong the noise is and how it is correlated"

    def estimates(self, before: Floats, after: Floats, run: Run) -> tuple[Floats, dict[str, Any]]:
        deviations, variances = before - before.mean(axis=0), before.var(axis=0)
        together = (deviations * (after - after.mean(axis=0))).mean(axis=0)
        gains = np.divide(together, variances, out=np.zeros_like(together), where=variances > 0)
        noise = np.cov(after - gains * before, rowvar=False, bias=True)
        estimates = linear_estimate(after, before.mean(axis=0), gains, noise)
        as_it_is = self._near(after - before).sum(axis=0) > self._near(estimates - before).sum(axis=0)
        return np.where(as_it_is, after, estimates), {"as_published": int(as_it_is.sum())}
