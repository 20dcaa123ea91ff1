"""The exposure of a set of attributes: its k, and whom it singles out."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.finding import Finding, Findings


def exposure(classes: Classes, k: int | None = None) -> Findings:
    """The k that a grouping has, the people that it singles out, and the risk of being found by it.

    Example:
        >>> import numpy as np
        >>> from shoal.core.classes import summarize
        >>> found = exposure(summarize(["sex"], [np.array([0, 0, 1], np.int32)], [2]), k=2)
        >>> found["k"].value, found["unique-records"].value, found["records-below-k"].value
        (1, 1, 1)
    """
    if classes.people is not None:
        return _of_people(classes, classes.people, k)
    sizes = classes.sizes
    records = int(sizes.sum())
    smallest = int(sizes.min()) if len(sizes) else 0
    unique = int((sizes == 1).sum())
    findings = [
        Finding(
            name="k",
            value=smallest,
            bound=k,
            holds=None if k is None else smallest >= k,
            how="the smallest class",
            unit="records",
            claim="" if k is None else f"{k}-anonymous",
        ),
        Finding(name="classes", value=len(sizes), how="distinct combinations", unit="classes"),
        Finding(name="unique-records", value=unique, how="records that no other one equals", unit="records"),
        Finding(
            name="highest-risk",
            value=1 / smallest if smallest else 0.0,
            unit="share",
            how="the chance to find the record of a person who is known to be in the table, in the smallest class",
        ),
        Finding(
            name="average-risk",
            value=len(sizes) / records if records else 0.0,
            unit="share",
            how="the same chance for everybody, in the mean: classes / records",
        ),
    ]
    if k is not None:
        below = int(sizes[sizes < k].sum())
        findings.append(
            Finding(
                name="records-below-k",
                value=below,
                bound=0,
                holds=below == 0,
                how=f"in classes of fewer than {k}",
                unit="records",
            )
        )
    return Findings(tuple(findings))


def _of_people(classes: Classes, people: Histogram, k: int | None) -> Findings:
    """The same, counted in people. Somebody may be in several classes: who is alone in one of them is unique."""
    heads = classes.headcounts
    smallest = int(heads.min()) if len(heads) else 0
    places = int(heads.sum())

    def among(chosen: NDArray[np.bool_]) -> int:
        return len(np.unique(people.values[chosen[people.owners]]))

    findings = [
        Finding(
            name="k", value=smallest, bound=k, holds=None if k is None else smallest >= k,
            how="the people in the smallest class", unit="people", claim="" if k is None else f"{k}-anonymous",
        ),
        Finding(
            name="people", value=among(heads > 0), how=f"whose records these are, by column {people.column!r}",
            unit="people",
        ),
        Finding(name="records", value=int(classes.sizes.sum()), how="records of these people", unit="records"),
        Finding(name="classes", value=len(heads), how="distinct combinations", unit="classes"),
        Finding(
            name="unique-people", value=among(heads == 1), how="people who are alone in a class", unit="people"
        ),
        Finding(
            name="highest-risk", value=1 / smallest if smallest else 0.0,
            how="the chance to find a person who is known to be in the table, in the smallest class", unit="share",
        ),
        Finding(
            name="average-risk", value=len(heads) / places if places else 0.0,
            how="the same chance for everybody, in the mean: classes / people in them", unit="share",
        ),
        Finding(
            name="dominance", value=float((people.greatest(people.counts) / classes.sizes).max(initial=0.0)),
            how="the greatest share of the records of a class that are one person's", unit="share",
        ),
    ]  # fmt: skip
    if k is not None:
        below = among(heads < k)
        findings.append(
            Finding(
                name="people-below-k",
                value=below,
                bound=0,
                holds=below == 0,
                how=f"in a class below {k} people",
                unit="people",
            )
        )
    return Findings(tuple(findings))


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
    seen = Counter(part.tobytes() for part in np.split(entries, firsts[1:]))
    return Finding(
        name="unique-by-all-records", value=sum(count == 1 for count in seen.values()),
        how="people whose classes, with how many records they have in each, nobody else has: pseudonyms show that",
        unit="people",
    )  # fmt: skip
