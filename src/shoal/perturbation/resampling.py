"""Resampling (Heer, 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.displacement import Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._numeric import Floats, NumericPerturbation, by_rank, ranked


@dataclass(frozen=True, kw_only=True)
class Resampling(NumericPerturbation):
    """Draws bootstrap samples of a column, sorts each and averages them rank by rank; the record of a rank gets the
    mean of that rank.

    The mean of the column is kept on average (its variance is s²/(t·n) for t samples), and so is the order of the
    records, with it rank correlations. Extreme values move towards the middle.

    Does not protect against: linkage by ranks, which stay as they are. It claims no privacy model, and the values of a
    record are not true of it.

    Reference: G. Heer, A bootstrap procedure to preserve statistical confidentiality in contingency tables, 1993.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20.0, 40.0, 60.0]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=Resampling(samples=50))
        >>> len(set(release.frame["age"]))
        3
    """

    samples: Annotated[int, Ge(1), Doc("how many bootstrap samples are averaged")] = 3

    examples: ClassVar[Examples] = ({}, {"samples": 10, "columns": ("age",)})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        resampled = values.copy()
        for place, column in enumerate(values.T):
            order = ranked(column)
            means = np.zeros(len(order))
            for _ in range(self.samples):
                run.check()
                means += np.sort(generator.choice(column[order], len(order))) if len(order) else means
            resampled[order, place] = means / self.samples
        return resampled

    def displacement(self, before: Floats, after: Floats) -> Displacement:
        return by_rank(before, after)
