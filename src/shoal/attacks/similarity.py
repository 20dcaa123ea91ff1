"""Similarity: a group of different values that mean much the same gives that away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.guessing import strongest, with_control
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Similarity(Attack):
    """Finds a person's group and guesses what most of its records have in common: the value above them in the hierarchy
    of the sensitive attribute ("a stomach disease"), or, with `within`, a number that theirs are near ("about 4,000").

    A group of three different stomach diseases is 3-diverse, and tells all the same what is wrong with everybody in it.
    Sensitive attributes without a hierarchy, and with `within` those that are no numbers, are passed over; of the
    others the one that gives most away counts.

    Does not use values that can be ruled out.

    Reference: N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fffmmm"), "salary": [3, 4, 5, 6, 9, 11]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["salary"])
        >>> release = shoal.anonymize(data, "k-anonymity:k=3", seed=1)
        >>> found = shoal.attack(data, release, "similarity:within=1")[0]
        >>> round(found.success, 3), round(found.baseline, 3), found.worst
        (0.833, 0.5, 1.0)
    """

    level: Annotated[int, Ge(1), Doc("how many levels of the hierarchy values are raised")] = 1
    within: Annotated[float | None, Ge(0), Doc("how far off a guessed number may be, instead of a level")] = None
    threshold: Annotated[Share, Doc("the certainty above which a person counts as exposed")] = 0.9

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        return strongest(release, lambda histogram: self._attempt_on(histogram, release, known))

    def _attempt_on(self, histogram: Histogram, release: Release, known: Known) -> Attempt | None:
        last = self._alike(histogram)
        if last is None:
            return None
        most = _best(histogram, last)
        attempt = self.attempt_over(
            most / histogram.sizes.clip(1),
            histogram.sizes,
            hits=int(most.sum()),
            baseline=float(_windows(histogram.priors[None, :], last).max(initial=0.0).clip(max=1)),
            knew="which group a person is in, and which sensitive values are alike",
            meaning="how often the person's sensitive value is like most of the group's",
        )

        def hits(posteriors: Floats, truths: Codes) -> Floats:
            guesses = np.argmax(_windows(posteriors, last), axis=1)
            right: Floats = ((guesses <= truths) & (truths <= last[guesses])).astype(np.float64)
            return right

        return with_control(attempt, release, known, histogram, hits)

    def _alike(self, histogram: Histogram) -> NDArray[np.int64] | None:
        """For each leaf the last one that is like it, and like all in between; None where that makes no sense."""
        tree = histogram.hierarchy
        if tree is None:
            return None
        if self.within is None:
            return tree.stops[self.level][tree.codes[self.level]].astype(np.int64) if self.level < tree.height else None
        if not tree.ordered or tree.values is None:
            return None
        first = int(tree.missing)
        numbers = tree.values[first:]
        slack = ROUNDING * max(float(np.abs(numbers).max(initial=0.0)), 1.0)
        # A guess is near to all numbers in a window that is twice as wide as it may be off.
        ends = np.searchsorted(numbers, numbers + 2 * self.within + slack, side="right") - 1 + first
        return np.append(np.zeros(first, np.int64), ends)


def _windows(shares: Floats, last: NDArray[np.int64]) -> Floats:
    """Row by row, what the leaves from each one to the last that is like it have together."""
    sums = np.cumsum(shares, axis=1)
    return sums[:, last] - sums + shares


def _best(histogram: Histogram, last: NDArray[np.int64]) -> Counts:
    """For each group, how many have a value that is like the best guess; somebody with several values counts once for
    each, up to all there are."""
    size = len(histogram.population)
    places = histogram.owners * size + histogram.values
    ends = np.searchsorted(places, histogram.owners * size + last[histogram.values], side="right")
    sums = np.append(0, np.cumsum(histogram.counts))
    most: Counts = histogram.greatest(sums[ends] - sums[:-1])
    return np.minimum(most, histogram.sizes)
