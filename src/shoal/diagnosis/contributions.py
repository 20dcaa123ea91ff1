"""Contributions: what each column has of the share of records that are singled out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.core.run import Run
from shoal.diagnosis.weighted_rows import Partition, Partitions, WeightedRows

WORK = 2e8
"""Rows times sets up to which every set is evaluated for the contributions; beyond, rows times columns times orders.
Work is counted, not seconds: the same seed gives the same figures on any machine."""
EVERY_SET = 12
"""Columns up to which every set is evaluated."""
FEWEST_ORDERS, MOST_ORDERS = 4, 128

Contributions = Mapping[str, tuple[float, float | None]]
"""Of each column, and the standard error where it is sampled."""


def contributions_of(rows: WeightedRows, seed: int, run: Run) -> tuple[Contributions, str]:
    """Shapley values of the share of unique records: a column's mean increase, over the orders of learning them, and
    the standard error of that mean where not all orders are taken."""
    partitions = Partitions(rows, run)
    count = len(rows.names)

    def worth(partition: Partition) -> float:
        sizes, levels = rows.levels(partition)
        return int(sizes[levels < rows.model.threshold].sum()) / rows.records

    if count <= EVERY_SET and len(rows) * 2.0**count <= WORK:
        known = [worth(partitions.of(mask) if mask else partitions.whole()) for mask in range(1 << count)]
        ways = [1.0]
        for size in range(1, count):
            ways.append(ways[-1] * size / (count - size))
        totals = np.zeros(count)
        for mask in range(1 << count):
            for position in range(count):
                if not mask >> position & 1:
                    gain = known[mask | 1 << position] - known[mask]
                    totals[position] += gain * ways[mask.bit_count()] / count
        exact = {name: (total, None) for name, total in zip(rows.names, totals.tolist(), strict=True)}
        return exact, f"exact, over all {2**count - 1:,} sets"
    orders = max(FEWEST_ORDERS, min(MOST_ORDERS, int(WORK / (len(rows) * count))))
    generator = np.random.default_rng(seed)
    gains = np.zeros((orders, count))
    for order in range(orders):
        partition, before = partitions.whole(), worth(partitions.whole())
        for position in generator.permutation(count).tolist():
            if before == 1.0:  # nothing can be gained once every record is unique
                break
            partition = partitions.refined(partition, position)
            after = worth(partition)
            gains[order, position], before = after - before, after
    means, errors = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(orders)
    sampled = dict(zip(rows.names, zip(means.tolist(), errors.tolist(), strict=True), strict=True))
    return sampled, f"sampled, {orders} orders, seed {seed}, standard error at most {errors.max():.1%}"
