"""Queries: counts, sums and means, of a table as it is and of a release as a recipient reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.core.conditions import Condition, Labels, where
from shoal.core.contracts import Linked
from shoal.core.dataset import Dataset
from shoal.core.estimation import Estimate, Measure, Part, estimate
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.release import Release
from shoal.errors import NotDefined, ParameterError, unknown_columns

Conditions = Mapping[str, Any] | Iterable[str]


def of_dataset(data: Dataset, measure: Measure, column: str | None, conditions: Conditions) -> Estimate:
    """The truth about a table."""
    wanted, names = _checked(measure, column, conditions, data.schema.names)
    known = data.knowing(names)
    rows = known.table.group(names, ()) if names else None
    labels = {}
    for place, name in enumerate(names):
        hierarchy = known.schema[name].hierarchy
        assert hierarchy is not None and rows is not None
        weights = np.bincount(rows.keys[place], weights=rows.sizes, minlength=hierarchy.size)
        labels[name] = Labels(name, hierarchy.labels[0].tolist(), weights, exact=True)
    parts = []
    if rows is not None:
        codes = dict(zip(names, rows.keys, strict=True))
        parts = [Part(np.zeros(len(rows), np.int32), rows.sizes, codes, labels)]
    found = estimate(parts, np.array([data.records]), measure, column, wanted)
    return replace(found, records=data.records, how=found.how or "counted in the table itself")


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
    wanted, names = _checked(measure, column, conditions, [name for each in sets for name in each.columns])
    concerned = [each for each in sets if set(each.columns) & set(names)]
    # Groups matter only where rows of several sets have to be put together.
    grouped, sizes = _groups(release, sets[0]) if len(concerned) > 1 else (None, np.array([release.published.records]))
    parts = [
        _part(release, each, [name for name in each.columns if name in names], grouped, hierarchies)
        for each in concerned
    ]
    found = replace(
        estimate(parts, sizes, measure, column, wanted),
        records=release.published.records, left_out=release.suppressed,
    )  # fmt: skip
    means = [name for name in names if release.spellings.get(name) == "means"]
    if not view.truthful or means:
        why = (
            f"column {means[0]!r} is published as means of classes" if means else "the values are perturbed"
        ) + ": nothing is certain, and the error is not known"
        return replace(found, error=None, low=None, high=None, how=why)
    how = "records that meet the conditions, cells that stand for several values in proportion"
    if len(concerned) > 1:
        how = "within each group, every way to put its rows together is as likely as any other"
    return replace(found, how=found.how or how)


def _checked(
    measure: str, column: str | None, conditions: Conditions, names: Sequence[str]
) -> tuple[tuple[Condition, ...], list[str]]:
    """The conditions, and the columns that they and the measure are about."""
    if measure not in ("count", "sum", "mean"):
        raise ParameterError("a query is a count, a sum or a mean")
    if (measure == "count") != (column is None):
        raise ParameterError("a count has no column; a sum and a mean are of one column")
    wanted = where(conditions, names)
    about = list(dict.fromkeys([*([] if column is None else [column]), *(each.column for each in wanted)]))
    unknown = [name for name in about if name not in names]
    if unknown:
        raise unknown_columns(unknown, names)
    return wanted, about


def _groups(release: Release, linked: Linked) -> tuple[dict[str | None, int], Counts]:
    """The place of each group by its label, and how many records each has."""
    assert linked.group is not None
    table = release.tables[linked.part]
    rows = table.group((linked.group,), (), count=linked.count)
    labels = table.labels(linked.group)
    return {labels[key]: place for place, key in enumerate(rows.keys[0].tolist())}, rows.sizes


def _part(
    release: Release,
    linked: Linked,
    names: Sequence[str],
    grouped: Mapping[str | None, int] | None,
    hierarchies: Mapping[str, Hierarchy],
) -> Part:
    """The rows of a set of columns that stand together, as far as a query is about them."""
    table = release.tables[linked.part]
    keys = (*names, linked.group) if grouped is not None and linked.group is not None else tuple(names)
    rows = table.group(keys, (), count=linked.count)
    groups = np.zeros(len(rows), np.int32)
    if grouped is not None and linked.group is not None:
        places = [grouped.get(label, -1) for label in table.labels(linked.group)]
        if -1 in places:
            raise NotDefined("the tables of the release do not agree on its groups")
        groups = np.array(places, np.int32)[rows.keys[-1]]
    labels = {}
    for place, name in enumerate(names):
        texts = table.labels(name)
        weights = np.bincount(rows.keys[place], weights=rows.sizes, minlength=len(texts))
        exact = release.spellings.get(name, "values" if name not in release.schema.quasi else "levels") != "levels"
        labels[name] = Labels(name, texts, weights, exact, hierarchies.get(name))
    return Part(groups, rows.sizes, dict(zip(names, rows.keys, strict=False)), labels)
