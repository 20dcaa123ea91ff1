"""Distance linkage: a masked record is taken for the nearest original one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run

PORTION = 1024


@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(Attack):
    """Knows the true numbers of everybody, and takes each perturbed record for the person whose numbers, standardized,
    are nearest; among equally near ones at random.

    Goes by the numeric columns that were changed. Records that lack one of them are never linked.

    Does not use columns that were not changed, which may tell people apart by themselves. It needs the release as it
    was made: a file does not tell which record became which. The figure is a lower bound: `assignment-linkage` mostly
    links more.

    Reference: J. Domingo-Ferrer, V. Torra, A quantitative comparison of disclosure control methods for microdata, 2001.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20.0, 30.0, 40.0, 50.0]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm="additive-noise:share=0.0001")
        >>> found = shoal.attack(data, release, "distance-linkage")[0]
        >>> found.success, found.baseline
        (1.0, 0.25)
    """

    threshold: Annotated[Share, Doc("the chance above which a record counts as exposed")] = 0.2

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        from shoal.kernels.linkage import own_is_nearest
        from shoal.kernels.point_tree import tree_of

        _, before, after = PerturbedColumns.of(dataset, release).standardize()
        tree = tree_of(before, run.flag)
        run.check()
        chances = np.zeros(len(before))
        for begin in range(0, len(before), PORTION):
            end = min(begin + PORTION, len(before))
            own_is_nearest(tree, before, after, begin, end, chances, run.flag)
            run.report(end / len(before), "linking records")
        return self.attempt_over(
            np.append(chances, np.zeros(dataset.records - len(chances))),
            hits=float(chances.sum()),
            baseline=1 / dataset.records,
            knew="the true numbers of everybody in the table",
            meaning="how often the nearest person is the one whose record it is",
            lower_bound=True,
        )
