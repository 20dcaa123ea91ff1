"""Spectral filtering: noise that varies in all directions is taken out of values that vary in few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from shoal.core.contracts import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.masked import Masked
from shoal.core.noise import spectral_filter
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class SpectralFiltering(Attack):
    """Knows how strong the noise is, and keeps of the perturbed numbers only the directions in which they vary more
    than such noise alone would. Where columns are strongly correlated and the noise is not, most of it goes.

    A value counts as found when the estimate is off by at most `within` standard deviations of its column; the risk of
    a record is the share of its values that are found. The detail has the error of the estimates (`rmse`) beside that
    of the published values (`noise`), in standard deviations: the nearer they are, the less the attack gains.

    Does not work against noise that has the correlations of the columns. Records that lack one of the values are left
    alone. It needs the release as it was made, because a file does not tell which record became which.

    Reference: H. Kargupta and others, On the privacy preserving properties of random data perturbation techniques,
    2003.

    Example:
        >>> import numpy, polars, shoal
        >>> signal = numpy.random.default_rng(1).normal(size=400)
        >>> data = shoal.read(polars.DataFrame({name: signal for name in "abcdef"}), quasi=list("abcdef"))
        >>> release = shoal.anonymize(data, algorithm="additive-noise:share=0.3", seed=1)
        >>> found = shoal.attack(data, release, "spectral-filtering")[0]
        >>> found.detail["rmse"] < found.detail["noise"] / 2
        True
    """

    within: Annotated[float, Gt(0), Doc("how far off an estimate may be, in standard deviations of the column")] = 0.1
    threshold: Annotated[
        float, Ge(0), Le(1), Doc("the share of its values that are found above which a record counts as exposed")
    ] = 0.5

    examples: ClassVar[Examples] = ({}, {"within": 0.5, "threshold": 0.2})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        _, before, after = Masked.of(dataset, release).standardized()
        filtered = spectral_filter(after, float((after - before).var(axis=0).mean()))
        run.check()
        risks = self._found(filtered.values - before)
        records = dataset.records
        return Attempt(
            name="spectral-filtering",
            success=float(risks.sum()) / records,
            baseline=float(self._found(before).sum()) / records,  # everybody has the mean, which is 0 here
            worst=float(risks.max()),
            above=int((risks > self.threshold).sum()) / records,
            threshold=self.threshold,
            knew="how strong the noise is",
            meaning=f"how often a true value is within {self.within:g} standard deviations of the estimate",
            detail={
                "rmse": float(np.sqrt(((filtered.values - before) ** 2).mean())),
                "noise": float(np.sqrt(((after - before) ** 2).mean())),
                "kept": filtered.kept,
                "columns": before.shape[1],
            },
        )

    def _found(self, errors: np.ndarray) -> np.ndarray:
        """The share of the values of each record whose estimates are near enough."""
        found: np.ndarray = (np.abs(errors) <= self.within).mean(axis=1)
        return found
