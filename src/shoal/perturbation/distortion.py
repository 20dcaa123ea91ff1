"""Distortion by probability distribution (Liew, Choi and Liew, 1985)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.core.displacement import Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import Floats, NumericPerturbation, by_rank, ranked, varying

Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True, kw_only=True)
class Distortion(NumericPerturbation):
    """Replaces a column by values drawn from a distribution that was fitted to it.

    By `rank` the order of the records stays, with it rank correlations; at `random` the column loses every relation to
    the others and to the person. The family is the one that fits best by AIC (normal, lognormal, exponential, uniform),
    or `empirical`: the column's own distribution, linear between its values.

    Does not protect against: linkage by ranks when values are assigned by rank; an empirical distribution of few values
    shows them. It claims no privacy model, and the values of a record are not true of it.

    Reference: C. Liew, U. Choi, C. Liew, A data distortion by probability distribution, 1985.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20.0, 30.0, 40.0, 60.0]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=Distortion(family="empirical"))
        >>> 20 <= min(release.frame["age"]) and max(release.frame["age"]) <= 60
        True
    """

    family: Annotated[
        Literal["best", "normal", "lognormal", "exponential", "uniform", "empirical"], Doc("what is fitted")
    ] = "best"
    assign: Annotated[Literal["rank", "random"], Doc("which record gets which value")] = "rank"

    examples: ClassVar[Examples] = ({}, {"family": "empirical", "assign": "random", "columns": ("age",)})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        varying(values, names)
        distorted = values.copy()
        for place, (name, column) in enumerate(zip(names, values.T, strict=True)):
            run.check()
            order = ranked(column)
            drawn = fitted(column[order], self.family, name)(generator, len(order))
            distorted[order, place] = np.sort(drawn) if self.assign == "rank" else drawn
        return distorted

    def displacement(self, before: Floats, after: Floats) -> Displacement | None:
        return by_rank(before, after) if self.assign == "rank" else None


def fitted(values: Floats, family: str, name: str = "") -> Draw:
    """A way to draw from the family that was fitted to ascending values.

    Example:
        >>> fitted(np.array([1.0, 2.0, 3.0]), "uniform")(np.random.default_rng(0), 2).round(4).tolist()
        [2.2739, 1.5396]
    """
    low, high, n = values[0], values[-1], len(values)
    # The squares of huge numbers are infinite; over a power of two, they are the same figures.
    scale = 2.0 ** float(np.frexp(max(abs(low), abs(high)))[1])
    mean, deviation = values.mean(), (values / scale).std() * scale
    families: dict[str, tuple[float, Draw]] = {}
    # Twice the number of parameters less twice the log-likelihood at its maximum: -inf where all values are the same.
    with np.errstate(divide="ignore"):
        families["normal"] = (
            4 + n * (np.log(2 * np.pi) + 2 * np.log(deviation) + 1),
            lambda generator, count: generator.normal(mean, deviation, count),
        )
        families["uniform"] = (
            4 + 2 * n * np.log(high - low),
            lambda generator, count: generator.uniform(low, high, count),
        )
        if low > 0:
            logs = np.log(values)
            center, width = logs.mean(), logs.std()
            families["lognormal"] = (
                4 + n * (np.log(2 * np.pi) + 2 * np.log(width) + 1) + 2 * logs.sum(),
                lambda generator, count: generator.lognormal(center, width, count),
            )
        if low >= 0:
            families["exponential"] = (
                2 + 2 * n * (np.log(mean) + 1),
                lambda generator, count: generator.exponential(mean, count),
            )
    if family == "empirical":
        return lambda generator, count: np.interp(generator.uniform(0, n - 1, count), np.arange(n), values)
    if family == "best":
        return min(families.values(), key=lambda entry: entry[0])[1]
    if family not in families:
        raise ParameterError(f"column {name!r} has values that no {family} distribution has; choose another family")
    return families[family][1]
