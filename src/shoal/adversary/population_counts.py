"""Population counts: how many people of a population each published class can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.external_table import ExternalTable
from shoal.adversary.survey_frequencies import survey_frequencies
from shoal.core.contracts.attack import Known
from shoal.core.formatting import counted
from shoal.core.grouping import Counts
from shoal.core.release import Release, people_in
from shoal.core.run import Run
from shoal.errors import NotDefined, ParameterError


@dataclass(frozen=True, eq=False, repr=False)
class PopulationCounts:
    """A population beside a release: `heads[c]` people of the release are in class `c`, and `there[c]` of the
    `everybody` in the population can be. Where there is no population but the release, it is its `own`.

    `source` says where the figures are from.
    """

    heads: Counts
    there: NDArray[np.float64]
    everybody: int
    source: str
    own: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)


def population_counts(
    release: Release, known: Known, stated: int | None, run: Run, *, alone: bool = False
) -> PopulationCounts:
    """The population of an external table, of a stated size, or as survey weights estimate it; with `alone`, the people
    of the release where there is neither table nor size.

    A class never has fewer people in the population than in the release: whom an external table lacks is there all the
    same.
    """
    if known.external is not None:
        external = ExternalTable.once(known, release, known.external, what="the external table")
        heads = external.published.headcounts
        population = external.population(run)
        lacking = int(np.maximum(heads - population, 0).sum())
        source = f"from an external table of {counted(external.people, 'people')}"
        detail = {"population": external.people} | ({"lacking": lacking} if lacking else {})
        there = np.maximum(population, heads).astype(np.float64)
        return PopulationCounts(heads, there, max(external.people, 1), source, detail=detail)
    if stated is None and not alone and release.schema.weight is not None:
        frequencies = survey_frequencies(release)
        source = f"of whom there are {frequencies.everybody:,.0f}, by the survey weights"
        count = round(frequencies.everybody)
        detail = {"population": count}
        return PopulationCounts(frequencies.heads, frequencies.population, max(count, 1), source, detail=detail)
    classes = release.in_people(release.view.people())
    heads = classes.headcounts
    everybody = max(int(heads.sum()) if classes.people is None else people_in(classes), 1)
    if stated is None:
        if alone:
            source = "which are those in the release"
            return PopulationCounts(heads, heads.astype(np.float64), everybody, source, own=True)
        raise NotDefined(
            "who else lives there is not known: give an external table, state the size of a population, or name the "
            "column of survey weights"
        )
    if stated < everybody:
        raise ParameterError(
            f"a population of {stated:,} is smaller than the release, which has {counted(everybody, 'people')}"
        )
    there = (heads * (stated / everybody)).astype(np.float64)
    source = f"of whom there are {stated:,}, spread as in the release"
    return PopulationCounts(heads, there, stated, source, detail={"population": stated})
