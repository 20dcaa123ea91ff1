"""Log-linear risk: whoever is alone in a survey may be alone in the population, by a model of the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.adversary.log_linear import cell_means, risk_of_uniques
from shoal.adversary.survey_frequencies import survey_frequencies
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class LogLinear(Attack):
    """Estimates who is alone in the population from a Poisson model of all combinations of published values: a cell
    that its neighbours say is full holds others too, though the survey met only one of them.

    The means of the cells are fitted to the weighted margins, with two-way interactions or main effects only. `success`
    is the share of all records that are right when everybody who is alone is linked (τ₂ / n), `worst` the greatest
    chance among them. The detail has the people `alone` in the release, how many of them are expected to be alone in
    the population (`population_unique`, τ₁) and the `expected` right links (τ₂). Needs a column of survey weights.

    `fitted` names the convention: to the `population`, as Skinner and Holmes define it, or to the `sample`, as the
    modRisk of sdcMicro does, which takes the sample's means for the population's and so overstates the risk.

    Does not look at people who are not alone in the release. It is an estimate that depends on the model: main effects
    alone mostly overstate the risk.

    Reference: C. Skinner, D. Holmes, Estimating the re-identification risk per record in microdata, 1998; C. Skinner,
    N. Shlomo, Assessing identification risk in survey microdata using log-linear models, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "age": [20, 20, 20, 60], "weight": [9.0, 9.0, 9.0, 3.0]})
        >>> data = shoal.read(table, quasi=["sex", "age"], weight="weight", kinds={"age": "numeric"})
        >>> release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
        >>> found = shoal.attack(data, release, "log-linear:interactions=no")[0]
        >>> found.detail["alone"], round(found.detail["population_unique"], 3), round(found.detail["expected"], 3)
        (2, 0.449, 0.792)
    """

    interactions: Annotated[bool, Doc("whether two-way interactions are fitted, or main effects only")] = True
    fitted: Annotated[Literal["population", "sample"], Doc("whose margins the means are fitted to")] = "population"
    threshold: Annotated[Share, Doc("the chance above which somebody who is alone is exposed")] = LINE

    examples: ClassVar[Examples] = ({}, {"interactions": False, "threshold": 0.2}, {"fitted": "sample"})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        frequencies = survey_frequencies(release)
        amounts = frequencies.population if self.fitted == "population" else frequencies.sample
        means = cell_means(release.view.people().keys, amounts, interactions=self.interactions, run=run)
        alone = frequencies.heads == 1
        unique, right = risk_of_uniques(means, 1 / frequencies.population)
        risks = np.where(alone, right, 0.0)
        return self.attempt_over(
            risks,
            frequencies.heads,
            baseline=1 / frequencies.everybody,
            knew=f"that the release is a sample of a population of {frequencies.everybody:,.0f} people, by the weights",
            meaning="how many of all records are linked to the right person when everybody who is alone is linked",
            detail={
                "alone": int(alone.sum()),
                "population_unique": float(unique[alone].sum()),
                "expected": float(risks.sum()),
                "population": frequencies.everybody,
                "fitted": self.fitted,
            },
        )
