"""The exposure of households: how many are singled out by their members, and what that adds to everybody's risk."""

from __future__ import annotations

from shoal.adversary.households import Residents
from shoal.core.classes import Classes
from shoal.core.finding import Finding


def household_exposure(classes: Classes, residents: Residents) -> tuple[Finding, ...]:
    """How many households there are and stand alone, and how many people are expected to be found: each for
    themselves, and when whoever finds one member of a household finds all.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fmfmff"), "home": [1, 1, 2, 2, 3, 3]})
        >>> data = shoal.read(table, quasi=["sex"], household="home")
        >>> findings = shoal.diagnose(data)
        >>> findings["unique-households"].value, round(findings["household-reidentifications"].value, 2)
        (1, 3.38)
    """
    risks, by_home = residents.risks, residents.household_risks
    smallest = int(classes.household_counts.min(initial=len(by_home)))
    together = float(by_home[residents.homes].sum())
    return (
        Finding(name="households", value=len(by_home), how="households of these people", unit="households"),
        Finding(
            name="k-households", value=smallest, how="the households in the class that has the fewest",
            unit="households",
        ),
        Finding(
            name="unique-households", value=int((residents.household_classes == 1).sum()), unit="households",
            how="households whose members, taken together, no other household has",
        ),
        Finding(
            name="highest-household-risk", value=float(by_home.max(initial=0.0)), unit="share",
            how="the chance to find somebody of the household, 1 - the product of (1 - 1 / class) over its members",
        ),
        Finding(
            name="average-household-risk", value=float(by_home.mean()) if len(by_home) else 0.0, unit="share",
            how="the same chance for every household, in the mean",
        ),
        Finding(
            name="expected-reidentifications", value=float(risks.sum()), unit="people",
            how="people who are expected to be found: the sum of everybody's risk, 1 / class",
            detail={"share": float(risks.mean()) if len(risks) else 0.0},
        ),
        Finding(
            name="household-reidentifications", value=together, unit="people",
            how="the same when whoever finds one member of a household finds all",
            detail={"share": together / max(len(risks), 1)},
        ),
    )  # fmt: skip
