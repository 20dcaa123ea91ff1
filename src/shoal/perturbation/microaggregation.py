"""Microaggregation by strata, with weights (Domingo-Ferrer and Mateo-Sanz, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._groups import GroupedPerturbation, Places, blocks_of
from shoal.perturbation._numeric import Floats, groups_by, people_of, record_weights


@dataclass(frozen=True, kw_only=True)
class Microaggregation(GroupedPerturbation):
    """Puts similar records of a stratum into groups of at least `k` people, and gives all of a group its mean.

    The mean of each column is kept in every group, so in every stratum and in the whole table; where the table has
    survey weights, it is the weighted mean. Groups are made by the columns together (MDAV), or by each column on its
    own with the least squared error that there is (`separately`), which loses less and hides less. A record that lacks
    some of the values is grouped with others that lack the same.

    Does not protect against: linkage by columns that are not changed; by `separately` aggregated columns taken
    together. It claims no privacy model; `mdav` does, and publishes the quasi-identifiers of a class as its means.

    Reference: J. Domingo-Ferrer, J. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
    control, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fffmmm"), "wage": [10, 20, 60, 30, 40, 50]})
        >>> data = shoal.read(table, quasi=["sex", "wage"])
        >>> release = shoal.anonymize(data, algorithm=Microaggregation(k=3, strata=("sex",)))
        >>> sorted(set(release.frame.rows()))
        [('f', 30), ('m', 40)]
    """

    separately: Annotated[bool, Doc("make groups for each column on its own")] = False

    examples: ClassVar[Examples] = ({}, {"strata": ("sex",), "separately": True})

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        strata, people = groups_by(dataset, self.strata, seed), people_of(dataset, seed)
        weights, generator = record_weights(dataset, seed), np.random.default_rng(seed)
        parts = [[place] for place in range(len(names))] if self.separately else [list(range(len(names)))]
        after, groups = values.copy(), 0
        for part, columns in enumerate(parts):
            watch = run.part(between=(part / len(parts), (part + 1) / len(parts)))
            named = [names[place] for place in columns]
            owners = self.groups(values[:, columns], strata, people, named, generator, watch)
            groups += int(owners.max(initial=-1)) + 1
            for place in columns:
                after[:, place] = _means(values[:, place], owners, weights)
        return after, {"groups": groups}

    def grouped(self, points: Floats, generator: np.random.Generator, run: Run) -> Places:
        from shoal.kernels.squares import maximum_distance, shortest_path

        owners = np.empty(len(points), np.int32)
        if points.shape[1] == 1:
            shortest_path(points, np.argsort(points[:, 0], kind="stable"), self.k, owners)
            return owners.astype(np.int64)
        groups = 0
        for block in blocks_of(points, self.k):
            run.check()
            own = np.full(len(block), -1, np.int32)
            count = maximum_distance(np.ascontiguousarray(points[block]), own, 0, self.k, 0, run.flag)
            own[own < 0] = count
            owners[block] = groups + own
            groups += int(own.max()) + 1
        return owners.astype(np.int64)


def _means(values: Floats, owners: Places, weights: Floats) -> Floats:
    """The weighted mean of each record's group; records without a group or a value stay as they are."""
    inside = (owners >= 0) & ~np.isnan(values)
    totals = np.bincount(owners[inside], weights=weights[inside])
    means = np.bincount(owners[inside], weights=values[inside] * weights[inside]) / np.maximum(totals, 1e-300)
    after = values.copy()
    after[inside] = means[owners[inside]]
    return after
