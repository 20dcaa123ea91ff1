"""Holds what was published against what was decided: an algorithm or an engine that errs hands nothing out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Groups, group
from shoal.core.recoding import Plan, Recoding
from shoal.errors import VerificationError


def check_cells(dataset: Dataset, plan: Plan) -> None:
    """Raises unless every cell of a plan covers the values of the records that are published in it."""
    from shoal.kernels.ranges import extremes

    owners = plan.owners
    for keys, cells, book in zip(people_of(dataset, plan), plan.cells, plan.codebooks, strict=True):
        least, greatest = extremes(owners, keys, plan.count)
        filled = least <= greatest
        if bool(np.any(filled & ((least < book.low[cells]) | (greatest > book.high[cells])))):
            raise VerificationError(
                f"column {book.column!r}: a published value does not cover that of a record under it"
            )


def check_groups(dataset: Dataset, plan: Plan, groups: Classes, placed: Codes, seed: int) -> None:
    """Raises unless groups have the records, and the sensitive values, that a plan puts there.

    `placed` says of each class of the plan which of the groups it is; negative: nothing of it is published.
    """
    check_same(groups, decided_groups(dataset, plan, placed, len(groups), seed))


def check_counterfeits(dataset: Dataset, recoding: Recoding, groups: Classes, placed: Codes, seed: int) -> None:
    """Raises unless groups have the sensitive values that a plan puts there and the counterfeits, and no others."""
    assert recoding.plan is not None and recoding.counterfeits is not None
    decided = decided_groups(dataset, recoding.plan, placed, len(groups), seed)
    fakes = recoding.counterfeits
    for found, wanted in zip(groups.sensitive, decided.sensitive, strict=True):
        counted = _counted(wanted)
        owners = np.concatenate([counted.keys[0], placed[fakes.groups]])
        values = np.concatenate([counted.keys[1], fakes.leaves])
        counts = np.append(counted.counts, np.ones(len(fakes), np.int64))
        both = group([owners, values], [len(wanted.starts), len(wanted.population)], weights=counts)
        if not _same(_counted(found), both):
            raise VerificationError(f"column {found.column!r}: a published group has other values than was decided")


def decided_groups(dataset: Dataset, plan: Plan, placed: Codes, groups: int, seed: int) -> Classes:
    """The records of a dataset, as many groups as there are, in the groups that a plan puts them into."""
    return dataset.partitioned(_places(plan, placed), groups, seed=seed)


def check_members(dataset: Dataset, places: Codes, groups: Classes, seed: int) -> None:
    """Raises unless groups have the records, and the sensitive values, of the entries of a plan that belong there."""
    check_same(groups, dataset.partitioned(places, len(groups), seed=seed))


def check_same(groups: Classes, decided: Classes) -> None:
    """Raises unless published groups have the records, and the sensitive values, of those that were decided on."""
    if not np.array_equal(decided.sizes, groups.sizes):
        raise VerificationError("a published group has another number of records than was decided")
    for found, wanted in zip(groups.sensitive, decided.sensitive, strict=True):
        if not _alike(found, wanted):
            raise VerificationError(f"column {found.column!r}: a published group has other values than was decided")


def check_people(
    dataset: Dataset, plan: Plan, rows: Groups, placed: Codes, *, attributes: Sequence[int] | None = None
) -> None:
    """Raises unless people who are published as they are stand in the groups that a plan puts them into.

    `rows` has the distinct leaves of the quasi-identifiers, or of some `attributes` among them, with, last, the group.
    """
    places = _places(plan, placed)
    shown, people = places >= 0, people_of(dataset, plan)
    chosen = people if attributes is None else people[list(attributes)]
    columns = [*chosen[:, shown], places[shown]]
    weights = np.ones(len(places), np.int64) if plan.by_record else dataset.summary.sizes
    if not _same(rows, group(columns, [int(codes.max(initial=0)) + 1 for codes in columns], weights=weights[shown])):
        raise VerificationError("records are not published in the groups that were decided on")


def people_of(dataset: Dataset, plan: Plan) -> Codes:
    """The quasi-identifiers of each entry of a plan, as leaves."""
    summary = dataset.summary
    return np.repeat(summary.keys, summary.sizes, axis=1) if plan.by_record else summary.keys


def _places(plan: Plan, placed: Codes) -> Codes:
    """The published group of each entry of a plan; negative: it is not published."""
    places: Codes = np.where(plan.owners >= 0, placed[plan.owners], np.int32(-1))
    return places


def _counted(histogram: Histogram) -> Groups:
    """How often each group has each value, whatever else its records have in common."""
    owners = histogram.owners.astype(np.int32)
    radices = [len(histogram.starts), len(histogram.population)]
    return group([owners, histogram.values], radices, weights=histogram.counts)


def _alike(found: Histogram, wanted: Histogram) -> bool:
    """Whether groups have the same values equally often."""
    if any(each.contexts is not None or each.people is not None for each in (found, wanted)):
        return _same(_counted(found), _counted(wanted))
    pairs = ((found.starts, wanted.starts), (found.values, wanted.values), (found.counts, wanted.counts))
    return all(np.array_equal(left, right) for left, right in pairs)


def _same(left: Groups, right: Groups) -> bool:
    return np.array_equal(left.keys, right.keys) and np.array_equal(left.counts, right.counts)
