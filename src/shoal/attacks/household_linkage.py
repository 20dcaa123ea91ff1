"""Household linkage: somebody who knows all members of a household."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from shoal.adversary.households import Residents
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class HouseholdLinkage(Attack):
    """Knows that a household is in the release, knows the quasi-identifiers of all its members, and finds one of them.
    Everybody has the risk of their household: whoever has one member has the others.

    Where households are not published, the attacker picks a record for each member: the chance that one of these is
    right is 1 - the product of (1 - 1 / class) over the members. Where pseudonyms show which records belong together,
    the attacker may also pick among the households that have just such members.

    Does not say what is learned from the right records, nor how likely it is to know all members of a household.

    Reference: A. Hundepool et al., Statistical disclosure control, 2012.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "home": [1, 1, 2, 2]})
        >>> data = shoal.read(table, quasi=["age"], household="home")
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal")
        >>> found = shoal.attack(data, release, "household-linkage")[0]
        >>> round(found.success, 4), found.detail["households"], found.detail["unique"]
        (0.4375, 2, 0)
    """

    threshold: Annotated[Share, Doc("the risk above which a person counts as exposed")] = LINE

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        residents = Residents.released(dataset, release)
        alike, risks = residents.household_classes, residents.household_risks
        shown = release.schema.household in release.published.names
        if shown:
            risks = np.maximum(risks, 1 / alike)
        sizes = np.bincount(residents.homes, minlength=len(risks))
        everybody = max(len(residents), 1)
        blind = -np.expm1(sizes * np.log1p(-1 / everybody)) if everybody > 1 else np.ones(len(sizes))
        which = ", and which records are of one household" if shown else ""
        return self.attempt_over(
            risks,
            sizes,
            baseline=float(blind @ sizes) / everybody,
            knew=f"that a household is in the release, and the quasi-identifiers of all its members{which}",
            meaning="how often somebody of a person's household is found",
            detail={
                "households": len(risks),
                "unique": int((alike == 1).sum()),
                "expected_reidentifications": float(residents.risks.sum()),
                "household_reidentifications": float(risks @ sizes),
            },
        )
