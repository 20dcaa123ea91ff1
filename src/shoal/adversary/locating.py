"""Who is where in a release, and several releases of the same people side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.release import Release
from shoal.core.release_history import (
    NOWHERE,
    AlignedReleases,
    LocatedRelease,
    Naming,
    Promise,
    PublishedValues,
    followed_units,
)
from shoal.core.schema import NAMING, Role
from shoal.errors import NotDefined


def locate(dataset: Dataset, release: Release, *, by: Naming, key: int, name: str = "") -> LocatedRelease:
    """A release beside the table that it was made from, or one that is read from a file beside a table of, as far as
    its values say, the same people. Raises `NotDefined` where nobody can say who is where."""
    if not release.view.truthful:
        raise NotDefined("the values are perturbed, so nobody is certain to be in any group")
    ids, records = by.hashes(dataset, key, release.seed)
    groups = _places(dataset, release)
    classes = _classes(dataset, release, groups)
    published = {each for table in release.tables.values() for each in table.names}
    columns = [column for column in release.schema.columns if column.name in published]
    as_they_are = (Role.SENSITIVE, Role.PLAIN, *NAMING)
    return LocatedRelease(
        name=name,
        ids=ids,
        records=records,
        classes=classes,
        groups=groups,
        several=records is not None,
        linking=tuple(column.name for column in columns if column.role in as_they_are),
        shown=tuple(column.name for column in columns),
        release=release,
        values={each.column: PublishedValues.of(each) for each in release.view.groups().sensitive},
        promise=Promise.of(() if release.policy is None else release.policy.models),
    )


def heads(groups: NDArray[Any], people: NDArray[Any]) -> Counts:
    """The different people of each group, of whose records `groups[i]` is the group; negative: none."""
    inside = groups >= 0
    numbers = np.unique(people[inside], return_inverse=True)[1].astype(np.int64)
    if len(numbers) and int(numbers.max()) + 1 == len(numbers):  # everybody has one record
        return np.bincount(groups[inside]).astype(np.int64)
    width = int(numbers.max(initial=0)) + 1
    return np.bincount(np.unique(groups[inside] * np.int64(width) + numbers) // width).astype(np.int64)


def groups_of_tuples(dataset: Dataset, release: Release) -> Codes | None:
    """The group of each tuple of quasi-identifiers (negative: it is in none), where all records of a tuple are in one;
    None where a plan tells records of one tuple apart. Raises `NotDefined` where a file does not say it for certain."""
    if release.recoding is not None and release.recoding.plan is not None:
        return None if release.recoding.plan.by_record else release.view.owners(dataset, release.recoding)
    tuples, counts = _single_candidates(dataset, release)
    if bool(np.all(counts <= 1)):
        groups, there = release.view.groups(), tuples >= 0
        sizes = np.bincount(tuples[there], weights=dataset.summary.sizes[there], minlength=len(groups))
        if np.array_equal(sizes, groups.sizes):
            return tuples
    raise NotDefined("the file does not say which group everybody is in; attack the release where it is made")


def groups_of_records(dataset: Dataset, release: Release) -> Codes:
    """The group of each record, in the order of a plan by record; negative: it is in none."""
    tuples = groups_of_tuples(dataset, release)
    if tuples is not None:
        return np.repeat(tuples, dataset.summary.sizes)
    assert release.recoding is not None
    return release.view.owners(dataset, release.recoding)


def _places(dataset: Dataset, release: Release) -> Codes:
    """The group of each record, as a plan by record orders them; of a file, the one that each record fits into."""
    if release.recoding is not None and release.recoding.plan is not None:
        return groups_of_records(dataset, release)
    groups = np.repeat(_fitting(dataset, release), dataset.summary.sizes)
    room = release.view.groups().sizes
    if bool(np.any(np.bincount(groups[groups >= 0], minlength=len(room)) > room)):
        raise NotDefined(
            "more people of the table fit a group of the release than it has records, so the file does not say who was "
            "in it; keep a ledger, or attack the release where it is made"
        )
    return groups


def _fitting(dataset: Dataset, release: Release) -> Codes:
    """The one group that each tuple of the table fits into; negative: it fits into none."""
    view = release.view
    if view.people() is view.groups():
        try:
            tuples = _by_ranges(view.people(), view.cells(), dataset.summary.keys)
        except NotDefined:
            tuples = None
        if tuples is not None:
            return tuples
    tuples, counts = _single_candidates(dataset, release)
    if bool(np.any(counts > 1)):
        raise NotDefined(
            f"{int((counts > 1).sum()):,} different people fit several groups, so the file does not say who is in "
            "which; keep a ledger, or attack the release where it is made"
        )
    return tuples


def _single_candidates(dataset: Dataset, release: Release) -> tuple[Codes, Counts]:
    """The group of each tuple that may be in one only, negative: none; and in how many each may be."""
    candidates = release.view.candidates(dataset.summary.keys)
    counts: Counts = np.diff(candidates.starts)
    tuples = np.full(len(counts), NOWHERE, np.int32)
    tuples[counts == 1] = candidates.classes[candidates.starts[:-1][counts == 1]]
    return tuples, counts


def _by_ranges(people: Classes, cells: Cells, keys: Codes) -> Codes | None:
    """The class of each tuple where the ranges of every column lie apart, as after full-domain generalization; None
    where they do not."""
    columns, wanted, radices = [], [], []
    for low, high, codes in zip(cells.low, cells.high, keys, strict=True):
        ranges = np.unique(np.stack([low, high]), axis=1)
        if bool(np.any(ranges[0, 1:] <= ranges[1, :-1])):
            return None
        at = np.searchsorted(ranges[0], codes, side="right") - 1
        inside = (at >= 0) & (codes <= ranges[1, at])
        columns.append(np.searchsorted(ranges[0], low).astype(np.int32))
        wanted.append(np.where(inside, at, ranges.shape[1]).astype(np.int32))
        radices.append(ranges.shape[1] + 1)
    both = [np.concatenate(pair) for pair in zip(columns, wanted, strict=True)]
    index = group(both, radices, index=True).index
    places = np.full(int(index.max(initial=0)) + 1, NOWHERE, np.int32)
    places[index[: len(people)]] = np.arange(len(people), dtype=np.int32)
    return places[index[len(people) :]]


def _classes(dataset: Dataset, release: Release, groups: Codes) -> Codes | None:
    """Who cannot be told apart: the groups, or, where quasi-identifiers are published as they are, people with equal
    ones; None where no table has all of them."""
    try:
        people = release.view.people()
    except NotDefined:
        return None
    if people is release.view.groups():
        return groups
    tuples = np.repeat(np.arange(len(dataset.summary), dtype=np.int32), dataset.summary.sizes)
    return np.where(groups >= 0, tuples, np.int32(NOWHERE)).astype(np.int32)


def align(releases: Sequence[LocatedRelease], places: Sequence[Codes]) -> AlignedReleases:
    """The people of some releases, each with a place in each of them."""
    units, owners = followed_units([(each.ids, each.records) for each in releases])
    ids, first = np.unique(np.concatenate(units), return_index=True)
    aligned = np.full((len(releases), len(ids)), NOWHERE, np.int32)
    present = np.zeros(aligned.shape, dtype=np.bool_)
    for row, (unit, where) in enumerate(zip(units, places, strict=True)):
        at = np.searchsorted(ids, unit)
        present[row, at] = True
        aligned[row, at] = where
    return AlignedReleases(ids, aligned, present, owners[first])
