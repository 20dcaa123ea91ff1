"""Holds what was published against what was decided: an algorithm or an engine that errs hands nothing out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.core.blocks import Blocks
from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, Groups, group
from shoal.core.members import check_same, same_counts, value_counts
from shoal.core.recoding import Plan, Recoding
from shoal.errors import VerificationError
from shoal.publishing.divided_table import Whole


def check_plan(dataset: Dataset, plan: Plan, groups: Classes, placement: Codes, seed: int) -> None:
    """Raises unless every cell of a plan covers the values of the records that are published in it, and groups have the
    records, and the sensitive values, that it puts there.

    `placed` says of each class of the plan which of the groups it is; negative: nothing of it is published. Where the
    plan was decided block by block, no more than a block of the table is looked at at a time.
    """
    owners, places = plan.owners, _places(plan, placement)
    if plan.blocks is None:
        _check_cells(people_of(dataset, plan), owners, plan)
        check_same(groups, dataset.partitioned(places, len(groups), seed=seed))
        return
    parts = []
    for part, entries in _parts(dataset, plan, plan.blocks):
        _check_cells(people_of(part, plan), owners[entries], plan)
        shown, index = np.unique(places[entries], return_inverse=True)
        hidden = int(len(shown) > 0 and shown[0] < 0)
        decided = part.partitioned((index - hidden).astype(np.int32), len(shown) - hidden, seed=seed)
        parts.append((shown[hidden:], decided))
    check_same(groups, _summed(parts, len(groups)))


def _parts(dataset: Dataset, plan: Plan, blocks: Blocks) -> Iterator[tuple[Dataset, NDArray[np.int64]]]:
    """The blocks that a plan was decided in, each with its entries of the plan."""
    sizes, whole, homes = sizes_of(dataset, plan), Whole.of(dataset), blocks.of(plan.keys)
    boxes = zip(*blocks.boxes([tree.size for tree in whole.schema.hierarchies]), strict=True)
    for number, box in enumerate(boxes):
        part, here = whole.boxed(dataset, *box), homes == number
        summary = part.summary
        if not (np.array_equal(summary.keys, plan.keys[:, here]) and np.array_equal(summary.sizes, sizes[here])):
            raise VerificationError("a plan does not have every tuple of the table")
        yield part, np.flatnonzero(np.repeat(here, sizes) if plan.by_record else here)


def _check_cells(people: Codes, owners: Codes, plan: Plan) -> None:
    """Raises unless the cells of classes cover the values of the people in them."""
    from shoal.kernels.ranges import extremes

    shown = owners >= 0
    first = int(owners[shown].min()) if shown.any() else 0
    count = int(owners.max(initial=-1)) + 1 - first
    shifted = np.where(shown, owners - first, owners).astype(np.int32)
    for keys, cells, book in zip(people, plan.cells, plan.codebooks, strict=True):
        least, greatest = extremes(shifted, np.ascontiguousarray(keys), count)
        filled, here = least <= greatest, cells[first : first + count]
        if bool(np.any(filled & ((least < book.low[here]) | (greatest > book.high[here])))):
            raise VerificationError(
                f"column {book.column!r}: a published value does not cover that of a record under it"
            )


def _summed(parts: Sequence[tuple[Codes, Classes]], groups: int) -> Classes:
    """Classes of parts of a table as the groups that they are parts of, with the number of each."""
    sizes = np.zeros(groups, np.int64)
    for numbers, part in parts:
        sizes[numbers] += part.sizes
    histograms = []
    for place, first in enumerate(parts[0][1].sensitive):
        pieces = [(numbers, part.sensitive[place]) for numbers, part in parts]
        merged = group(
            [
                np.concatenate([numbers[each.owners] for numbers, each in pieces]).astype(np.int32),
                np.concatenate([each.values for _, each in pieces]),
            ],
            [groups, len(first.population)],
            weights=np.concatenate([each.counts for _, each in pieces]),
        )
        starts = np.searchsorted(merged.keys[0], np.arange(groups + 1)).astype(np.int64)
        histograms.append(
            replace(first, starts=starts, values=merged.keys[1], counts=merged.counts, contexts=None, people=None)
        )
    return Classes((), np.zeros((0, groups), np.int32), sizes, tuple(histograms))


def check_groups(dataset: Dataset, plan: Plan, groups: Classes, placement: Codes, seed: int) -> None:
    """Raises unless groups have the records, and the sensitive values, that a plan puts there, as `check_plan` does."""
    check_same(groups, decided_groups(dataset, plan, placement, len(groups), seed))


def check_counterfeits(dataset: Dataset, recoding: Recoding, groups: Classes, placement: Codes, seed: int) -> None:
    """Raises unless groups have the sensitive values that a plan puts there and the counterfeits, and no others."""
    decided, fakes = decided_groups(dataset, recoding.planned, placement, len(groups), seed), recoding.counterfeits
    if fakes is None:
        check_same(groups, decided)
        return
    for published, wanted in zip(groups.sensitive, decided.sensitive, strict=True):
        counted = value_counts(wanted)
        owners = np.concatenate([counted.keys[0], placement[fakes.groups]])
        values = np.concatenate([counted.keys[1], fakes.leaves])
        counts = np.append(counted.counts, np.ones(len(fakes), np.int64))
        both = group([owners, values], [len(wanted.starts), len(wanted.population)], weights=counts)
        if not same_counts(value_counts(published), both):
            raise VerificationError(f"column {published.column!r}: a published group has other values than was decided")


def decided_groups(dataset: Dataset, plan: Plan, placement: Codes, groups: int, seed: int) -> Classes:
    """The records of a dataset, as many groups as there are, in the groups that a plan puts them into."""
    return dataset.partitioned(_places(plan, placement), groups, seed=seed)


def check_members(dataset: Dataset, places: Codes, groups: Classes, seed: int) -> None:
    """Raises unless groups have the records, and the sensitive values, of the entries of a plan that belong there."""
    check_same(groups, dataset.partitioned(places, len(groups), seed=seed))


def check_people(
    dataset: Dataset, plan: Plan, rows: Groups, placement: Codes, *, attributes: Sequence[int] | None = None
) -> None:
    """Raises unless people who are published as they are stand in the groups that a plan puts them into.

    `rows` has the distinct leaves of the quasi-identifiers, or of some `attributes` among them, with, last, the group.
    """
    places = _places(plan, placement)
    shown, people = places >= 0, people_of(dataset, plan)
    chosen = people if attributes is None else people[list(attributes)]
    columns = [*chosen[:, shown], places[shown]]
    weights = np.ones(len(places), np.int64) if plan.by_record else dataset.summary.sizes
    if not same_counts(rows, group(columns, weights=weights[shown])):
        raise VerificationError("records are not published in the groups that were decided on")


def people_of(dataset: Dataset, plan: Plan) -> Codes:
    """The quasi-identifiers of each entry of a plan, as leaves."""
    summary = dataset.summary
    return np.repeat(summary.keys, summary.sizes, axis=1) if plan.by_record else summary.keys


def sizes_of(dataset: Dataset, plan: Plan) -> Counts:
    """How many records each tuple of a plan has."""
    return dataset.summary.sizes if plan.sizes is None else plan.sizes


def _places(plan: Plan, placement: Codes) -> Codes:
    """The published group of each entry of a plan; negative: it is not published."""
    places: Codes = np.where(plan.owners >= 0, placement[plan.owners], np.int32(-1))
    return places
