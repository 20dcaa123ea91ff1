"""Who is in which published class, and whether published classes have what others have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import Codes, Groups, group
from shoal.errors import VerificationError


@dataclass(frozen=True, eq=False, repr=False)
class Members:
    """Who is in which published class: `classes`, whose keys are positions in the `labels` of the quasi-identifiers."""

    labels: tuple[Sequence[str | None], ...]
    classes: Classes

    def people(self, classes: Classes, labels: Sequence[Sequence[str | None]]) -> Classes:
        """The people of the same classes as they are read again, which have the same records and sensitive values."""
        columns = [
            _translation(here, there)[keys] for keys, here, there in zip(classes.keys, labels, self.labels, strict=True)
        ]
        tuples = group(columns, [len(known) + 1 for known in self.labels], index=True)
        if not np.array_equal(tuples.keys, self.classes.keys) or len(classes) != len(self.classes):
            raise VerificationError("the published classes are not those in which people were counted")
        places: Codes = np.empty(len(classes), np.int32)
        places[tuples.index] = np.arange(len(classes), dtype=np.int32)
        counted = self.classes.rolled(places, classes.keys)
        check_same(classes, counted)
        return counted


def _translation(labels: Sequence[str | None], known: Sequence[str | None]) -> Codes:
    """The position of labels among those that are known; past their end: unknown."""
    places = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, len(known)) for label in labels], np.int32)


def check_same(groups: Classes, decided: Classes) -> None:
    """Raises unless published groups have the records, and the sensitive values, of those that were decided on."""
    if not np.array_equal(decided.sizes, groups.sizes):
        raise VerificationError("a published group has another number of records than was decided")
    for published, expected in zip(groups.sensitive, decided.sensitive, strict=True):
        if not _alike(published, expected):
            raise VerificationError(f"column {published.column!r}: a published group has other values than was decided")


def value_counts(histogram: Histogram) -> Groups:
    """How often each group has each value, whatever else its records have in common."""
    owners = histogram.owners.astype(np.int32)
    radices = [len(histogram.starts), len(histogram.population)]
    return group([owners, histogram.values], radices, weights=histogram.counts)


def _alike(one: Histogram, other: Histogram) -> bool:
    """Whether groups have the same values equally often."""
    if any(each.contexts is not None or each.people is not None for each in (one, other)):
        return same_counts(value_counts(one), value_counts(other))
    pairs = ((one.starts, other.starts), (one.values, other.values), (one.counts, other.counts))
    return all(np.array_equal(left, right) for left, right in pairs)


def same_counts(left: Groups, right: Groups) -> bool:
    return np.array_equal(left.keys, right.keys) and np.array_equal(left.counts, right.counts)
