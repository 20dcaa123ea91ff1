"""Any local recoding of a table that is too large for it, block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from pydantic import InstanceOf
from typing_extensions import Doc

from shoal.algorithms._merging import infeasible_as_one_class
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.core.blocks import Blocks
from shoal.core.classes import Classes
from shoal.core.codebook import Codebook
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.costs import width_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, decoded, packed_codes, ranges, words
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.publishing.divided_table import TableBlock, Whole, divisible
from shoal.publishing.packing import BLOCK, Packed, cuts, once, read, spelled

SAMPLE = 100_000
"""Records by which a table is cut."""

CUT_SHARE = 0.1
"""Of the progress that is told, what cutting counts."""


@dataclass(frozen=True, kw_only=True)
class InBlocks(Algorithm):
    """Cuts a table into blocks, has another algorithm recode each as if it were a table of its own, and publishes all
    of them as one release, which is verified as a whole.

    The cuts are Mondrian's, made on a sample of the records. A block that does not satisfy the policy as one class is
    joined with its neighbour. While it searches, only the blocks that are being worked on, one for each processor core
    of the machine or of the cluster, and the plan of the release are in memory; the finished release is checked block
    by block, too. A table that has no more records than a block may have is not cut. What is lost by cutting is that no
    class reaches over the edge of a block: the larger the blocks the less.

    Takes models of which two classes that satisfy them make one that does, because classes of two blocks may be
    published alike; others are refused. Models that compare with the whole table compare with all of it.

    Does not protect against more than the models of the policy do.

    Reference: decision 25 of Shoal's documentation; K. LeFevre, D. DeWitt, R. Ramakrishnan, Workload-aware
    anonymization techniques for large-scale datasets, 2008, for cuts on a sample.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> cut = InBlocks(base=shoal.job.plugin("algorithms", "k-member"), records=10_000)
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=cut, seed=1)
        >>> release.recoding.facts["blocks"] > 1, int(release.classes.sizes.min()) >= 5
        (True, True)
    """

    base: Annotated[InstanceOf[Algorithm], Doc("the algorithm that recodes each block")] = field(
        default_factory=Mondrian
    )
    records: Annotated[
        int, Ge(1), Doc("how many records a block has, about, at most; a table with no more is not cut")
    ] = 1_000_000

    counts_people: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({}, {"base": KMember(), "records": 20})

    @property
    def unverified(self) -> bool:
        return self.base.unverified

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        if not self.base.in_blocks:
            raise ParameterError(
                f"base: {type(self.base).__name__} looks at the whole table, or publishes more than ranges; take "
                "mondrian or a clustering, such as k-member"
            )
        policy.check_apart("an algorithm in blocks")
        for model in policy.models:
            if not model.merge_monotone:
                raise ParameterError(
                    f"{type(model).__name__} may hold in two classes and not in their union, and classes of two blocks "
                    "may be published alike; leave the blocks out, or choose another model"
                )
        if dataset.schema.person is not None and not self.base.counts_people:
            raise ParameterError(f"base: {type(self.base).__name__} does not count people; take another algorithm")
        if dataset.records <= self.records:
            return self.base.search(dataset, policy, run)
        whole = Whole.of(dataset)
        cutting, watch = run.part(between=(0.0, CUT_SHARE)), run.part(between=(CUT_SHARE, 1.0))
        blocks = once(
            dataset.checkpoint, f"{BLOCK}cuts.npz", lambda: self._blocks(dataset, whole, policy, cutting),
            lambda cut: ({}, cuts(cut)), lambda _, arrays: Blocks(**arrays),
        )  # fmt: skip

        def solved(number: int, make: Callable[[], _BlockPlan]) -> _BlockPlan:
            return once(dataset.checkpoint, f"{BLOCK}{number}.npz", make, _BlockPlan.packed, _BlockPlan.unpacked)

        solve = _Solve(self.base, policy)
        parts = whole.worked_on(dataset, blocks, solve, policy.seed, watch, "recoding blocks", solved)
        facts = {"blocks": len(parts), "base": type(self.base).__name__, "of-blocks": [part.facts for part in parts]}
        plan = _together(parts, blocks, [tree.size for tree in whole.schema.hierarchies])
        return Recoding(plan, facts=facts, hulls=parts[0].hulls)

    def _blocks(self, dataset: Dataset, whole: Whole, policy: Policy, run: Run) -> Blocks:
        """Blocks, each of which satisfies the policy as one class."""
        trees = whole.schema.hierarchies
        run.report(0.0, "cutting into blocks")
        sample = divisible(dataset).sample(whole.schema.quasi, SAMPLE, policy.seed)
        points = np.ascontiguousarray(np.stack(sample, axis=1))
        costs = width_costs(trees, whole.extent, [tree.ordered for tree in trees])
        most = max(1, len(points) * self.records // whole.records)
        blocks = Blocks.cut(points, costs, most, run)
        known: dict[tuple[bytes, bytes], bool] = {}
        while True:
            boxes = {
                (low.tobytes(), high.tobytes()): (low, high)
                for low, high in zip(*blocks.boxes([tree.size for tree in trees]), strict=True)
            }
            unknown = [box for box in boxes if box not in known]
            judged = whole.each([boxes[box] for box in unknown], lambda block: _holds(block, policy), dataset, run)
            known |= zip(unknown, judged, strict=True)
            broken = np.array([not known[box] for box in boxes])
            if not broken.any():
                return blocks
            if len(boxes) == 1:
                raise infeasible_as_one_class(whole.records, policy)
            blocks = blocks.joined(broken)


@dataclass(frozen=True, eq=False)
class _Solve:
    """What an algorithm decides in a block, wherever that is."""

    base: Algorithm
    policy: Policy

    def __call__(self, block: TableBlock, run: Run) -> _BlockPlan:
        recoding = self.base.search(block, self.policy, run)
        assert recoding.plan is not None
        words = packed_codes(list(recoding.plan.keys), [tree.size for tree in block.hierarchies])
        plan = replace(recoding.plan, keys=np.zeros((len(recoding.plan.keys), 0), np.int32))
        return _BlockPlan(plan, words, block.summary.sizes, recoding.facts, recoding.hulls)


@dataclass(frozen=True, eq=False, repr=False)
class _BlockPlan:
    """What is kept of a block: its plan, whose tuples are packed, how many records each has, facts, and how ranges
    follow from records."""

    plan: Plan
    words: Sequence[Counts]
    sizes: Counts
    facts: Mapping[str, Any]
    hulls: Mapping[str, str]

    def packed(self) -> Packed:
        """As the state of a run keeps it."""
        stated, arrays = spelled(Recoding(self.plan, facts=self.facts, hulls=self.hulls))
        return stated, {**arrays, "sizes": self.sizes, "words": np.stack(self.words)}

    @classmethod
    def unpacked(cls, stated: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> _BlockPlan:
        recoding = read(stated, arrays)
        assert recoding.plan is not None
        return cls(recoding.plan, list(arrays["words"]), arrays["sizes"], recoding.facts, recoding.hulls)


def _holds(block: TableBlock, policy: Policy) -> bool:
    """Whether a block satisfies the policy as one class."""
    if block.records < policy.least:
        return False
    summary: Classes = block.summarized(block.schema.quasi[:1])  # as one class, all of them would say the same
    one = summary.rolled(np.zeros(len(summary), np.int32), np.zeros((0, 1), np.int32))
    return bool(policy.holds(one).all())


def _together(parts: Sequence[_BlockPlan], blocks: Blocks, radices: Sequence[int]) -> Plan:
    """One plan for all blocks; tuples in the order of a summary, which no block has to hold."""
    plans, sizes = [part.plan for part in parts], [part.sizes for part in parts]
    packed = [np.concatenate(pieces) for pieces in zip(*(part.words for part in parts), strict=True)]
    counts = np.concatenate(sizes)
    order = np.lexsort(packed[::-1])
    keys = np.concatenate(
        [
            decoded(word[order], [radices[place] for place in places])
            for word, places in zip(packed, words(radices), strict=True)
        ]
    )
    offsets = np.cumsum([0, *(plan.count for plan in plans)])
    by_record = any(plan.by_record for plan in plans)
    classes, withheld = [], []
    for plan, offset, own in zip(plans, offsets[:-1], sizes, strict=True):
        spread = by_record and not plan.by_record
        shifted = np.where(plan.classes >= 0, plan.classes + np.int32(offset), plan.classes).astype(np.int32)
        classes.append(np.repeat(shifted, own) if spread else shifted)
        withheld.append(np.repeat(plan.withheld, own) if spread else plan.withheld)
    places = order
    if by_record:
        places = ranges((np.cumsum(counts) - counts)[order], counts[order])
    books, cells = [], []
    for attribute in range(len(keys)):
        book, entries = _joined_books([plan.codebooks[attribute] for plan in plans])
        books.append(book)
        cells.append(np.concatenate([to[plan.cells[attribute]] for plan, to in zip(plans, entries, strict=True)]))
    owners, left_out, grid = np.concatenate(classes), np.concatenate(withheld), np.stack(cells).astype(np.int32)
    return Plan(keys, owners[places], left_out[places], grid, tuple(books), by_record, blocks, counts[order])


def _joined_books(books: Sequence[Codebook]) -> tuple[Codebook, list[Codes]]:
    """One codebook for all, and where each entry of each one is in it."""
    known: dict[tuple[Any, int, int], int] = {}
    chosen: list[tuple[int, int]] = []
    entries = []
    for number, book in enumerate(books):
        places = np.empty(len(book), np.int32)
        named = zip(book.labels.tolist(), book.low.tolist(), book.high.tolist(), strict=True)
        for at, entry in enumerate(named):
            if entry not in known:
                known[entry] = len(known)
                chosen.append((number, at))
            places[at] = known[entry]
        entries.append(places)

    def joined(name: str) -> Any:
        return np.array([getattr(books[number], name)[at] for number, at in chosen], getattr(books[0], name).dtype)

    columns = {name: joined(name) for name in ("labels", "low", "high", "levels", "lengths")}
    raw, means = all(book.raw for book in books), any(book.means for book in books)
    return Codebook(books[0].column, **columns, raw=raw, means=means), entries
