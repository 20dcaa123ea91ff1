"""Composition: what several releases say together about a person's sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.composition import Together, together
from shoal.adversary.joining import all_releases, newly_exposed
from shoal.adversary.locating import align
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.release_history import AlignedReleases, LocatedRelease, PublishedValues
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class Composition(Attack):
    """Knows in which group of each release everybody is, and keeps the values that fit all of them: every world gives
    each group of each release the values that it is published with, and all worlds are equally likely.

    `success` is the mean over people of the probability of the most likely value, `worst` the greatest, `baseline` the
    same with the earlier releases alone; where nobody has been published before, the most frequent value. Each
    sensitive attribute is looked at in the releases that have it, and the one that gives most away counts. `detail` has
    `certain`, the share of the people of whom one value is left, `gained`, the share of those above the threshold who
    are more exposed than in any release alone, and `exact`, the share of the people whose probabilities come from
    counting worlds. The others are in groups that hang together too widely: theirs is an estimate, the product of the
    shares in the groups over the share in the table, once for each further release. What is ruled out is certain there
    too. `contradicted` is the share of the people in whose groups no world fits all releases, because values were
    changed: they are estimated alike, and whose groups have no value in common by the release that says most.

    With `independent`, the releases are of independent samples, and that product is all there is.

    Where people have several records, each record keeps its value, and a person is as exposed as the most exposed of
    them. Does not use sensitive attributes together, nor that one column follows from another.

    Reference: S. R. Ganta and others, Composition attacks and auxiliary information in data privacy, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm"), "ill": list("abba")})
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["ill"])
        >>> searches = [shoal.algorithms.Optimal(greatest_levels={name: 0}) for name in ("age", "sex")]
        >>> first, second = (shoal.anonymize(data, "distinct-l-diversity:l=2", algorithm=each) for each in searches)
        >>> found = shoal.attack(data, second, Composition(), earlier=[first])[0]
        >>> found.baseline, found.success, found.detail["exact"]
        (0.5, 0.5, 1.0)
    """

    threshold: Annotated[Share, Doc("the certainty above which a record counts as exposed")] = 0.9
    independent: Annotated[bool, Doc("whether the releases are of independent samples of one population")] = False
    nodes: Annotated[
        int, Ge(0), Doc("steps up to which the worlds of groups that hang together are counted, and not estimated")
    ] = 200_000

    examples: ClassVar[Examples] = ({}, {"independent": True})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        releases = all_releases(known)
        names = [name for name in releases[-1].values if any(name in each.values for each in releases[:-1])]
        if not names:
            raise NotDefined("no sensitive attribute of the release stands in an earlier one")
        people = align(releases, [each.groups for each in releases])
        attempts = [self._guessing(name, releases, people, run) for name in names]
        return max(attempts, key=lambda attempt: (attempt.detail["gained"], attempt.worst, attempt.success))

    def _guessing(self, name: str, laid: tuple[LocatedRelease, ...], everybody: AlignedReleases, run: Run) -> Attempt:
        people = everybody.some([row for row, each in enumerate(laid) if name in each.values])
        releases = [each for each in laid if name in each.values]
        known = self._together(name, releases, people, run)
        without = np.full(len(people.owners), _most_frequent(releases[-1].values[name]))
        before = people.some(range(len(releases) - 1))
        if len(releases) > 2:
            without[before.shown] = self._together(name, releases[:-1], before, run).risks
        else:
            without[before.shown] = known.alone[0][before.shown[known.shown]]
        risks = people.by_person(people.spread(known.risks, known.shown), known.shown)
        count = max(len(risks), 1)

        def share(chosen: NDArray[np.bool_]) -> float:
            return people.people(people.spread(chosen, known.shown)) / count

        independent = ", and that the releases are of independent samples" if self.independent else ""
        return self.attempt_over(
            risks,
            baseline=float(people.by_person(without, known.shown).sum()) / count,
            knew=f"the group of everybody in each release{independent}",
            meaning="how often the value that fits all releases best is the person's",
            detail={
                "attribute": name,
                "exact": 1 - share(~known.exact),
                "certain": share(known.risks >= 1.0),
                "gained": share(newly_exposed(known.risks, known.alone.max(axis=0), self.line)),
                "contradicted": share(known.contradicted),
                "alone": [float(row.max(initial=0.0)) for row in known.alone],
            },
        )

    def _together(self, name: str, releases: list[LocatedRelease], people: AlignedReleases, run: Run) -> Together:
        return together(name, releases, people, nodes=self.nodes, independent=self.independent, run=run)


def _most_frequent(column: PublishedValues) -> float:
    """The share of the most frequent value of a release."""
    totals = np.bincount(column.values, weights=column.counts)
    return float(totals.max(initial=0.0) / max(totals.sum(), 1))
