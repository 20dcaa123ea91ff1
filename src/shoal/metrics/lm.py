"""Loss metric (Iyengar, 2002)."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.release import Release
from shoal.publishing.losses import misclassifications


@dataclass(frozen=True, kw_only=True)
class Lm(Metric):
    """The mean loss of all quasi-identifier cells: 0 for the table itself, 1 when nothing is left.

    A categorical cell costs (M − 1)/(D − 1), where M leaves of the hierarchy's D lie under its published value; a
    numeric one the length of its interval over the range of the table; a cell of a left-out record 1. The detail
    has the mean of each attribute; the original form adds those up.

    Does not say whether the release is useful for a task; it counts how much less precise its cells are.

    Reference: V. Iyengar, Transforming data to satisfy privacy constraints, 2002; as a mean, A. Gionis, T. Tassa,
    k-anonymization with minimal loss of information, 2009.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"sex": ["f", "f", "m", "x"]}), quasi=["sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2))
        >>> shoal.metrics.Lm().score(data, release).value
        0.5
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        means = (misclassifications(dataset, release) / dataset.records).tolist()
        detail = dict(zip(release.schema.quasi, means, strict=True))
        how = "mean loss of the quasi-identifier cells; a cell of a left-out record counts 1"
        return Finding(name="lm", value=sum(means) / len(means), detail=detail, unit="share", how=how)
