"""Temporal release: people who came and left between releases stand out."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.adversary.joining import align_classes, all_releases, fewest_candidates, joined_risk, risk
from shoal.attacks._joined_releases import JoinedReleases
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class TemporalRelease(JoinedReleases):
    """Knows what complementary-release knows, and who was in the table at the time of each release. Rows of a class
    that were there before are those of people who were: a newcomer hides only among the newcomers of the class, and
    somebody who left among those of the earlier class who left too.

    `success` is the mean over people of 1 over the number of those who came, stayed and left with them in the same
    classes; `baseline` is the same without the release, where people are found in the earlier ones alone. `detail` has
    how many `came` since the last earlier release, `left` and `stayed`, the `k` of all releases together, and
    `gained`, the share of the people above the threshold who are not above it in any release alone.

    It is the worst case: rows with the same values in all columns that stand in both releases cannot be told apart, and
    then the risk is lower. People who left count only where the earlier table is known, by a ledger or in Python; a
    file tells how many left a class, not who. Does not say what is learned of somebody who is found.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002; J.-W. Byun and others, Secure
    anonymization for incremental datasets, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"name": list("ABCDE"), "age": [1, 1, 1, 1, 1], "ill": list("abcde")})
        >>> tables = [shoal.read(part, quasi=["age"], sensitive=["ill"], identifiers=["name"]) for part in
        ...           (table[:4], table)]
        >>> first, second = (shoal.anonymize(each, shoal.KAnonymity(k=4), seed=1) for each in tables)
        >>> found = shoal.attack(tables[1], second, TemporalRelease(), earlier=[first])[0]
        >>> found.worst, found.detail["came"]
        (1.0, 1)
    """

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        releases = all_releases(known)
        people = align_classes(releases)
        if not people.moved:
            raise NotDefined("the same people are in all of the releases: nobody came or left between them")
        # Where nothing joins rows, nobody can say which of them were there before.
        together = joined_risk(people, releases, over_time=True)
        run.check()
        then, now = people.present[-2], people.present[-1]
        changes = {"came": now & ~then, "left": then & ~now, "stayed": then & now}
        return self.attempt_joined(
            people,
            releases,
            together,
            risk(fewest_candidates(people.some(range(len(releases) - 1)))),
            {name: people.people(chosen) for name, chosen in changes.items()},
            knew="the quasi-identifiers of everybody, who was in the table when, and which rows belong together",
            meaning="how often somebody who came, stayed or left alike is the person",
        )
