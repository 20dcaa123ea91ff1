"""Additive noise, independent or correlated (Kim, 1986)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.displacement import CERTAIN, Coordinate, Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import Floats, NumericPerturbation, varying

ROUNDING = 1e-9
"""How far rounding may carry uniform noise past its end, as a share."""


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(NumericPerturbation):
    """Adds to every value noise whose variance is a share of the column's own.

    Means are kept, variances grow by 1 + share. Independent noise weakens the correlations between columns; correlated
    noise has the covariance of the columns and keeps them. With `restore` the deviations from the mean are shrunk by
    √(1 + share), so that variances (and, if correlated, covariances) are those of the table.

    Does not protect against: whoever filters the noise out, which is easy when columns are strongly correlated and the
    noise is not (spectral filtering); linkage by distance when the share is small. It claims no privacy model, and the
    values of a record are not true of it.

    Reference: J. Kim, A method for limiting disclosure in microdata based on random noise and transformation, 1986.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20.0, 30.0, 40.0, 50.0]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=AdditiveNoise(share=0.1))
        >>> 20 < release.frame["age"].mean() < 50
        True
    """

    share: Annotated[float, Gt(0), Doc("the variance of the noise, as a share of the column's")] = 0.1
    correlated: Annotated[bool, Doc("noise with the covariance of the columns")] = False
    restore: Annotated[bool, Doc("shrink deviations so that variances stay as they were")] = False
    distribution: Annotated[Literal["normal", "uniform"], Doc("of independent noise")] = "normal"

    examples: ClassVar[Examples] = (
        {},
        {"share": 0.5, "distribution": "uniform", "columns": ("age",)},
        {"correlated": True, "restore": True},
    )

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        deviations = varying(values, names)
        if not self.correlated:
            if self.distribution == "normal":
                noise = generator.standard_normal(values.shape)
            else:
                noise = generator.uniform(-np.sqrt(3), np.sqrt(3), values.shape)
            noise = noise * deviations * np.sqrt(self.share)
        else:
            if self.distribution != "normal":
                raise ParameterError("correlated noise is normal; leave the distribution out")
            noise = generator.standard_normal(values.shape) @ _root(values) * np.sqrt(self.share)
        noisy: Floats = values + noise
        if self.restore:
            means = np.nanmean(values, axis=0)
            noisy = means + (noisy - means) / np.sqrt(1 + self.share)
        return noisy

    def displacement(self, before: Floats, after: Floats) -> Displacement:
        means = np.nanmean(before, axis=0)
        records = means + (after - means) * (np.sqrt(1 + self.share) if self.restore else 1.0)
        people, size = before, np.sqrt(self.share)
        if self.correlated:
            # In these directions the noise of one says nothing about that of another.
            apart = np.linalg.inv(_root(before))
            lacking = tuple(np.isnan(part) @ 2.0 ** np.arange(part.shape[1]) for part in (after, before))
            records, people = records @ apart, people @ apart
            normal = (Coordinate.of(*pair, CERTAIN * size, size) for pair in zip(records.T, people.T, strict=True))
            return Displacement((Coordinate.of(lacking[0], lacking[1], 0), *normal))
        coordinates = []
        for new, old, deviation in zip(records.T, people.T, size * np.nanstd(before, axis=0), strict=True):
            within = CERTAIN if self.distribution == "normal" else np.sqrt(3) * (1 + ROUNDING)
            spread = deviation if self.distribution == "normal" else None
            coordinates.append(Coordinate.of(new, old, within * deviation, spread))
        return Displacement(tuple(coordinates))


def _root(values: Floats) -> Floats:
    """A matrix whose square is the covariance of the columns, over the records that have all of them."""
    whole = values[~np.isnan(values).any(axis=1)]
    if len(whole) <= values.shape[1]:
        raise ParameterError(f"{len(whole)} records have all columns, too few for their covariance")
    covariance = np.atleast_2d(np.cov(whole, rowvar=False, bias=True))
    sizes, directions = np.linalg.eigh(covariance)
    if sizes.min() <= 1e-10 * sizes.max():
        raise ParameterError("some columns determine others (their covariance is singular); leave one of them out")
    root: Floats = (directions * np.sqrt(sizes)) @ directions.T
    return root
