"""Hidden cells: the records of a table that are put together by hiding cells, and how that becomes a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._records import Records, numbered
from shoal.algorithms.suppression._lending import lent
from shoal.algorithms.suppression._patterns import Assigned, Patterns
from shoal.algorithms.suppression._program import optimal
from shoal.core.codebook import Codebook
from shoal.core.costs import hiding_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError


@dataclass(frozen=True, eq=False)
class HiddenCells(Records):
    """Records of which a class shows the columns in which all of it agree; other columns are hidden."""

    patterns: Patterns

    @classmethod
    def at(cls, dataset: Dataset, policy: Policy, weights: Floats, follows: NDArray[np.bool_]) -> HiddenCells:
        """The records of a dataset whose cells are worth something in each column."""
        summary = dataset.summary
        records = Records.of(dataset, policy, ("hierarchy",) * len(summary.attributes))
        values = {field.name: getattr(records, field.name) for field in fields(records)}
        patterns = Patterns(summary.keys, summary.sizes, weights, follows)
        values["costs"] = hiding_costs(summary.hierarchies, patterns.payable)
        return cls(**values, patterns=patterns)

    def assigned(self, listed: Sequence[NDArray[np.bool_]], run: Run) -> Codes:
        """The class of each record: of those that read alike by the cheapest pattern possible.

        Where there are sensitive attributes, records that were alike stay together, so that the table keeps every model
        that it had and that holds for the union of classes, whether or not the policy asks for it.
        """
        judge, watch = self._judge if self.judged else None, run.part(between=(0.0, 0.6))
        groups = self.patterns.assigned(listed, self.policy.least, judge, watch)
        groups = Assigned(groups.owners[self.tuples], groups.hidden)
        if not self.judged and not self.dataset.schema.sensitive:
            groups = lent(self.patterns, listed, self.tuples, groups, self.policy.least, run.part(between=(0.6, 1.0)))
        return numbered(groups.owners)

    def least_dear(self, listed: Sequence[NDArray[np.bool_]], run: Run) -> Codes:
        """The class of each record when all of them together cost least."""
        if self.judged:
            raise ParameterError(
                "exact: the least cost is found for models of the size of classes alone, and without a person column"
            )
        return numbered(optimal(self.patterns, listed, self.policy.least, run).owners)

    def _judge(self, index: Codes, sizes: Counts) -> NDArray[np.bool_]:
        return self.policy.holds(self.dataset.partitioned(index, len(sizes), seed=self.policy.seed))

    def recoding(self, owners: Codes, facts: dict[str, Any]) -> Recoding:
        low, high, sizes = self.ranges(owners)
        hidden = self.patterns.with_followers((low != high).T)
        return self._published(owners, low.T, hidden, sizes, facts)

    def hiding(self, masks: NDArray[np.bool_], facts: dict[str, Any]) -> Recoding:
        """The recoding that hides these cells, one row a column and one column a record."""
        shown = np.where(masks, np.int32(-1), self.points.T[:, self.tuples])
        groups = group(list(shown + np.int32(1)), index=True)
        return self._published(groups.index, np.maximum(groups.keys - 1, 0), groups.keys == 0, groups.counts, facts)

    def _published(
        self, owners: Codes, values: Codes, hidden: NDArray[np.bool_], sizes: Counts, facts: dict[str, Any]
    ) -> Recoding:
        """Classes of some records, with what each shows and hides."""
        summary = self.dataset.summary
        codebooks, cells = [], []
        for tree, column, away in zip(summary.hierarchies, values, hidden, strict=True):
            low = np.where(away, 0, column).astype(np.int32)
            high = np.where(away, tree.size - 1, column).astype(np.int32)
            ranges = group([low, high], [tree.size, tree.size], index=True)
            codebooks.append(Codebook.of_ranges(tree, *ranges.keys, interval=False, top=True))
            cells.append(ranges.index)
        firsts = owners[self.starts[:-1]]
        whole = bool(np.all(np.repeat(firsts, self.counts) == owners))
        classes = firsts if whole else owners
        plan = Plan(summary.keys, classes, classes < 0, np.stack(cells), tuple(codebooks), not whole)
        counts = dict(zip(summary.attributes, (hidden @ sizes).tolist(), strict=True))
        price = float(self.patterns.cost(hidden) @ sizes)
        worth = [float(weight) if np.isfinite(weight) else None for weight in self.patterns.weights]
        importance = dict(zip(summary.attributes, worth, strict=True))
        return Recoding(plan, facts={"hidden": counts, "importance": importance, "cost": round(price, 6), **facts})
