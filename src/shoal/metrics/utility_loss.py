"""Utility loss (Li and Li, 2009): how wrong a recipient is about large parts of the population."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Le
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.expected import Expected, divergence
from shoal.utility.frequent_conditions import populations

MOST = 200_000
"""Populations that are looked at; with more, the question is too fine."""
BLOCK = 1024
"""Populations that are measured together."""


@dataclass(frozen=True, kw_only=True)
class UtilityLoss(Metric):
    """How far the sensitive values that a recipient expects in a large population are from those that it has, as a mean
    over all large populations: the Jensen-Shannon divergence in bits, from 0 (all is known) to 1.

    A population is everybody who meets a conjunction of conditions on quasi-identifiers, each a value or a node of the
    hierarchy; it is large when at least a share `minsup` of the records of the table are in it. A cell that stands for
    several values stands for each of them alike. Of a population that nobody published can be in, the whole release is
    expected. Several sensitive attributes count as a mean; the detail has each.

    Does not look at small populations, or at columns without a role. Records count, not people, and left-out records
    tell nothing.

    Reference: T. Li, N. Li, On the tradeoff between privacy and utility in data publishing, 2009.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["M"] * 4 + ["F"] * 4, "age": list("yyooyyoo"),
        ...     "disease": ["flu", "hiv", "flu", "flu", "hiv", "cold", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["sex", "age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=8))
        >>> round(UtilityLoss(minsup=0.25).score(data, release).value, 6)
        0.167838
    """

    minsup: Annotated[float, Gt(0), Le(1), Doc("the least share of the records in a large population")] = 0.05

    quick: ClassVar[bool] = False
    flawless: ClassVar[float | None] = 0.0
    examples: ClassVar[Examples] = ({}, {"minsup": 0.25})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        quasi, sensitive = dataset.schema.quasi, dataset.schema.sensitive
        if not sensitive:
            raise NotDefined("the table names no sensitive attribute, about which populations could be asked")
        truth = Expected.of_dataset(dataset, (*quasi, *sensitive))
        estimate = Expected.of_release(release, (*quasi, *sensitive))
        if not estimate.records:
            raise NotDefined("no record is published, so nothing can be expected of anybody")
        means, counts = {}, 0
        for name in sensitive:
            losses = _losses(truth, estimate, quasi, name, self.minsup * dataset.records)
            if not len(losses):
                raise NotDefined("no population is large enough; ask for a smaller share with minsup")
            means[name], counts = float(losses.mean()), len(losses)
        mean, detail = float(np.mean(list(means.values()))), means if len(means) > 1 else {}
        label = "utility-loss: how wrong large populations look"
        how = "Li & Li: mean divergence between true and expected sensitive values"
        how += f" in {counts:,} populations of at least {self.minsup:.3g} of the records"
        return Finding(name="utility-loss", label=label, value=mean, unit="bits", how=how, detail=detail)


def _losses(truth: Expected, estimate: Expected, quasi: tuple[str, ...], name: str, least: float) -> Floats:
    """The divergence in each large population."""
    every = np.arange(truth.trees[name].size, dtype=np.int32)
    overall = estimate.marginal(name, every)
    losses: list[Floats] = []
    waiting = populations(truth, estimate, quasi, name, least)
    while block := list(islice(waiting, BLOCK)):
        if len(losses) * BLOCK > MOST:
            raise NotDefined(f"more than {MOST:,} populations are large enough; ask for a larger share with minsup")
        true, expected = (np.stack([getattr(each, side) for each in block]) for side in ("truth", "estimate"))
        totals = expected.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, expected / np.where(totals > 0, totals, 1.0), overall)
        losses.append(divergence(true / true.sum(axis=1, keepdims=True), shares))
    return np.concatenate(losses) if losses else np.zeros(0)
