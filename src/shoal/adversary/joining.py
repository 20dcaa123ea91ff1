"""Joining: what the attacks on several releases have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.locating import align, heads
from shoal.core.contracts.attack import Known
from shoal.core.contracts.model import SLACK
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.release_history import AlignedReleases, LocatedRelease
from shoal.errors import NotDefined

Chosen = NDArray[np.bool_]


def all_releases(known: Known) -> tuple[LocatedRelease, ...]:
    """The earlier releases and, last, the one that is attacked."""
    if not known.earlier or known.later is None:
        nothing = "there is no earlier release to lay beside this one; name it with --earlier, or keep a ledger"
        raise NotDefined(known.obstacle or nothing)
    return (*known.earlier, known.later)


def align_classes(releases: Sequence[LocatedRelease]) -> AlignedReleases:
    """Who cannot be told apart in each of some releases."""
    places = [each.classes for each in releases if each.classes is not None]
    if len(places) < len(releases):
        raise NotDefined("a release has no table with all quasi-identifiers, so nobody's record can be found in it")
    return align(releases, places)


def linked_releases(releases: Sequence[LocatedRelease]) -> list[list[int]]:
    """Which of some releases have rows that may be told to belong together: those that have a column as it is in
    common, directly or through others. Releases that are linked with no other one stand alone."""
    parts: list[tuple[list[int], set[str]]] = []
    for at, each in enumerate(releases):
        columns = set(each.linking)
        joined = [part for part in parts if part[1] & columns]
        parts = [part for part in parts if not part[1] & columns]
        parts.append(
            (sorted([at, *(row for rows, _ in joined for row in rows)]), columns.union(*(names for _, names in joined)))
        )
    return [rows for rows, _ in parts]


def linking_columns(releases: Sequence[LocatedRelease]) -> tuple[str, ...]:
    """The columns that stand as they are in at least two of some releases."""
    names = [name for each in releases for name in each.linking]
    return tuple(dict.fromkeys(name for name in names if names.count(name) > 1))


def _people(columns: Sequence[Codes], owners: NDArray[np.int64]) -> Counts:
    """For each record, how many people have a record with the same numbers in all columns."""
    numbers = group([codes + 1 for codes in columns], index=True).index
    return heads(numbers, owners)[numbers]


def joint_candidates(people: AlignedReleases) -> Counts:
    """For each record, how many people it may belong to by the classes of all releases that show it; 0 where none
    does."""
    crowds = np.zeros(people.places.shape[1], np.int64)
    there = people.places >= 0
    patterns = group([row.astype(np.int32) for row in there], index=True)
    for number, pattern in enumerate(patterns.keys.T.astype(bool)):
        if not pattern.any():
            continue
        fitting = np.flatnonzero(there[pattern].all(axis=0))
        counts = _people(list(people.places[pattern][:, fitting]), people.owners[fitting])
        mine = patterns.index[fitting] == number
        crowds[fitting[mine]] = counts[mine]
    return crowds


def joint_candidates_over_time(people: AlignedReleases) -> Counts:
    """For each record, how many people it may belong to by whoever also knows whose records were in the table when."""
    return _people([*people.places, *people.present.astype(np.int32)], people.owners)


def fewest_candidates(people: AlignedReleases) -> Counts:
    """For each record, the fewest people that it may belong to by a single release; 0 where none shows it."""
    fewest = np.zeros(people.places.shape[1], np.int64)
    for places in people.places:
        here = np.flatnonzero(places >= 0)
        counts = _people([places[here]], people.owners[here])
        fewest[here] = np.where(fewest[here] > 0, np.minimum(fewest[here], counts), counts)
    return fewest


def joined_risk(people: AlignedReleases, releases: Sequence[LocatedRelease], *, over_time: bool = False) -> Floats:
    """For each record, one over the people that it may belong to by the rows of linked releases; nothing where no
    release shows it."""
    risks = np.zeros(people.places.shape[1])
    for rows in linked_releases(releases):
        part = people.some(rows)
        counts = joint_candidates_over_time(part) if over_time and len(rows) > 1 else joint_candidates(part)
        risks = np.maximum(risks, np.where(part.shown, risk(counts), 0.0))
    return risks


def risk(counts: Counts) -> Floats:
    """One over a number of people; nothing where there is nobody."""
    return np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)


def newly_exposed(together: Floats, apart: Floats, threshold: float | Floats) -> Chosen:
    """Whose risk is above a threshold with all releases, and was lower with each of them alone."""
    return (together > threshold + SLACK) & (together > apart + SLACK)
