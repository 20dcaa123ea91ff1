"""Classes: a grouping of records. Privacy is a property of groups, and this is all that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts, decoded, group, packed_groups
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.errors import SchemaError


@dataclass(frozen=True, eq=False, repr=False)
class EntryPeople:
    """Whose the entries of a histogram are: `codes` has the person of each one, `population[v]` counts the people who
    have value `v` in the whole table, and `count` all of them there."""

    codes: Codes
    population: Counts
    count: int


@dataclass(frozen=True, eq=False, repr=False)
class Histogram:
    """How often each sensitive value occurs in each class, sparse, and in the whole table.

    The entries of class `c` are `values[starts[c]:starts[c + 1]]`, ascending, with their `counts`.
    `population[v]` counts value `v` in the whole table, also in records that no class holds.

    With `contexts`, every class falls apart into parts, within which people also agree on the other sensitive
    attributes: entries stand in the order of their context, then of their value, and models judge the `parts`.

    With `people`, there is an entry for each person who has the value, and the `parts` count people, not records: how
    many have each value, and as `members` how many there are, of `everybody` in the whole table. Somebody may have
    several values, so these counts need not add up.
    """

    column: str
    starts: Counts
    values: Codes
    counts: Counts
    population: Counts
    hierarchy: Hierarchy | None = None
    contexts: Codes | None = None
    people: EntryPeople | None = None
    members: Counts | None = None
    everybody: int = 0

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The class of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def distinct(self) -> Counts:
        """How many different values each class has."""
        return np.diff(self.starts)

    @cached_property
    def sizes(self) -> Counts:
        """How many records, or where people are counted how many people, each class has."""
        if self.members is not None:
            return self.members
        return np.diff(np.append(0, np.cumsum(self.counts))[self.starts])

    @cached_property
    def shares(self) -> Floats:
        """The share of its class that each entry has."""
        return self.counts / self.sizes[self.owners]

    @cached_property
    def priors(self) -> Floats:
        """The share of the whole table that each value has."""
        return self.population / max(self.everybody or int(self.population.sum()), 1)

    @cached_property
    def distribution(self) -> Floats:
        """The priors as shares that add up to 1, also where people have several values: then each value of a person
        counts once."""
        return self.population / max(int(self.population.sum()), 1)

    def greatest(self, entries: NDArray[Any]) -> NDArray[Any]:
        """The greatest of what the entries of each class have; 0 for a class without any."""
        return self._reduced(np.maximum, entries)

    def total(self, entries: NDArray[Any]) -> NDArray[Any]:
        """The sum of what the entries of each class have."""
        return self._reduced(np.add, entries)

    def _reduced(self, operation: np.ufunc, entries: NDArray[Any]) -> NDArray[Any]:
        reduced = np.zeros(len(self.distinct), entries.dtype)
        filled = self.distinct > 0
        if len(entries):
            reduced[filled] = operation.reduceat(entries, self.starts[:-1][filled])
        return reduced

    @cached_property
    def parts(self) -> Histogram:
        """What models judge: the classes, or their parts where there are contexts; in people where they are known."""
        if self.contexts is None:
            parts = self
        else:
            starts = np.append(self._firsts, len(self.counts)).astype(np.int64)
            parts = replace(self, starts=starts, contexts=None)
        return parts if self.people is None else parts._in_people(self.people)

    @cached_property
    def homes(self) -> NDArray[np.int64]:
        """The class of each of the parts."""
        return np.arange(len(self.starts) - 1) if self.contexts is None else self.owners[self._firsts]

    def _in_people(self, people: EntryPeople) -> Histogram:
        """The same without contexts, counted in people."""
        owners, parts = self.owners, len(self.starts) - 1
        fresh = np.ones(len(self.values), dtype=np.bool_)
        fresh[1:] = (np.diff(self.values) != 0) | (np.diff(owners) != 0)
        firsts = np.flatnonzero(fresh)
        pairs = group([owners.astype(np.int32), people.codes], [parts, int(people.codes.max(initial=0)) + 1])
        return replace(
            self, starts=np.searchsorted(owners[firsts], np.arange(parts + 1)).astype(np.int64),
            values=self.values[firsts], counts=np.diff(np.append(firsts, len(fresh))).astype(np.int64),
            population=people.population, people=None, everybody=people.count,
            members=np.bincount(pairs.keys[0], minlength=parts).astype(np.int64),
        )  # fmt: skip

    def whole(self, verdicts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each class, whether the verdict on each of its parts is yes."""
        if self.contexts is None:
            return verdicts
        whole = np.ones(len(self.starts) - 1, dtype=np.bool_)
        whole[self.homes[~verdicts]] = False
        return whole

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """The first entry of each part."""
        assert self.contexts is not None
        fresh = np.ones(len(self.counts), dtype=np.bool_)
        fresh[1:] = (np.diff(self.contexts) != 0) | (np.diff(self.owners) != 0)
        return np.flatnonzero(fresh)

    def compared(self, whole: Histogram) -> Histogram:
        """The same classes beside the population of another histogram: that of the whole table."""
        if self.people is None or whole.people is None:
            return replace(self, population=whole.population)
        people = replace(whole.people, codes=self.people.codes)
        return replace(self, population=whole.population, people=people)

    def rolled(self, index: Codes, classes: int) -> Histogram:
        """The same counts over coarser classes; `index[c]` is the new class of class `c`, negative to drop it."""
        owners = index[self.owners].astype(np.int32)
        columns, radices = [self.values], [len(self.population)]
        if self.contexts is not None:
            columns, radices = [self.contexts, *columns], [int(self.contexts.max(initial=0)) + 1, *radices]
        if self.people is not None:
            columns, radices = [*columns, self.people.codes], [*radices, int(self.people.codes.max(initial=0)) + 1]
        counts = self.counts
        if len(index) and index.min() < 0:
            staying = owners >= 0
            owners, counts, columns = owners[staying], counts[staying], [column[staying] for column in columns]
        merged = group([owners, *columns], [classes, *radices], weights=counts)
        starts = np.searchsorted(merged.keys[0], np.arange(classes + 1)).astype(np.int64)
        return replace(
            self, starts=starts, values=merged.keys[1 if self.contexts is None else 2], counts=merged.counts,
            contexts=None if self.contexts is None else merged.keys[1],
            people=None if self.people is None else replace(self.people, codes=merged.keys[-1]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Classes:
    """Distinct key tuples with sizes and sensitive histograms.

    `keys[j]` holds each class' code in attribute `attributes[j]`. When the keys are leaves of hierarchies (level 0, the
    *summary* of a table), `generalize` rolls them up. `records` counts the whole table, also what no class holds. Where
    it is known whose each record is, `people` counts the records of each person in each class, and `households` those
    of each household. Survey `weights` say how many people of the population each class stands for; where people are
    known, they are theirs, by code. Where a model asks, `hidden` has each attribute's code of a hidden cell, or -1.
    """

    attributes: tuple[str, ...]
    keys: Codes
    sizes: Counts
    sensitive: tuple[Histogram, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    records: int = 0
    people: Histogram | None = None
    weights: Floats | None = None
    households: Histogram | None = None
    hidden: Codes | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def headcounts(self) -> Counts:
        """How many people each class has. Somebody may be in several classes, so these do not add up; where it is not
        known whose a record is, every record is a person."""
        return self.sizes if self.people is None else self.people.distinct

    @property
    def population(self) -> Floats | None:
        """How many people of the population each class has, as the survey weights estimate it: their sum over the
        people of the class."""
        if self.weights is None or self.people is None:
            return self.weights
        return self.people.total(self.weights[self.people.values])

    @property
    def household_counts(self) -> Counts:
        """How many households each class has people of; where no column says, everybody is a household."""
        return self.headcounts if self.households is None else self.households.distinct

    def hiding(self) -> tuple[Counts, Counts]:
        """How many people hide among how many: each number that occurs, ascending, and the people whose smallest class
        has so many. Whoever is in several classes is found in the smallest of them most easily.

        Example:
            >>> summarize(["sex"], [np.array([0, 0, 1], np.int32)], [2]).hiding()
            (array([1, 2]), array([1, 2]))
        """
        if self.people is None:
            sizes, counts = np.unique(self.sizes, return_counts=True)
            return sizes, sizes * counts
        smallest = np.full(len(self.people.population), np.iinfo(np.int64).max)
        np.minimum.at(smallest, self.people.values, self.headcounts[self.people.owners])
        return np.unique(smallest[np.unique(self.people.values)], return_counts=True)

    def histogram(self, column: str | None = None) -> Histogram:
        """The histogram of a sensitive attribute; without a name, of the only one there is."""
        named = [histogram for histogram in self.sensitive if column in (None, histogram.column)]
        if len(named) == 1:
            return named[0]
        if not self.sensitive:
            raise SchemaError("this needs a sensitive attribute and the schema names none; name one")
        available = ", ".join(repr(histogram.column) for histogram in self.sensitive)
        raise SchemaError(f"name one sensitive attribute; there are {available}")

    def rolled(self, index: Codes, keys: Codes) -> Classes:
        """Coarser classes: `index[c]` is the new class of class `c`, negative to leave it out."""
        classes = keys.shape[1]
        staying = slice(None) if index.min(initial=0) >= 0 else index >= 0
        # Sums of records are whole numbers, which doubles hold exactly.
        sizes = np.bincount(index[staying], self.sizes[staying], minlength=classes).astype(np.int64)
        histograms = tuple(histogram.rolled(index, classes) for histogram in self.sensitive)
        people = None if self.people is None else self.people.rolled(index, classes)
        households = None if self.households is None else self.households.rolled(index, classes)
        weights = self.weights
        if weights is not None and self.people is None:
            weights = np.bincount(index[staying], weights[staying], minlength=classes).astype(np.float64)
        return Classes(self.attributes, keys, sizes, histograms, (), self.records, people, weights, households)

    def generalize(self, levels: Sequence[int]) -> Classes:
        """The classes when each attribute is published at the given level of its hierarchy."""
        if not self.hierarchies:
            raise SchemaError("only the summary of a table can be generalized, and these are already coarser")
        if len(levels) != len(self.hierarchies):
            raise SchemaError(f"{len(self.hierarchies)} levels are needed, one for each quasi-identifier")
        for hierarchy, level in zip(self.hierarchies, levels, strict=True):
            if not 0 <= level <= hierarchy.height:
                raise SchemaError(f"the hierarchy of column {hierarchy.column!r} has levels 0 to {hierarchy.height}")
        maps = [hierarchy.codes[level] for hierarchy, level in zip(self.hierarchies, levels, strict=True)]
        radices = [int(mapping[-1]) + 1 if len(mapping) else 1 for mapping in maps]
        top = np.zeros(len(self), np.int32)
        columns = [
            mapping[key] if radix > 1 else top for mapping, key, radix in zip(maps, self.keys, radices, strict=True)
        ]
        tuples = group(columns, radices, weights=self.sizes, index=True)
        return self.rolled(tuples.index, tuples.keys)

    def select(self, attributes: Sequence[str]) -> Classes:
        """The classes over some of the attributes only."""
        positions = [self.attributes.index(name) for name in attributes]
        columns = [self.keys[position] for position in positions]
        radices = [int(column.max()) + 1 if len(column) else 1 for column in columns]
        tuples = group(columns, radices, weights=self.sizes, index=True)
        coarser = self.rolled(tuples.index, tuples.keys)
        hierarchies = tuple(self.hierarchies[position] for position in positions) if self.hierarchies else ()
        return replace(coarser, attributes=tuple(attributes), hierarchies=hierarchies)


def summarize(
    attributes: Sequence[str],
    columns: Sequence[Codes],
    radices: Sequence[int],
    sensitive: Sequence[tuple[str, Codes, int, Hierarchy | None]] = (),
    hierarchies: Sequence[Hierarchy] = (),
    weights: Counts | None = None,
    person: tuple[str, Codes, int] | None = None,
) -> Classes:
    """Classes from integer columns: one pass over the rows for each sensitive attribute, or for the keys alone.

    With `weights`, a row counts as so many records; with a `person` column, it is known whose they are.
    """
    classes: list[tuple[Codes, Counts]] = []

    def counted(name: str, codes: Codes, size: int, hierarchy: Hierarchy | None, whose: Sequence[Codes]) -> Histogram:
        """How often each class has each code; with the person beside it, an entry for each."""
        beside = [] if person is None or not whose else [person[2]]
        packed = None if beside or not columns else packed_groups([*columns, codes], [*radices, size], weights)
        if packed is not None:
            summary = unpacked(attributes, radices, *packed, (name, size, hierarchy))
            classes.append((summary.keys, summary.sizes))
            return summary.sensitive[0]
        joint = group([*columns, codes, *whose], [*radices, size, *beside], weights=weights)
        keys, values = joint.keys[: len(columns)], joint.keys[len(columns)]
        fresh = np.ones(joint.keys.shape[1], dtype=np.bool_)
        fresh[1:] = np.any(keys[:, 1:] != keys[:, :-1], axis=0)
        firsts = np.flatnonzero(fresh)
        starts = np.append(firsts, len(fresh)).astype(np.int64)
        if columns:  # the tuples are in the same order, and their records add up
            classes.append((keys[:, firsts], np.diff(np.append(0, np.cumsum(joint.counts))[starts])))
        # Sums of records are whole numbers, which doubles hold exactly.
        population = np.bincount(values, joint.counts, minlength=size).astype(np.int64)
        people = _people(values, size, joint.keys[-1], beside[0]) if beside else None
        return Histogram(name, starts, values.copy(), joint.counts, population, hierarchy, people=people)

    whose = () if person is None else (person[1],)
    histograms = tuple(counted(*each, whose) for each in sensitive)
    people = None if person is None else counted(*person, None, ())
    if not classes:
        summary = group(columns, radices, weights=weights)
        classes.append((summary.keys, summary.counts))
    keys, sizes = classes[0]
    return Classes(tuple(attributes), keys, sizes, histograms, tuple(hierarchies), int(sizes.sum()), people)


def unpacked(
    attributes: Sequence[str],
    radices: Sequence[int],
    keys: Counts,
    counts: Counts,
    sensitive: tuple[str, int, Hierarchy | None] | None = None,
    hierarchies: Sequence[Hierarchy] = (),
) -> Classes:
    """Classes from tuples that an engine packed, as `words` says, and counted: each once, in ascending order, the code
    of a sensitive attribute last.

    Example:
        >>> found = unpacked(["sex", "age"], [2, 3], np.array([1, 2, 5]), np.array([1, 2, 1]))
        >>> found.keys.tolist(), found.sizes.tolist()
        ([[0, 0, 1], [1, 2, 2]], [1, 2, 1])
    """
    from shoal.kernels.grouping import apart

    records = int(counts.sum())
    if sensitive is None:
        return Classes(tuple(attributes), decoded(keys, radices), counts, (), tuple(hierarchies), records)
    name, size, hierarchy = sensitive
    population = np.zeros(size, np.int64)
    keys, counts = (np.require(each, np.int64, ["C", "W"]) for each in (keys, counts))
    values, starts, owners, sizes = apart(keys, counts, size, population)
    histogram = Histogram(name, starts, values, counts, population, hierarchy)
    tuples = decoded(owners, radices)
    return Classes(tuple(attributes), tuples, sizes, (histogram,), tuple(hierarchies), records)


def _people(values: Codes, size: int, codes: Codes, everybody: int) -> EntryPeople:
    """Whose entries with such values are, when all of the table is there."""
    pairs = group([values, codes], [size, everybody])
    return EntryPeople(
        codes, np.bincount(pairs.keys[0], minlength=size).astype(np.int64), len(group([codes], [everybody]).counts)
    )


def joined(classes: Classes, finer: Callable[[tuple[str, ...], str], Classes]) -> Classes:
    """The classes with every sensitive attribute counted apart for each combination of the other ones.

    `finer(others, name)` groups by the attributes of the classes followed by `others`, with the histogram of `name`.
    """
    names = [histogram.column for histogram in classes.sensitive]
    if len(names) < 2:
        return classes
    outer = len(classes.keys)
    histograms = []
    for histogram in classes.sensitive:
        fine = finer(tuple(name for name in names if name != histogram.column), histogram.column)
        fresh = np.zeros(len(fine), dtype=np.int32)
        fresh[1:] = np.any(fine.keys[:outer, 1:] != fine.keys[:outer, :-1], axis=0)
        others = list(fine.keys[outer:])
        contexts = group(others, [int(codes.max(initial=0)) + 1 for codes in others], index=True)
        inner = fine.sensitive[0]
        owners = np.cumsum(fresh)[inner.owners]
        starts = np.searchsorted(owners, np.arange(len(classes) + 1)).astype(np.int64)
        histograms.append(
            replace(
                histogram,
                starts=starts,
                values=inner.values,
                counts=inner.counts,
                contexts=contexts.index[inner.owners],
                people=inner.people,
            )
        )
    return replace(classes, sensitive=tuple(histograms))
