"""Minimality: whoever knows the algorithm rules out tables of which it would have made another release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import factorial, prod
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.locating import groups_of_records
from shoal.adversary.rerun import Rerun, check_small
from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined

World = tuple[tuple[int, ...], ...]
"""How many people of each kind have each value."""


@dataclass(frozen=True, kw_only=True)
class Minimality(Attack):
    """Knows everybody's quasi-identifiers, the algorithm, the policy and the seed. An algorithm that loses no more than
    it must publishes a class as one only because parts of it break the policy, and that says something about their
    sensitive values.

    Exact on small tables: every way to hand the sensitive values of a group out to its people is tried, the algorithm
    is run on each, and only those of which it makes this very release are kept. `success` is the mean over people of
    the probability of their most likely value, `worst` the greatest; `detail` has the `worlds` that were possible and
    that are `left`, and as `naive` the success of somebody who does not know the algorithm.

    Where there are more worlds than `worlds`, `detail` says that it is not `exact`, and why: `success` and `worst` are
    then what the groups alone say, and people may be more exposed. `would_be_split` counts the groups that are large
    enough to be cut in two at the median of a quasi-identifier and break the policy however they are cut so: in each,
    the algorithm gave away that something kept it whole.

    Does not use anything else that the attacker may know. With several sensitive attributes nothing is enumerated.

    Reference: R. Wong, A. Fu, K. Wang, J. Pei, Minimality attack in privacy preserving data publishing, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"job": list("aabbbb"), "ill": ["hiv", "hiv", "no", "no", "no", "no"]})
        >>> data = shoal.read(table, quasi=["job"], sensitive=["ill"])
        >>> model = shoal.models.AlphaKAnonymity(alpha=0.5, k=1, values=("hiv",))
        >>> release = shoal.anonymize(data, model, algorithm="optimal", seed=1)
        >>> found = shoal.attack(data, release, "minimality")[0]
        >>> found.worst, found.detail["worlds"], found.detail["left"]
        (1.0, 15, 1)
    """

    threshold: Annotated[Share, Doc("the certainty above which a person counts as exposed")] = 0.9
    worlds: Annotated[int, Ge(0), Doc("how many tables are tried at most; each is anonymized anew")] = 500
    seeds: Annotated[
        int, Ge(0), Doc("0: the attacker knows the seed; else so many are tried, and a table counts by how many fit")
    ] = 0

    examples: ClassVar[Examples] = ({"worlds": 0}, {"threshold": 0.3, "worlds": 20})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        groups = release.view.groups()
        if not groups.sensitive:
            raise NotDefined("there is no sensitive attribute to guess")
        if release.policy is None:
            raise NotDefined("there is no manifest, so the policy that the release was made for is not known")
        places = groups_of_records(dataset, release)
        try:
            return self._exact(dataset, release, groups, places, run)
        except NotDefined as reason:
            return self._by_groups(dataset, release, groups, places, str(reason))

    def beliefs(
        self, dataset: Dataset, release: Release, groups: Classes, places: Codes, run: Run
    ) -> tuple[_People, Floats, int, int]:
        """The kinds of people, what is believed of each (the probability of each value), and how many worlds were
        possible and are left; raises `NotDefined` where they cannot be tried."""
        check_small(dataset)
        if len(groups.sensitive) > 1:
            raise NotDefined("there are several sensitive attributes")
        (histogram,) = groups.sensitive
        people = _People.of(dataset, places, histogram)
        worlds = people.worlds(self.worlds)
        rerun = Rerun.of(dataset, release, run)
        possible = left = weight = 0
        shares = np.zeros((len(people.sizes), people.width))
        for tried, world in enumerate(worlds):
            run.report(tried / len(worlds), "trying other tables")
            ways, table = people.ways(world), people.table(world, rerun)
            fitting = sum(rerun.fits(table, run, seed) for seed in (range(self.seeds) if self.seeds else (None,)))
            possible += ways
            left += ways * bool(fitting)
            weight += ways * fitting
            shares += ways * fitting * np.array(world, np.float64)
        if not weight:
            raise NotDefined(f"none of {self.seeds} seeds gives this release")
        return people, shares / (weight * people.sizes[:, None]), possible, left

    def _exact(self, dataset: Dataset, release: Release, groups: Classes, places: Codes, run: Run) -> Attempt:
        people, beliefs, possible, left = self.beliefs(dataset, release, groups, places, run)
        (histogram,) = groups.sensitive
        detail = {"exact": True, "worlds": possible, "left": left, "naive": _naive(histogram)}
        return self._over(beliefs.max(axis=1), people.sizes, histogram, detail)

    def _by_groups(self, dataset: Dataset, release: Release, groups: Classes, places: Codes, reason: str) -> Attempt:
        histogram = groups.sensitive[0]
        for other in groups.sensitive[1:]:
            histogram = other if _naive(other) > _naive(histogram) else histogram
        split = _would_be_split(dataset, release, places, len(groups))
        detail = {
            "exact": False,
            "why": reason,
            "naive": _naive(histogram),
            "groups": len(groups),
            "would_be_split": int(split.sum()),
            "people_in_those": float(groups.sizes[split].sum() / max(groups.sizes.sum(), 1)),
        }
        most = histogram.greatest(histogram.counts) / histogram.sizes.clip(1)
        return self._over(most, histogram.sizes, histogram, detail)

    def _over(self, risks: Floats, people: Counts, histogram: Histogram, detail: dict[str, Any]) -> Attempt:
        return self.attempt_over(
            risks,
            people,
            baseline=float(histogram.priors.max(initial=0.0)),
            knew="which group a person is in, everybody's quasi-identifiers, the algorithm, the policy and the seed",
            meaning="how often the most likely sensitive value is the person's, at least",
            detail=detail,
        )


def _naive(histogram: Histogram) -> float:
    """How often the most frequent value of the group is right."""
    return float(histogram.greatest(histogram.counts).sum() / max(int(histogram.sizes.sum()), 1))


@dataclass(frozen=True, eq=False)
class _People:
    """Kinds of people who nobody can tell apart: the group of each kind, its tuple and how many they are; and how often
    each group has each value."""

    homes: Codes
    tuples: Codes
    sizes: Counts
    values: dict[int, dict[int, int]]
    width: int
    order: Counts

    @classmethod
    def of(cls, dataset: Dataset, places: Codes, histogram: Histogram) -> _People:
        summary = dataset.summary
        tuples = np.repeat(np.arange(len(summary), dtype=np.int32), summary.sizes)
        if int(places.min(initial=0)) < 0:
            raise NotDefined("somebody is left out of the release")
        kinds = group([places, tuples], index=True)
        entries = zip(histogram.owners.tolist(), histogram.values.tolist(), histogram.counts.tolist(), strict=True)
        values: dict[int, dict[int, int]] = {}
        for home, value, count in entries:
            values.setdefault(home, {})[value] = count
        order = np.argsort(kinds.index, kind="stable")
        return cls(kinds.keys[0], kinds.keys[1], kinds.counts, values, len(histogram.population), order)

    def worlds(self, most: int) -> list[World]:
        """Every world, kind by kind, when they are no more than so many."""
        parts: list[list[World]] = []
        count = 1
        for home in sorted(self.values):
            ways: list[World] = []
            for world in _worlds(self.sizes[self.homes == home].tolist(), self.values[home], self.width):
                ways.append(world)
                if count * len(ways) > most:
                    raise NotDefined(f"there are more than {most:,} tables to try")
            count *= len(ways)
            parts.append(ways)
        # Kinds stand in the order of their groups.
        return [tuple(row for part in chosen for row in part) for chosen in product(*parts)]

    def ways(self, world: World) -> int:
        """In how many ways the people of each kind can have so many of each value."""
        return prod(
            factorial(int(size)) // prod(map(factorial, row)) for size, row in zip(self.sizes, world, strict=True)
        )

    def table(self, world: World, rerun: Rerun) -> dict[str, Codes]:
        """A world as a table, records in the order of a plan by record."""
        values = np.concatenate([np.repeat(np.arange(len(row), dtype=np.int32), row) for row in world])
        column = np.empty(len(values), np.int32)
        column[self.order] = values
        (name,) = rerun.dataset.schema.sensitive
        return {**rerun.truth(), name: column}


def _worlds(sizes: list[int], values: dict[int, int], width: int) -> Iterator[World]:
    """Every way to hand values out to kinds of people: rows add up to their sizes, columns to how often a value is."""
    if not sizes:
        if not any(values.values()):
            yield ()
        return
    for row in _rows(sizes[0], list(values.items()), width):
        left = {value: count - row[value] for value, count in values.items()}
        for rest in _worlds(sizes[1:], left, width):
            yield (row, *rest)


def _rows(size: int, values: list[tuple[int, int]], width: int) -> Iterator[tuple[int, ...]]:
    """Every way to take so many of the values that are there."""
    if not values:
        if not size:
            yield (0,) * width
        return
    (value, count), *others = values
    least = max(0, size - sum(left for _, left in others))
    for times in range(least, min(size, count) + 1):
        for row in _rows(size - times, others, width):
            yield (*row[:value], times, *row[value + 1 :])


def _would_be_split(dataset: Dataset, release: Release, places: Codes, count: int) -> NDArray[np.bool_]:
    """Which groups are large enough for a cut at the median of some quasi-identifier, and break the policy by each."""
    assert release.policy is not None
    policy, summary = release.policy.by_class(), dataset.summary
    possible, holding = np.zeros((2, count), np.bool_)
    for keys in summary.keys:
        column = np.repeat(keys, summary.sizes)
        order = np.lexsort([column, places])
        inside = order[places[order] >= 0]
        edges = np.searchsorted(places[inside], np.arange(count + 1))
        middles = column[inside[np.minimum((edges[:-1] + edges[1:]) // 2, len(inside) - 1)]]
        sides = np.where(places >= 0, 2 * places + (column >= middles[places.clip(0)]), -1).astype(np.int32)
        sizes = np.bincount(sides[sides >= 0], minlength=2 * count).reshape(count, 2)
        large = sizes.min(axis=1) >= max(policy.least, 1)
        possible |= large
        there, numbers = np.unique(sides, return_inverse=True)
        index: Codes = (numbers - int(there[0] < 0)).astype(np.int32)
        there = there[there >= 0]
        holds = np.zeros(2 * count, np.bool_)
        holds[there] = policy.holds(dataset.partitioned(index, len(there), seed=policy.seed))
        holding |= large & holds.reshape(count, 2).all(axis=1)
    return possible & ~holding
