"""External tables: people of another table, such as a register, in the leaves through which a release is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.fitting import Places, pairs
from shoal.core.classes import Classes
from shoal.core.contracts.attack import Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import InputError, NotDefined, SchemaError
from shoal.publishing.reusable_recoding import widened

Floats = NDArray[np.float64]
REMEMBERED = 1 << 24
"""Pairs of people and classes up to which they are found once."""


@dataclass(frozen=True, eq=False, repr=False)
class ExternalTable:
    """The distinct tuples of the other table: `keys[j]` is the leaf in quasi-identifier `j` of the release, negative
    where nobody knows it, and `counts` says how many people have the tuple. The `release` is the same one, read through
    hierarchies that know the values of both tables.
    """

    release: Release
    classes: Classes
    keys: Codes
    counts: Counts

    @classmethod
    def of(cls, release: Release, other: Dataset, *, what: str, every: bool = False) -> ExternalTable:
        """People of another table beside a release.

        A value that the table of the release never had goes where its hierarchy puts it: a number or a date under the
        node whose bounds hold it, a code under the mask that it fits, anything else under nothing but the top. A
        missing value is not known, and fits everything; with `every`, all quasi-identifiers must be there, and missing
        is a value of its own, as in a release.
        """
        quasi = release.schema.quasi
        shared = tuple(name for name in quasi if name in other.schema.quasi)
        if not shared or (every and shared != quasi):
            cls._refuse(quasi, other, what, every)
        if "means" in release.spellings.values():
            raise NotDefined("a column is published as means, so nobody can tell whose values a class can have")
        classes = other.group(shared)
        trees: dict[str, Hierarchy] = {}
        keys = np.full((len(quasi), len(classes)), -1, np.int32)
        for name, codes in zip(shared, classes.keys, strict=True):
            theirs, ours = other.schema.hierarchy_of(name), release.hierarchy_of(name)
            lacking = theirs.missing and bool((codes == 0).any())
            wider = _knowing(ours.with_missing() if lacking and every else ours, theirs, other.schema[name].kind, what)
            if wider is not ours:
                trees[name] = wider
            keys[quasi.index(name)] = _leaves(wider, theirs, keep_missing=every)[codes]
        if trees:
            columns = [replace(release.schema[name], hierarchy=tree) for name, tree in trees.items()]
            schema = release.schema.with_columns(columns)
            release = replace(release, schema=schema, recoding=None, stated_spellings=release.spellings)
        return cls(release, classes, keys, classes.headcounts)

    @classmethod
    def once(cls, known: Known, release: Release, other: Dataset, *, what: str, every: bool = False) -> ExternalTable:
        """People of a table that an attacker has beside a release, made once for all attacks: which classes can hold
        whom takes long."""
        place = (cls, id(release), id(other), every)
        if place not in known.made:
            known.made[place] = (release, other, cls.of(release, other, what=what, every=every))
        external: ExternalTable = known.made[place][-1]
        return external

    @staticmethod
    def _refuse(quasi: Sequence[str], other: Dataset, what: str, every: bool) -> NoReturn:
        wanted = "must have every quasi-identifier" if every else "shares no quasi-identifier with the release"
        lacking = ", ".join(repr(name) for name in quasi if name not in other.schema.quasi)
        raise SchemaError(
            f"{what} {wanted}: it lacks {lacking}, or they are no quasi-identifiers there; rename its columns, or "
            "read them as quasi-identifiers"
        )

    @property
    def people(self) -> int:
        """How many people the other table has; somebody with several tuples counts for each."""
        return int(self.counts.sum())

    def leaves(self, name: str) -> Codes:
        """The leaf in the release's hierarchy of each leaf of a sensitive attribute; negative: it is not known."""
        theirs = self.classes.histogram(name).hierarchy
        assert theirs is not None
        return _leaves(self.release.hierarchy_of(name), theirs, keep_missing=True)

    @cached_property
    def published(self) -> Classes:
        """The published classes of people, in people where they are known."""
        return self.release.in_people(self.release.view.people())

    def fits(self, run: Run, people: Codes | None = None) -> Iterator[tuple[Places, Places]]:
        """Every pair of a tuple of these people (or of others) and a published class that can hold it.

        A published cell that is missing says nothing, and holds everybody. Of a form that shows no ranges, the classes
        are those that its view knows.
        """
        people = self.keys if people is None else people
        if id(people) in self._remembered:
            yield from self._remembered[id(people)][1]
            return
        blocks: list[tuple[Places, Places]] = []
        for block in self._fits(people, run):
            blocks.append(block)
            yield block
        if sum(len(persons) for persons, _ in blocks) <= REMEMBERED:
            self._remembered[id(people)] = (people, blocks)

    @cached_property
    def _remembered(self) -> dict[int, tuple[Codes, list[tuple[Places, Places]]]]:
        """Pairs that were found before; the people stand beside them so that no others get their place."""
        return {}

    def _fits(self, people: Codes, run: Run) -> Iterator[tuple[Places, Places]]:
        try:
            cells = self.release.view.cells()
        except NotDefined:
            yield self._view_pairs(people)
            return
        except InputError as error:
            raise NotDefined(str(error)) from None
        low, high = cells.low.copy(), cells.high.copy()
        for place, name in enumerate(self.release.schema.quasi):
            tree = self.release.hierarchy_of(name)
            if tree.missing:
                high[place][high[place] == 0] = tree.size - 1
        yield from pairs(low, high, people, run)

    def _view_pairs(self, people: Codes) -> tuple[Places, Places]:
        """The pairs of a view whose groups are its classes of people."""
        if self.release.view.people() is not self.release.view.groups():
            raise NotDefined("this form does not show which records a person's may be")
        if bool((people < 0).any()):
            raise NotDefined("this form can be searched only by people all of whose quasi-identifiers are known")
        candidates = self.release.view.candidates(people)
        persons = np.repeat(np.arange(people.shape[1]), np.diff(candidates.starts))
        return persons, candidates.classes.astype(np.int64)

    def population(self, run: Run) -> Counts:
        """How many of these people each published class can hold."""
        population = np.zeros(len(self.published), np.int64)
        for persons, classes in self.fits(run):
            population += np.bincount(classes, self.counts[persons], len(population)).astype(np.int64)
        return population

    def weights_of(self, weights: Floats, people: Codes, run: Run) -> Floats:
        """For each tuple of people, what the published classes that can hold it weigh together."""
        sums = np.zeros(people.shape[1])
        for persons, classes in self.fits(run, people):
            sums += np.bincount(persons, weights[classes], len(sums))
        return sums

    @cached_property
    def _own(self) -> dict[int, tuple[Dataset, Codes]]:
        return {}

    def own(self, dataset: Dataset) -> Codes:
        """The tuples of the release's own table in the same leaves; what the other table does not have is not known."""
        if id(dataset) not in self._own:
            self._own[id(dataset)] = (dataset, self._leaves_of(dataset))
        return self._own[id(dataset)][1]

    def _leaves_of(self, dataset: Dataset) -> Codes:
        keys = dataset.summary.keys.copy()
        for place, name in enumerate(dataset.schema.quasi):
            wider, ours = self.release.hierarchy_of(name), dataset.schema.hierarchy_of(name)
            known = name in self.classes.attributes
            keys[place] = _leaves(wider, ours, keep_missing=False)[keys[place]] if known else -1
        return keys


