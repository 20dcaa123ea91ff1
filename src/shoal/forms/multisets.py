"""Multisets: one table in which a class shows how often it has each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.adversary.matching import match
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Distribution, Linked
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Codes, Groups, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.multisets import Entries, parsed
from shoal.core.published_tables import PublishedTables, unknown_values
from shoal.core.recoding import Recoding
from shoal.errors import NotDefined
from shoal.forms._reading import agreement
from shoal.forms.generalized import GeneralizedForm, GeneralizedView
from shoal.publishing.decision import check_groups, check_people


@dataclass(frozen=True, kw_only=True)
class MultisetsForm(GeneralizedForm):
    """One table, a row a record. The cell of a quasi-identifier is the multiset of the values of the record's class,
    such as `{20:1,23:2}`: one 20 and two 23. Everything else is published as it is.

    All records of a class have the same cells, and the cells of two columns are counted apart: which age goes with
    which sex, and either with which sensitive value, is told by nothing but the class. A cell says more than a range
    does, and hides a person among the class as well.

    Classes with the same multisets in every column are one class to a reader, with so many times the counts.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 21, 23, 24], "sex": list("FMMM")}), quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="multiset", seed=1)
        >>> sorted(set(release.frame.rows()))
        [('{21:2}', '{F:1,M:1}'), ('{23:1,24:1}', '{M:2}')]
    """

    def view(self, release: PublishedTables) -> MultisetsView:
        return MultisetsView(release)


@dataclass(frozen=True, eq=False)
class MultisetsView(GeneralizedView):
    """The classes of equal multisets."""

    def cells(self) -> Cells:
        raise NotDefined(
            "a multiset says how often a class has each value, so it is no range that could be more or less precise"
        )

    @cached_property
    def _multisets(self) -> tuple[list[Entries], ...]:
        """What the labels of each column hold; nothing where one is no multiset."""
        return tuple(
            [parsed(label) or [] for label in self.release.published.labels(name)] for name in self._people.attributes
        )

    @cached_property
    def _columns(self) -> tuple[Distribution, ...]:
        """What each class has in each column; a class that stands for several has so many times the counts."""
        release, classes = self.release, self._people
        distributions = []
        for name, keys, multisets in zip(classes.attributes, classes.keys, self._multisets, strict=True):
            leaf_of = _Leaves(release.hierarchy_of(name))
            leaves = [[leaf_of[value] for value, _ in entries] for entries in multisets]
            unknown = sum(not some or None in some for some in leaves)
            if unknown:
                raise unknown_values(name, unknown)
            widths = np.array([len(entries) for entries in multisets])
            starts = np.cumsum(widths) - widths
            flat = np.array([leaf for some in leaves for leaf in some], np.int32)
            counts = np.array([count for entries in multisets for _, count in entries], np.int64)
            totals = np.add.reduceat(counts, starts)
            owners = np.repeat(np.arange(len(classes)), widths[keys])
            firsts = np.cumsum(widths[keys]) - widths[keys]
            at = np.arange(len(owners)) - firsts[owners] + starts[keys[owners]]
            times = counts[at] * classes.sizes[owners] // totals[keys[owners]]
            distributions.append(Distribution((name,), owners.astype(np.int32), flat[at][None], times))
        return tuple(distributions)

    def distributions(self) -> tuple[Distribution, ...]:
        values = tuple(
            Distribution(
                (histogram.column,), histogram.owners.astype(np.int32), histogram.values[None], histogram.counts
            )
            for histogram in self._people.sensitive
        )
        return (*self._columns, *values)

    def linked(self) -> tuple[Linked, ...]:
        quasi = self.release.schema.quasi
        others = tuple(name for name in self.release.published.names if name not in quasi)
        counted = tuple(Linked(part="", columns=(name,), group=quasi, multisets=True) for name in quasi)
        return (*counted, Linked(part="", columns=others, group=quasi)) if others else counted

    def candidates(self, people: Codes) -> Candidates:
        """Every class that has each of the person's values, by how many of its records would have all of them if its
        columns had nothing to do with one another."""
        columns = [((at,), column) for at, column in enumerate(self._columns)]
        matches = match(columns, self._people.sizes, people)
        return Candidates(matches.starts, matches.groups, matches.chances)

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        plan, placement = recoding.planned, self.placement(recoding)
        check_groups(dataset, plan, self._people, placement, self.release.seed)
        for at, column in enumerate(self._columns):
            check_people(dataset, plan, _rows(column), placement, attributes=[at])

    def agreement(self) -> tuple[Finding, ...]:
        """Every cell of a class counts as many records as its other cells, and the class has so many, or some times
        as many."""
        totals = []
        for keys, multisets in zip(self._people.keys, self._multisets, strict=True):
            totals.append(np.array([sum(count for _, count in entries) for entries in multisets], np.int64)[keys])
        same = all(np.array_equal(totals[0], other) for other in totals[1:]) and bool(np.all(totals[0] > 0))
        agree = same and not bool(np.any(self._people.sizes % totals[0]))
        how = "records that the multisets of each class count, held against the rows of the class"
        return agreement(agree, how, name="cells-agree")


class _Leaves(dict[str | None, int | None]):
    """The leaf of each value, looked up once."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        super().__init__()
        self.hierarchy = hierarchy

    def __missing__(self, value: str | None) -> int | None:
        leaf = self[value] = self.hierarchy.leaf(value)
        return leaf


def _rows(distribution: Distribution) -> Groups:
    """The entries of a distribution with, last, the class, each once."""
    return group([*distribution.leaves, distribution.groups], weights=distribution.counts)
