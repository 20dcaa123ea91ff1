"""Recoding: what an algorithm decided, as a plan that any engine can carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.blocks import Blocks
from shoal.core.classes import Classes
from shoal.core.codebook import Codebook, grid_width, widened_to_grid
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.lattice import Node
from shoal.errors import NotDefined


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Which class every record is published in, and how each class is published.

    A plan is keyed by values: the records whose quasi-identifiers are the leaves `keys[:, t]` are in class
    `classes[t]`. When it goes `by_record`, records with equal quasi-identifiers may part: `classes` then has an entry
    for each record, those of the first tuple first, and records of one tuple in the order of a hash of the whole
    record that is keyed with the seed. What is `withheld` is not published; a negative class is none.

    Class `c` is published, in attribute `j`, as entry `cells[j, c]` of `codebooks[j]`.

    A plan that was decided block by block knows the `blocks`, and how many records each tuple has: then nobody makes
    the summary of the whole table to carry it out or to check it. Such a class lies in one block.
    """

    keys: Codes
    classes: Codes
    withheld: NDArray[np.bool_]
    cells: Codes
    codebooks: tuple[Codebook, ...]
    by_record: bool = False
    blocks: Blocks | None = None
    sizes: Counts | None = None

    @property
    def count(self) -> int:
        """The number of classes, also those of which nothing is published."""
        return int(self.cells.shape[1])

    @property
    def owners(self) -> Codes:
        """The class that each tuple, or record, is published in; negative: it is not."""
        owners: Codes = np.where(self.withheld, np.int32(-1), self.classes)
        return owners

    @property
    def published(self) -> NDArray[np.bool_]:
        """Which classes have a published record."""
        published = np.zeros(self.count, dtype=np.bool_)
        published[self.classes[~self.withheld]] = True
        return published

    @cached_property
    def placement(self) -> Codes:
        """For each class, the class of equal labels that it is published in; negative: it is not."""
        chosen = np.flatnonzero(self.published)
        shown = []
        for book, cells in zip(self.codebooks, self.cells, strict=True):
            numbers: dict[Any, int] = {}
            labels = book.labels.tolist()
            if book.numeric:  # they are published as numbers, and some labels may say the same
                labels = [None if label is None else float(label) for label in labels]
            places = np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int32)
            shown.append(places[cells[chosen]])
        tuples = group(shown, [len(book) for book in self.codebooks], index=True)
        placement: Codes = np.full(self.count, -1, np.int32)
        placement[chosen] = tuples.index
        return placement


@dataclass(frozen=True, eq=False, repr=False)
class Counterfeits:
    """Values that groups show beside those of their people: group `groups[i]` of a plan has the leaf `leaves[i]` of the
    sensitive attribute once more than its people do. They stand in the tables that count values."""

    groups: Codes
    leaves: Codes

    def __len__(self) -> int:
        return len(self.groups)


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights:
    """The survey weight that each class of a plan is published with; `scaled` to the whole table's or not, and rounded
    to multiples of the `base`, where it is above 0."""

    values: Floats
    scaled: bool
    base: float


