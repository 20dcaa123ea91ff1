"""The journalist: somebody who does not know who is in the table, and looks records up in a register of people."""

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
class Journalist(Attack):
    """Takes a record of the release, finds everybody in the population who can be its person, and names one of them at
    random. The chance is 1 over the number of people of the population who fit the record's class.

    The population is the external table. Without one its size can be stated; classes are then taken to be as much
    larger there as the population is than the release, which is an estimate. Survey weights estimate it class by class.

    Does not hold against somebody who knows that a person is in the release: that is the prosecutor.

    Reference: K. El Emam, F. Dankar, Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> town = shoal.read(polars.DataFrame({"age": [21, 21, 22, 22, 23, 24, 50, 60]}), quasi=["age"])
        >>> found = shoal.attack(data, release, "journalist", external=town)[0]
        >>> found.success, found.baseline, found.worst
        (0.375, 0.125, 0.5)
    """

    population: Annotated[
        int | None, Ge(1), Doc("how many people the population has, where there is no external table of them")
    ] = None
    threshold: Annotated[Share, Doc("the risk above which a person counts as exposed")] = LINE

    examples: ClassVar[Examples] = ({}, {"population": 1000, "threshold": 0.05})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        population = population_counts(release, known, self.population, run)
        return self.attempt_over(
            1 / np.maximum(population.there, 1),
            population.heads,
            baseline=1 / population.everybody,
            knew=f"the quasi-identifiers of everybody in the population, {population.source}",
            meaning="how often somebody of the population who is picked among those who fit a record is its person",
            detail=population.detail,
        )
