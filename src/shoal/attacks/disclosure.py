"""Disclosure: beliefs before and after the release, and where they move too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.guessing import strongest
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.contracts.model import SLACK
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Disclosure(Attack):
    """Compares what is believed of a person without the release (the shares of the whole table) with what the person's
    group says. Counted are people whose group

    - makes a value almost certain: its share is above 1 − `delta` there, and was not before (positive disclosure);
    - makes something unlikely likely: a value whose share was at most `rho1` has one above `rho2`, or one whose share
      was at least 1 − `rho1` has one below 1 − `rho2` (a (ρ1, ρ2) breach, upward and downward; a share of exactly
      `rho1` counts, as in the model `rho-privacy`);
    - all but rules out a value: its share is below `epsilon` there, and was not before (negative disclosure). These are
      in the detail only, because small groups lack most values.

    Everybody counts as exposed or not: the risk is 1 or 0, and `success` is the share of the people with one of the
    first two. The detail counts the people, and the pairs of group and value, of each kind.

    Does not say whether the value that becomes likely is the person's own.

    Reference: A. Evfimievski, J. Gehrke, R. Srikant, Limiting privacy breaches in privacy preserving data mining, 2003;
    A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "flu", "flu"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, "k-anonymity:k=2", seed=1)
        >>> found = shoal.attack(data, release, "disclosure:rho1=0.3,rho2=0.4")[0]
        >>> found.success, found.detail["positive"], found.detail["upward"]
        (1.0, {'people': 2, 'values': 1}, {'people': 2, 'values': 1})
    """

    rho1: Annotated[float, Gt(0), Lt(1), Doc("up to which share in the whole table a value is unlikely")] = 0.1
    rho2: Annotated[float, Gt(0), Lt(1), Doc("above which share in a group it is likely")] = 0.5
    delta: Annotated[float, Ge(0), Lt(1), Doc("how near to certainty a share is almost certain")] = 0.1
    epsilon: Annotated[Share, Doc("below which share a value is all but ruled out")] = 0.01
    threshold: Annotated[Share, Doc("the risk, 0 or 1, above which a person counts as exposed")] = 0.5

    examples: ClassVar[Examples] = ({}, {"rho1": 0.3, "rho2": 0.4, "delta": 0.4, "epsilon": 0.2, "threshold": 0.2})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rho1 >= self.rho2:
            raise ParameterError("Disclosure: rho1 must be below rho2")

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        def attempt_on(histogram: Histogram) -> Attempt:
            disclosed, sizes = self._disclosed_values(histogram), histogram.sizes
            breached = (disclosed["positive"] + disclosed["upward"] + disclosed["downward"]) > 0
            return self.attempt_over(
                breached.astype(np.float64),
                sizes,
                baseline=0.0,
                knew="which group a person is in, and how frequent each sensitive value is in the whole table",
                meaning="how many people are in a group that makes a value almost certain, or an unlikely one likely",
                detail={
                    kind: {"people": int(sizes[values > 0].sum()), "values": int(values.sum())}
                    for kind, values in disclosed.items()
                },
            )

        return strongest(release, attempt_on)

    def _disclosed_values(self, histogram: Histogram) -> dict[str, NDArray[np.int64]]:
        """For each group, how many values it discloses, by the kind of disclosure."""
        before, after = histogram.priors[histogram.values], histogram.shares
        sure = 1 - self.delta + SLACK
        common = 1 - self.rho1 - SLACK
        occurring = histogram.priors[histogram.population > 0]

        def total(which: NDArray[np.bool_]) -> NDArray[np.int64]:
            return histogram.total(which.astype(np.int64))

        def absent(which: NDArray[np.bool_], everywhere: NDArray[np.bool_]) -> NDArray[np.int64]:
            """Values of the table for which something is true and that a group lacks."""
            lacking = np.count_nonzero(everywhere) - total(which)
            return np.where(histogram.distinct > 0, lacking, 0)

        low = self.epsilon * (1 - SLACK)
        ruled_out = total((before >= low) & (after < low))
        fallen = total((before >= common) & (after < 1 - self.rho2 - SLACK))
        return {
            "positive": total((after > sure) & (before <= sure)),
            "upward": total((before <= self.rho1 + SLACK) & (after > self.rho2 + SLACK)),
            "downward": fallen + absent(before >= common, occurring >= common),
            "negative": ruled_out + (absent(before >= low, occurring >= low) if low > 0 else 0),
        }
