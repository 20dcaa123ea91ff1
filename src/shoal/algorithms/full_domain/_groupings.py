"""Grouping the distinct tuples of a table at nodes of the lattice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._base import Base, sparse_counts
from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.lattice import Node

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure

PACK = 2048
DENSE = 1 << 24
BASES = 32
SMALL = 1024
SHARE = 2
RATIO = 8
SMALLER = 4
AGAIN = 3
UNMOVED = 2
ROOM = 8
LONGEST_PAUSE = 64


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of a node: `owners` of each class of the base, and of each class its size and one of its distinct
    tuples."""

    base: Base
    owners: Codes
    sizes: Counts
    firsts: Codes

    def spread(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which tuples of the base are in the chosen classes."""
        spread: NDArray[np.bool_] = chosen[self.owners]
        return spread


class NodeCheck(NamedTuple):
    """How many classes a node has and how many are published, the records that break the policy, those that every
    specialization of the node has to leave out, too, what each attribute therefore adds to the score at least at each
    level from there down, and the node's score. Neither of the last two where more records are left out than may be."""

    classes: int
    published: int
    records: int
    lost: int
    terms: Floats
    score: float


class Demand(NamedTuple):
    """What a policy asks where one look at a node answers it: the least size of a class, how many records may be left
    out, and, where a sensitive attribute counts, its place, its compiled level and the worst one."""

    least: int
    budget: int
    sensitive: tuple[int, Measure, float] | None


class Groupings:
    """Groups the distinct tuples of a table at nodes of the lattice, in room in proportion to the tuples.

    A node is grouped from the smallest base that it generalizes. Bases are made on the way, a level below the nodes
    that are asked for, because a search asks for their neighbours next. Which one a node is grouped from changes
    nothing but the time. Threads group at the same time in rooms of their own, as long as no base is made.
    """

    def __init__(self, summary: Classes) -> None:
        from shoal.kernels import lattice, node_checks, turns
        from shoal.kernels.lattice import Packed

        # Looked up once: a search of a few milliseconds calls them hundreds of times.
        self._kernels, self._node_checks, self.turns = lattice, node_checks, turns
        self.summary = summary
        tuples, attributes = len(summary), len(summary.hierarchies)
        packs = _packs(summary.hierarchies)
        self.domain = _domain(summary.hierarchies, packs)
        self.table = _table(summary, self.domain)
        everyone = np.arange(tuples, dtype=np.int32)
        raw = Packed(_packed(summary, packs), np.require(summary.sizes, requirements=["C", "W"]), everyone)
        self.raw = Base((0,) * attributes, raw, summary.sensitive, summary.people, summary.households, summary.weights)
        self.narrow = False
        self.narrow = self.fit([self.raw.node])[0]
        self.bases = [self.raw]
        self.base_nodes = np.zeros((BASES, attributes), dtype=np.int64)
        self.base_sizes = np.full(BASES, tuples, dtype=np.int64)
        self.base_uses = np.zeros(BASES, dtype=np.int64)
        self.clock = 0
        self.tried = {self.raw.node}
        self.waiting, self.pause = 0, 1
        self.entries = sum(prod(summary.hierarchies[attribute].size for attribute in pack) for pack in packs)
        self.rooms: list[Any] = []

    def room(self, number: int = 0) -> Any:
        """Room to group in, for one thread at a time."""
        while len(self.rooms) <= number:
            tuples = len(self.summary)
            slots = 1 << max(10, (4 * tuples - 1).bit_length())
            self.rooms.append(self._kernels.Scratch(
                table=np.empty(self.entries, dtype=np.int64), slots=np.empty(slots, dtype=np.int32),
                slot_keys=np.empty(slots, dtype=np.int64), owners=np.empty(tuples, dtype=np.int32),
                sizes=np.empty(tuples, dtype=np.int64), firsts=np.empty(tuples, dtype=np.int32),
            ))  # fmt: skip
        return self.rooms[number]

    def grouped(self, node: Node) -> Grouping:
        """The classes of a node, which know their distinct tuples; its arrays are overwritten by the next call."""
        return self.grouped_from(self.raw, node, self.room())

    def has_room(self, base: Base, asked: Demand) -> bool:
        """Whether `check` can count the histograms of a base's classes."""
        if asked.sensitive is None:
            return True
        values = len(base.sensitive[asked.sensitive[0]].population)
        return len(base) * values <= max(DENSE, 64 * len(base))

    def fit(self, nodes: Sequence[Node]) -> Sequence[bool]:
        """Of which nodes a key fits into 64 bits, as `check` needs it, with room for rounding."""
        if self.narrow:
            return [True] * len(nodes)
        space = self.domain.widths[np.arange(len(nodes[0])), np.array(nodes)].prod(axis=1, dtype=np.float64)
        return [bool(fits) for fits in space < self._kernels.WIDEST / 2]

    def batch(self, bases: Sequence[Base], nodes: Sequence[Node], asked: Demand | None) -> Any:
        """Nodes that are checked together, each from a base, and room for what is found of them. It knows where the
        bases lie, and does not keep them."""
        sensitive = None if asked is None or asked.sensitive is None else asked.sensitive[0]
        count, shape = len(nodes), self.domain.widths.shape
        levels = np.array(nodes, dtype=np.int64).reshape(count, shape[0])
        places = [base.place if sensitive is None else base.places[sensitive] for base in bases]
        counts, terms, scores = np.zeros((count, 4), np.int64), np.zeros((count, *shape)), np.full(count, np.nan)
        addresses = np.array(places, dtype=np.int64).reshape(count, 4 if sensitive is None else 9)
        return self._node_checks.Batch(levels, addresses, self.turns.turns(), counts, terms, scores)

    def check(self, batch: Any, most: int, asked: Demand, rates: Any, room: Any) -> int:
        """Checks nodes of a batch, so many at most, when only what is asked counts and cells cost what `rates` says:
        those that no other thread has taken. Returns the last one, -1 when none was left."""
        kernel, (least, budget, sensitive) = self._node_checks, asked
        rest = (least, budget, rates, self.domain, room)
        if sensitive is None:
            return int(kernel.checked(batch, most, self.table, *rest))
        _, measure, worst = sensitive
        return int(kernel.examined(batch, most, self.table, measure, worst, *rest))

    def weighed(
        self, node: Node, grouping: Grouping, broken: NDArray[np.bool_], keepable: Counts, budget: int, rates: Any
    ) -> NodeCheck:
        """A node when these classes are broken, and of each class so many records can be kept in specializations."""
        levels, firsts, sizes = np.array(node, dtype=np.int64), grouping.firsts, grouping.sizes
        kernel, table, domain = self._node_checks.weighed, self.table, self.domain
        return NodeCheck(len(sizes), *kernel(levels, table, firsts, sizes, broken, keepable, budget, rates, domain))

    def rebased(self, node: Node, base: Base, classes: int) -> bool:
        """Tries to make a base below a node that was grouped from far too large a one; says whether it did, which
        overwrites the arrays of the first room."""
        if len(base) <= max(SMALL, len(self.raw) // SHARE, RATIO * classes):
            return False
        fresh = [below for below in self._below(node) if below not in self.tried]
        if not fresh:
            return False
        self.waiting -= 1
        if self.waiting > 0:
            return False
        useful = any(self._made(below) for below in fresh)
        # A base costs as much as a few checks, so a few come before the next one. With many attributes hardly any node
        # is much smaller than the table: who tries in vain waits twice as long.
        self.pause = AGAIN if useful else min(2 * self.pause, LONGEST_PAUSE)
        self.waiting = self.pause
        return True

    def _below(self, node: Node) -> list[Node]:
        """Where a base for a node may be: a level below it. Where there are histograms, so that a tuple takes three
        times as long, also with the attributes unmoved that fall apart most by the step: one of them, then two."""
        levels = [max(level - 1, 0) for level in node]
        chosen = [tuple(levels)]
        if self.summary.sensitive:
            widths = self.domain.widths
            steps = [widths[at, levels[at]] / widths[at, node[at]] for at in range(len(node))]
            for at in sorted(range(len(node)), key=lambda at: -steps[at])[:UNMOVED]:
                levels[at] = node[at]
                chosen.append(tuple(levels))
        return chosen

    def _made(self, node: Node) -> bool:
        """Tries to make a base at a node; says whether it did. One with more than half the classes of what it is made
        from is of no use: counting them ends there."""
        self.tried.add(node)
        smaller = self.base(node)
        classes = self._numbered(smaller, node, len(smaller) // 2, self.room())
        if classes > 0:
            self.keep(self._based(node, self._in_room(smaller, classes, self.room())))
        return classes > 0

    def forget(self) -> None:
        """Gives back the room of everything that can be had again."""
        self.rooms.clear()
        self.bases = [self.raw]
        self.tried = {self.raw.node}

    def base(self, node: Node) -> Base:
        """The base with the fewest classes that the node generalizes; it is the last one to be given up."""
        return self.bases_of((node,))[0]

    def bases_of(self, nodes: Sequence[Node]) -> list[Base]:
        """The same of several nodes."""
        levels = np.array(nodes, dtype=np.int64)
        places = self._kernels.smallest(self.base_nodes, self.base_sizes, len(self.bases), levels)
        self.base_uses[places] = np.arange(self.clock + 1, self.clock + 1 + len(nodes))
        self.clock += len(nodes)
        return [self.bases[at] for at in places.tolist()]

    def small(self, base: Base, node: Node, classes: int, room: Any) -> Base | None:
        """A node that was just grouped in a room as a base for its generalizations; None where it has too many classes
        to be of use, or where its keys are too wide for a room."""
        space = prod(float(self.domain.widths[position, level]) for position, level in enumerate(node))
        if SMALLER * classes > len(base) or space > self._kernels.WIDEST:
            return None
        return self._based(node, self._in_room(base, classes, room))

    def keep(self, base: Base) -> None:
        """Takes a base; those that were used longest ago are given up where there is no room for it."""
        while len(self.bases) > 1 and (
            len(self.bases) == BASES or self.base_sizes[1 : len(self.bases)].sum() + len(base) > ROOM * len(self.raw)
        ):
            last, place = len(self.bases) - 1, int(self.base_uses[1 : len(self.bases)].argmin()) + 1
            self.bases[place] = self.bases[last]
            self.bases.pop()
            for figures in (self.base_nodes, self.base_sizes, self.base_uses):
                figures[place] = figures[last]
        place = len(self.bases)
        self.bases.append(base)
        self.base_nodes[place], self.base_sizes[place], self.base_uses[place] = base.node, len(base), self.clock

    def _based(self, node: Node, grouping: Grouping) -> Base:
        """A base of a grouping."""
        from shoal.kernels.lattice import Packed

        firsts = grouping.firsts.copy()
        columns = np.take(self.raw.tuples.columns, firsts, axis=1)
        classes = self.classes(grouping)
        tuples = Packed(columns, classes.sizes, firsts)
        return Base(node, tuples, classes.sensitive, classes.people, classes.households, classes.weights)

    def _in_room(self, base: Base, classes: int, room: Any) -> Grouping:
        """What was last grouped in a room."""
        return Grouping(base, room.owners[: len(base)], room.sizes[:classes], room.firsts[:classes])

    def _numbered(self, base: Base, node: Node, most: int, room: Any) -> int:
        """Groups a node in a room; how many classes it has, negative where they are more than `most` or keys too wide
        for a room."""
        levels = np.array(node, dtype=np.int64)
        return int(self._kernels.number(levels, base.tuples, most, self.domain, room))

    def grouped_from(self, base: Base, node: Node, room: Any) -> Grouping:
        """The classes of a node that generalizes a base; its arrays are overwritten by the next call for the room."""
        classes = self._numbered(base, node, len(base), room)
        if classes < 0:
            # Keys of more than 64 bits: slower, and the same answer.
            trees = self.summary.hierarchies
            columns = [
                tree.codes[level][keys] for tree, level, keys in zip(trees, node, self.summary.keys, strict=True)
            ]
            radices = [int(self.domain.widths[position, level]) for position, level in enumerate(node)]
            groups = group(columns, radices, weights=self.raw.tuples.weights, index=True)
            firsts = np.empty(len(groups.counts), dtype=np.int32)
            firsts[groups.index] = self.raw.tuples.firsts
            return Grouping(self.raw, groups.index, groups.counts, firsts)
        return self._in_room(base, classes, room)

    def classes(self, grouping: Grouping, node: Node | None = None) -> Classes:
        """The classes as models judge them, with sensitive histograms, and with keys where the node is given."""
        histograms = tuple(self.rolled(histogram, grouping) for histogram in grouping.base.sensitive)
        people, households = (
            None if each is None else self.rolled(each, grouping)
            for each in (grouping.base.people, grouping.base.households)
        )
        weights = grouping.base.weights
        if weights is not None and people is None:  # else they are those of the people
            weights = np.bincount(grouping.owners, weights, minlength=len(grouping.sizes)).astype(np.float64)
        keys = np.zeros((0, len(grouping.sizes)), dtype=np.int32)
        if node is not None:
            leaves = zip(self.summary.hierarchies, node, self.summary.keys, strict=True)
            keys = np.stack([tree.codes[level][codes[grouping.firsts]] for tree, level, codes in leaves])
        return Classes(
            self.summary.attributes, keys, grouping.sizes.copy(), histograms, (), self.summary.records, people,
            weights, households,
        )  # fmt: skip

    def rolled(self, histogram: Histogram, grouping: Grouping, entries: Any = None) -> Histogram:
        """A histogram of a base over the classes of a node; its entries as kernels read them need not be given."""
        kernel = self._node_checks
        size, classes = len(histogram.population), len(grouping.sizes)
        riding = histogram.contexts is not None or histogram.people is not None
        if riding or classes * size > max(DENSE, 64 * len(grouping.owners)):
            return histogram.rolled(grouping.owners, classes)
        everyone = np.arange(classes, dtype=np.int32)
        held = sparse_counts(histogram) if entries is None else entries
        starts, values, counts = kernel.rolled(grouping.owners, everyone, classes, held)
        return Histogram(histogram.column, starts, values, counts, histogram.population, histogram.hierarchy)


def _table(summary: Classes, domain: Any) -> Any:
    """The distinct tuples as the kernels count them."""
    from shoal.kernels.lattice import Tuples, occurring

    # Half the room where numbers are small; of a large table this is among the largest things in memory.
    narrow = max((tree.size for tree in summary.hierarchies), default=0) <= np.iinfo(np.int16).max
    leaves = np.ascontiguousarray(summary.keys.T, dtype=np.int16 if narrow else np.int32)
    heights = np.array([tree.height for tree in summary.hierarchies], dtype=np.int64)
    return Tuples(leaves, occurring(leaves, np.require(summary.sizes, requirements=["C", "W"]), heights, domain))


def _packs(trees: Sequence[Hierarchy]) -> list[list[int]]:
    """The attributes of each packed column: those with few leaves in one, first-fit, the ones with many first."""
    packs: list[list[int]] = []
    room: list[int] = []
    for attribute in sorted(range(len(trees)), key=lambda attribute: -trees[attribute].size):
        leaves = trees[attribute].size
        fitting = next((pack for pack, left in enumerate(room) if left >= leaves), None)
        if fitting is None:
            packs.append([attribute])
            room.append(PACK // leaves)
        else:
            packs[fitting].append(attribute)
            room[fitting] //= leaves
    return packs


def _packed(summary: Classes, packs: Sequence[Sequence[int]]) -> Codes:
    """The distinct tuples as packed columns."""
    packed = np.zeros((len(packs), len(summary)), dtype=np.int32)
    for column, pack in zip(packed, packs, strict=True):
        for attribute in pack:
            column *= summary.hierarchies[attribute].size
            column += summary.keys[attribute]
    return packed


def _domain(trees: Sequence[Hierarchy], packs: Sequence[Sequence[int]]) -> Any:
    """Packed columns and hierarchies as the kernels read them."""
    from shoal.kernels.lattice import Domain

    def starts(counts: Iterable[int]) -> Counts:
        """Where things begin that stand one after the other."""
        return np.array(list(accumulate(counts, initial=0))[:-1], dtype=np.int64)

    widths = np.ones((len(trees), max(tree.height for tree in trees) + 1), dtype=np.int64)
    for position, tree in enumerate(trees):
        widths[position, : tree.height + 1] = tree.codes[:, -1] + 1
    return Domain(
        members=np.array([attribute for pack in packs for attribute in pack], dtype=np.int64),
        starts=np.cumsum([0, *(len(pack) for pack in packs)]).astype(np.int64),
        pack_starts=starts(prod(trees[attribute].size for attribute in pack) for pack in packs),
        leaf_counts=np.array([tree.size for tree in trees], dtype=np.int64),
        leaf_starts=starts(tree.size for tree in trees),
        codes=np.concatenate([tree.codes.ravel() for tree in trees]).astype(np.int64),
        code_starts=starts(tree.codes.size for tree in trees),
        widths=widths,
    )
