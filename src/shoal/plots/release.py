"""The picture of a release."""

from __future__ import annotations

from pathlib import Path

from shoal.core.dataset import Dataset
from shoal.core.release import Release
from shoal.plots.drawing import save
from shoal.plots.exposure import class_sizes
from shoal.plots.lattice import lattice


def picture(data: Dataset, release: Release, path: Path) -> Path:
    """The lattice of a full-domain search, or how many people hide in how large a class; written to `path`."""
    if release.recoding is not None and release.recoding.levels is not None:
        return lattice(data.hierarchies, release.recoding, path)
    least = release.policy.least if release.policy is not None else 1
    tables = {"original": data.summary, "release": release.in_people(release.classes)}
    return save(class_sizes(tables, k=least), path)