@dataclass(frozen=True, eq=False, repr=False)
class Recoding:
    """A plan, the form that it is published in, with the form's `options`, and facts worth knowing.

    `hulls` says of attributes how a range follows from the records of its class: the `interval` from the least to the
    greatest, or the closest common ancestor in the `hierarchy`. Whoever knows that reads values from the ends of a
    range. An attribute is not there where a range does not depend on them: at a level, or on a grid.

    A full-domain search also tells its `levels` and its `trail`: the level vectors that it checked, in order, and
    whether each one satisfied the policy. A perturbation has no plan: `changed` has the new values of columns,
    records in the order of their keyed hash. Survey `weights` are there where they are published. `ghosts` are columns
    without a role, each with the quasi-identifiers where it is hidden wherever one of them is.
    """

    plan: Plan | None = None
    form: str = "generalized"
    options: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    hulls: Mapping[str, str] = field(default_factory=dict)
    levels: Node | None = None
    trail: tuple[tuple[Node, bool], ...] = ()
    changed: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    counterfeits: Counterfeits | None = None
    weights: ClassWeights | None = None
    ghosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def planned(self) -> Plan:
        """The plan, for whoever carries one out or checks it; a perturbation has none."""
        if self.plan is None:
            raise NotDefined("the values are perturbed record by record, so there is no plan of classes")
        return self.plan

    def hides(self, ghost: str) -> NDArray[np.bool_]:
        """The classes of the plan in which a ghost is hidden."""
        plan = self.planned
        hidden = np.zeros(plan.count, np.bool_)
        for book, cells in zip(plan.codebooks, plan.cells, strict=True):
            if book.column in self.ghosts[ghost]:
                hidden |= (book.labels == TOP)[cells]
        return hidden

    @classmethod
    def at_levels(
        cls,
        summary: Classes,
        levels: Node,
        withheld: NDArray[np.bool_],
        *,
        facts: Mapping[str, Any] | None = None,
        trail: tuple[tuple[Node, bool], ...] = (),
    ) -> Recoding:
        """Every attribute at one level of its hierarchy, some tuples withheld (full-domain generalization)."""
        codebooks = tuple(
            Codebook.at_level(tree, level) for tree, level in zip(summary.hierarchies, levels, strict=True)
        )
        top = np.zeros(len(summary), np.int32)
        columns = [
            tree.codes[level].take(keys) if len(book) > 1 else top
            for tree, level, keys, book in zip(summary.hierarchies, levels, summary.keys, codebooks, strict=True)
        ]
        tuples = group(columns, [len(book) for book in codebooks], index=True)
        plan = Plan(summary.keys, tuples.index, withheld, tuples.keys, codebooks)
        return cls(plan, facts=facts or {}, levels=tuple(levels), trail=trail)

    @classmethod
    def of_partition(
        cls,
        summary: Classes,
        classes: Codes,
        outputs: Sequence[str],
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> Recoding:
        """Each class of a partition as what its records have in common (local recoding).

        `classes` has the class of each distinct tuple, or of each record as a plan orders them; negative: withheld.
        `outputs` says of each attribute how it is published: as the `interval` from its least to its greatest value,
        as the closest common ancestor in the `hierarchy`, as the `mean`, or by a `grid:` of so wide cells that its ends
        are ends of cells, whatever values lie inside. A class in which some values are missing and others not is
        published as the top.
        """
        from shoal.kernels.ranges import extremes

        by_record = len(classes) != len(summary)
        count = int(classes.max(initial=-1)) + 1
        codebooks, cells = [], []
        for keys, tree, output in zip(summary.keys, summary.hierarchies, outputs, strict=True):
            column = np.repeat(keys, summary.sizes) if by_record else keys
            low, high = extremes(classes, np.ascontiguousarray(column), count)
            if output == "hierarchy":
                low, high = tree.widen(low, high)
            else:
                high = np.where(tree.spans_missing(low, high), np.int32(tree.size - 1), high)
            if output == "mean":
                means = _means(classes, column, tree, count, None if by_record else summary.sizes)
                codebooks.append(Codebook.of_means(tree, low, high, means))
                cells.append(np.arange(count, dtype=np.int32))
                continue
            width = grid_width(output)
            if width is not None:
                low, high = widened_to_grid(tree, low, high, width)
            ranges = group([low, high], [tree.size, tree.size], index=True)
            if width is not None:
                codebooks.append(Codebook.on_grid(tree, *ranges.keys, width=width))
                cells.append(ranges.index)
                continue
            codebooks.append(Codebook.of_ranges(tree, *ranges.keys, interval=output == "interval"))
            cells.append(ranges.index)
        plan = Plan(summary.keys, classes, classes < 0, np.stack(cells), tuple(codebooks), by_record)
        named = zip(summary.attributes, outputs, strict=True)
        tight = {name: output for name, output in named if output in ("interval", "hierarchy")}
        return cls(plan, facts=facts or {}, hulls=tight)


def _means(classes: Codes, column: Codes, tree: Hierarchy, count: int, weights: Counts | None) -> Floats:
    """The mean of each class; not-a-number where it has no value."""
    counted = (classes >= 0) & (column >= int(tree.missing))
    shares = np.ones(int(counted.sum())) if weights is None else weights[counted].astype(np.float64)
    totals = np.bincount(classes[counted], weights=shares, minlength=count)
    # Shares first: the sum of huge values may be infinite where their mean is not.
    parts = tree.numbers[column[counted]] * (shares / totals[classes[counted]])
    means = np.bincount(classes[counted], weights=parts, minlength=count).astype(np.float64)
    return np.where(totals > 0, means, np.nan)
