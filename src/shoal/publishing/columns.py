"""What a release shows of each column, and how much of its detail was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shoal.core.codebook import Cells
from shoal.core.contracts.model import SLACK
from shoal.core.dataset import Dataset
from shoal.core.formatting import percent
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.release import Release
from shoal.core.schema import Column, Role
from shoal.errors import InputError, NotDefined
from shoal.parsing.labels import number
from shoal.publishing.losses import detail_lost

Shape = Literal["raw", "levels", "intervals", "means", "changed", "grouped", "pseudonyms", "dropped", "unknown"]

SHAPES: dict[Shape, str] = {
    "raw": "as it was", "levels": "levels", "intervals": "intervals", "means": "means of classes",
    "changed": "values that need not be true", "grouped": "by group, in a table of its own",
    "pseudonyms": "pseudonyms", "dropped": "not published", "unknown": "values that are not understood here",
}  # fmt: skip
"""In words."""


@dataclass(frozen=True, kw_only=True)
class ReleasedColumn:
    """What is published of a column.

    `lost` is the share of its detail that is gone, left-out records included: all of a column that is not published;
    None where the form of the release does not tell. Of the published cells a share is `exact` and another `hidden`
    altogether; the rest is less precise. `lowest` and `highest` are the levels of the hierarchy, of `height`, that
    cells are published at.
    """

    name: str
    role: Role
    shape: Shape
    lost: float | None = None
    exact: float | None = None
    hidden: float | None = None
    lowest: int | None = None
    highest: int | None = None
    height: int | None = None

    @property
    def words(self) -> str:
        """What is published of it, in words.

        Example:
            >>> ReleasedColumn(name="age", role=Role.QUASI, shape="intervals", exact=0.25, hidden=0.0).words
            'intervals: 25 % exact, 75 % less precise'
        """
        if self.hidden == 1:
            return "hidden altogether"
        if self.shape == "levels" and self.lowest == self.highest:
            return f"level {self.lowest} of {self.height}"
        if self.exact is None or self.hidden is None or self.exact == 1:
            return SHAPES[self.shape]
        shares = ((self.exact, "exact"), (1 - self.exact - self.hidden, "less precise"), (self.hidden, "hidden"))
        return f"{SHAPES[self.shape]}: " + ", ".join(
            f"{percent(share)} {what}" for share, what in shares if share > SLACK
        )

    @property
    def lost_words(self) -> str:
        """How much of its detail was lost, in words."""
        return "" if self.lost is None else percent(self.lost)

    def as_dict(self) -> dict[str, Any]:
        """The column as JSON holds it, without what is not known."""
        known = {name: value for name, value in vars(self).items() if value is not None}
        return {**known, "role": str(self.role), "words": self.words}


def published_columns(dataset: Dataset, release: Release) -> tuple[ReleasedColumn, ...]:
    """What a release shows of each column of the table that it was made from.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> [(column.name, column.words, round(column.lost, 3)) for column in published_columns(data, release)]
        [('age', 'intervals: 100 % less precise', 0.333), ('disease', 'as it was', 0.0)]
    """
    sheets = release.form.sheets(release.schema, pseudonyms=True)
    shown = {column.name: column.what for sheet in sheets for column in sheet.columns}
    names = {name for table in release.tables.values() for name in table.names}
    try:
        lost, cells = detail_lost(dataset, release), release.view.cells()
    except (NotDefined, InputError):  # a form that does not tell, or a file with values that no hierarchy knows
        lost, cells = {}, None
    apart = {column.name for sheet in sheets if sheet.count_name is not None for column in sheet.columns}
    changed = release.recoding.changed if release.recoding is not None else shown
    columns = []
    for column in dataset.schema.columns:
        what = shown.get(column.name, "raw")
        shape: Shape = "raw"
        if column.name not in names:
            shape = "dropped"
        elif column.role is Role.WEIGHT:
            shape = "means"
        elif what == "pseudonym":
            shape = "pseudonyms"
        elif column.name in apart:
            shape = "grouped"
        elif what == "changed" and column.name in changed:
            shape = "changed"
        elif what == "cell" and cells is None:
            shape = "unknown"
        elif what == "cell" and cells is not None:
            columns.append(
                _generalized(release, column, dataset.schema.hierarchy_of(column.name), cells, lost[column.name])
            )
            continue
        elif column.name in (release.recoding.ghosts if release.recoding is not None else ()):
            columns.append(_ghost(release, column))
            continue
        without = {"raw": release.suppressed / max(release.records, 1), "dropped": 1.0}
        columns.append(
            ReleasedColumn(
                name=column.name, role=column.role, shape=shape, lost=lost.get(column.name, without.get(shape))
            )
        )
    return tuple(columns)


def _ghost(release: Release, column: Column) -> ReleasedColumn:
    """A column that is hidden where a quasi-identifier is."""
    labels = list(release.published.labels(column.name))
    counts = np.bincount(release.published.codes(column.name), minlength=len(labels))
    hidden = int(counts[labels.index(TOP)]) / max(release.published.records, 1) if TOP in labels else 0.0
    kept = (1 - hidden) * release.published.records / max(release.records, 1)
    return ReleasedColumn(
        name=column.name, role=column.role, shape="raw", lost=1 - kept, exact=1 - hidden, hidden=hidden
    )


def _generalized(release: Release, column: Column, hierarchy: Hierarchy, cells: Cells, lost: float) -> ReleasedColumn:
    """A quasi-identifier by the ranges of leaves that its published values stand for."""
    people = release.view.people()
    place = people.attributes.index(column.name)
    low, high, levels = cells.low[place], cells.high[place], cells.levels[place]
    records = max(int(people.sizes.sum()), 1)
    single = low == high
    whole = ~single & (low == 0) & (high == hierarchy.size - 1)
    coarse = np.unique(people.keys[place][~single])
    labels = release.published.labels(column.name)
    return ReleasedColumn(
        name=column.name,
        role=column.role,
        shape=_shape(hierarchy, [labels[entry] for entry in coarse.tolist()]),
        lost=lost,
        exact=int(people.sizes[single].sum()) / records,
        hidden=int(people.sizes[whole].sum()) / records,
        lowest=int(levels.min(initial=hierarchy.height)),
        highest=int(levels.max(initial=0)),
        height=hierarchy.height,
    )


def _shape(hierarchy: Hierarchy, labels: list[str | None]) -> Shape:
    """How values that stand for several leaves are published."""
    nodes = {label for level in hierarchy.labels[1:] for label in level.tolist()}
    others = [label for label in labels if label not in nodes]
    if not labels:
        return "raw"
    if not others:
        return "levels"
    return "intervals" if any(np.isnan(number(label)) for label in others) else "means"
