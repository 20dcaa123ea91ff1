"""Where everybody is: what attacks share that know who is in which group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.release import Release
from shoal.errors import NotDefined


def groups_of_records(dataset: Dataset, release: Release) -> Codes:
    """The group of each record, in the order of a plan by record; negative: it is in none."""
    sizes = dataset.summary.sizes
    plan = release.recoding.plan if release.recoding is not None else None
    if plan is not None and release.recoding is not None:
        owners = release.view.owners(dataset, release.recoding)
        return owners if plan.by_record else np.repeat(owners, sizes)
    candidates = release.view.candidates(dataset.summary.keys)
    counts: NDArray[np.int64] = np.diff(candidates.starts)
    if bool(np.all(counts <= 1)):
        tuples = np.full(len(counts), -1, np.int32)
        tuples[counts == 1] = candidates.classes
        groups = np.repeat(tuples, sizes)
        held = release.view.groups()
        if np.array_equal(np.bincount(groups[groups >= 0], minlength=len(held)), held.sizes):
            return groups
    raise NotDefined("the file does not say which group everybody is in; attack the release where it is made")
