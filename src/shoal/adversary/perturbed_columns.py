"""Perturbed columns: what a perturbation changed, next to what it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.errors import NotDefined


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedColumns:
    """Numeric columns before and after a perturbation: records by columns, not-a-number where missing. Both have the
    records in the same order, which only the holder knows."""

    names: tuple[str, ...]
    before: Floats
    after: Floats

    @classmethod
    def of(cls, dataset: Dataset, release: Release) -> PerturbedColumns:
        """The numeric columns of a release that were changed and still have values; `NotDefined` says what is missing
        for the comparison."""
        names = tuple(name for name, values in _changes(dataset, release).items() if values.dtype.kind == "f")
        if not names:
            raise NotDefined("no numeric column was changed, so there are no numbers to compare")
        assert release.recoding is not None
        numbers = dataset.table.numbers(names, release.seed)
        filled = tuple(name for name in names if not np.isnan(release.recoding.changed[name]).all())
        if not filled:
            raise NotDefined("the changed columns have no values, so there are no numbers to compare")
        return cls(
            filled,
            np.stack([numbers[name] for name in filled], axis=1),
            np.stack([release.recoding.changed[name] for name in filled], axis=1),
        )

    @property
    def spreads(self) -> Floats:
        """The standard deviation of each column before; 1 where it has one value only, so that it divides nothing."""
        deviations = np.nanstd(self.before, axis=0)
        return np.where(deviations > 0, deviations, 1.0)

    def standardize(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """The records that have every value, and theirs before and after, by the means and deviations before."""
        whole = np.flatnonzero(~np.isnan(self.before).any(axis=1) & ~np.isnan(self.after).any(axis=1))
        if not len(whole):
            raise NotDefined("no record has a value in every changed column, so records cannot be compared")
        means, spreads = np.nanmean(self.before, axis=0), self.spreads
        return whole, (self.before[whole] - means) / spreads, (self.after[whole] - means) / spreads


def perturbed_categories(dataset: Dataset, release: Release) -> dict[str, tuple[Codes, Codes]]:
    """The changed columns that are no numbers, before and after, as leaves; negative: missing."""
    names = [name for name, values in _changes(dataset, release).items() if values.dtype.kind != "f"]
    assert release.recoding is not None
    columns = {}
    for name, codes in zip(names, dataset.table.listing((), names, release.seed), strict=True):
        hierarchy = dataset.schema.hierarchy_of(name)
        places = {label: place for place, label in enumerate(hierarchy.labels[0].tolist())}
        after = np.array([places.get(text, -1) for text in release.recoding.changed[name].tolist()], np.int32)
        first = int(hierarchy.missing)
        columns[name] = (np.where(codes < first, -1, codes), np.where(after < first, -1, after))
    return columns


def _changes(dataset: Dataset, release: Release) -> dict[str, NDArray[np.generic]]:
    if release.view.truthful:
        raise NotDefined("no value of this release was changed; this compares changed values with the true ones")
    if release.recoding is None:
        raise NotDefined("a file does not tell which record became which; this needs the release as it was made")
    changed = dict(release.recoding.changed)
    if any(len(values) != dataset.records for values in changed.values()):
        raise NotDefined("the table has another number of records than the release, so they cannot be compared")
    return changed
