"""PRAM, the post-randomization method (Gouweleeuw, Kooiman, Willenborg and de Wolf, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation._numeric import Floats, chosen_columns


@dataclass(frozen=True, kw_only=True)
class Pram(Algorithm):
    """Changes each value of a categorical column at random: it is kept with probability `keep`, else any other value of
    the column takes its place.

    Plainly, the counts of the values change in a known way, and `estimated_counts` undoes that on average. With
    `invariant` the probabilities follow from the counts so that these are kept on average and need no correction;
    `mix` is then how much of them is used, the rest keeps the value.

    Does not protect against: linkage by several columns when values are mostly kept. It claims no privacy model, and
    the values of a record are not true of it. Missing values stay missing.

    Reference: J. Gouweleeuw and others, Post randomisation for statistical disclosure control, 1998.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"town": ["a", "b", "c"] * 5}), quasi=["town"])
        >>> release = shoal.anonymize(data, algorithm=Pram(keep=0.5))
        >>> sorted(set(release.frame["town"]))
        ['a', 'b', 'c']
    """

    columns: Annotated[
        tuple[str, ...], Doc("the columns to change, each by itself; by default all categorical quasi-identifiers")
    ] = ()
    keep: Annotated[float, Ge(0), Le(1), Doc("the probability that a value is kept")] = 0.8
    invariant: Annotated[bool, Doc("keep the counts of the values on average")] = False
    mix: Annotated[float, Ge(0), Le(1), Doc("how much of the invariant change is used")] = 1.0

    claims: ClassVar[bool] = False
    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"keep": 0.5, "invariant": True, "mix": 0.5})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        purpose = "PRAM changes categories of columns with a role"
        names = chosen_columns(dataset, self.columns, _is_categorical, "categorical", purpose)
        generator = np.random.default_rng(policy.seed)
        changed = {}
        for place, (name, codes) in enumerate(zip(names, dataset.table.listing((), names, policy.seed), strict=True)):
            run.report(place / len(names), "changing values")
            hierarchy = dataset.schema[name].hierarchy
            assert hierarchy is not None
            first = int(hierarchy.missing)
            counts = np.bincount(codes, minlength=hierarchy.size)[first:]
            occurring = np.flatnonzero(counts)
            if len(occurring) < 2:
                raise ParameterError(f"column {name!r} has one value only, so there is nothing to change it to")
            matrix = transitions(len(occurring), self.keep)
            if self.invariant:
                matrix = invariant(matrix, counts[occurring] / counts.sum(), self.mix)
            places = np.full(hierarchy.size, -1)
            places[first + occurring] = np.arange(len(occurring))
            here = places[codes]
            drawn = np.minimum(
                (np.cumsum(matrix, axis=1)[here] < generator.random(len(codes))[:, None]).sum(axis=1),
                len(occurring) - 1,
            )
            texts = np.array([*hierarchy.labels[0][first + occurring], None], object)
            changed[name] = texts[np.where(here < 0, -1, drawn)]
        return Recoding(form="perturbed", facts={"columns": list(names)}, changed=changed)


def _is_categorical(dataset: Dataset, name: str) -> bool:
    hierarchy = dataset.schema[name].hierarchy
    return hierarchy is not None and not hierarchy.ordered


def transitions(values: int, keep: float) -> Floats:
    """The probability that each value becomes each other one: kept with one probability, all others alike.

    Example:
        >>> transitions(3, 0.8).round(3).tolist()
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    matrix: Floats = np.full((values, values), (1 - keep) / max(values - 1, 1))
    np.fill_diagonal(matrix, keep)
    return matrix


def invariant(matrix: Floats, shares: Floats, mix: float = 1.0) -> Floats:
    """Transitions that keep the given shares on average, made of any others by a second change that undoes the first
    one's effect on them.

    Example:
        >>> shares = np.array([0.5, 0.3, 0.2])
        >>> found = invariant(transitions(3, 0.8), shares)
        >>> np.allclose(shares @ found, shares)
        True
    """
    after = shares @ matrix
    back = (matrix * shares[:, None]).T / after[:, None]
    combined: Floats = mix * (matrix @ back) + (1 - mix) * np.eye(len(shares))
    return combined


def estimated_counts(published: Floats, matrix: Floats) -> Floats:
    """What the counts of the values were, estimated without bias from the published ones and the transitions.

    Example:
        >>> estimated_counts(np.array([45.0, 31.0, 24.0]), transitions(3, 0.8)).round(9).tolist()
        [50.0, 30.0, 20.0]
    """
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise ParameterError("these transitions cannot be undone (their matrix is singular)")
    counts: Floats = np.linalg.solve(matrix.T, published).astype(np.float64)
    return counts
