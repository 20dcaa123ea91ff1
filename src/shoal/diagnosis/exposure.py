"""The exposure of a set of attributes: its k, and whom it singles out."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.finding import Finding, Findings
from shoal.diagnosis.survey_risk import survey_risk


class _Words(NamedTuple):
    smallest: str
    unique: str
    highest: str
    average: str
    below: str


WORDS = {
    "records": _Words(
        "the smallest class",
        "records that no other one equals",
        "the chance to find the record of a person who is known to be in the table, in the smallest class",
        "the same chance for everybody, in the mean: classes / records",
        "in classes of fewer than {k}",
    ),
    "people": _Words(
        "the people in the smallest class",
        "people who are alone in a class",
        "the chance to find a person who is known to be in the table, in the smallest class",
        "the same chance for everybody, in the mean: classes / people in them",
        "in a class below {k} people",
    ),
}
"""How figures are explained, by what is counted. Somebody may be in several classes: who is alone in one is unique."""


def exposure(classes: Classes, k: int | None = None) -> Findings:
    """The k that a grouping has, the people that it singles out, and the risk of being found by it.

    Example:
        >>> import numpy as np
        >>> from shoal.core.classes import summarize
        >>> found = exposure(summarize(["sex"], [np.array([0, 0, 1], np.int32)], [2]), k=2)
        >>> found["k"].value, found["unique-records"].value, found["records-below-k"].value
        (1, 1, 1)
    """
    people, sizes = classes.people, classes.headcounts
    who = "records" if people is None else "people"
    words = WORDS[who]
    smallest, total = int(sizes.min()) if len(sizes) else 0, int(sizes.sum())

    def count(chosen: NDArray[np.bool_]) -> int:
        """How many records, or different people, are in some classes."""
        if people is None:
            return int(sizes[chosen].sum())
        return int(np.count_nonzero(np.bincount(people.values[chosen[people.owners]])))

    holds, claim = (None, "") if k is None else (smallest >= k, f"{k}-anonymous")
    findings = [
        Finding(name="k", value=smallest, bound=k, holds=holds, how=words.smallest, unit=who, claim=claim),
        Finding(name="classes", value=len(sizes), how="distinct combinations", unit="classes"),
        Finding(name=f"unique-{who}", value=count(sizes == 1), how=words.unique, unit=who),
        Finding(name="highest-risk", value=1 / smallest if smallest else 0.0, how=words.highest, unit="share"),
        Finding(name="average-risk", value=len(sizes) / total if total else 0.0, how=words.average, unit="share"),
    ]
    if people is not None:
        whose = f"whose records these are, by column {people.column!r}"
        records = int(classes.sizes.sum())
        findings[1:1] = [
            Finding(name="people", value=count(sizes > 0), how=whose, unit="people"),
            Finding(name="records", value=records, how="records of these people", unit="records"),
        ]
        dominance = float((people.greatest(people.counts) / classes.sizes).max(initial=0.0))
        how = "the greatest share of the records of a class that are one person's"
        findings.append(Finding(name="dominance", value=dominance, how=how, unit="share"))
    if k is not None:
        below, how = count(sizes < k), words.below.format(k=k)
        findings.append(Finding(name=f"{who}-below-k", value=below, bound=0, holds=below == 0, how=how, unit=who))
    return Findings((*findings, *survey_risk(classes)))


def linked(people: Histogram) -> Finding:
    """How many people all their records together single out, where it can be seen which records are one person's.

    Example:
        >>> import numpy as np
        >>> from shoal.core.classes import summarize
        >>> ages, who = np.array([0, 0, 0, 1], np.int32), np.array([0, 1, 2, 2], np.int32)
        >>> linked(summarize(["age"], [ages], [2], person=("who", who, 3)).people).value
        1
    """
    order = np.argsort(people.values, kind="stable")
    entries = np.stack([people.owners, people.counts], axis=1)[order]
    firsts = np.flatnonzero(np.diff(people.values[order], prepend=-1))
    histories = Counter(part.tobytes() for part in np.split(entries, firsts[1:]))
    alone = sum(count == 1 for count in histories.values())
    how = "people whose classes, with how many records they have in each, nobody else has: pseudonyms show that"
    return Finding(name="unique-by-all-records", value=alone, how=how, unit="people")
