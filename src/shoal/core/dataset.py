"""Dataset: a table that an engine holds, with its schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.core.classes import Classes, summarize
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Schema
from shoal.errors import SchemaError

if TYPE_CHECKING:
    from shoal.core.contracts import Table


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and its schema. The rows stay with the engine; most questions need only the `summary`."""

    table: Table
    schema: Schema

    @property
    def records(self) -> int:
        return self.table.records

    @cached_property
    def summary(self) -> Classes:
        """The distinct tuples of all quasi-identifiers, with counts and sensitive histograms."""
        if not self.schema.quasi:
            raise SchemaError("no quasi-identifier is named; name the columns that outsiders may know")
        return self.table.group(self.schema.quasi, self.schema.sensitive)

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of the quasi-identifiers."""
        return self.summary.hierarchies

    def group(self, attributes: tuple[str, ...]) -> Classes:
        """The classes over any columns that are encoded: quasi-identifiers and sensitive attributes."""
        if attributes and set(attributes) <= set(self.schema.quasi):
            return self.summary.select(attributes)
        return self.table.group(attributes, ())

    def partitioned(self, index: Codes, classes: int, *, over_rows: bool = False) -> Classes:
        """The classes of a partition: `index` has the class of each distinct tuple, or of each row; negative: none."""
        if not over_rows:
            return self.summary.rolled(index, np.zeros((0, classes), np.int32))
        kept = index >= 0
        sensitive = [
            (held.column, self.codes(held.column)[kept], len(held.population), held.hierarchy)
            for held in self.summary.sensitive
        ]
        found = summarize(["class"], [index[kept]], [classes], sensitive)
        histograms = tuple(
            replace(histogram, population=held.population)
            for histogram, held in zip(found.sensitive, self.summary.sensitive, strict=True)
        )
        return replace(found, sensitive=histograms, records=self.records)

    def codes(self, name: str) -> Codes:
        """A column as integers: the leaves of its hierarchy, row by row."""
        return self.table.codes(name)
