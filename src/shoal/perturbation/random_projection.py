"""Multiplicative perturbation by random projection (Liu, Kargupta and Ryan, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import Floats, NumericPerturbation


@dataclass(frozen=True, kw_only=True)
class RandomProjection(NumericPerturbation):
    """Projects the columns together onto random directions and publishes, in each column, one coordinate of the result.

    Inner products and distances between records are kept on average: of k directions, an inner product has the variance
    (‖x‖²‖y‖² + (x·y)²) / k, a squared distance 2‖x - y‖⁴ / k. So clusters and neighbours survive, while no column
    means what its name says. With fewer directions than columns, the last columns are published without values. A
    record with a missing value in one of the columns loses all of them.

    Does not protect against: whoever knows some records exactly and solves for the directions. It claims no privacy
    model, and the values of a record are not true of it. The directions follow from the seed, which stays secret.

    Reference: K. Liu, H. Kargupta, J. Ryan, Random projection-based multiplicative data perturbation, 2006.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"x": [1.0, 2.0, 5.0], "y": [2.0, 0.0, 1.0]}), quasi=["x", "y"])
        >>> release = shoal.anonymize(data, algorithm=RandomProjection(directions=1))
        >>> release.frame["y"].null_count()
        3
    """

    directions: Annotated[int | None, Ge(1), Doc("how many; by default as many as columns")] = None

    examples: ClassVar[Examples] = ({}, {"directions": 1})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        count = len(names) if self.directions is None else self.directions
        if count > len(names):
            raise ParameterError(f"{count} directions are more than the {len(names)} columns")
        projected = np.full_like(values, np.nan)
        projected[:, :count] = values @ generator.standard_normal((len(names), count)) / np.sqrt(count)
        return projected
