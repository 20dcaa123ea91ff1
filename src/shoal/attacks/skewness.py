"""Skewness: a group in which a value is far more frequent than in the whole table makes the attacker surer of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from shoal.adversary.guessing import strongest
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Skewness(Attack):
    """Finds a person's group and compares how frequent each sensitive value is there and in the whole table. The risk
    is how many points surer the attacker becomes of the value that stands out most: its share in the group less its
    share in the table. A group can have every value and still say "98 % instead of 1 %".

    The detail has the greatest `gain`, and the greatest `ratio` of the two shares.

    Does not say whether the attacker is right, only how far the release moves what is believed of a person.

    Reference: N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "flu", "flu"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["disease"])
        >>> found = shoal.attack(data, shoal.anonymize(data, "k-anonymity:k=2", seed=1), "skewness")[0]
        >>> found.worst, found.detail["ratio"]
        (0.25, 2.0)
    """

    threshold: Annotated[Share, Doc("the gain of certainty above which a person counts as exposed")] = 0.2

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        def attempt_on(histogram: Histogram) -> Attempt:
            priors = histogram.priors[histogram.values]
            gains = histogram.greatest(np.maximum(histogram.shares - priors, 0.0))
            ratios = histogram.shares / np.where(priors > 0, priors, 1.0)
            return self.attempt_over(
                gains,
                histogram.sizes,
                baseline=0.0,
                knew="which group a person is in, and how frequent each sensitive value is in the whole table",
                meaning="how much surer the attacker becomes of the value that stands out most in the group",
                detail={"ratio": float(ratios.max(initial=1.0)), "gain": float(gains.max(initial=0.0))},
            )

        return strongest(release, attempt_on)
