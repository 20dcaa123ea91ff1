"""References: the two releases that every figure is read between: the table as it is, and one that hides everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.codebook import Codebook
from shoal.core.contracts.form import Form
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import FILLED, Schema
from shoal.errors import NotDefined, unknown_columns
from shoal.publishing.publish import whole


@dataclass(frozen=True, eq=False, repr=False)
class CountedTable:
    """A published table of which there are only the distinct rows and how often each occurs: what measures need, and
    nothing that could be handed out. `columns` has the positions of each row in the `texts` of a column."""

    columns: Mapping[str, Codes]
    texts: Mapping[str, Sequence[str | None]]
    weights: Counts
    books: Mapping[str, NDArray[Any]]

    @property
    def records(self) -> int:
        return int(self.weights.sum())

    @property
    def names(self) -> Sequence[str]:
        return tuple(self.columns)

    def labels(self, name: str) -> Sequence[str | None]:
        if name not in self.texts:
            raise unknown_columns([name], self.names)
        return self.texts[name]

    def places(self, name: str) -> Codes:
        known = {label: place for place, label in enumerate(self.labels(name))}
        return np.array([known.get(label, -1) for label in self.books[name]], np.int32)

    def group(
        self, attributes: Sequence[str], sensitive: Sequence[tuple[str, Hierarchy | None]], *,
        count: str | None = None, person: str | None = None,
    ) -> Classes:  # fmt: skip
        sizes = [len(self.labels(name)) for name in attributes]
        columns: list[tuple[str, Codes, int, Hierarchy | None]] = []
        for name, tree in sensitive:
            if tree is None:
                columns.append((name, self.columns[name], len(self.labels(name)), tree))
            else:
                leaves = np.array(tree.leaves(self.labels(name)), np.int32)
                columns.append((name, leaves[self.columns[name]], tree.size, tree))
        return summarize(attributes, [self.columns[name] for name in attributes], sizes, columns, weights=self.weights)

    def codes(self, name: str) -> Codes:
        raise NotDefined("this table stands only for comparisons and has no rows")

    def frame(self) -> Any:
        raise NotDefined("this table stands only for comparisons and has no rows")

    def arrow(self) -> Any:
        raise NotDefined("this table stands only for comparisons and has no rows")

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        raise NotDefined("this table stands only for comparisons and has no rows")


def reference(data: Dataset, form: Form, policy: Policy | None, *, hidden: bool, names: Sequence[str] = ()) -> Release:
    """A release of some columns of a table, by default those with a role, with the quasi-identifiers as they are or all
    hidden, and others as they are. It exists only as counts and cannot be written. The policy is what others are
    measured by, not one that it satisfies."""
    chosen = tuple(names) or (*data.schema.quasi, *data.schema.sensitive)
    known = data.knowing(chosen)
    schema = _without_people(known.schema, chosen)
    trees = {name: tree for name in chosen if (tree := known.schema[name].hierarchy) is not None}
    levels = {name: tree.height if hidden and name in schema.quasi else 0 for name, tree in trees.items()}
    # What has one value in every record need not be counted.
    varying = [name for name, tree in trees.items() if len(tree.labels[levels[name]]) > 1]
    rows = known.table.group(varying, ()) if varying else None
    counts = np.array([data.records], np.int64) if rows is None else rows.sizes
    columns, texts, books = {}, {}, {}
    for name, tree in trees.items():
        keys = (
            np.zeros(len(counts), np.int32) if rows is None or name not in varying else rows.keys[varying.index(name)]
        )
        columns[name], texts[name] = _positions(tree.codes[levels[name]][keys], tree.labels[levels[name]])
        if name in schema.quasi:
            books[name] = Codebook.at_level(tree, levels[name]).labels
    summary = data.summary
    heights = tuple(tree.height if hidden else 0 for tree in summary.hierarchies)
    recoding = Recoding.at_levels(summary, heights, np.zeros(len(summary), np.bool_))
    table = CountedTable(columns, texts, counts, books)
    known_of_all = {key: value for key, value in whole(data).items() if key == "populations"}
    return Release(
        form=form, tables={"": table}, schema=schema, records=data.records, engine=data.engine, recoding=recoding,
        policy=policy, **known_of_all,
    )  # fmt: skip


def _without_people(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema of some columns; whose a record is does not matter for a comparison of losses."""
    columns = tuple(column for column in schema.columns if column.name in names and column.role not in FILLED)
    return replace(schema, columns=columns, order=tuple(name for name in schema.order if name in names))


def _positions(codes: Codes, shown: NDArray[Any]) -> tuple[Codes, list[str | None]]:
    """Positions in the ascending list of the labels that occur, the missing value last; and that list."""
    occurring = np.unique(codes)
    labels = [shown[code] for code in occurring.tolist()]
    texts: list[str | None] = [*sorted({label for label in labels if label is not None})]
    if None in labels:
        texts.append(None)
    known = {label: place for place, label in enumerate(texts)}
    translation = np.zeros(int(occurring.max(initial=0)) + 1, np.int32)
    translation[occurring] = [known[label] for label in labels]
    return translation[codes], texts
