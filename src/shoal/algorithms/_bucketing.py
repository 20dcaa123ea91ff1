"""Buckets: Mondrian's cuts, judged by what the columns of a sliced release would tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._clustering import outputs
from shoal.algorithms.mondrian import Cutter
from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.publishing.slices import Columns, Joint, blocks

WIDEST = 1 << 24
"""Pairs of a tuple and a sensitive value up to which the check of one target is made."""


class Bucketing(Cutter):
    """Cuts as long as whoever knows everybody's quasi-identifiers learns no more of a sensitive value than the policy
    allows. Inside a bucket, people with equal quasi-identifiers beside the sensitive attribute are judged as a class;
    where it stands in several columns, values that can be exchanged for each other in all of them are."""

    def __init__(self, dataset: Dataset, policy: Policy, columns: Columns) -> None:
        summary = dataset.summary
        intervals = [output != "hierarchy" for output in outputs(dataset, "given", ())]
        super().__init__(dataset, policy, list(summary.keys), summary.sizes.copy(), intervals, relaxed=False)
        self.value = dataset.schema.sensitive[0]
        beside = [[name for name in column if name in summary.attributes] for column in columns if self.value in column]
        # Where the sensitive attribute stands alone it tells no more than where it does not.
        self.beside = [_combinations(dataset, names) for names in beside if names] or [_combinations(dataset, ())]

    def classes(self, index: Codes, count: int) -> tuple[NDArray[np.int64], Classes]:
        """What so many buckets tell about sensitive values: classes, each with its bucket; `index` has the bucket of
        each tuple, negative: none."""
        if len(self.beside) == 1:
            tuples = np.flatnonzero(index >= 0)
            inside = self.beside[0]
            groups = group([index[tuples], inside[tuples]], index=True)
            finer = np.full(len(index), -1, np.int32)
            finer[tuples] = groups.index
            classes = self.dataset.partitioned(finer, len(groups.counts), seed=self.policy.seed)
            return groups.keys[0].astype(np.int64), classes
        histogram = self.dataset.summary.histogram(self.value)
        entries = np.flatnonzero(index[histogram.owners] >= 0)
        owners = histogram.owners[entries]
        joints = []
        for inside in self.beside:
            columns = [index[owners], inside[owners], histogram.values[entries]]
            joint = group(columns, weights=histogram.counts[entries])
            buckets, besides, values = joint.keys
            joints.append(Joint(buckets, besides, values, joint.counts))
        return blocks(joints, histogram.column, histogram.population)

    @property
    def passes(self) -> bool:
        """Whether the whole table as one bucket passes the check."""
        return not bool(self._broken(np.zeros(len(self.dataset.summary), np.int32), 1).any())

    def trouble(self) -> tuple[str, dict[str, Any]]:
        """What is wrong with the whole table as one bucket, in words and figures."""
        _, classes = self.classes(np.zeros(len(self.dataset.summary), np.int32), 1)
        broken = int((~self.policy.holds(classes)).sum())
        figures = {"broken": broken, "groups": len(classes)}
        return f"{broken:,} of {len(classes):,} groups break the policy", figures

    def _broken(self, index: Codes, count: int) -> NDArray[np.bool_]:
        buckets, classes = self.classes(index, count)
        broken = np.zeros(count, dtype=np.bool_)
        broken[buckets[~self.policy.holds(classes)]] = True
        return broken


def _combinations(dataset: Dataset, names: Sequence[str]) -> Codes:
    """The combination of some quasi-identifiers that each tuple has, numbered without gaps."""
    summary = dataset.summary
    places = [summary.attributes.index(name) for name in names]
    if not places:
        return np.zeros(len(summary), np.int32)
    return group([summary.keys[at] for at in places], index=True).index


class TargetBucketing(Bucketing):
    """Cuts as long as the check of the authors holds: somebody who knows one person's quasi-identifiers, and nobody
    else's, finds no sensitive value of that person more likely than 1/l. The check is about the whole table, so buckets
    are cut one after the other."""

    def __init__(self, dataset: Dataset, policy: Policy, columns: Columns, l: int) -> None:  # noqa: E741
        super().__init__(dataset, policy, columns)
        summary, histogram = dataset.summary, dataset.summary.histogram(self.value)
        self.bound, values = 1 / l + 1e-9, len(histogram.population)
        if len(summary) * values > WIDEST:
            raise ParameterError(
                f"the check of one target looks at {len(summary):,} tuples with {values:,} values after every cut, "
                "which is too much; take attacker=all, which is also the stronger promise"
            )
        quasi = [[name for name in column if name in summary.attributes] for column in columns]
        self.columns = [_combinations(dataset, names) for names in quasi]
        self.histogram, self.values = histogram, values
        self.matching, self.having = self._match(np.arange(len(summary)))

    def _match(self, members: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each tuple of the table how well it matches a bucket of some tuples, and that times the shares of the
        values that it would have there."""
        sizes = self.dataset.summary.sizes
        total, matching = float(sizes[members].sum()), np.ones(len(sizes))
        for column in self.columns:
            shares = np.bincount(column[members], weights=sizes[members], minlength=int(column.max()) + 1) / total
            matching *= shares[column]
        owners, values, counts = self.histogram.owners, self.histogram.values, self.histogram.counts
        inside = np.isin(owners, members)
        beside = self.beside[0]
        joint = np.zeros((int(beside.max()) + 1, self.values))
        np.add.at(joint, (beside[owners[inside]], values[inside]), counts[inside])
        shares = joint / np.maximum(joint.sum(axis=1), 1)[:, None]
        return matching, matching[:, None] * shares[beside]

    @property
    def passes(self) -> bool:
        return self.worst <= self.bound

    def trouble(self) -> tuple[str, dict[str, Any]]:
        return f"somebody's value is found with {self.worst:.0%}", {"worst": self.worst}

    @property
    def worst(self) -> float:
        """The most that somebody believes about a person."""
        return float((self.having / self.matching[:, None]).max(initial=0.0))

    def run(self, run: Run) -> Codes:
        count = len(self.points.weights)
        waiting, final = [(0, count, np.zeros(1, np.uint64))], []
        while waiting:
            begin, end, tried = waiting.pop()
            counts, chosen = self._cut(map, np.array([begin]), np.array([end]), tried, run)
            run.report(1 - sum(end - begin for begin, end, _ in waiting) / count, "cutting")
            if not counts[0]:
                final.append(begin)
                continue
            self.rounds += 1
            ends = self.moves.bounds[begin : begin + int(counts[0])].tolist()
            sides = list(zip([begin, *ends[:-1]], ends, strict=True))
            if self._accepted((begin, end), sides):
                waiting += [(*side, np.zeros(1, np.uint64)) for side in sides]
            else:
                waiting.append((begin, end, tried | (np.uint64(1) << chosen.astype(np.uint64))))
        return self._classes(np.array(final))

    def _accepted(self, whole: tuple[int, int], sides: list[tuple[int, int]]) -> bool:
        """Whether the table passes with the sides in the place of a bucket, which then are."""
        before = self.matching, self.having
        for sign, (begin, end) in [(-1.0, whole), *((1.0, side) for side in sides)]:
            matching, having = self._match(self.points.identities[begin:end].astype(np.int64))
            self.matching, self.having = self.matching + sign * matching, self.having + sign * having
        if self.passes:
            return True
        self.matching, self.having = before
        return False