def _leaves(tree: Hierarchy, other: Hierarchy, *, keep_missing: bool) -> Codes:
    """The leaf in one tree of each leaf of another; negative: there is none, or it is missing and need not be kept."""
    leaves = [-1 if leaf is None else leaf for leaf in tree.leaves(other.labels[0].tolist())]
    if other.missing and not keep_missing:
        leaves[0] = -1
    return np.array(leaves, np.int32)


def _knowing(tree: Hierarchy, other: Hierarchy, kind: Kind, what: str) -> Hierarchy:
    """The tree with the values of another one among its leaves."""
    first = int(other.missing)
    texts = other.labels[0][first:]
    numbers = None if other.values is None else other.values[first:]
    wider = widened(tree, Values(tree.column, kind, texts, numbers, other.calendar))
    new = [text for text, leaf in zip(texts, wider.leaves(texts.tolist()), strict=True) if leaf is None]
    if not new:
        return wider
    if tree.ordered:
        raise SchemaError(
            f"column {tree.column!r} has numbers or dates, and {what} has {len(new):,} distinct values there that are "
            "none; say with kinds or formats how it is read, or clean it"
        )
    rows = wider.rows()
    paths = [_mask_path(wider, rows, text) or [text] * wider.height + [rows[0][-1]] for text in new]
    grown = Hierarchy.from_paths(wider.column, [*rows, *paths], automatic=wider.automatic)
    if wider.calendar is not None:
        grown = grown.dated(wider.calendar)
    return grown.with_missing() if wider.missing else grown


def _mask_path(tree: Hierarchy, rows: Sequence[Sequence[str]], text: str) -> list[str] | None:
    """The path of a code under the finest mask that it fits, such as 47699 under 476**."""
    if not tree.masks:
        return None
    for height in range(1, tree.height):
        for row in rows:
            label = row[height]
            if len(label) == len(text) and all(sign in (TOP, own) for sign, own in zip(label, text, strict=True)):
                return [text] * height + list(row[height:])
    return None
