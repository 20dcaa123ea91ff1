"""Where everybody is: what attacks share that know who is in which group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.release import Release
from shoal.errors import NotDefined


def groups_of_tuples(dataset: Dataset, release: Release) -> Codes | None:
    """The group of each tuple of quasi-identifiers (negative: it is in none), where all records of a tuple are in one;
    None where a plan tells records of one tuple apart."""
    plan = release.recoding.plan if release.recoding is not None else None
    if plan is not None and release.recoding is not None:
        return None if plan.by_record else release.view.owners(dataset, release.recoding)
    candidates = release.view.candidates(dataset.summary.keys)
    counts: NDArray[np.int64] = np.diff(candidates.starts)
    if bool(np.all(counts <= 1)):
        tuples = np.full(len(counts), -1, np.int32)
        tuples[counts == 1] = candidates.classes
        groups, there = release.view.groups(), tuples >= 0
        sizes = np.bincount(tuples[there], weights=dataset.summary.sizes[there], minlength=len(groups))
        if np.array_equal(sizes, groups.sizes):
            return tuples
    raise NotDefined("the file does not say which group everybody is in; attack the release where it is made")


def groups_of_records(dataset: Dataset, release: Release) -> Codes:
    """The group of each record, in the order of a plan by record; negative: it is in none."""
    tuples = groups_of_tuples(dataset, release)
    if tuples is not None:
        return np.repeat(tuples, dataset.summary.sizes)
    assert release.recoding is not None
    return release.view.owners(dataset, release.recoding)
