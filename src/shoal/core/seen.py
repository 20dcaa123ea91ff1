"""Seen: a release laid beside other releases of the same people, with who is where in it.

People are told apart across tables by a keyed hash: of the person column, of an identifier that is different in every
record, or, where there is none, of the quasi-identifiers and sensitive values together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts import Candidates, Cells
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.policy import Policy
from shoal.core.release import Release
from shoal.core.schema import Role
from shoal.errors import NotDefined

Hashes = NDArray[np.uint64]
NOWHERE = -1
"""The class of whoever is in no class of a release: left out, or not in the table then."""
STEP = np.uint64(0x9E3779B97F4A7C15)
"""Tells records apart whose hashes are equal."""


@dataclass(frozen=True, eq=False, repr=False)
class Spread:
    """The published values of a sensitive attribute: group `owners[e]` has `texts[values[e]]`, `counts[e]` times."""

    texts: tuple[str | None, ...]
    owners: Codes
    values: Codes
    counts: Counts

    @classmethod
    def of(cls, histogram: Histogram) -> Spread:
        tree = histogram.hierarchy
        if tree is None:
            raise NotDefined("the sensitive values of this release cannot be understood without their hierarchy")
        shown, values = np.unique(histogram.values, return_inverse=True)
        texts = tuple(tree.labels[0][shown].tolist())
        joint = group(
            [histogram.owners.astype(np.int32), values.astype(np.int32)], [len(histogram.starts), max(len(texts), 1)],
            weights=histogram.counts,
        )  # fmt: skip
        return cls(texts, joint.keys[0], joint.keys[1], joint.counts)

    @property
    def sizes(self) -> Counts:
        """The published values of each group."""
        return np.bincount(self.owners, weights=self.counts).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a release promises: nobody hides among fewer than `k`, and groups have at least `l` different values; 1
    promises nothing."""

    k: int = 1
    l: int = 1  # noqa: E741

    @classmethod
    def of(cls, policy: Policy | None) -> Promise:
        models = () if policy is None else policy.models
        sensitive = [model.variety for model in models if model.needs_sensitive]
        return cls(k=max([model.least for model in models if model.identity], default=1), l=max(sensitive, default=1))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Seen:
    """A release and, for each record of the table that it was made from, the hash that tells whose it is (`ids`), the
    class of those who cannot be told apart (`classes`; None where the form has none) and the group that tells about
    sensitive values (`groups`); negative: it was left out.

    `values` has what groups are published with. `linking` names the columns that are published as they are, by which
    somebody may tell which rows of two releases belong together. With `several`, people may have several records.
    """

    name: str
    ids: Hashes
    classes: Codes | None
    groups: Codes
    values: Mapping[str, Spread]
    linking: tuple[str, ...] = ()
    promise: Promise = field(default_factory=Promise)
    several: bool = False
    release: Release | None = None

    def __repr__(self) -> str:
        return f"Seen({self.name!r}, {len(self.ids):,} records)"


def naming(dataset: Dataset) -> tuple[str, ...]:
    """The columns by which people are told apart across tables."""
    schema = dataset.schema
    if schema.person is not None:
        return (schema.person,)
    for name in schema.identifiers:
        if dataset.table.repeated(name) == 0:
            return (name,)
    return (*schema.quasi, *schema.sensitive)


def seen(dataset: Dataset, release: Release, *, by: Sequence[str], key: int, name: str = "") -> Seen:
    """A release beside the table that it was made from, or one that is read from a file beside a table of, as far as
    its values say, the same people. Raises `NotDefined` where nobody can say who is where."""
    if not release.view.truthful:
        raise NotDefined("the values are perturbed, so nobody is certain to be in any group")
    lacking = [column for column in by if column not in dataset.schema.names]
    if lacking:
        raise NotDefined(f"people are told apart by the column {lacking[0]!r}, which the table lacks")
    groups = _places(dataset, release)
    classes = _classes(dataset, release, groups)
    ids = dataset.table.digests(by, key, dataset.schema.quasi, release.seed)
    several = dataset.schema.person is not None
    if not several:
        ids = _apart(ids)
    shown = {each for table in release.tables.values() for each in table.names}
    linking = tuple(
        column.name
        for column in release.schema.columns
        if column.name in shown and column.role in (Role.SENSITIVE, Role.PLAIN, Role.IDENTIFIER, Role.ENTITY)
    )
    return Seen(
        name=name, ids=ids, classes=classes, groups=groups, linking=linking, several=several, release=release,
        values={held.column: Spread.of(held) for held in release.view.groups().sensitive},
        promise=Promise.of(release.policy),
    )  # fmt: skip


