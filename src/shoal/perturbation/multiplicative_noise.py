"""Multiplicative noise (Kim and Winkler, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.displacement import CERTAIN, Coordinate, Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._numeric import Floats, NumericPerturbation


@dataclass(frozen=True, kw_only=True)
class MultiplicativeNoise(NumericPerturbation):
    """Multiplies every value by a number around 1, drawn from a lognormal distribution of mean 1.

    Large values change much and small ones little, as suits incomes and sizes; a sign never changes and zero stays
    zero. Means are kept; the second moment grows by 1 + spread².

    Does not protect against: knowing that a value is zero; linkage by several columns when the spread is small. It
    claims no privacy model, and the values of a record are not true of it.

    Reference: J. Kim, W. Winkler, Multiplicative noise for masking continuous data, 2003.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"income": [0.0, 100.0, 200.0]}), quasi=["income"])
        >>> release = shoal.anonymize(data, algorithm=MultiplicativeNoise(spread=0.2))
        >>> min(release.frame["income"])
        0.0
    """

    spread: Annotated[float, Gt(0), Doc("the standard deviation of the factors")] = 0.1

    examples: ClassVar[Examples] = ({}, {"spread": 0.5, "columns": ("age",)})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        size = np.sqrt(np.log1p(self.spread**2))
        noisy: Floats = values * generator.lognormal(-(size**2) / 2, size, values.shape)
        return noisy

    def displacement(self, before: Floats, after: Floats) -> Displacement:
        size = float(np.sqrt(np.log1p(self.spread**2)))
        coordinates = []
        for new, old in zip(after.T, before.T, strict=True):
            # Signs and zeros stay; what is left is a factor.
            coordinates.append(Coordinate.of(np.sign(new), np.sign(old), 0.5))
            with np.errstate(divide="ignore"):
                records, people = (np.where(part == 0, 0.0, np.log(np.abs(part))) for part in (new, old))
            records = records + size**2 / 2
            coordinates.append(Coordinate.of(np.where(new == 0, 0.0, records), people, CERTAIN * size, size))
        return Displacement(tuple(coordinates))
