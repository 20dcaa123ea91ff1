"""kACTUS: groups along a classification tree (Kisilevich and others, 2010; with crossover, Israni 2014)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, outputs
from shoal.algorithms._merging import check_feasible, merged
from shoal.algorithms._records import Records, numbered
from shoal.core.codebook import Codebook
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.utility.examples import Attribute
from shoal.utility.split_criteria import SMALL
from shoal.utility.trees import Grower, Node, branches_of

Ints = NDArray[np.int64]
_Region = tuple[Codes, Codes]

MOST_CLASSES = 200
"""Values that a target may have; every split of a tree counts the records of each."""


@dataclass(frozen=True, kw_only=True)
class Kactus(ClusteringAlgorithm):
    """Grows a C4.5 tree for the `target` over the quasi-identifiers and publishes its leaves, so that a classifier of
    the target learns from the release what it would have learned from the table. No hierarchy is needed.

    From the deepest node up: leaves with enough records are groups; siblings that are too small form one together, or
    with records that larger siblings can spare (crossover, drawn at random), or move up. Everybody is published.

    What is published of a group: `hull`, the ranges of its own records; `path`, the region of its leaf in the tree and
    nothing of attributes that are not on the way to it; `literal`, what the paper prints: leaves with enough records
    as they are, the others without quasi-identifiers. That last one is **not** k-anonymous, needs `allow_unverified`,
    and its manifest claims nothing. Numbers can be published as means with `numeric=mean`.

    Leaves are chosen to agree in the target. Does not protect against learning the target, unless a model about
    sensitive values is part of the policy: the facts say how often the commonest value of a group is right.

    Reference: S. Kisilevich, L. Rokach, Y. Elovici, B. Shapira, Efficient multidimensional suppression for
    k-anonymity, 2010; and our reconstruction of a later variant with crossover, whose text leaves choices open.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.heart_statlog(), quasi=["age", "sex", "resting-blood-pressure"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=Kactus(target="class"), seed=1)
        >>> release.suppressed, release.recoding.facts["groups"]
        (0, 6)
    """

    target: Annotated[str | None, Doc("the column that classifiers shall learn; by default the sensitive one")] = None
    recode: Annotated[Literal["hull", "path", "literal"], Doc("what is published of a group")] = "hull"
    crossover: Annotated[
        float, Ge(0), Le(1), Doc("the share of a group's least size that it may borrow from its siblings; 0: none")
    ] = 0.5
    smallest: Annotated[float, Gt(0), Doc("the least size of two branches of the tree")] = 2
    confidence: Annotated[float, Gt(0), Le(0.5), Doc("of the errors by which the tree is pruned")] = 0.25

    in_blocks: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"recode": "path", "crossover": 0.0, "smallest": 1.0, "confidence": 0.5})

    @property
    def unverified(self) -> bool:
        return self.recode == "literal"

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        if self.target is None and len(dataset.schema.sensitive) == 1:
            return replace(self, target=dataset.schema.sensitive[0]).search(dataset, policy, run)
        if self.target is None:
            raise ParameterError("kactus needs the target, the column that classifiers shall learn; name it")
        if self.target in dataset.schema.quasi:
            raise ParameterError(f"the target {self.target!r} is a quasi-identifier; name a column that is none")
        if self.recode == "hull":
            return super().search(dataset, policy, run)
        if self.refine or self.publish or self.numeric != "interval":
            raise ParameterError("refine, publish and numeric are for recode=hull; leave them out")
        records = Records.of(dataset, policy, outputs(dataset, "interval", ()))
        check_feasible(records)
        groups, facts = self._groups(records, np.random.default_rng(policy.seed), run.part(between=(0.0, 0.8)))
        owners, mergers = merged(records, groups.owners, run.part(between=(0.8, 1.0)))
        literal = self.recode == "literal"
        while True:
            recoding = _recoded(records, groups, owners, {**facts, "mergers": mergers}, literal=literal)
            if literal or records.unions_hold:
                return recoding
            shown = _as_published(recoding, owners)
            if bool(records.holds(shown).all()):
                return recoding
            owners, more = merged(records, shown, run)
            mergers += more

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        groups, facts = self._groups(records, generator, run)
        return groups.owners, facts

    def _groups(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[_Groups, dict[str, Any]]:
        dataset = records.dataset
        assert self.target is not None
        known = dataset.knowing([self.target])
        (codes,) = known.table.listing(dataset.schema.quasi, [self.target], records.policy.seed)
        labels = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        classes = int(labels.max(initial=0)) + 1
        if classes < 2:
            raise ParameterError(f"the target {self.target!r} has one value only, so there is nothing to learn")
        if classes > MOST_CLASSES:
            raise ParameterError(
                f"the target {self.target!r} has {classes:,} values, and a tree learns at most {MOST_CLASSES}; put "
                "them into fewer groups first, or name another column"
            )
        attributes, rows = _learned_from(dataset.hierarchies, records)
        root = Grower(
            attributes, rows, labels, classes, smallest=self.smallest, confidence=self.confidence, run=run
        ).grow()
        groups = _Grouping(dataset.hierarchies, rows, records.policy.least, self.crossover, generator).of(root)
        counts = np.zeros((int(groups.owners.max()) + 1, classes), np.int64)
        np.add.at(counts, (groups.owners, labels), 1)
        facts: dict[str, Any] = {"leaves": sum(1 for _ in root.leaves()), "groups": len(counts), "lent": groups.lent}
        judged = any(model.needs_sensitive for model in records.policy.models)
        if self.target in dataset.schema.sensitive and not judged:
            facts["target-guessed"] = round(float(counts.max(axis=1).sum() / len(labels)), 4)
            facts["target-guessed-without"] = round(float(counts.sum(axis=0).max() / len(labels)), 4)
        return groups, facts


def _learned_from(hierarchies: tuple[Hierarchy, ...], records: Records) -> tuple[tuple[Attribute, ...], Floats]:
    """The quasi-identifiers as the tree learns from them: quantities as numbers, everything else by its leaf."""
    attributes, columns = [], []
    for place, tree in enumerate(hierarchies):
        codes = records.points[:, place][records.tuples]
        if tree.ordered and tree.values is not None:
            attributes.append(Attribute(tree.column))
            columns.append(np.where(codes < int(tree.missing), np.nan, tree.values[codes]))
        else:
            attributes.append(Attribute(tree.column, tuple(str(leaf) for leaf in range(tree.size))))
            columns.append(codes.astype(np.float64))
    return tuple(attributes), np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The group of each record, the leaves that the region of each group reaches from and to, whether a group is a leaf
    of the tree as it grew, and how many records were lent."""

    owners: Codes
    low: Codes
    high: Codes
    whole: NDArray[np.bool_]
    lent: int


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Makes groups of at least `least` records from a tree, bottom-up."""

    hierarchies: tuple[Hierarchy, ...]
    rows: Floats
    least: int
    crossover: float
    generator: np.random.Generator

    def of(self, root: Node) -> _Groups:
        sizes = [tree.size for tree in self.hierarchies]
        everyone = (np.zeros(len(sizes), np.int32), np.array(sizes, np.int32) - 1)
        emitted: list[tuple[Ints, _Region, bool]] = []
        rest, lent = self._emit(root, everyone, np.arange(len(self.rows)), emitted)
        if len(rest):
            need = max(0, self.least - len(rest))
            borrowed = self._borrowed([group for group, _, _ in emitted], need)
            if borrowed is not None and need:
                emitted = [(rows, region, whole) for rows, (_, region, whole) in zip(borrowed[1], emitted, strict=True)]
                rest, lent = np.append(rest, borrowed[0]), lent + need
            emitted.append((rest, everyone, root.leaf))
        owners = np.full(len(self.rows), -1, np.int32)
        for number, (members, _, _) in enumerate(emitted):
            owners[members] = number
        low, high = (np.stack([region[side] for _, region, _ in emitted], axis=1) for side in (0, 1))
        return _Groups(owners, low, high, np.array([whole for _, _, whole in emitted]), lent)

    def _emit(self, node: Node, region: _Region, rows: Ints, emitted: list[Any]) -> tuple[Ints, int]:
        """Emits the groups below a node; returns the records that are left to it, and how many were lent."""
        if node.leaf:
            return rows, 0
        assert node.attribute is not None
        branches = branches_of(node, self.rows[rows, node.attribute])
        # Whoever has no value goes where most go.
        branches = np.where(branches < 0, int(node.counts.sum(axis=1).argmax()), branches)
        enough, small, lent = [], [], 0
        for place, branch in enumerate(node.branches):
            inside = self._inside(node, place, region)
            left, more = self._emit(branch, inside, rows[branches == place], emitted)
            lent += more
            if len(left) >= self.least:
                enough.append((left, inside, branch.leaf))
            elif len(left):
                small.append(left)
        rest = np.concatenate(small) if small else np.zeros(0, np.int64)
        need = self.least - len(rest)
        if len(rest) >= self.least:
            emitted.append((rest, region, False))
            rest = rest[:0]
        elif len(rest) and need <= self.crossover * self.least:
            borrowed = self._borrowed([group for group, _, _ in enough], need)
            if borrowed is not None:
                emitted.append((np.append(rest, borrowed[0]), region, False))
                enough = [(group, inside, whole) for group, (_, inside, whole) in zip(borrowed[1], enough, strict=True)]
                rest, lent = rest[:0], lent + need
        emitted.extend(enough)
        return rest, lent

    def _borrowed(self, donors: list[Ints], need: int) -> tuple[Ints, list[Ints]] | None:
        """So many records drawn at random, no donor left with too few, and what the donors keep."""
        spare = np.array([len(donor) - self.least for donor in donors], np.int64)
        if need > spare.sum():
            return None
        owners = np.repeat(np.arange(len(donors)), [len(donor) for donor in donors])
        pool = np.concatenate(donors) if donors else np.zeros(0, np.int64)
        lent = np.zeros(len(pool), np.bool_)
        for place in self.generator.permutation(len(pool)).tolist():
            if not need:
                break
            if spare[owners[place]] > 0:
                lent[place] = True
                spare[owners[place]] -= 1
                need -= 1
        remainders = [pool[(owners == number) & ~lent] for number in range(len(donors))]
        return pool[lent], remainders

    def _inside(self, node: Node, branch: int, region: _Region) -> _Region:
        """The region of a branch: one leaf where values are names, those up to a threshold or above it for numbers."""
        low, high = region[0].copy(), region[1].copy()
        place = node.attribute
        assert place is not None
        tree = self.hierarchies[place]
        if node.threshold is None:
            low[place] = high[place] = branch
        else:
            assert tree.values is not None
            first = int(tree.missing)
            edge = first + int(np.searchsorted(tree.values[first:], node.threshold + SMALL, side="right"))
            if branch:
                low[place] = max(low[place], edge)
            else:
                low[place], high[place] = max(low[place], first), min(high[place], edge - 1)
        return low, high


def _as_published(recoding: Recoding, owners: Codes) -> Codes:
    """The classes that a reader sees: those whose labels are the same are one."""
    plan = recoding.plan
    assert plan is not None
    labels = (book.labels[cells].tolist() for book, cells in zip(plan.codebooks, plan.cells, strict=True))
    numbers: dict[tuple[Any, ...], int] = {}
    alike = np.array([numbers.setdefault(row, len(numbers)) for row in zip(*labels, strict=True)], np.int32)
    return numbered(np.where(owners >= 0, alike[owners], -1))


def _recoded(records: Records, groups: _Groups, owners: Codes, facts: dict[str, Any], *, literal: bool) -> Recoding:
    """Each class as the region of its groups in the tree, and nothing of attributes that are not on the way to it;
    literally, whole leaves as they are and the others without quasi-identifiers."""
    from shoal.kernels.ranges import extremes

    published = owners >= 0
    count = int(owners.max()) + 1
    trees = records.dataset.hierarchies
    whole = np.ones(count, np.bool_)
    np.logical_and.at(whole, owners[published], groups.whole[groups.owners[published]])
    if literal:
        raw = published & whole[np.where(published, owners, 0)]
        owners = numbered(np.where(raw, records.tuples, np.where(published, len(records.points) + owners, -1)))
        count = int(owners.max()) + 1
    codebooks, cells = [], []
    for place, tree in enumerate(trees):
        codes = records.points[:, place][records.tuples]
        low, high = extremes(owners, np.ascontiguousarray(codes), count)
        if literal:
            hidden = np.ones(count, np.bool_)
            hidden[owners[raw]] = False
            low, high = np.where(hidden, 0, low), np.where(hidden, tree.size - 1, high)
        else:
            np.minimum.at(low, owners[published], groups.low[place][groups.owners[published]])
            np.maximum.at(high, owners[published], groups.high[place][groups.owners[published]])
            if not tree.ordered:
                low, high = tree.widen(low, high)
            high = np.where(tree.spans_missing(low, high), tree.size - 1, high)
        ranges = group([low.astype(np.int32), high.astype(np.int32)], [tree.size, tree.size], index=True)
        codebooks.append(Codebook.of_ranges(tree, *ranges.keys, interval=tree.ordered, hide=True))
        cells.append(ranges.index)
    plan = Plan(records.dataset.summary.keys, owners, owners < 0, np.stack(cells), tuple(codebooks), True)
    return Recoding(plan, facts=facts)
