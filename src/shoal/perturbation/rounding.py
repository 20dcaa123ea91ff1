"""Rounding to a base."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.displacement import Coordinate, Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError, unknown_columns
from shoal.perturbation._numeric import ColumnPerturbation, Floats, by_column, finite


@dataclass(frozen=True, kw_only=True)
class Rounding(ColumnPerturbation):
    """Rounds numbers to multiples of a base: to the nearest, or at random to one of the two next to it.

    Nearest, a value moves by at most half the base; one in the middle goes to the even multiple. At random, a value
    goes up with the probability that keeps it on average, so sums and means are kept on average; it moves by less than
    the base, and a multiple stays as it is. Missing values stay missing.

    Does not protect against: whoever knows a value about as well as the base says, and values that are the only ones
    near their multiple. It claims no privacy model.

    Reference: L. Willenborg, T. de Waal, Elements of statistical disclosure control, 2001, chapter 9.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"wage": [1180, 1249, 1251, 1300]}), quasi=["wage"])
        >>> release = shoal.anonymize(data, algorithm=Rounding(base=100))
        >>> sorted(release.frame["wage"])
        [1200, 1200, 1300, 1300]
    """

    base: Annotated[float, Gt(0), Doc("values become multiples of it")] = 10
    bases: Annotated[tuple[str, ...], Doc("columns with another base: column=base")] = ()
    random: Annotated[bool, Doc("round up or down at random so that values are kept on average")] = False

    examples: ClassVar[Examples] = ({}, {"base": 0.5, "random": True, "columns": ("age",)})

    @property
    def seed_protects(self) -> bool:
        return self.random

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        unknown = [name for name in by_column(self.bases, "bases") if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
        generator = np.random.default_rng(seed)
        columns = [
            rounded(column, base, generator if self.random else None)
            for column, base in zip(values.T, self._bases(names), strict=True)
        ]
        return np.stack(columns, axis=1), {}

    def _bases(self, names: tuple[str, ...]) -> list[float]:
        own = {name: finite(text, "bases") for name, text in by_column(self.bases, "bases").items()}
        if any(base <= 0 for base in own.values()):
            raise ParameterError("bases: a base must be above 0")
        return [own.get(name, self.base) for name in names]

    def displacement(self, before: Floats, after: Floats) -> Displacement | None:
        if self.bases:
            return None
        reach = self.base * (1.0 if self.random else 0.5)
        columns = zip(after.T, before.T, strict=True)
        return Displacement(tuple(Coordinate.of(new, old, reach) for new, old in columns))


def rounded(values: Floats, base: float, generator: np.random.Generator | None = None) -> Floats:
    """Numbers as multiples of a base: the nearest, or a random one of the two next to it.

    Example:
        >>> rounded(np.array([0.12, 0.17, 0.26, np.nan]), 0.1).tolist()
        [0.1, 0.2, 0.3, nan]
    """
    quotients = values / base
    nearest = np.rint(quotients)
    # A multiple stays one, however the division rounds.
    near = np.isclose(quotients, nearest, rtol=1e-12, atol=1e-12)
    multiples = nearest
    if generator is not None:
        below = np.floor(quotients)
        multiples = np.where(near, nearest, below + (generator.random(len(values)) < quotients - below))
    digits = max(-int(Decimal(repr(base)).normalize().as_tuple().exponent), 0)
    result: Floats = np.round(multiples * base, min(digits, 15)) + 0.0  # no negative zero
    return result
