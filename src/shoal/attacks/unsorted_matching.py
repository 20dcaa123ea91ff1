"""Unsorted matching: two releases whose rows stand in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.joining import all_releases
from shoal.adversary.locating import align
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Groups, group, ranges
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.release_history import LocatedRelease
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.parsing.labels import objects

SHUFFLES, NORMAL = 99, 1.96
"""Random orders that show how much chance explains, and standard errors of an interval of 95 %."""


@dataclass(frozen=True, kw_only=True)
class UnsortedMatching(Attack):
    """Takes rows with the same number in two releases for the same person. If both kept the order of the table, that
    joins them, whatever else hides who is who.

    The attack is measured by how many pairs of rows fit one person of the table and agree in the columns that stand in
    both. Pairs at random fit too, now and then; what is beyond that is the share of rows whose order was `kept`, with
    an `interval` of 95 % from rows in random order. If that reaches 0, shuffled tables do as well, and nothing is
    counted as kept. `success` is the share that was kept, and 1 over the number of rows for all others. Nobody's rows
    are more exposed than anybody else's, so `worst` is the same. `detail` also has the share of pairs that `fit`, the
    share that would `by_chance`, and the `k` of the rows joined by their numbers. Of several earlier releases the one
    that gives most away counts.

    Releases that Shoal makes are in an order that follows from what they say, so this fails on them. Does not try
    other orders, such as that of a column; needs generalized releases of the same number of rows.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": list(range(40)), "ill": list("abcd" * 10)})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["ill"])
        >>> first, second = (shoal.anonymize(data, shoal.KAnonymity(k=k), seed=1) for k in (2, 3))
        >>> found = shoal.attack(data, second, UnsortedMatching(), earlier=[first])[0]
        >>> found.baseline, found.success
        (0.025, 0.025)
    """

    threshold: Annotated[Share, Doc("the chance above which a record counts as exposed")] = 0.5

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        *earlier, later = all_releases(known)
        rows = later.release.published.records if later.release is not None else -1
        alike = [each for each in earlier if each.release is not None and each.release.published.records == rows]
        if not alike or not rows:
            raise NotDefined("no earlier release has as many rows as this one, so that row numbers match nothing")
        match = max((_match(each, later, run) for each in alike), key=lambda match: (match.sure, match.kept))
        share = min(match.kept, 1.0) if match.sure else 0.0
        success = share + (1 - share) / rows
        return Attempt(
            name="unsorted-matching",
            success=success,
            baseline=1 / rows,
            worst=success,
            above=float(success > self.line),
            threshold=self.line,
            knew="both releases with their rows in the order in which they were published",
            meaning="how often rows with the same number are those of one person",
            detail={
                "kept": match.kept, "interval": list(match.interval), "fit": match.fit, "by_chance": match.chance,
                "k": match.smallest,
            },
        )  # fmt: skip


@dataclass(frozen=True)
class _Match:
    """The share of rows whose order was kept, how far it may be off by chance, the share of pairs that fit one person,
    that of pairs at random, and the fewest rows that are joined alike."""

    kept: float
    error: float
    fit: float
    chance: float
    smallest: int

    @property
    def interval(self) -> tuple[float, float]:
        return max(self.kept - NORMAL * self.error, 0.0), min(max(self.kept + NORMAL * self.error, 0.0), 1.0)

    @property
    def sure(self) -> bool:
        """Whether more rows fit than chance explains."""
        return self.kept - NORMAL * self.error > 0


def _match(first: LocatedRelease, second: LocatedRelease, run: Run) -> _Match:
    """How well the rows of two releases match by their numbers. Rows that say the same in both need no order to be
    joined, so they do not count."""
    classes, alike = _row_classes(first, second)
    radices = [int(codes.max()) + 1 for codes in classes]
    people = align([first, second], [first.groups, second.groups])
    there = group(list(people.places[:, (people.places >= 0).all(axis=0)]), radices).keys
    run.check()
    values = _common_values(first, second)
    width = int(max(each.max() for each in values)) + 1
    rows = [group([codes, value], [radix, width]) for codes, value, radix in zip(classes, values, radices, strict=True)]
    keys, same = (codes[0].astype(np.int64) * radices[1] + codes[1] for codes in (there, alike))
    open_pairs = len(values[0]) ** 2 - _meetings(alike, *rows)
    chance = _meetings(there[:, ~np.isin(keys, same)], *rows) / open_pairs if open_pairs else 1.0

    def fitting(order: NDArray[np.int64] | slice) -> float | None:
        """The share of the pairs that fit, with the rows of the second release in an order; None: no pair counts."""
        run.check()
        agreeing = np.flatnonzero(values[0] == values[1][order])  # no other pair of rows needs to be looked for
        pairs = classes[0][agreeing].astype(np.int64) * radices[1] + classes[1][order][agreeing]
        idle = np.isin(pairs, same)
        counted = len(values[0]) - int(idle.sum())
        return int((np.isin(pairs, keys) & ~idle).sum()) / counted if counted else None

    as_published = fitting(slice(None))
    generator = np.random.default_rng(0)
    shuffled = [fitting(generator.permutation(len(values[0]))) for _ in range(SHUFFLES)]
    fits = [fit for fit in shuffled if fit is not None]
    smallest = int(np.unique(classes[0].astype(np.int64) * radices[1] + classes[1], return_counts=True)[1].min())
    if as_published is None or chance >= 1:
        return _Match(0.0, 0.0, as_published or 0.0, chance, smallest)
    kept = (as_published - chance) / (1 - chance)
    error = float(np.std(fits)) / (1 - chance) if fits else 0.0
    return _Match(kept, error, as_published, chance, smallest)


def _row_classes(first: LocatedRelease, second: LocatedRelease) -> tuple[list[Codes], Codes]:
    """The class of each published row of both releases, in the order of the tables, numbered as the views number them;
    and which class of the one says the same as which of the other."""
    classes, texts = [], []
    for each in (first, second):
        release = each.release
        assert release is not None
        if each.classes is not each.groups:
            raise NotDefined("this form has no row with what is published of a person, so rows cannot be matched")
        table, quasi = release.published, second.release.schema.quasi if second.release else ()
        if release.schema.quasi != quasi:
            raise NotDefined("the releases have other quasi-identifiers, so that rows cannot be compared")
        rows = group([table.codes(name) for name in quasi], [len(table.labels(name)) for name in quasi], index=True)
        classes.append(rows.index)
        labels = [objects(table.labels(name)) for name in quasi]
        cells = [label[codes].tolist() for label, codes in zip(labels, rows.keys, strict=True)]
        texts.append({row: at for at, row in enumerate(zip(*cells, strict=True))})
    both = [(at, texts[1][row]) for row, at in texts[0].items() if row in texts[1]]
    return classes, np.array(both, np.int32).reshape(-1, 2).T


def _common_values(first: LocatedRelease, second: LocatedRelease) -> tuple[Codes, Codes]:
    """For each row what it has in the columns that are published as they are in both releases, as one number."""
    assert first.release is not None and second.release is not None
    tables = first.release.published, second.release.published
    rows, numbers = tables[0].records, np.zeros(sum(table.records for table in tables), np.int32)
    for name in (name for name in first.linking if name in second.linking):
        texts = {
            text: at for at, text in enumerate(dict.fromkeys(label for table in tables for label in table.labels(name)))
        }
        codes = [
            np.array([texts[label] for label in table.labels(name)], np.int32)[table.codes(name)] for table in tables
        ]
        numbers = group([numbers, np.concatenate(codes)], index=True).index
    return numbers[:rows], numbers[rows:]


def _meetings(pairs: Codes, left: Groups, right: Groups) -> float:
    """How many pairs of rows of the two tables are in one of the pairs of classes and have the same values."""
    width = int(max(left.keys[1].max(), right.keys[1].max())) + 1
    starts = np.searchsorted(left.keys[0], np.arange(int(left.keys[0].max()) + 2))
    times = np.diff(starts)[pairs[0]]
    at = ranges(starts[pairs[0]], times)
    keys = right.keys[0].astype(np.int64) * width + right.keys[1]
    wanted = np.repeat(pairs[1], times).astype(np.int64) * width + left.keys[1][at]
    there = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return float((left.counts[at] * np.where(keys[there] == wanted, right.counts[there], 0)).sum())
