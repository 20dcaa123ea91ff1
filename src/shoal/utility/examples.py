"""Examples: a table as a learner sees it: attributes with numbers or names, and the class of each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import Floats
from shoal.errors import InputError


@dataclass(frozen=True)
class Attribute:
    """A column: its name, and its values where they are names; a column of numbers has none."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def nominal(self) -> bool:
        return self.values is not None

    def coded(self, column: Sequence[Any]) -> Floats:
        """A column as numbers: names by their places, what is missing or was never seen as not-a-number."""
        if self.values is None:
            return np.array([np.nan if value is None else _number(value) for value in column], np.float64)
        places: dict[str | None, int] = {value: place for place, value in enumerate(self.values)}
        return np.array([places.get(_spelled(value), np.nan) for value in column], np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _spelled(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


@dataclass(frozen=True, eq=False)
class Examples:
    """Records by attributes (`rows[i, a]`, not-a-number where missing), each with the place of its class."""

    attributes: tuple[Attribute, ...]
    rows: Floats
    classes: tuple[Any, ...]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


def attributes_of(table: Any) -> tuple[tuple[Attribute, ...], Floats]:
    """The attributes of a frame or a matrix, and its rows."""
    return attributes_of_columns(dict(zip(*columns_of(table), strict=True)))


def attributes_of_columns(columns: Mapping[str, Sequence[Any]]) -> tuple[tuple[Attribute, ...], Floats]:
    """The attributes of columns by name, and their rows. Numbers are numbers; everything else is names."""
    attributes, coded = [], []
    for name, column in columns.items():
        numeric = all(value is None or _is_number(value) for value in column)
        spelled = {text for value in column if not numeric and (text := _spelled(value)) is not None}
        attribute = Attribute(name, None if numeric else tuple(sorted(spelled)))
        attributes.append(attribute)
        coded.append(attribute.coded(column))
    return tuple(attributes), np.stack(coded, axis=1)


def rows_of(attributes: Sequence[Attribute], table: Any) -> Floats:
    """The rows of another table with the same attributes."""
    names, columns = columns_of(table)
    if len(columns) != len(attributes):
        raise InputError(f"there are {len(columns)} columns, and the learner was trained with {len(attributes)}")
    known = dict(zip(names, columns, strict=True))
    named = all(attribute.name in known for attribute in attributes)
    ordered = [known[attribute.name] for attribute in attributes] if named else columns
    return np.stack([attribute.coded(column) for attribute, column in zip(attributes, ordered, strict=True)], axis=1)


def columns_of(table: Any) -> tuple[list[str], list[list[Any]]]:
    """The names and the columns of a frame (pandas, polars, Arrow) or of a matrix."""
    if isinstance(table, (np.ndarray, list, tuple)):
        matrix = np.asarray(table)
        if matrix.ndim != 2:
            raise InputError("a learner takes a table: records by attributes")
        return [f"x{place}" for place in range(matrix.shape[1])], [column.tolist() for column in matrix.T]
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return list(frame.columns), [frame[name].to_list() for name in frame.columns]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def class_codes(target: Any) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The classes of a target column in ascending order, and the class of each record; negative: missing."""
    values = target.to_list() if hasattr(target, "to_list") else np.asarray(target).tolist()
    present = [value for value in values if _spelled(value) is not None]
    if not present:
        raise InputError("the target has no values")
    try:
        classes = tuple(sorted(set(present)))
    except TypeError:
        classes = tuple(sorted(set(present), key=str))
    places = {value: place for place, value in enumerate(classes)}
    labels = [places.get(value, -1) if _spelled(value) is not None else -1 for value in values]
    return classes, np.array(labels, np.int64)
