"""Composition: what several releases say together about a person's sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.composition import Composed, composed
from shoal.core.contracts import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats
from shoal.core.joining import gained, laid_out
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.seen import Beside, Seen, Spread, beside
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class Composition(Attack):
    """Knows in which group of each release everybody is, and keeps the values that fit all of them: every world gives
    each group of each release the values that it is published with, and all worlds are equally likely.

    `success` is the mean over people of the probability of the most likely value, `worst` the greatest, `baseline` the
    same with the earlier releases alone; where nobody has been published before, the most frequent value. With several
    sensitive attributes the one that gives most away counts. `detail` has `certain`, the share of the people of whom
    one value is left, `gained`, the share of those above the threshold who are more exposed than in any release alone,
    and `exact`, the share of the people whose probabilities come from counting worlds. The others are in groups that
    hang together too widely: theirs is an estimate, the product of the shares in the groups over the share in the
    table, once for each further release. What is ruled out is certain there too.

    With `independent`, the releases are of independent samples, and that product is all there is.

    A value must stay the same from one release to the next, and everybody must have one record. Does not use sensitive
    attributes together, nor that one column follows from another.

    Reference: S. R. Ganta and others, Composition attacks and auxiliary information in data privacy, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm"), "ill": list("abba")})
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["ill"])
        >>> searches = [shoal.Optimal(greatest_levels={name: 0}) for name in ("age", "sex")]
        >>> first, second = (shoal.anonymize(data, "distinct-l-diversity:l=2", algorithm=each) for each in searches)
        >>> found = shoal.attack(data, second, Composition(), earlier=[first])[0]
        >>> found.baseline, found.success, found.detail["exact"]
        (0.5, 0.5, 1.0)
    """

    threshold: Annotated[float, Ge(0), Le(1), Doc("the certainty above which a record counts as exposed")] = 0.9
    independent: Annotated[bool, Doc("whether the releases are of independent samples of one population")] = False
    nodes: Annotated[int, Ge(0), Doc("steps of the search up to which worlds are counted, and not estimated")] = 200_000

    examples: ClassVar[Examples] = ({}, {"independent": True})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        releases = laid_out(known)
        if any(each.several for each in releases):
            raise NotDefined("people may have several records, and so several values; what fits all is not counted")
        names = [name for name in releases[-1].values if all(name in each.values for each in releases)]
        if not names:
            raise NotDefined("no sensitive attribute stands in all of the releases")
        people = beside(releases, [each.groups for each in releases])
        attempts = [self._guessing(name, releases, people, run) for name in names]
        return max(attempts, key=lambda attempt: (attempt.detail["gained"], attempt.worst, attempt.success))

    def _guessing(self, name: str, releases: tuple[Seen, ...], people: Beside, run: Run) -> Attempt:
        spreads = [each.values[name] for each in releases]
        shown = people.shown
        places = people.places[:, shown]
        found = self._composed(places, spreads, run)
        risks = found.best[found.kinds]
        apart = np.stack([_alone(row, spread) for row, spread in zip(places, spreads, strict=True)])
        published = (places[:-1] >= 0).any(axis=0)
        without = np.full(len(risks), _most_frequent(spreads[-1]))
        if len(spreads) == 2:
            without[published] = apart[0][published]
        elif published.any():
            before = self._composed(places[:-1][:, published], spreads[:-1], run)
            without[published] = before.best[before.kinds]
        count = max(len(risks), 1)
        return Attempt(
            name="composition",
            success=float(risks.sum()) / count,
            baseline=float(without.sum()) / count,
            worst=float(risks.max(initial=0.0)),
            above=int((risks > self.threshold).sum()) / count,
            threshold=self.threshold,
            knew="the group of everybody in each release"
            + (", and that the releases are of independent samples" if self.independent else ""),
            meaning="how often the value that fits all releases best is the person's",
            detail={
                "attribute": name, "exact": found.share_exact,
                "certain": int(found.sizes[found.best >= 1.0].sum()) / count,
                "gained": int(gained(risks, apart.max(axis=0), self.threshold).sum()) / count,
                "alone": [float(row.max(initial=0.0)) for row in apart],
            },
        )  # fmt: skip

    def _composed(self, places: np.ndarray, spreads: list[Spread], run: Run) -> Composed:
        return composed(places, spreads, nodes=self.nodes, independent=self.independent, run=run)


def _alone(places: np.ndarray, spread: Spread) -> Floats:
    """For each person, how likely the most frequent value of the person's group is."""
    most = np.zeros(len(spread.sizes))
    np.maximum.at(most, spread.owners, spread.counts / spread.sizes[spread.owners])
    return np.where(places >= 0, most[places], 0.0)


def _most_frequent(spread: Spread) -> float:
    """The share of the most frequent value of a release."""
    totals = np.bincount(spread.values, weights=spread.counts)
    return float(totals.max(initial=0.0) / max(totals.sum(), 1))
