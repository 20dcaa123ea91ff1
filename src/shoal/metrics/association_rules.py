"""Association rules: which are lost, which appear, and how far the rest shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.association_rules import Mined, compared
from shoal.utility.expected import Expected


@dataclass(frozen=True, kw_only=True)
class AssociationRules(Metric):
    """The share of the association rules of the table that the release loses. The detail has the share of the release's
    rules that the table does not have (ghosts), and how far support and confidence shift on average over all rules of
    either.

    A rule says that records with some values often have another one. Both tables are mined at the same support and
    confidence, over quasi-identifiers and sensitive attributes; a cell that stands for several values counts for each
    of them in proportion, so that a rule is always about values of the table.

    Does not look at rules about ranges of numbers, and shows no rule. Left-out records do not count. Only for truthful
    forms.

    Reference: V. Verykios and others, State-of-the-art in privacy preserving data mining, 2004.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["job"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=4))
        >>> shoal.metrics.AssociationRules().score(data, release).value
        1.0
    """

    support: Annotated[float, Gt(0), Le(1), Doc("the least share of the records that a rule is about")] = 0.1
    confidence: Annotated[
        float, Gt(0), Le(1), Doc("the least share of those with the first values that have the last")
    ] = 0.6
    longest: Annotated[int, Ge(2), Doc("values in a rule at most")] = 3

    quick: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"support": 0.2, "confidence": 0.5, "longest": 2})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        if not release.view.truthful:
            raise NotDefined("the values are perturbed, so that cells do not say which values they stand for")
        names = (*dataset.schema.quasi, *dataset.schema.sensitive)
        before = Mined.of(Expected.of_dataset(dataset, names), names, self.support, self.confidence, self.longest)
        if not before.rules:
            raise NotDefined("the table has no rule of this support and confidence; ask for less")
        after = Mined.of(Expected.of_release(release, names), names, self.support, self.confidence, self.longest)
        changes = compared(before, after)
        label = "association-rules: share of the rules that are lost"
        how = f"share of the {len(before.rules):,} rules of the table that the release does not have"
        detail = {
            "rules of the table": len(before.rules),
            "rules of the release": len(after.rules),
            "lost": changes.lost,
            "ghost": changes.ghost,
            "mean shift of support": changes.support,
            "mean shift of confidence": changes.confidence,
        }
        return Finding(name="association-rules", label=label, value=changes.lost, unit="share", how=how, detail=detail)
