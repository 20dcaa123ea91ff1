"""Sample and population frequencies of published classes: what the risk of a survey is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release
from shoal.core.wildcards import wildcard_sums

Counting = Literal["strict", "wildcard"]


@dataclass(frozen=True, eq=False, repr=False)
class SurveyFrequencies:
    """Of each class `heads` people are in the release; the attacker finds `sample` of them alike, who stand for
    `population` people, of `everybody` in the population."""

    heads: Counts
    sample: Floats
    population: Floats
    everybody: float


def survey_frequencies(release: Release, counting: Counting = "strict", alpha: float = 1.0) -> SurveyFrequencies:
    """The frequencies of the published classes; under `wildcard` counting, a missing or hidden value fits any, and what
    rests on that of another record counts `alpha`."""
    classes = release.weighted()
    unknown = None
    if counting == "wildcard":
        unknown = unknown_cells(release.view.cells(), [release.hierarchy_of(name) for name in classes.attributes])
    return frequencies_of(classes, unknown, alpha)


def frequencies_of(classes: Classes, unknown: NDArray[np.bool_] | None = None, alpha: float = 1.0) -> SurveyFrequencies:
    """The frequencies of weighted classes; without `unknown` values, counted strictly."""
    heads, population, weights = classes.headcounts, classes.population, classes.weights
    assert population is not None and weights is not None
    if classes.people is not None:
        weights = weights[np.bincount(classes.people.values, minlength=len(weights)) > 0]
    everybody = float(weights.sum())
    sample = heads.astype(np.float64)
    if unknown is not None and unknown.any():
        sample, population = wildcard_sums(classes.keys, unknown, [sample, population], alpha)
    return SurveyFrequencies(heads, sample, np.maximum(population, sample), max(everybody, float(heads.sum()), 1.0))


def unknown_leaves(classes: Classes) -> NDArray[np.bool_]:
    """Which values of the classes of a table are missing: the first leaf is, of a hierarchy that has a missing one."""
    if not classes.hierarchies:
        return np.zeros(classes.keys.shape, np.bool_)
    missing = np.array([tree.missing for tree in classes.hierarchies], np.bool_)[:, None]
    return np.asarray(missing & (classes.keys == 0), np.bool_)


def unknown_cells(cells: Cells, hierarchies: list[Hierarchy]) -> NDArray[np.bool_]:
    """Which published cells are missing, or say nothing."""
    sizes = np.array([tree.size for tree in hierarchies])[:, None]
    absent = np.array([int(tree.missing) for tree in hierarchies])[:, None]  # a missing value is the first leaf
    hidden = (cells.low <= absent) & (cells.high == sizes - 1) & (sizes > 1)
    return np.asarray(hidden | ((absent > 0) & (cells.high == 0)), np.bool_)
