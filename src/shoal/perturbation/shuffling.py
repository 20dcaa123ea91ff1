"""Data shuffling (Muralidhar and Sarathy, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any, ClassVar

import numpy as np
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import ColumnPerturbation, Floats, chosen_columns, is_numeric, ranked


@dataclass(frozen=True, kw_only=True)
class Shuffling(ColumnPerturbation):
    """Gives each record values of other records: it simulates new values from a model of how the columns go together,
    and the record of each rank among the simulated values gets the true value of that rank.

    A column keeps exactly the values that it has. The model is a Gaussian copula: ranks become normal scores, and what
    is simulated depends on a record only through the columns that are `given`. So relations that are monotone stay,
    among the shuffled columns and with the given ones, and a shuffled value says no more of a person than the given
    columns do. Missing values stay where they are.

    Does not protect against: linkage by the columns that are given, which stay as they are; what they tell about the
    shuffled ones. Relations that are not monotone, or with columns that are not given, are lost. It claims no privacy
    model, and the values of a record are not true of it.

    Reference: K. Muralidhar, R. Sarathy, Data shuffling: a new masking approach for numerical data, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [50, 20, 40, 30], "wage": [410, 130, 390, 260]})
        >>> data = shoal.read(table, quasi=["age", "wage"])
        >>> release = shoal.anonymize(data, algorithm=Shuffling(columns=("wage",)))
        >>> sorted(release.frame["wage"])
        [130, 260, 390, 410]
    """

    given: Annotated[
        tuple[str, ...],
        Doc("numeric columns that the model goes by and that stay; by default all others that have a role"),
    ] = ()

    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"columns": ("age",)})

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        given = self._given(dataset, names)
        numbers = dataset.table.numbers(given, seed) if given else {}
        known = np.array([*numbers.values()]).T if given else np.zeros((len(values), 0))
        simulated = simulate(normal_scores(values), normal_scores(known), np.random.default_rng(seed))
        after = values.copy()
        for place, column in enumerate(values.T):
            run.check()
            order = ranked(column)
            to = order[np.argsort(simulated[order, place], kind="stable")]
            after[to, place] = column[order]
        return after, {"given": list(given)}

    def _given(self, dataset: Dataset, names: tuple[str, ...]) -> tuple[str, ...]:
        both = [name for name in self.given if name in names]
        if both:
            raise ParameterError(f"column {both[0]!r} is to be shuffled and given at once; choose one")
        if self.given:
            return chosen_columns(dataset, self.given, is_numeric, "numeric", "the model goes by numbers")
        roles = (*dataset.schema.quasi, *dataset.schema.sensitive)
        return tuple(name for name in roles if name not in names and is_numeric(dataset, name))


def normal_scores(values: Floats) -> Floats:
    """The ranks of columns as quantiles of the normal distribution; equal values have one score, missing ones 0, as
    all have in the mean.

    Example:
        >>> normal_scores(np.array([[3.0], [1.0], [2.0], [np.nan]])).round(3).tolist()
        [[0.967], [-0.967], [0.0], [0.0]]
    """
    scores, quantile = np.zeros(values.shape), NormalDist().inv_cdf
    for place, column in enumerate(values.T):
        order = ranked(column)
        if not len(order):
            continue
        ordered = column[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        ends = np.append(begins[1:], len(order))
        quantiles = [quantile(middle) for middle in ((begins + ends) / (2 * len(order))).tolist()]
        repeated = np.repeat(quantiles, ends - begins)
        scores[order, place] = repeated - repeated.mean()  # which equal values move from 0
    return scores


def simulate(scores: Floats, given: Floats, generator: np.random.Generator) -> Floats:
    """Normal scores with the same correlations, drawn anew for each record from what is given of it."""
    count = scores.shape[1]
    together = np.concatenate([scores, given], axis=1)
    spreads = together.std(axis=0)
    together = together / np.where(spreads > 0, spreads, 1.0)
    correlations = together.T @ together / len(together)
    slopes = np.linalg.lstsq(correlations[count:, count:], correlations[count:, :count], rcond=None)[0]
    left = correlations[:count, :count] - correlations[:count, count:] @ slopes
    sizes, directions = np.linalg.eigh((left + left.T) / 2)
    noise = generator.standard_normal(scores.shape) * np.sqrt(np.maximum(sizes, 0.0))
    simulated: Floats = together[:, count:] @ slopes + noise @ directions.T
    return simulated
