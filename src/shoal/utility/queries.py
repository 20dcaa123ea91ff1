"""Queries: counts, sums and means, of a table as it is and of a release as a recipient reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.contracts.form import Linked
from shoal.core.contracts.table import Published
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, ranges
from shoal.core.hierarchy import Hierarchy
from shoal.core.multisets import parsed
from shoal.core.release import Release
from shoal.core.schema import ENCODED, Column, Kind, Schema
from shoal.errors import NotDefined, ParameterError, unknown_columns
from shoal.utility.conditions import Condition, where
from shoal.utility.estimation import Estimate, Measure, PublishedPart, estimate
from shoal.utility.published_labels import Labels

Conditions = Mapping[str, Any] | Iterable[str]
MOST_ROWS = 50_000_000
"""Rows that are put together from several tables."""


def of_dataset(data: Dataset, measure: Measure, column: str | None, conditions: Conditions) -> Estimate:
    """The truth about a table."""
    wanted, names = _checked(measure, column, conditions, data.schema.names, data.schema)
    parts = [_table_part(data, names)] if names else []
    truth = estimate(parts, np.array([data.records]), measure, column, wanted)
    rows = None if data.schema.weight is None else rows_of_dataset(data, [*names, data.schema.weight])
    return replace(
        truth, records=data.records, how=truth.how or "counted in the table itself",
        weighted=_weighted(rows, data.schema.weight, measure, column, wanted),
    )  # fmt: skip


def _table_part(data: Dataset, names: Sequence[str]) -> PublishedPart:
    """The rows of a table as far as they are about some columns."""
    known = data.knowing(names)
    rows = known.table.group(names, ())
    labels = {}
    for place, name in enumerate(names):
        hierarchy, kind = known.schema.hierarchy_of(name), _kind(data.schema[name])
        weights = np.bincount(rows.keys[place], weights=rows.sizes, minlength=hierarchy.size)
        labels[name] = Labels(name, hierarchy.labels[0].tolist(), weights, hierarchy=hierarchy, kind=kind)
    return PublishedPart(np.zeros(len(rows), np.int32), rows.sizes, dict(zip(names, rows.keys, strict=True)), labels)


def _kind(column: Column) -> Kind | None:
    """What the values of a column are; None: it is published as it came, and nobody has looked."""
    return column.kind if column.role in ENCODED else None


def of_release(
    release: Release,
    measure: Measure,
    column: str | None,
    conditions: Conditions,
    hierarchies: Mapping[str, Hierarchy],
) -> Estimate:
    """What a recipient estimates from the published tables; `hierarchies` explain labels that are nodes of them."""
    view = release.view
    sets = view.linked()
    shown = [name for each in sets for name in each.columns]
    wanted, names = _checked(measure, column, conditions, shown, release.schema)
    parts, sizes = _parts(release, names, hierarchies)
    answer = estimate(parts, sizes, measure, column, wanted)
    weight = release.schema.weight if release.schema.weight in release.published.names else None
    rows = None if weight is None else rows_of_release(release, [*names, weight], hierarchies)
    answer = replace(
        answer, records=release.published.records, left_out=release.suppressed,
        weighted=_weighted(rows, weight, measure, column, wanted),
    )  # fmt: skip
    means = [name for name in names if release.spellings.get(name) == "means"]
    if not view.truthful or means:
        why = (
            f"column {means[0]!r} is published as means of classes" if means else "the values are perturbed"
        ) + ": nothing is certain, and the error is not known"
        return replace(answer, error=None, low=None, high=None, how=why)
    how = "records that meet the conditions, cells that stand for several values in proportion"
    if len(parts) > 1:
        how = "within each group, every way to put its rows together is as likely as any other"
    return replace(answer, how=answer.how or how)


def _parts(
    release: Release, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> tuple[list[PublishedPart], Counts]:
    """The published rows as far as they are about some columns, and how many records each group has."""
    sets = release.view.linked()
    concerned = [each for each in sets if set(each.columns) & set(names)]
    shared = [name for name in names if sum(name in each.columns for each in sets) > 1]
    if shared:
        raise NotDefined(
            f"column {shared[0]!r} stands in several tables of the release, which do not say which of its rows are one"
        )
    # Groups matter only where rows of several sets have to be put together, or may count more values than records.
    apart = len(concerned) > 1 or any(each.count is not None for each in concerned)
    grouped, sizes = _groups(release, sets[0]) if apart else (None, np.array([release.published.records]))
    parts = [
        _part(release, each, [name for name in each.columns if name in names], grouped, hierarchies)
        for each in concerned
    ]
    return parts, sizes


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedRows:
    """Rows of columns, and how many records each counts: where columns stand apart, every way to put the rows of a
    group together counts as likely as any other."""

    weights: NDArray[np.float64]
    codes: Mapping[str, Codes]
    labels: Mapping[str, Labels]


def rows_of_dataset(data: Dataset, names: Sequence[str]) -> ExpectedRows:
    """The rows of a table, as far as they are about some columns."""
    part = _table_part(data, names)
    return ExpectedRows(part.weights.astype(np.float64), part.codes, part.labels)


def rows_of_release(release: Release, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> ExpectedRows:
    """The rows that a recipient has to expect, as far as they are about some columns."""
    (first, *others), sizes = _parts(release, names, hierarchies)
    weights, groups, codes, labels = first.weights.astype(np.float64), first.groups, dict(first.codes), first.labels
    for other in others:
        order = np.argsort(other.groups, kind="stable")
        starts = np.searchsorted(other.groups[order], np.arange(len(sizes) + 1))
        widths = np.diff(starts)[groups]
        if int(widths.sum()) > MOST_ROWS:
            raise NotDefined("the groups of the release are too large to put the rows of its tables together")
        here = np.repeat(np.arange(len(groups)), widths)
        there = order[ranges(starts[groups], widths)]
        weights = weights[here] * other.weights[there] / np.maximum(sizes, 1)[groups[here]]
        codes = {name: each[here] for name, each in codes.items()}
        codes |= {name: each[there] for name, each in other.codes.items()}
        groups, labels = groups[here], {**labels, **other.labels}
    return ExpectedRows(weights, codes, labels)


def _weighted(
    rows: ExpectedRows | None, weight: str | None, measure: Measure, column: str | None, conditions: Sequence[Condition]
) -> float | None:
    """The figure of the population that rows stand for; None where they have no weights, or none can meet the
    conditions that a mean is over."""
    if rows is None or weight is None:
        return None
    chance = rows.weights * middles(rows.labels[weight])[rows.codes[weight]]
    for condition in conditions:
        chance = chance * condition.meaning(rows.labels[condition.column]).chance[rows.codes[condition.column]]
    if column is None:
        return float(chance.sum())
    chance = chance * ~rows.labels[column].absent[rows.codes[column]]
    values = middles(rows.labels[column], [each for each in conditions if each.column == column and each.numeric])
    total, count = float(chance @ values[rows.codes[column]]), float(chance.sum())
    return total if measure == "sum" else total / count if count > 0 else None


def middles(labels: Labels, conditions: Sequence[Condition] = ()) -> NDArray[np.float64]:
    """The number of each label: the middle of its range, as far as it meets conditions on it; 0 where it has none."""
    low, high = labels.ends
    for condition in conditions:
        bounds = condition.bounds(labels)
        low, high = np.maximum(low, float(bounds.low)), np.minimum(high, float(bounds.high))
    return np.nan_to_num(low / 2 + high / 2)  # the sum of huge numbers would be infinite


def _checked(
    measure: str, column: str | None, conditions: Conditions, names: Sequence[str], schema: Schema
) -> tuple[tuple[Condition, ...], list[str]]:
    """The conditions, and the columns that they and the measure are about."""
    if measure not in ("count", "sum", "mean"):
        raise ParameterError("a query is a count, a sum or a mean")
    if (measure == "count") != (column is None):
        raise ParameterError("a count has no column; a sum and a mean are of one column")
    dated = {name: each.form for name, each in schema.notations.items() if each.kind is Kind.DATE}
    wanted = where(conditions, names, dated)
    about = list(dict.fromkeys([*([] if column is None else [column]), *(each.column for each in wanted)]))
    unknown = [name for name in about if name not in names]
    if unknown:
        raise unknown_columns(unknown, names)
    return wanted, about


Grouped = Mapping[tuple[str | None, ...], int]


def _groups(release: Release, linked: Linked) -> tuple[Grouped, Counts]:
    """The place of each group by its labels, and how many records each has."""
    table = release.tables[linked.part]
    rows = table.group(linked.group, (), count=linked.count)
    return {named: place for place, named in enumerate(_named(table, linked.group, rows.keys))}, rows.sizes


def _named(table: Published, columns: Sequence[str], keys: Codes) -> Iterator[tuple[str | None, ...]]:
    """The labels of rows, each a tuple."""
    labels = [table.labels(name) for name in columns]
    for codes in keys.T.tolist():
        yield tuple(names[code] for names, code in zip(labels, codes, strict=True))


def _part(
    release: Release,
    linked: Linked,
    names: Sequence[str],
    grouped: Grouped | None,
    hierarchies: Mapping[str, Hierarchy],
) -> PublishedPart:
    """The rows of a set of columns that stand together, as far as a query is about them."""
    table = release.tables[linked.part]
    shown = () if linked.multisets else tuple(names)
    group = linked.group if grouped is not None or linked.multisets else ()
    rows = table.group((*shown, *group), (), count=linked.count)
    groups = np.zeros(len(rows), np.int32)
    if grouped is not None:
        places = [grouped.get(named, -1) for named in _named(table, group, rows.keys[len(shown) :])]
        if -1 in places:
            raise NotDefined("the tables of the release do not agree on its groups")
        groups = np.array(places, np.int32)
    if linked.multisets:
        return _multiset_part(table, release.schema[names[0]], rows, groups)
    sheets = release.form.sheets(release.schema, pseudonyms=True)
    coarse = {column.name for sheet in sheets for column in sheet.columns if column.what == "cell"}
    labels = {}
    for place, name in enumerate(names):
        texts = table.labels(name)
        weights = np.bincount(rows.keys[place], weights=rows.sizes, minlength=len(texts))
        spelling = release.spellings.get(name, "levels") if name in coarse else "raw"
        labels[name] = Labels(name, texts, weights, spelling, hierarchies.get(name), _kind(release.schema[name]))
    return PublishedPart(groups, rows.sizes, dict(zip(names, rows.keys, strict=False)), labels)


def _multiset_part(table: Published, column: Column, rows: Classes, groups: Codes) -> PublishedPart:
    """The values that the multisets of a column count, for each group as often as it has them."""
    name = column.name
    multisets = [parsed(label) or [] for label in table.labels(name)]
    places: dict[str | None, int] = {}
    owners, codes, counts = [], [], []
    for group, key, size in zip(
        groups.tolist(), rows.keys[rows.attributes.index(name)].tolist(), rows.sizes.tolist(), strict=True
    ):
        total = sum(count for _, count in multisets[key])
        for value, count in multisets[key]:
            owners.append(group)
            codes.append(places.setdefault(value, len(places)))
            counts.append(count * size // total)
    weights = np.array(counts, np.int64)
    weighted = np.bincount(codes, weights=weights, minlength=len(places))
    labels = Labels(name, list(places), weighted, kind=_kind(column))
    return PublishedPart(np.array(owners, np.int32), weights, {name: np.array(codes, np.int32)}, {name: labels})
