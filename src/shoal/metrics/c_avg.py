"""Normalized average class size (LeFevre and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Examples
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class CAvg(Metric):
    """The average class size over k: 1 when every class is as small as it may be.

    Looks at class sizes only: how far the published values are from the true ones does not count.

    Reference: K. LeFevre, D. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> shoal.metrics.CAvg().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        1.0
    """

    k: Annotated[int | None, Ge(1), Doc("the k to compare with; by default the policy's least class size")] = None

    examples: ClassVar[Examples] = ({}, {"k": 3})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        k = self.k or (release.policy.least if release.policy else 1)
        classes = len(release.view.people())
        average = dataset.records / (classes * k) if classes else 0.0
        how = f"how much larger than needed classes are: records of the table / (classes · {k}); 1 is best"
        return Finding(name="c-avg", value=average, unit="times", how=how)
