"""Homogeneity: whoever finds a person's group guesses its most frequent sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typing_extensions import Doc

from shoal.adversary.guessing import most_likely, strongest, with_control
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Homogeneity(Attack):
    """Finds a person's group and guesses the sensitive value that most of its records have. Where all have one, the
    guess is certain, however large the group. Where a person column is named, the value that most of its people have.

    With several sensitive attributes the one that gives most away counts.

    Does not use anything else that the attacker may know, such as values that can be ruled out.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "flu", "hiv", "flu"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> found = shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1), "homogeneity")[0]
        >>> found.success, found.baseline, found.random, found.worst
        (0.75, 0.75, 0.625, 1.0)
    """

    threshold: Annotated[Share, Doc("the certainty above which a person counts as exposed")] = 0.9

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        def attempt_on(histogram: Histogram) -> Attempt:
            most, sizes = histogram.greatest(histogram.counts), histogram.sizes
            attempt = self.attempt_over(
                most / sizes.clip(1),
                sizes,
                hits=int(most.sum()),
                baseline=float(histogram.priors.max(initial=0.0)),
                random=float(histogram.priors @ histogram.distribution),
                knew="which group a person is in",
                meaning="how often the most frequent sensitive value of the group is the person's",
            )
            return with_control(attempt, release, known, histogram, most_likely)

        return strongest(release, attempt_on)