def _apart(ids: Hashes) -> Hashes:
    """Hashes that are all different: records that are equal in what people are told apart by are numbered."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    fresh = np.append(True, ordered[1:] != ordered[:-1])
    firsts = np.flatnonzero(fresh)
    ranks = np.arange(len(ids)) - np.repeat(firsts, np.diff(np.append(firsts, len(ids))))
    found = np.empty_like(ids)
    found[order] = ordered + ranks.astype(np.uint64) * STEP
    return found


def _places(dataset: Dataset, release: Release) -> Codes:
    """The group of each record, as a plan by record orders them."""
    sizes = dataset.summary.sizes
    recoding = release.recoding
    if recoding is not None and recoding.plan is not None:
        owners = release.view.owners(dataset, recoding)
        return owners if recoding.plan.by_record else np.repeat(owners, sizes)
    found = _fitting(dataset, release)
    groups = np.repeat(found, sizes)
    room = release.view.groups().sizes
    if bool(np.any(np.bincount(groups[groups >= 0], minlength=len(room)) > room)):
        raise NotDefined(
            "more people of the table fit a group of the release than it has records, so the file does not say who was "
            "in it; keep a ledger, or attack the release where it is made"
        )
    return groups


def _fitting(dataset: Dataset, release: Release) -> Codes:
    """The one group that each tuple of the table fits into; negative: it fits into none."""
    keys, view = dataset.summary.keys, release.view
    if view.people() is view.groups():
        try:
            found = _by_ranges(view.people(), view.cells(), keys)
        except NotDefined:
            found = None
        if found is not None:
            return found
    candidates: Candidates = view.candidates(keys)
    counts = np.diff(candidates.starts)
    if bool(np.any(counts > 1)):
        raise NotDefined(
            f"{int((counts > 1).sum()):,} different people fit several groups, so the file does not say who is in "
            "which; keep a ledger, or attack the release where it is made"
        )
    places = np.full(len(counts), NOWHERE, np.int32)
    places[counts == 1] = candidates.classes
    return places


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
    assert index is not None
    places = np.full(int(index.max(initial=0)) + 1, NOWHERE, np.int32)
    places[index[: len(people)]] = np.arange(len(people), dtype=np.int32)
    found: Codes = places[index[len(people) :]]
    return found


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


@dataclass(frozen=True, eq=False, repr=False)
class Beside:
    """Everybody who is in some release, and where: `places[r, p]` is the place of person `p` in release `r`, negative:
    nowhere; `present[r, p]` says whether the table of release `r` has the person at all."""

    ids: Hashes
    places: Codes
    present: NDArray[np.bool_]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Whoever some release shows."""
        return np.asarray((self.places >= 0).any(axis=0))


def beside(releases: Sequence[Seen], places: Sequence[Codes]) -> Beside:
    """The people of some releases, each with a place in each of them.

    Somebody with several records is in a set of places; equal sets get one number.
    """
    ids = np.unique(np.concatenate([each.ids for each in releases]))
    found = np.full((len(releases), len(ids)), NOWHERE, np.int32)
    present = np.zeros(found.shape, dtype=np.bool_)
    for row, (each, where) in enumerate(zip(releases, places, strict=True)):
        at = np.searchsorted(ids, each.ids)
        present[row, at] = True
        if each.several:
            found[row] = _sets(at, where, len(ids))
        else:
            found[row, at] = where
    return Beside(ids, found, present)


def _sets(people: NDArray[Any], places: Codes, count: int) -> Codes:
    """For each person a number for the set of places of the person's records."""
    kept = places >= 0
    pairs = group([people[kept].astype(np.int32), places[kept]], [count, int(places.max(initial=0)) + 1])
    marks = np.random.default_rng(0).integers(1, 2**63, int(places.max(initial=0)) + 1, dtype=np.uint64)
    sums = np.zeros(count, np.uint64)
    np.add.at(sums, pairs.keys[0], marks[pairs.keys[1]])
    there = np.flatnonzero(sums)
    found = np.full(count, NOWHERE, np.int32)
    found[there] = np.unique(sums[there], return_inverse=True)[1]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The earlier releases of a data set, the columns `by` which people are told apart in it, and the `key` of their
    hashes."""

    releases: tuple[Seen, ...]
    by: tuple[str, ...]
    key: int

    def laid(self, dataset: Dataset, release: Release, name: str = "this release") -> Seen:
        """A release of the data set beside the earlier ones."""
        return seen(release.origin or dataset, release, by=self.by, key=self.key, name=name)

    def places(self, dataset: Dataset, seed: int) -> tuple[Codes, NDArray[np.bool_], Codes]:
        """For each earlier release and each record of a table, as `listed`: the class there, whether the record was in
        the table at all, and the group; negative: none."""
        ids = dataset.table.digests(self.by, self.key, dataset.schema.quasi, seed)
        ids = ids if dataset.schema.person is not None else _apart(ids)
        classes, groups = np.full((2, len(self.releases), len(ids)), NOWHERE, np.int32)
        present = np.zeros(classes.shape, dtype=np.bool_)
        for row, each in enumerate(self.releases):
            order = np.argsort(each.ids, kind="stable")
            at = np.minimum(np.searchsorted(each.ids[order], ids), len(order) - 1)
            there = each.ids[order][at] == ids if len(order) else np.zeros(len(ids), dtype=np.bool_)
            present[row] = there
            groups[row, there] = each.groups[order][at[there]]
            if each.classes is not None:
                classes[row, there] = each.classes[order][at[there]]
        return classes, present, groups
