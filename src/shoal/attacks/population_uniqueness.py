"""Population uniqueness: who is alone in a sample may be alone in the population as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Le
from typing_extensions import Doc

from shoal.adversary.survey_frequencies import survey_frequencies
from shoal.adversary.uniqueness import Sample, uniques
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class PopulationUniqueness(Attack):
    """Takes the release for a random sample of a population and estimates how many people of the population are alone
    with their published values: whoever finds such a person's record knows whose it is, without a register to compare.

    `success` is the share of the population that is alone; `worst` is the chance that somebody who is alone in the
    release is alone in the population too. The detail has the model, and how many are alone in the release.

    - `pitman`: by a model of how classes grow; good for small samples.
    - `zayatz`: classes of the population are spread over sizes as those of the sample.
    - `snb`: sizes follow a slide negative binomial distribution.
    - `dankar`: a rule that chooses among them by the fraction.

    Does not hold for samples that were not drawn at random, and is an estimate: the three models differ. Without a
    fraction, the size of the external table says how large the population is, or else the sum of the survey weights.

    Reference: F. Dankar, K. El Emam, A. Neisa, T. Roffey, Estimating the re-identification risk of clinical data sets,
    2012; N. Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, 2001.

    Example:
        >>> import shoal
        >>> quasi = ["age", "sex", "race", "education", "occupation"]
        >>> data = shoal.read(shoal.samples.adult().select(quasi), quasi=quasi)
        >>> release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
        >>> found = shoal.attack(data, release, "population-uniqueness:fraction=0.01")[0]
        >>> found.detail["model"], round(found.success, 3), round(found.worst, 2)
        ('pitman', 0.012, 0.07)
    """

    fraction: Annotated[float | None, Gt(0), Le(1), Doc("the share of the population that is in the table")] = None
    model: Annotated[Literal["dankar", "pitman", "zayatz", "snb"], Doc("what estimates")] = "dankar"
    threshold: Annotated[Share, Doc("the chance above which somebody who is alone is exposed")] = LINE

    examples: ClassVar[Examples] = (
        {"fraction": 0.1},
        {"fraction": 0.3, "model": "zayatz"},
        {"fraction": 0.05, "model": "pitman"},
        {"fraction": 0.5, "model": "snb", "threshold": 0.5},
    )

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        heads = release.in_people(release.view.people()).headcounts
        fraction = self._fraction(int(heads.sum()), release, known)
        sample = Sample.of(heads, fraction)
        alone_there, model = uniques(sample, self.model) if sample.people else (0.0, self.model)
        if alone_there is None:
            raise NotDefined(f"the model {model} does not suit these class sizes; try another one")
        alone = sample.having(1)
        chance = min(alone_there * fraction / alone, 1.0) if alone else 0.0
        share = alone / max(sample.people, 1)
        return self.attempt_over(
            np.where(heads == 1, chance, 0.0),
            heads,
            baseline=0.0,
            knew=f"that the release is a random sample of {sample.population:,} people",
            meaning="how many people of the population are alone with their published values, by an estimate",
            detail={"model": model, "fraction": fraction, "alone": alone, "alone_share": share},
        )

    def _fraction(self, people: int, release: Release, known: Known) -> float:
        if self.fraction is not None:
            return self.fraction
        if known.external is None:
            if release.schema.weight is not None:
                return min(1.0, people / survey_frequencies(release).everybody)
            raise NotDefined(
                "the release may be no sample: state its fraction of the population, or give an external table or "
                "survey weights"
            )
        return min(1.0, people / max(known.external.people or known.external.records, 1))
