"""kACTUS: groups along a classification tree (Kisilevich and others, 2010; with crossover, Israni 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, outputs
from shoal.algorithms._merging import check_feasible, merged
from shoal.algorithms._records import Records, numbered
from shoal.algorithms._tree_groups import TreeGrouper, TreeGroups
from shoal.core.codebook import Codebook
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.run import Run
from shoal.core.schema import WITHHELD
from shoal.errors import ParameterError
from shoal.utility.examples import Attribute
from shoal.utility.trees import Grower

MOST_CLASSES = 200
"""Values that a target may have; every split of a tree counts the records of each."""


@dataclass(frozen=True, kw_only=True)
class Kactus(ClusteringAlgorithm):
    """Grows a C4.5 tree for the `target` over the quasi-identifiers and publishes its leaves, so that a classifier of
    the target learns from the release what it would have learned from the table. No hierarchy is needed. With
    `grow=all` the tree splits on every published column; only quasi-identifiers are generalized along it.

    From the deepest node up: leaves with enough records are groups; siblings that are too small form one together, or
    with records that a larger sibling can spare (crossover), or move up. The donor is the sibling that is purest in the
    target; which of its records it lends is drawn at random. Everybody is published.

    What is published of a group: `hull`, the ranges of its own records; `path`, the region of its leaf in the tree and
    nothing of attributes that are not on the way to it; `literal`, what the paper prints: leaves with enough records
    as they are, the others without quasi-identifiers; `perturbed`, the same with the paper's perturbation: records that
    can form no group do not move up, but are published with the split value plus half their own value in the
    quasi-identifier that was split on, and without the others. Those last two are **not** k-anonymous, need
    `allow_unverified`, and their manifests claim nothing; whoever knows the split value undoes the perturbation.
    Numbers can be published as means with `numeric=mean`.

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
    recode: Annotated[Literal["hull", "path", "literal", "perturbed"], Doc("what is published of a group")] = "hull"
    grow: Annotated[Literal["quasi", "all"], Doc("the columns that the tree may split on")] = "quasi"
    crossover: Annotated[
        float, Ge(0), Le(1), Doc("the share of a group's least size that it may borrow from its siblings; 0: none")
    ] = 0.5
    donor: Annotated[
        Literal["entropy", "random"],
        Doc("who lends: the sibling of least entropy in the target, or all that can spare records, at random"),
    ] = "entropy"
    smallest: Annotated[float, Gt(0), Doc("the least size of two branches of the tree")] = 2
    confidence: Annotated[float, Gt(0), Le(0.5), Doc("of the errors by which the tree is pruned")] = 0.25

    in_blocks: ClassVar[bool] = False
    examples: ClassVar[Examples] = (
        {},
        {"recode": "path", "crossover": 0.0, "smallest": 1.0, "confidence": 0.5},
        {"grow": "all", "donor": "random"},
    )

    @property
    def unverified(self) -> bool:
        return self.recode in ("literal", "perturbed")

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
        if self.recode == "perturbed":
            return _recoded(records, groups, groups.owners, facts, literal=True)
        owners, mergers = merged(records, groups.owners, run.part(between=(0.8, 1.0)))
        while True:
            recoding = _recoded(records, groups, owners, {**facts, "mergers": mergers}, literal=self.unverified)
            if self.unverified or records.unions_hold:
                return recoding
            shown = _as_published(recoding, owners)
            if bool(records.holds(shown).all()):
                return recoding
            owners, more = merged(records, shown, run)
            mergers += more

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        groups, facts = self._groups(records, generator, run)
        return groups.owners, facts

    def _groups(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[TreeGroups, dict[str, Any]]:
        dataset = records.dataset
        quasi = dataset.schema.quasi
        assert self.target is not None
        published = [column.name for column in dataset.schema.columns if column.role not in WITHHELD]
        names = [name for name in published if name != self.target] if self.grow == "all" else list(quasi)
        others = [name for name in names if name not in quasi]
        known = dataset.knowing([self.target, *others])
        codes, *columns = known.table.listing(quasi, [self.target, *others], records.policy.seed)
        labels = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        classes = int(labels.max(initial=0)) + 1
        if classes < 2:
            raise ParameterError(f"the target {self.target!r} has one value only, so there is nothing to learn")
        if classes > MOST_CLASSES:
            raise ParameterError(
                f"the target {self.target!r} has {classes:,} values, and a tree learns at most {MOST_CLASSES}; put "
                "them into fewer groups first, or name another column"
            )
        encoded = dict(zip(quasi, records.points[records.tuples].T, strict=True)) | dict(
            zip(others, columns, strict=True)
        )
        attributes, rows = _learned_from([(known.schema.hierarchy_of(name), encoded[name]) for name in names])
        root = Grower(
            attributes, rows, labels, classes, smallest=self.smallest, confidence=self.confidence, run=run
        ).grow()
        places = tuple(quasi.index(name) if name in quasi else -1 for name in names)
        groups = TreeGrouper(
            hierarchies=dataset.hierarchies, rows=rows, places=places, labels=labels, least=records.policy.least,
            crossover=self.crossover, at_random=self.donor == "random", perturb=self.recode == "perturbed",
            generator=generator,
        ).of(root)  # fmt: skip
        counts = np.zeros((int(groups.owners.max()) + 1, classes), np.int64)
        np.add.at(counts, (groups.owners, labels), 1)
        facts: dict[str, Any] = {"leaves": sum(1 for _ in root.leaves()), "groups": len(counts), "lent": groups.lent}
        if self.recode == "perturbed":
            facts["perturbed"] = sum(len(group.members) for group in groups.groups if group.perturbed_by)
        judged = any(model.needs_sensitive for model in records.policy.models)
        if self.target in dataset.schema.sensitive and not judged:
            facts["target-guessed"] = round(float(counts.max(axis=1).sum() / len(labels)), 4)
            facts["target-guessed-without"] = round(float(counts.sum(axis=0).max() / len(labels)), 4)
        return groups, facts


def _learned_from(columns: Sequence[tuple[Hierarchy, Codes]]) -> tuple[tuple[Attribute, ...], Floats]:
    """Columns as the tree learns from them: quantities as numbers, everything else by its leaf."""
    attributes, numbers = [], []
    for tree, codes in columns:
        if tree.ordered and tree.values is not None:
            attributes.append(Attribute(tree.column))
            numbers.append(np.where(codes < int(tree.missing), np.nan, tree.values[codes]))
        else:
            attributes.append(Attribute(tree.column, tuple(str(leaf) for leaf in range(tree.size))))
            numbers.append(codes.astype(np.float64))
    return tuple(attributes), np.stack(numbers, axis=1)


def _as_published(recoding: Recoding, owners: Codes) -> Codes:
    """The classes that a reader sees: those whose labels are the same are one."""
    plan = recoding.plan
    assert plan is not None
    labels = (book.labels[cells].tolist() for book, cells in zip(plan.codebooks, plan.cells, strict=True))
    numbers: dict[tuple[Any, ...], int] = {}
    alike = np.array([numbers.setdefault(row, len(numbers)) for row in zip(*labels, strict=True)], np.int32)
    return numbered(np.where(owners >= 0, alike[owners], -1))


def _recoded(records: Records, groups: TreeGroups, owners: Codes, facts: dict[str, Any], *, literal: bool) -> Recoding:
    """Each class as the region of its groups in the tree, and nothing of attributes that are not on the way to it;
    literally, whole leaves as they are and the others without quasi-identifiers, perturbed or not."""
    from shoal.kernels.ranges import extremes

    published = owners >= 0
    count = int(owners.max()) + 1
    raw = np.zeros(len(owners), np.bool_)
    if literal:
        whole, perturbed = np.ones(count, np.bool_), np.array([bool(group.perturbed_by) for group in groups.groups])
        np.logical_and.at(whole, owners[published], groups.whole[groups.owners[published]])
        raw = published & whole[np.where(published, owners, 0)]
        tuples, numbers = len(records.points), owners.astype(np.int64)
        apart = np.where(
            perturbed[groups.owners], tuples * (1 + numbers) + records.tuples, tuples * (1 + count) + numbers
        )
        owners = numbered(np.where(raw, records.tuples, np.where(published, apart, -1)))
        count = int(owners.max()) + 1
    codebooks, cells = [], []
    for place, tree in enumerate(records.dataset.hierarchies):
        codes = records.points[:, place][records.tuples]
        low, high = extremes(owners, np.ascontiguousarray(codes), count)
        values = np.full(count, np.nan)
        if literal:
            hidden = np.ones(count, np.bool_)
            hidden[owners[raw]] = False
            low, high = np.where(hidden, 0, low), np.where(hidden, tree.size - 1, high)
            values = _perturbed(tree, place, codes, groups, owners, count)
        else:
            first, last = groups.ends(place)
            np.minimum.at(low, owners[published], first[groups.owners[published]])
            np.maximum.at(high, owners[published], last[groups.owners[published]])
            if not tree.ordered:
                low, high = tree.widen(low, high)
            high = np.where(tree.spans_missing(low, high), tree.size - 1, high)
        kinds, kind = np.unique(values, return_inverse=True)
        keys = [each.astype(np.int32) for each in (low, high, kind)]
        ranges = group(keys, [tree.size, tree.size, len(kinds)], index=True)
        book = Codebook.of_ranges(tree, *ranges.keys[:2], interval=tree.ordered, hide=True)
        codebooks.append(_with_numbers(book, tree, kinds[ranges.keys[2]]))
        cells.append(ranges.index)
    plan = Plan(records.dataset.summary.keys, owners, owners < 0, np.stack(cells), tuple(codebooks), True)
    return Recoding(plan, facts=facts)


def _perturbed(tree: Hierarchy, place: int, codes: Codes, groups: TreeGroups, owners: Codes, count: int) -> Floats:
    """The number that each class shows of a quasi-identifier: the split value plus half its own, where its records are
    perturbed by a split of that; else none."""
    values = np.full(count, np.nan)
    for each in groups.groups:
        node = each.perturbed_by
        if node is not None and groups.places[node.attribute or 0] == place and node.threshold is not None:
            assert tree.values is not None
            own = codes[each.members]
            halved = np.where(own < int(tree.missing), np.nan, node.threshold + tree.values[own] / 2)
            values[owners[each.members]] = halved
    return values


def _with_numbers(book: Codebook, tree: Hierarchy, numbers: Floats) -> Codebook:
    """A codebook whose entries with a number are published as that."""
    shown = np.flatnonzero(~np.isnan(numbers))
    if not len(shown):
        return book
    labels = book.labels.copy()
    labels[shown] = [tree.spelled(number) for number in numbers[shown].tolist()]
    return replace(book, labels=labels, raw=False, means=True)
