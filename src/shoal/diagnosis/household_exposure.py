"""The exposure of households: how many are singled out by their members, and what that adds to everybody's risk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from shoal.adversary.households import Residents
from shoal.adversary.individual_risk import individual_risk
from shoal.adversary.survey_frequencies import frequencies_of
from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.errors import NotDefined


def household_exposure(data: Dataset, classes: Classes) -> Iterator[Finding]:
    """How many households of a table there are and stand alone, and how many people are expected to be found: each for
    themselves, and when whoever finds one member of a household finds all. Where there are survey weights, by the
    individual risk. Nothing where no column says who lives with whom.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fmfmff"), "home": [1, 1, 2, 2, 3, 3]})
        >>> data = shoal.read(table, quasi=["sex"], household="home")
        >>> findings = shoal.diagnose(data)
        >>> findings["unique-households"].value, round(findings["household-reidentifications"].value, 2)
        (1, 3.38)
    """
    if classes.households is not None:
        yield from _figures(classes, Residents.of(classes, data.homes, _weighted_risks(classes)), classes)


def released_household_exposure(data: Dataset, release: Release, classes: Classes) -> Iterator[Finding]:
    """The same of the published classes of a release."""
    if classes.households is None:
        return
    weighted = classes
    with suppress(NotDefined):  # without the plan, nobody knows what a class weighs
        weighted = release.weighted()
    yield from _figures(classes, Residents.released(data, release, _weighted_risks(weighted)), weighted)


def _weighted_risks(classes: Classes) -> Floats | None:
    """The individual risk of a person in each class, where there are weights."""
    if classes.weights is None:
        return None
    frequencies = frequencies_of(classes)
    return individual_risk(frequencies.sample, frequencies.population)


def _figures(classes: Classes, residents: Residents, weighted: Classes) -> Iterator[Finding]:
    risks, by_home = residents.risks, residents.household_risks
    smallest = int(classes.household_counts.min(initial=len(by_home)))
    chance = "1 / class" if weighted.weights is None else "the individual risk"
    together = float(by_home[residents.homes].sum())
    yield Finding(name="households", value=len(by_home), how="households of these people", unit="households")
    yield Finding(
        name="k-households", value=smallest, unit="households", how="the households in the class that has the fewest"
    )
    yield Finding(
        name="unique-households", value=int((residents.household_classes == 1).sum()), unit="households",
        how="households whose members, taken together, no other household has",
    )  # fmt: skip
    yield Finding(
        name="highest-household-risk", value=float(by_home.max(initial=0.0)), unit="share",
        how=f"the chance to find somebody of the household, 1 - the product of (1 - {chance}) over its members",
    )  # fmt: skip
    yield Finding(
        name="average-household-risk", value=float(by_home.mean()) if len(by_home) else 0.0, unit="share",
        how="the same chance for every household, in the mean",
    )  # fmt: skip
    if weighted.weights is None:  # else the survey's risk has it
        yield Finding(
            name="expected-reidentifications", value=float(risks.sum()), unit="people",
            how="people who are expected to be found: the sum of everybody's risk, 1 / class",
        )  # fmt: skip
    yield Finding(
        name="household-reidentifications", value=together, unit="people",
        how="expected re-identifications when whoever finds one member of a household finds all",
        detail={"share": together / max(len(risks), 1)},
    )  # fmt: skip
