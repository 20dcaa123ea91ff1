"""Distortion by probability distribution (Liew, Choi and Liew, 1985)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.displacement import Displacement
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import ColumnPerturbation, Floats, by_rank, ranked, varying

Draw = Callable[[np.random.Generator, int], Floats]
Share = Callable[[Floats], Floats]


@dataclass(frozen=True)
class FittedDistribution:
    """A distribution that was fitted to a column: the name of its `family`, how to `draw` from it, and the `share` of
    it that is up to a value."""

    family: str
    draw: Draw
    share: Share

    def distance(self, values: Floats) -> float:
        """How far the shares up to any value are off those of the ascending values, at most (Kolmogorov-Smirnov)."""
        distinct, counts = np.unique(values, return_counts=True)
        up_to = np.cumsum(counts) / len(values)
        fitted = self.share(distinct)
        below = np.append(0.0, up_to[:-1])
        return float(np.maximum(np.abs(fitted - up_to), np.abs(fitted - below)).max())


@dataclass(frozen=True, kw_only=True)
class Distortion(ColumnPerturbation):
    """Replaces a column by values drawn from a distribution that was fitted to it.

    By `rank` the order of the records stays, with it rank correlations; at `random` the column loses every relation to
    the others and to the person. The family is the one that fits best by AIC (normal, lognormal, exponential, uniform),
    or `empirical`: the column's own distribution, linear between its values. Which one was taken, and how far its
    shares are off those of the column at most (`distance`, Kolmogorov-Smirnov), is told for each column. Where the
    distance is large, none of the families fits; take `empirical`.

    A column without negative values gets none: what a normal distribution would give below 0 is drawn again, unless
    `negative` allows it.

    Does not protect against: linkage by ranks when values are assigned by rank; an empirical distribution of few values
    shows them. It claims no privacy model, and the values of a record are not true of it.

    Reference: C. Liew, U. Choi, C. Liew, A data distortion by probability distribution, 1985.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"tax": [0.0, 10.0, 40.0, 90.0]}), quasi=["tax"])
        >>> release = shoal.anonymize(data, algorithm=Distortion())
        >>> min(release.frame["tax"]) >= 0, release.recoding.facts["fitted"]
        (True, {'tax': {'family': 'exponential', 'distance': 0.2515}})
    """

    family: Annotated[
        Literal["best", "normal", "lognormal", "exponential", "uniform", "empirical"], Doc("what is fitted")
    ] = "best"
    assign: Annotated[Literal["rank", "random"], Doc("which record gets which value")] = "rank"
    negative: Annotated[bool, Doc("whether a column that has no negative value may get some")] = False

    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"family": "empirical", "assign": "random", "columns": ("age",)})

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        varying(values, names)
        generator, distorted, chosen = np.random.default_rng(seed), values.copy(), {}
        for place, (name, column) in enumerate(zip(names, values.T, strict=True)):
            run.check()
            order = ranked(column)
            fit = fitted(column[order], self.family, name, negative=self.negative)
            drawn = fit.draw(generator, len(order))
            distorted[order, place] = np.sort(drawn) if self.assign == "rank" else drawn
            chosen[name] = {"family": fit.family, "distance": round(fit.distance(column[order]), 4)}
        return distorted, {"fitted": chosen}

    def displacement(self, before: Floats, after: Floats) -> Displacement | None:
        return by_rank(before, after) if self.assign == "rank" else None


def fitted(values: Floats, family: str, name: str = "", *, negative: bool = False) -> FittedDistribution:
    """The distribution of a family that was fitted to ascending values.

    Example:
        >>> fit = fitted(np.array([1.0, 2.0, 3.0]), "uniform")
        >>> fit.draw(np.random.default_rng(0), 2).round(4).tolist(), round(fit.distance(np.array([1.0, 2.0, 3.0])), 4)
        ([2.2739, 1.5396], 0.3333)
    """
    low, high, n = values[0], values[-1], len(values)
    if family == "empirical":
        places = np.arange(n)
        return FittedDistribution(
            family,
            lambda generator, count: np.interp(generator.uniform(0, n - 1, count), places, values),
            lambda up_to: np.searchsorted(values, up_to, side="right") / n,
        )
    # Twice the number of parameters less twice the log-likelihood at its maximum: -inf where all values are the same.
    with np.errstate(divide="ignore"):
        families: dict[str, tuple[float, FittedDistribution]] = {
            "normal": _normal(values, cut=low >= 0 and not negative)
        }
        families["uniform"] = (
            4 + 2 * n * np.log(high - low),
            FittedDistribution(
                "uniform",
                lambda generator, count: generator.uniform(low, high, count),
                lambda up_to: np.clip((up_to - low) / (high - low), 0.0, 1.0),
            ),
        )
        if low > 0:
            logs = np.log(values)
            center, width = logs.mean(), logs.std()
            families["lognormal"] = (
                4 + n * (np.log(2 * np.pi) + 2 * np.log(width) + 1) + 2 * logs.sum(),
                FittedDistribution(
                    "lognormal",
                    lambda generator, count: generator.lognormal(center, width, count),
                    lambda up_to: _below((np.log(up_to) - center) / width),
                ),
            )
        if low >= 0:
            mean = values.mean()
            families["exponential"] = (
                2 + 2 * n * (np.log(mean) + 1),
                FittedDistribution(
                    "exponential",
                    lambda generator, count: generator.exponential(mean, count),
                    lambda up_to: 1 - np.exp(-up_to / mean),
                ),
            )
    if family == "best":
        return min(families.values(), key=lambda entry: entry[0])[1]
    if family not in families:
        raise ParameterError(f"column {name!r} has values that no {family} distribution has; choose another family")
    return families[family][1]


def _normal(values: Floats, *, cut: bool) -> tuple[float, FittedDistribution]:
    """The normal distribution of the mean and the deviation of values, and its AIC; `cut`, without what is below 0."""
    low, high, n = values[0], values[-1], len(values)
    # The squares of huge numbers are infinite; over a power of two, they are the same figures.
    scale = 2.0 ** float(np.frexp(max(abs(low), abs(high)))[1])
    mean, deviation = values.mean(), (values / scale).std() * scale
    lost = float(_below(np.array([-mean / deviation]))[0]) if cut and deviation > 0 else 0.0

    def draw(generator: np.random.Generator, count: int) -> Floats:
        drawn: Floats = generator.normal(mean, deviation, count)
        while cut and len(again := np.flatnonzero(drawn < 0)):
            drawn[again] = generator.normal(mean, deviation, len(again))
        return drawn

    # What is left of the distribution is as much more likely as the rest is lost.
    aic = 4 + n * (np.log(2 * np.pi) + 2 * np.log(deviation) + 1) + 2 * n * np.log(1 - lost)
    return aic, FittedDistribution(
        "normal", draw, lambda up_to: (_below((up_to - mean) / deviation) - lost) / (1 - lost)
    )


def _below(deviations: Floats) -> Floats:
    """The share of a standard normal distribution up to each number."""
    return np.array([0.5 * (1 + math.erf(each)) for each in (deviations / math.sqrt(2)).tolist()])
