"""ReusableRecoding: a recoding as something that can be applied to records that it was not made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.core.codebook import Codebook
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.form import Form
from shoal.core.contracts.table import Source
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.intervals import holds
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.read_request import Description
from shoal.core.recoding import Plan, Recoding
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Role, Schema
from shoal.core.values import Values
from shoal.errors import HierarchyError, NotDefined, SchemaError, VerificationError, quoted
from shoal.kernels.fitting import first_boxes, tree_of
from shoal.parsing.labels import number
from shoal.publishing.publish import published
from shoal.publishing.writable_release import WritableRelease


@dataclass(frozen=True, eq=False)
class ReusableRecoding:
    """Which values each class of a generalized release stands for, and how it is published.

    A full-domain recoding has `levels`: every value goes to its level, whatever classes that makes. Otherwise a record
    joins the narrowest class whose ranges hold it. The hierarchies have raw values of the table: a rule stays with
    whoever holds the table.
    """

    form: Form
    schema: Schema
    policy: Policy
    codebooks: tuple[Codebook, ...]
    cells: Codes
    levels: Node | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    takes_unknown: bool = False
    """Whether values that the hierarchies do not have are let in, at the top. Only for what is never published."""

    @classmethod
    def of(cls, release: Release) -> ReusableRecoding:
        """The rule of a generalized release that was made here."""
        recoding, policy = release.recoding, release.policy
        if recoding is None or recoding.plan is None or recoding.form != "generalized" or policy is None:
            raise NotDefined("only a generalized release that was made here can be applied to other records")
        if recoding.ghosts:
            raise NotDefined("a release that hides linked columns without a role cannot be applied to other records")
        plan = recoding.plan
        means = [book.column for book in plan.codebooks if book.means]
        if means:
            raise NotDefined(
                f"column {quoted(means[0])} is published as means, which are not those of other records; publish "
                "intervals instead"
            )
        cells = np.ascontiguousarray(plan.cells[:, plan.published])
        provenance = {**release.provenance, "identifiers": "dropped"}
        return cls(
            release.form, release.schema, replace(policy, seed=0), plan.codebooks, cells, recoding.levels, provenance
        )

    @classmethod
    def shown_by(cls, release: Release) -> ReusableRecoding:
        """The rule that a release shows, also one that was read from a file. It has no policy to keep: it is for
        reading other records as the release would show them, not for publishing them."""
        plan = release.recoding.plan if release.recoding is not None else None
        if plan is not None and plan.codebooks:
            books, cells = plan.codebooks, np.ascontiguousarray(plan.cells[:, plan.published])
        else:
            people = release.view.people()
            release.view.cells()  # refused by a form whose cells are no ranges
            books, cells = tuple(release.codebook(name) for name in people.attributes), people.keys
        return cls(release.form, release.schema, Policy(models=()), books, cells)

    def labels(self, data: Dataset, keys: Codes) -> tuple[Any, ...]:
        """What tuples of other records would be published as, column by column: as the narrowest class that holds them,
        or where none does, each value as the narrowest that is published of it; else as missing."""
        books, classes = self._placement(data, keys)
        columns = []
        for book, codes, cells in zip(books, keys, self.cells, strict=True):
            alone = _narrowest(codes[None], (book,), np.unique(cells)[None], [int(codes.max(initial=0)) + 2])
            entry = np.where(classes >= 0, cells[classes], np.unique(cells)[alone])
            labels = np.array([*book.labels, None], object)
            columns.append(labels[np.where((classes < 0) & (alone < 0), len(book), entry)])
        return tuple(columns)

    def ranges(self, data: Dataset, keys: Codes) -> tuple[Codes, Codes]:
        """The first and the last leaf that tuples of records would be published as, in the narrowest class that holds
        them; negative where none does."""
        books, classes = self._placement(data, keys)
        entries = [cells[classes] for cells in self.cells]
        low, high = (
            np.stack([np.where(classes >= 0, ends, -1) for ends in each])
            for each in zip(
                *((book.low[at], book.high[at]) for book, at in zip(books, entries, strict=True)), strict=True
            )
        )
        return low, high

    def _placement(self, data: Dataset, keys: Codes) -> tuple[tuple[Codebook, ...], Codes]:
        """The codebooks in the leaves of other records, and the narrowest class that holds each of some tuples."""
        trees = data.summary.hierarchies
        books = tuple(map(_moved, self.codebooks, self.schema.hierarchies, trees))
        return books, _narrowest(keys, books, self.cells, [tree.size for tree in trees])

    def apply(self, source: Source, engine: Engine, run: Run | None = None) -> WritableRelease:
        """New records, published by the rule and verified against its policy, on these records alone.

        Records that no class holds, and those of classes that break the policy, are withheld as far as the policy
        allows it.

        Raises:
            SchemaError: the columns are not those that the rule is for.
            HierarchyError: there are values that the rule does not know, and that no range of it holds.
            VerificationError: what the rule makes of these records breaks the policy; it is not handed out.
        """
        return self.carry_out(self.read(source, engine), run)

    def carry_out(self, data: Dataset, run: Run | None = None) -> WritableRelease:
        """What `apply` gives of records that were read."""
        recoding = self.recode(data)
        release = replace(
            published(self.form, data, recoding, self.policy, None, run or Run()), provenance=self.provenance
        )
        release.view.check(data, recoding)
        broken = [finding.name for finding in release.verify(self.policy) if finding.holds is False]
        if broken:
            raise VerificationError(
                f"these {data.records:,} records break the policy when they are recoded like the release "
                f"({', '.join(broken)}), and are withheld; anonymize them on their own, or together with more records"
            )
        return release

    def read(self, source: Source, engine: Engine) -> Dataset:
        """New records, with the roles and the hierarchies of the rule."""
        known = {column.name: column for column in self.schema.columns}
        extra = [name for name in source.names if name not in known]
        if extra:
            raise SchemaError(
                f"{len(extra)} columns are none of the release's, so nobody said what they are: "
                f"{', '.join(map(quoted, extra))}; drop them"
            )
        lacking = [name for name, column in known.items() if name not in source.names]
        needed = [name for name in lacking if known[name].role not in (Role.IDENTIFIER, Role.WEIGHT, Role.DROP)]
        if needed:
            raise SchemaError(f"columns of the release are lacking: {', '.join(map(quoted, needed))}")
        ordered = dict.fromkeys((*self.schema.order, *self.schema.names))
        chosen = [known[name] for name in ordered if name not in lacking]
        return Dataset.read(engine, source, Description.of(chosen, self._hierarchy_for, strict=self.schema.strict))

    def _hierarchy_for(self, values: Values, role: Role) -> Hierarchy:
        tree = self.schema.hierarchy_of(values.column)
        if role is Role.QUASI:
            level = None if self.levels is None else self.levels[self.schema.quasi.index(values.column)]
            wider = widened(tree, values, level)
            return _with_unknown(wider, values) if self.takes_unknown else wider
        unknown = any(tree.leaf(text) is None for text in values.texts)
        if unknown and tree.height == 1:  # it groups nothing, so new values need no place in it
            return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
        return tree

    def recode(self, data: Dataset) -> Recoding:
        """What the rule makes of records, without what breaks the policy as far as that may be left out."""
        summary = data.summary
        nothing = np.zeros(len(summary), np.bool_)
        if self.levels is not None:
            plan = Recoding.at_levels(summary, self.levels, nothing).planned
        else:
            books, classes = self._placement(data, summary.keys)
            plan = Plan(summary.keys, classes, classes < 0, self.cells, books)
        withheld = plan.withheld | self._breaking(data, plan)
        if int(summary.sizes[withheld].sum()) <= self.policy.budget(data.records):
            plan = replace(plan, withheld=withheld)
        return Recoding(plan, levels=self.levels)

    def _breaking(self, data: Dataset, plan: Plan) -> Any:
        """Which tuples are published in a class that breaks the policy."""
        owners = plan.owners
        shown = owners >= 0
        entries = [cells[owners[shown]] for cells in plan.cells]
        alike = group(entries, [len(book) for book in plan.codebooks], index=True)
        index = np.full(len(owners), -1, np.int32)
        index[shown] = alike.index
        classes = data.partitioned(index, len(alike.counts), seed=self.policy.seed)
        holding = self.policy.holds(replace(classes, keys=alike.keys))
        breaking = np.zeros(len(owners), np.bool_)
        breaking[shown] = ~holding[alike.index]
        return breaking


def widened(tree: Hierarchy, values: Values, level: int | None = None) -> Hierarchy:
    """A hierarchy that also has the numbers or dates of a column that lie between its own; any other one as it is.

    A new one goes under the lowest node that is known to have bounds that it lies within, or that its neighbours share;
    below that it is a node of its own. When values are published at a `level`, one that has no place there is refused.
    """
    new = [text for text in values.texts if tree.leaf(text) is None]
    if not new or not tree.ordered or tree.values is None or values.numbers is None:
        return tree
    rows, skipped = tree.rows(), int(tree.missing)
    own, quantities = tree.values[skipped:], _quantities(tree, new)

    def path(text: str, quantity: float) -> list[str]:
        place = int(np.searchsorted(own, quantity))
        near = range(max(0, place - 1), min(place + 1, len(rows)))
        for height in range(1, len(rows[0])):
            shared = len(near) > 1 and len({rows[row][height] for row in near}) == 1
            fitting = [row for row in near if shared or _holds(tree, height, row + skipped, quantity)]
            if fitting:
                return [text] * height + list(rows[fitting[0]][height:])
        return [text] * (len(rows[0]) - 1) + [rows[0][-1]]

    paths = [path(text, quantity) for text, quantity in zip(new, quantities, strict=True)]
    unplaced = sum(level is not None and level > 0 and path[level] == path[0] for path in paths)
    if unplaced:
        raise HierarchyError(
            f"column {values.column!r}: {unplaced} distinct values lie in no range of the hierarchy at the level that "
            "is published; extend the hierarchy, and anonymize anew"
        )
    ascending = np.argsort(np.array([*own, *quantities]), kind="stable")
    every = [*rows, *paths]
    wider = Hierarchy.from_paths(tree.column, [every[row] for row in ascending], automatic=tree.automatic)
    wider = wider if tree.calendar is None else wider.dated(tree.calendar)
    return wider.with_missing() if tree.missing else wider


def _with_unknown(tree: Hierarchy, values: Values) -> Hierarchy:
    """A hierarchy that also has values that it does not know, each alone under the top."""
    unknown = [text for text in values.texts if tree.leaf(text) is None]
    if not unknown:
        return tree
    rows = tree.rows()
    paths = [[text] * tree.height + [rows[0][-1]] for text in unknown]
    wider = Hierarchy.from_paths(tree.column, [*rows, *paths], automatic=tree.automatic)
    return wider.with_missing() if tree.missing else wider


def _quantities(tree: Hierarchy, texts: Sequence[str]) -> list[float]:
    """The numbers, or the days or seconds, that new values of a column are."""
    if tree.calendar is None:
        return [number(text) for text in texts]
    quantities: list[float] = tree.calendar.moments(texts).quantities(times=tree.calendar.times).tolist()
    return quantities


def _holds(tree: Hierarchy, level: int, leaf: int, quantity: float) -> bool:
    """Whether a quantity is known to lie within the node above a leaf: its label says so, of dates its bounds."""
    node = tree.codes[level, leaf]
    if tree.calendar is None:
        return holds(tree.labels[level][node], quantity)
    if tree.bounds is None or level == tree.height:
        return False
    low, high = (ends[node] for ends in tree.bounds[level])
    return bool(low <= quantity and (quantity < high if tree.calendar.times else quantity <= high))


def _moved(book: Codebook, old: Hierarchy, new: Hierarchy) -> Codebook:
    """A codebook in the leaves of a wider hierarchy: nodes stay nodes, other ranges go from value to value."""
    place = np.array([new.leaf_of.get(text, 0) for text in old.labels[0]], np.int32)
    low, high = place[book.low], place[book.high]
    for entry, (first, last, level) in enumerate(zip(book.low, book.high, book.levels, strict=True)):
        node = old.codes[level, first]
        is_node = old.starts[level][node] == first and old.stops[level][node] == last
        if level and is_node and old.labels[level][node] == book.labels[entry]:
            there = new.codes[level, low[entry]]
            low[entry], high[entry] = new.starts[level][there], new.stops[level][there]
    return replace(book, low=low, high=high)


def _narrowest(keys: Codes, books: Sequence[Codebook], cells: Codes, sizes: Sequence[int]) -> Codes:
    """The class with the narrowest ranges that hold each tuple, the first of several; negative where none does."""
    low = [book.low[row] for book, row in zip(books, cells, strict=True)]
    high = [book.high[row] for book, row in zip(books, cells, strict=True)]
    widths = sum((last - first) / max(1, size - 1) for first, last, size in zip(low, high, sizes, strict=True))
    ranks = np.empty(len(widths), np.int64)
    ranks[np.argsort(widths, kind="stable")] = np.arange(len(widths))
    lows, highs = (np.stack(ends).astype(np.int32, copy=False) for ends in (low, high))
    classes: Codes = first_boxes(tree_of(lows, highs), ranks, np.require(keys, np.int32, ["C", "W"]))
    return classes
