"""Spectral filtering: noise that varies in all directions is taken out of values that vary in few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.adversary.noise import spectral_filter
from shoal.attacks._estimation import Estimation
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class SpectralFiltering(Estimation):
    """Knows how strong the noise is, and keeps of the perturbed numbers only the directions in which they vary more
    than such noise alone would. Where columns are strongly correlated and the noise is not, most of it goes.

    A value counts as found when the estimate is off by at most `within` standard deviations of its column; the risk of
    a record is the share of its values that are found. The detail has the error of the estimates (`rmse`) beside that
    of the published values (`noise`), in standard deviations: the nearer they are, the less the attack gains.

    Does not work against noise that has the correlations of the columns. Records that lack one of the values are left
    alone. It needs the release as it was made, because a file does not tell which record became which. The figure is a
    lower bound: `linear-estimation` knows as much and mostly finds more.

    Reference: H. Kargupta and others, On the privacy preserving properties of random data perturbation techniques,
    2003.

    Example:
        >>> import numpy, polars, shoal
        >>> signal = numpy.random.default_rng(1).normal(size=400)
        >>> data = shoal.read(polars.DataFrame({name: signal for name in "abcdef"}), quasi=list("abcdef"))
        >>> release = shoal.anonymize(data, algorithm="additive-noise:share=0.3")
        >>> found = shoal.attack(data, release, "spectral-filtering")[0]
        >>> found.detail["rmse"] < found.detail["noise"] / 2
        True
    """

    examples: ClassVar[Examples] = ({}, {"within": 0.5, "threshold": 0.2})
    knowledge: ClassVar[str] = "how strong the noise is"

    def estimates(self, before: Floats, after: Floats, run: Run) -> tuple[Floats, dict[str, Any]]:
        filtered = spectral_filter(after, float((after - before).var(axis=0).mean()))
        return filtered.values, {"kept": filtered.kept}
