"""The marketer: somebody who wants to find as many people as possible, and does not care whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.population_counts import population_counts
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Marketer(Attack):
    """Links every record of the release to one of the people who fit it. What counts is the share of links that are
    right: classes over people where the attacker has a list of exactly those in the release, and with an external table
    (or a stated population) the mean of 1 over the people there who fit.

    Nobody is more exposed than another here, so `worst` is the same share, and either everybody is above the threshold
    or nobody.

    Does not say how exposed a single person is; the prosecutor and the journalist do.

    Reference: F. Dankar, K. El Emam, A method for evaluating marketer re-identification risk, 2010.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 21, 21, 24, 24]}), quasi=["age"])
        >>> found = shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1), "marketer")[0]
        >>> found.success, found.baseline, found.worst
        (0.4, 0.2, 0.4)
    """

    population: Annotated[
        int | None, Ge(1), Doc("how many people the population has, where there is no external table of them")
    ] = None
    threshold: Annotated[Share, Doc("the share of right links above which everybody is exposed")] = LINE

    examples: ClassVar[Examples] = ({}, {"population": 1000, "threshold": 0.05})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        population = population_counts(release, known, self.population, run, alone=True)
        heads, shares = population.heads, 1 / np.maximum(population.there, 1)
        hits, everybody = len(heads) if population.own else float(shares @ heads), max(int(heads.sum()), 1)
        return self.attempt_over(
            np.array([hits / everybody]),
            np.array([everybody]),
            baseline=1 / population.everybody,
            knew=f"the quasi-identifiers of everybody in the population, {population.source}",
            meaning="how many of all records are linked to the right person, when each is linked to one who fits",
            detail=population.detail,
        )
