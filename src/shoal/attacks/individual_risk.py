"""Individual risk: links a record of a survey to somebody of the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from typing_extensions import Doc

from shoal.adversary.individual_risk import Method, individual_risk
from shoal.adversary.survey_frequencies import Counting, survey_frequencies
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class IndividualRisk(Attack):
    """Finds a record's values in the population and names one of the people who have them. How many there are is not
    known: survey weights estimate it, and the risk is the mean of 1 over their number (Benedetti and Franconi).

    `success` is the global risk, the mean over everybody in the release, and the detail has the `expected`
    re-identifications, which are its sum. Needs a column of survey weights.

    - `exact`: the mean of 1 over the population frequency under the model;
    - `approximate`: as µ-Argus and sdcMicro take it from three people on;
    - `simple`: 1 over the estimated population frequency.

    A missing or hidden value is one of its own under `strict` counting, as for models. Under `wildcard` counting it
    fits any value, and a match that rests on another record's missing value counts `alpha`.

    Does not hold where the attacker knows who took part: that is the prosecutor. It is an estimate, and weights that
    are far from the inverse of inclusion probabilities, such as heavily calibrated ones, mislead it.

    Reference: R. Benedetti, L. Franconi, Statistical and technological solutions for controlled data dissemination,
    1998.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [20, 20, 20, 60], "weight": [18.0, 39.0, 51.0, 45.5]})
        >>> data = shoal.read(table, quasi=["age"], weight="weight")
        >>> release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
        >>> found = shoal.attack(data, release, "individual-risk")[0]
        >>> round(found.worst, 5), round(found.detail["expected"], 5)
        (0.08579, 0.12645)
    """

    method: Annotated[Method, Doc("how the risk is computed")] = "exact"
    counting: Annotated[Counting, Doc("whether a missing or hidden value is one of its own, or fits any")] = "strict"
    alpha: Annotated[Share, Doc("of wildcard counting: what a match by another record's missing value counts")] = 1.0
    threshold: Annotated[Share, Doc("the risk above which a person counts as exposed")] = LINE

    examples: ClassVar[Examples] = (
        {},
        {"method": "approximate", "threshold": 0.05},
        {"method": "simple"},
        {"counting": "wildcard", "alpha": 0.5},
    )

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        frequencies = survey_frequencies(release, self.counting, self.alpha)
        risks = individual_risk(frequencies.sample, frequencies.population, self.method)
        return self.attempt_over(
            risks,
            frequencies.heads,
            baseline=1 / frequencies.everybody,
            knew="the quasi-identifiers of everybody in the population, who are "
            f"{frequencies.everybody:,.0f} by the survey weights",
            meaning="how often a record is linked to the right person of the population, by the individual risk",
            detail={
                "method": self.method,
                "counting": self.counting,
                "expected": float(risks @ frequencies.heads),
                "population": frequencies.everybody,
                "smallest_population": float(frequencies.population.min(initial=frequencies.everybody)),
            },
        )
