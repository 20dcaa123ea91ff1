"""What the cells of a release lost, summed for each quasi-identifier."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats
from shoal.core.loss import misclassification, penalty
from shoal.core.release import Release


def covered(dataset: Dataset, release: Release) -> Floats:
    """For each quasi-identifier, the share of its domain's leaves that its cells cover, summed; left out counts 1."""
    cells = release.view.cells()
    sizes = np.array([hierarchy.size for hierarchy in dataset.hierarchies], dtype=np.float64)
    covering = (cells.high - cells.low + 1) / sizes[:, None]
    totals: Floats = covering @ release.view.people().sizes + float(release.suppressed)
    return totals


def penalties(dataset: Dataset, release: Release) -> Floats:
    """The summed penalty of each quasi-identifier of a release, left-out records included."""
    costs, sizes = _costs(dataset, release, penalty)
    return np.array([float((each * sizes).sum()) + release.suppressed for each in costs])


def detail_lost(dataset: Dataset, release: Release) -> dict[str, float]:
    """For each quasi-identifier, the share of its detail that a release lost: the mean penalty of its cells, from 0 (as
    it was) to 1 (nothing is left); a cell of a left-out record lost everything. GCP is the mean of them.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40], "sex": list("fffm")}), quasi=["age", "sex"])
        >>> detail_lost(data, shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1))
        {'age': 0.25, 'sex': 0.5}
    """
    return dict(zip(release.schema.quasi, (penalties(dataset, release) / dataset.records).tolist(), strict=True))


def misclassifications(dataset: Dataset, release: Release) -> Floats:
    """What LM charges for each quasi-identifier of a release, summed, left-out records included."""
    costs, sizes = _costs(dataset, release, misclassification)
    return np.array([float(np.dot(each, sizes)) + release.suppressed for each in costs])


def _costs(dataset: Dataset, release: Release, charge: Callable[..., Floats]) -> tuple[list[Floats], Counts]:
    """What the cells of each quasi-identifier cost, class by class, and the sizes of the classes."""
    cells, sizes = release.view.cells(), release.view.people().sizes
    ends = [(int(keys.min()), int(keys.max())) for keys in dataset.extent]
    ranges = zip(dataset.hierarchies, cells.low, cells.high, ends, cells.lengths, strict=True)
    return [charge(tree, low, high, *end, lengths) for tree, low, high, end, lengths in ranges], sizes
