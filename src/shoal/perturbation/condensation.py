"""Condensation: synthetic records from the statistics of small groups (Aggarwal and Yu, 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._groups import GroupedPerturbation, Places, blocks_of
from shoal.perturbation._numeric import Floats, groups_by, people_of

TOGETHER = 1 << 16
"""Groups from which new records are drawn at a time."""


@dataclass(frozen=True, kw_only=True)
class Condensation(GroupedPerturbation):
    """Puts similar records of a stratum into groups of at least `k` people, keeps of each group only its means and
    covariances, and draws new records from these.

    A group is a record that is drawn at random and the k - 1 nearest to it; what is left over joins the group with the
    nearest mean. The new records of a group are independent: along each principal axis of the group, whose columns are
    scaled to at most 1 for that, they are uniform, with its variance. So means and covariances are kept on average, in
    every group, in every stratum and in the whole table. `strata` keeps classes apart, as for training a classifier.

    Does not protect against: a group whose records are alike, or lie on a line or plane, which the new ones then do
    too; groups of few people far from all others, whose place shows; linkage by columns that are not changed. New
    values may be impossible ones, such as fractions and negative ages. It claims no privacy model: a new record is
    nobody's, but it is drawn near k real ones, and the smaller k the nearer.

    Reference: C. Aggarwal, P. Yu, A condensation approach to privacy preserving data mining, 2004.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [20.0, 30.0, 40.0, 60.0, 70.0, 80.0], "wage": [1.0, 3, 2, 9, 8, 7]})
        >>> data = shoal.read(table, quasi=["age", "wage"])
        >>> release = shoal.anonymize(data, algorithm=Condensation(k=3))
        >>> release.recoding.facts["groups"], set(release.frame["age"]) & set(table["age"])
        (2, set())
    """

    k: Annotated[int, Ge(2), Doc("people that a group has at least")] = 10

    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"k": 4, "strata": ("sex",)})

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        strata, people = groups_by(dataset, self.strata, seed), people_of(dataset, seed)
        generator = np.random.default_rng(seed)
        owners = self.groups(values, strata, people, list(names), generator, run)
        order = np.argsort(owners, kind="stable")
        order = order[np.searchsorted(owners[order], 0) :]  # a record without a value has no group
        sizes = np.bincount(owners[order])
        firsts = np.cumsum(sizes) - sizes
        present = ~np.isnan(values[order[firsts]])
        ends = np.cumsum(sizes * present.sum(axis=1))
        draws = generator.uniform(-np.sqrt(3.0), np.sqrt(3.0), int(ends.max(initial=0)))
        after, done = values.copy(), 0
        for alike in _alike(sizes, present):
            run.report(done / len(sizes), "drawing records")
            done += len(alike)
            size, columns = int(sizes[alike[0]]), np.flatnonzero(present[alike[0]])
            cells = (order[firsts[alike, None] + np.arange(size)][:, :, None], columns)
            own = draws[ends[alike, None] - np.arange(size * len(columns), 0, -1)]
            after[cells] = drawn(values[cells], own.reshape(len(alike), size, len(columns)))
        return after, {"groups": len(sizes)}

    def grouped(self, points: Floats, generator: np.random.Generator, run: Run) -> Places:
        owners, groups = np.empty(len(points), np.int64), 0
        for block in blocks_of(points, self.k):
            own = _nearest_groups(points[block], self.k, generator, run)
            owners[block] = groups + own
            groups += int(own.max()) + 1
        return owners


def drawn(values: Floats, uniform: Floats) -> Floats:
    """As many new records as groups of one size have, with the means and covariances of each on average, from draws
    between -√3 and √3.

    Example:
        >>> line = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
        >>> new = drawn(line[None], np.random.default_rng(1).uniform(-np.sqrt(3), np.sqrt(3), (1, 3, 2)))[0]
        >>> bool(np.allclose(new[:, 1], 2 * new[:, 0]))
        True
    """
    # So that no square of a huge number is infinite.
    scale = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    scaled = values / scale
    means = scaled.mean(axis=1, keepdims=True)
    deviations = scaled - means
    variances, axes = np.linalg.eigh(deviations.transpose(0, 2, 1) @ deviations / values.shape[1])
    steps = uniform * np.sqrt(np.maximum(variances, 0.0))[:, None]
    new: Floats = (means + steps @ axes.transpose(0, 2, 1)) * scale
    return new


def _alike(sizes: Places, present: NDArray[np.bool_]) -> list[Places]:
    """The groups of one size whose records have values in the same columns, at most `TOGETHER` at a time."""
    kinds = np.unique(np.column_stack([sizes, present]), axis=0, return_inverse=True)[1].ravel()
    members = np.split(np.argsort(kinds, kind="stable"), np.cumsum(np.bincount(kinds))[:-1])
    return [each[at : at + TOGETHER] for each in members for at in range(0, len(each), TOGETHER)]


def _nearest_groups(points: Floats, k: int, generator: np.random.Generator, run: Run) -> Places:
    """Groups of k, each a random record and the nearest to it; what is left over goes to the nearest mean."""
    from shoal.kernels.nearest import nearest_groups

    owners = np.full(len(points), -1, np.int64)
    nearest_groups(points, generator.permutation(len(points)), min(k, len(points)), owners, run.flag)
    run.check()
    inside, left = owners >= 0, np.flatnonzero(owners < 0)
    sizes = np.bincount(owners[inside])
    centres = np.stack([np.bincount(owners[inside], column[inside]) / sizes for column in points.T], axis=1)
    for record in left:
        owners[record] = int(((centres - points[record]) ** 2).sum(axis=1).argmin())
    return owners
