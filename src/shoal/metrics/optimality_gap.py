"""How much of a release's loss any other partition could save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.publishing.losses import misclassifications
from shoal.utility.certificate import certify


@dataclass(frozen=True, kw_only=True)
class OptimalityGap(Metric):
    """The share of a release's loss (LM) that the best possible partition could save at the most: 0.1 says that no
    classes of the policy's least size or more lose less than nine tenths of what these do.

    It is proven, not estimated: every record gets a price, such that no records that could be a class are worth more
    than publishing them alike costs, and the prices of all records add up to a bound (`least-loss` in the detail).
    More seconds give a better bound.

    Does not look at more of a policy than the size of a class, and counts numbers as intervals, which lose least:
    releases that keep other models, too, or follow the levels of a numeric column, are nearer to their best.

    Reference: prices are dual values of the linear programme of set partitioning; the rule by which they grow is ours.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 24, 25]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> round(shoal.metrics.OptimalityGap(seconds=5).score(data, release).value, 6)
        0.0
    """

    seconds: Annotated[float, Gt(0), Doc("for how long the bound may grow")]

    quick: ClassVar[bool] = False
    compared: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({"seconds": 2.0},)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        if release.policy is None or release.policy.least < 2:
            raise NotDefined("no policy says how large a class must be, so the table itself loses least")
        loss = float(misclassifications(dataset, release).sum()) / (dataset.records * len(dataset.hierarchies))
        proof = certify(dataset, release.policy.least, Run(seconds=self.seconds))
        detail = {"loss": loss, "least-loss": proof.bound, "rounds": proof.rounds, "finished": proof.finished}
        how = f"proven: classes of {proof.least} or more lose {100 * proof.bound:.3g} % at least"
        how += f", and these lose {100 * loss:.3g} %"
        return Finding(name="optimality-gap", value=proof.gap(loss), unit="share", detail=detail, how=how)
