"""Complementary release: rows of several releases of one table, joined."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.adversary.joining import align_classes, all_releases, fewest_candidates, joined_risk
from shoal.attacks._joined_releases import JoinedReleases
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.release import Release
from shoal.core.release_history import AlignedReleases
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class ComplementaryRelease(JoinedReleases):
    """Knows the quasi-identifiers of everybody, and which rows of the releases belong together, as sensitive values or
    plain columns that stand in both often tell. A person then hides only among those who are in the same class in
    every release that shows the person. Two releases of one table that are 5-anonymous each may single everybody out
    together.

    `success` is the mean over people of 1 over that number, `worst` the greatest. `baseline` is the same with the
    earlier releases alone. `detail` has the `k` of the joined releases, of each release alone (`alone`, the attacked
    one last), and `gained`, the share of the people who are above the threshold with all releases and in none of them
    alone. Rows are joined from release to release by columns that are published as they are; releases without such a
    column tell what they tell alone. Somebody whom a release leaves out is looked for in the others.

    It is the worst case: rows that have the same values in the joining columns cannot be told apart, and then the risk
    is lower. Does not use who joined or left between two releases (temporal-release does), nor say what is learned.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm"), "ill": list("abcd")})
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["ill"])
        >>> searches = [shoal.algorithms.Optimal(greatest_levels={name: 0}) for name in ("age", "sex")]
        >>> first, second = (shoal.anonymize(data, "k-anonymity:k=2", algorithm=each) for each in searches)
        >>> found = shoal.attack(data, second, ComplementaryRelease(), earlier=[first])[0]
        >>> found.baseline, found.success
        (0.5, 1.0)
    """

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        releases = all_releases(known)
        people = align_classes(releases)
        together = joined_risk(people, releases)
        run.check()
        before = joined_risk(people.some(range(len(releases) - 1)), releases[:-1])
        return self.attempt_joined(
            people,
            releases,
            together,
            before,
            {"alone": [_smallest(people.some([row])) for row in range(len(releases))]},
            knew="the quasi-identifiers of everybody, and which rows of the releases belong together",
            meaning="how often somebody who is in the same class in every release is the person",
        )


def _smallest(people: AlignedReleases) -> int:
    """The fewest people in a class of one release."""
    counts = fewest_candidates(people)
    return int(counts[counts > 0].min(initial=len(counts)))
