"""The risk of a survey, from its weights: how many people records stand for, and how many of them are found."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.adversary.individual_risk import individual_risk
from shoal.adversary.survey_frequencies import SurveyFrequencies, frequencies_of, unknown_leaves
from shoal.core.classes import Classes
from shoal.core.finding import Finding

WILDCARD = "-wildcard"
"""How the names of figures end that take a missing value for any; without it, it is a value of its own."""


def survey_risk(classes: Classes) -> list[Finding]:
    """The population of weighted classes, and the individual and global risk; none where there are no weights.

    Where values are missing, the figures of wildcard counting stand beside them under names of their own.

    Example:
        >>> from shoal.core.classes import summarize
        >>> import numpy as np
        >>> from dataclasses import replace
        >>> sexes = summarize(["sex"], [np.array([0, 0, 0, 1], np.int32)], [2])
        >>> [(each.name, each.words) for each in survey_risk(replace(sexes, weights=np.array([108.0, 45.5])))][:3]
        [('population', '153.5 people'), ('smallest-population', '45.5 people'), ('highest-individual-risk', '8.6 %')]
    """
    if classes.weights is None:
        return []
    frequencies = frequencies_of(classes)
    smallest = float(frequencies.population.min(initial=frequencies.everybody))
    findings = [
        Finding(
            name="population", value=frequencies.everybody, unit="people",
            how="people of the population whom the records stand for: the sum of the weights",
        ),
        Finding(
            name="smallest-population", value=smallest, unit="people",
            how="people of the population in the smallest class, as the weights estimate it: its k-map",
        ),
        *_risks(frequencies),
    ]  # fmt: skip
    unknown = unknown_leaves(classes)
    if unknown.any():
        findings += _risks(frequencies_of(classes, unknown), WILDCARD)
    return findings


def _risks(frequencies: SurveyFrequencies, ending: str = "") -> Iterator[Finding]:
    risks = individual_risk(frequencies.sample, frequencies.population)
    expected, people = float(risks @ frequencies.heads), max(int(frequencies.heads.sum()), 1)
    counted = ", a missing value taken for any" if ending else ""
    yield Finding(
        name=f"highest-individual-risk{ending}", value=float(risks.max(initial=0.0)), unit="share",
        how=f"the greatest chance that a record is linked to the right person of the population{counted}",
    )  # fmt: skip
    yield Finding(
        name=f"global-risk{ending}", value=expected / people, unit="share",
        how=f"the same chance for everybody, in the mean{counted}",
    )  # fmt: skip
    yield Finding(
        name=f"expected-reidentifications{ending}", value=expected, unit="people",
        how=f"people whose records are linked to them when all are: the sum of these chances{counted}",
    )  # fmt: skip
