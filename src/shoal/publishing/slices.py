"""Slices: which columns of a sliced release stand together, and which sensitive values nobody can tell apart there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.schema import Role, Schema
from shoal.errors import ParameterError, SchemaError, unknown_columns

Columns = tuple[tuple[str, ...], ...]
"""Groups of attributes that stand together."""


def split(columns: Any) -> Any:
    """Columns of which some are spelled: `age+sex` is two attributes."""
    if not isinstance(columns, (list, tuple)):
        return columns
    return [[name.strip() for name in each.split("+")] if isinstance(each, str) else each for each in columns]


def the_sensitive(schema: Schema) -> str:
    """The one sensitive attribute that slicing takes."""
    if len(schema.sensitive) != 1:
        raise SchemaError(
            f"slicing takes one sensitive attribute and the schema names {len(schema.sensitive)}; name one"
        )
    return schema.sensitive[0]


def checked(schema: Schema, columns: Columns, *, overlapping: bool) -> Columns:
    """Columns once they make sense: every quasi-identifier in one, the sensitive attribute in one, or, when they may be
    `overlapping`, in several; other columns need not be named."""
    value = the_sensitive(schema)
    names = [name for column in columns for name in column]
    unknown = [name for name in names if name not in schema.names]
    if unknown:
        raise unknown_columns(unknown, schema.names)
    for name in names:
        if schema[name].role in (Role.IDENTIFIER, Role.WEIGHT, Role.DROP):
            raise ParameterError(f"columns: {name!r} is not published as it is; leave it out")
    if any(len(set(column)) < len(column) or not column for column in columns):
        raise ParameterError("columns: each needs at least one attribute, and names it once")
    if value not in names:
        raise ParameterError(
            f"columns: the sensitive attribute {value!r} is left out; put it into one, alone or beside others"
        )
    lacking = [name for name in schema.quasi if name not in names]
    if lacking:
        raise ParameterError(f"columns: the quasi-identifier {lacking[0]!r} is left out; put it into one of them")
    twice = [name for name in schema.names if names.count(name) > 1 and name != value]
    if twice:
        raise ParameterError(
            f"columns: they overlap in {twice[0]!r}, by which they can be joined again; "
            "only the sensitive attribute may stand in several columns"
        )
    if names.count(value) > 1 and not overlapping:
        raise ParameterError(
            f"columns: {value!r} stands in {names.count(value)} of them; overlapping-slicing takes such columns, and "
            "refuses those that can be joined again"
        )
    return columns


@dataclass(frozen=True, eq=False)
class Joint:
    """How often each bucket has each sensitive value beside each combination of the quasi-identifiers of one column."""

    buckets: Codes
    beside: Codes
    values: Codes
    counts: Counts


def blocks(joints: Sequence[Joint], column: str, population: Counts) -> tuple[NDArray[np.int64], Classes]:
    """Sensitive values that nobody can tell apart in a bucket, with the bucket of each such block.

    Two values are in one block when they stand equally often beside the same quasi-identifiers in every column that
    holds them: exchanging them then changes nothing that is published, so that everybody is as likely to have the one
    as the other. Whoever joins the columns learns no more than the block.
    """
    profiles: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for place, joint in enumerate(joints):
        rows = zip(*(part.tolist() for part in (joint.buckets, joint.values, joint.beside, joint.counts)), strict=True)
        for bucket, value, beside, count in rows:
            profiles.setdefault((bucket, value), []).append((place, beside, count))
    values_of: dict[tuple[int, tuple[tuple[int, int, int], ...]], list[int]] = {}
    for (bucket, value), profile in sorted(profiles.items()):
        values_of.setdefault((bucket, tuple(sorted(profile))), []).append(value)
    members = list(values_of.values())
    each = np.array([sum(count for place, _, count in profile if place == 0) for _, profile in values_of], np.int64)
    widths = np.array([len(values) for values in members], np.int64)
    starts = np.append(0, np.cumsum(widths)).astype(np.int64)
    values = np.array([value for some in members for value in some], np.int32)
    histogram = Histogram(column, starts, values, np.repeat(each, widths), population)
    keys = np.arange(len(members), dtype=np.int32)[None]
    classes = Classes(("block",), keys, each * widths, (histogram,), records=int(population.sum()))
    return np.array([bucket for bucket, _ in values_of], np.int64), classes


def joined_back(beside: Sequence[Codes], values: Codes, counts: Counts) -> tuple[Codes, Floats]:
    """What somebody believes who knows the quasi-identifiers of one person of a bucket and joins the columns that hold
    the sensitive attribute on it: the probability of each value for each combination of quasi-identifiers.

    Entry `i` says that `counts[i]` records have the value `values[i]` and, in column c, the quasi-identifiers
    `beside[c][i]`. Returns the combinations, one a column, and a row of probabilities for each.

    Example:
        >>> age, zip, ill = (np.array(codes, np.int32) for codes in ([0, 0, 1], [0, 1, 1], [0, 1, 0]))
        >>> people, chances = joined_back([age, zip], ill, np.array([1, 1, 1]))
        >>> people.T.tolist(), chances.tolist()
        ([[0, 0], [0, 1], [1, 1]], [[1.0, 0.0], [0.3333333333333333, 0.6666666666666666], [1.0, 0.0]])
    """
    size = int(values.max()) + 1
    people = group(list(beside), [int(codes.max()) + 1 for codes in beside]).keys
    totals = np.bincount(values, weights=counts, minlength=size)
    weights = np.where(totals > 0, totals, 0.0)[None].repeat(people.shape[1], axis=0)
    for at, codes in enumerate(beside):
        joint = np.zeros((int(codes.max()) + 1, size))
        np.add.at(joint, (codes, values), counts)
        weights *= joint[people[at]] / np.maximum(totals, 1)
    return people, weights / weights.sum(axis=1)[:, None]
