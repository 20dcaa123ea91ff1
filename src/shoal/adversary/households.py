"""Household risk: what is known of one member helps to find the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.households import homes_of
from shoal.core.release import Release
from shoal.errors import NotDefined

LONG = 32
"""Members of a household beyond which households are compared by what they have as a whole, which are few."""


def household_risks(risks: Floats, homes: Codes) -> Floats:
    """The chance that at least one member of a household is found, from the risk of each person and the number of the
    person's household: 1 − ∏(1 − r).

    Reference: A. Hundepool et al., Statistical disclosure control, 2012.

    Example:
        >>> household_risks(np.array([0.02, 0.03, 0.03]), np.zeros(3, np.int32)).round(6).tolist()
        [0.077918]
    """
    with np.errstate(divide="ignore"):
        spared = np.bincount(homes, np.log1p(-np.minimum(risks, 1.0)))
    combined: Floats = -np.expm1(spared)
    return combined


@dataclass(frozen=True, eq=False, repr=False)
class Residents:
    """People and their households: of each person the household (`homes`, numbered without gaps), the risk in the class
    where it is greatest (`risks`), and the classes that the person is in (`profiles`, of which equal ones have one
    number)."""

    homes: Codes
    risks: Floats
    profiles: Codes

    @classmethod
    def of(cls, classes: Classes, homes: Codes | None, risks: Floats | None = None) -> Residents:
        """The people of classes that know households; `homes` has the household of each person by code, where people
        may have several records. The `risks` are those of a person in each class; by default 1 over its people."""
        households = classes.households
        assert households is not None
        if risks is None:
            risks = 1 / np.maximum(classes.headcounts, 1)
        if classes.people is None or homes is None:
            owners = np.repeat(households.owners, households.counts)
            living = np.repeat(households.values, households.counts)
            return cls(_numbered(living), risks[owners], owners.astype(np.int32))
        people = classes.people
        order = np.argsort(people.values, kind="stable")  # by person, then by class
        codes, places = people.values[order], people.owners[order].astype(np.int32)
        starts = np.flatnonzero(np.diff(codes, prepend=-1)).astype(np.int64)
        greatest = np.maximum.reduceat(risks[places], starts) if len(starts) else risks[:0]
        return cls(_numbered(homes[codes[starts]]), greatest, same_lists(places, np.append(starts, len(codes))))

    @classmethod
    def released(cls, dataset: Dataset, release: Release, risks: Floats | None = None) -> Residents:
        """The people of a release, by its published classes. Raises `NotDefined` where nobody says who lives with
        whom."""
        person, household, names = release.schema.person, release.schema.household, release.published.names
        if household is None:
            raise NotDefined("no household column is named; name it with household (--household COLUMN)")
        classes = release.in_households(release.view.people())
        if classes.households is None:
            raise NotDefined("this form does not say in which class the members of a household are")
        if person not in names:
            return cls.of(classes, dataset.homes, risks)
        if household not in names:
            raise NotDefined("the release shows whose its records are, and not which household they belong to")
        return cls.of(classes, homes_of(release.published.group((household,), (), person=person)), risks)

    def __len__(self) -> int:
        return len(self.homes)

    @cached_property
    def household_risks(self) -> Floats:
        """The chance to find somebody of each household."""
        return household_risks(self.risks, self.homes)

    @cached_property
    def household_classes(self) -> Counts:
        """For each household, how many have members with just the same profiles, itself included."""
        order = np.lexsort((self.profiles, self.homes))
        starts = np.searchsorted(self.homes[order], np.arange(int(self.homes.max(initial=-1)) + 2))
        alike = same_lists(self.profiles[order], starts)
        return np.bincount(alike)[alike].astype(np.int64)


def same_lists(entries: Codes, starts: Counts) -> Codes:
    """A number for each list `entries[starts[i]:starts[i + 1]]`, the same for lists that are equal.

    Example:
        >>> same_lists(np.array([4, 7, 4, 4, 7], np.int32), np.array([0, 2, 3, 5])).tolist()
        [1, 0, 1]
    """
    lengths = np.diff(starts)
    numbers: Codes = np.zeros(len(lengths), np.int32)
    used = 0
    for length in np.unique(lengths[lengths <= LONG]).tolist():
        lists = np.flatnonzero(lengths == length)
        if length == 0:
            numbers[lists] = used
            used += 1
            continue
        columns = [np.ascontiguousarray(entries[starts[lists] + place]) for place in range(length)]
        groups = group(columns, index=True)
        numbers[lists] = groups.index + used
        used += len(groups.counts)
    known: dict[bytes, int] = {}
    for place in np.flatnonzero(lengths > LONG).tolist():
        key = entries[starts[place] : starts[place + 1]].tobytes()
        numbers[place] = known.setdefault(key, used + len(known))
    return numbers


def _numbered(codes: Codes) -> Codes:
    """Codes as numbers without gaps, in their order."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)
