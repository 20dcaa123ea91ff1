"""What makes any clustering satisfy any policy: clusters that break it merge, or are left out if the budget allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._records import Records, numbered, portions
from shoal.core.costs import reordered
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError

BUCKET = 24
"""Ranges in the lowest nodes of the tree over their ends."""

Ranges = tuple[Codes, Codes, Counts]
"""The least and greatest codes of each cluster, one row each, and its size."""


def check_feasible(records: Records) -> None:
    """Raises unless the whole table as one class satisfies the policy."""
    if not bool(records.holds(np.zeros(len(records), dtype=np.int32)).all()):
        raise infeasible_as_one_class(len(records), records.policy)


def infeasible_as_one_class(records: int, policy: Policy) -> InfeasibleError:
    """What is raised where not even the whole table as one class satisfies the policy."""
    return InfeasibleError(
        f"the whole table of {records:,} records as one class does not satisfy the policy, which local recoding needs; "
        "a full-domain search may still find a release that leaves records out",
        {"records": records, "least": policy.least},
    )


def merged(records: Records, owners: Codes, run: Run, *, by_union: bool = False) -> tuple[Codes, int]:
    """The clustering with every cluster that breaks the policy merged with the one it fits best, until all hold.

    A cluster whose merger would cost more than leaving its records out is left out, as far as the budget goes; where
    that gains nothing in the end, nobody more is left out than those who had no cluster before, -1. Returns the
    clusters, -1 for records that are left out, and how many mergers there were.
    """
    # Leaving everybody out is no release, whatever the policy allows.
    budget = min(records.policy.budget(len(records)), len(records) - 1) - int(np.sum(owners < 0))
    try:
        merged_owners, mergers = _merged(records, owners, run, by_union, budget)
    except InfeasibleError:
        if budget <= 0:
            raise
    else:
        whole = records.ranges(np.zeros_like(merged_owners))[:2]
        if int(merged_owners.max()) > 0 or not np.array_equal(records.ranges(merged_owners)[:2], whole):
            return merged_owners, mergers
    return _merged(records, owners, run, by_union, 0)


def merged_as_published(records: Records, owners: Codes, run: Run, *, by_union: bool = False) -> tuple[Codes, int]:
    """A clustering that satisfies the policy, merged further until it does so as it is published, where clusters with
    the same labels are one class. Returns the clusters and how many mergers there were."""
    mergers = 0
    while not records.unions_hold:
        shown = records.as_published(owners)
        if bool(records.holds(shown).all()):
            break
        owners, more = merged(records, shown, run, by_union=by_union)
        mergers += more
    return owners, mergers


def _merged(records: Records, owners: Codes, run: Run, by_union: bool, budget: int) -> tuple[Codes, int]:
    mergers = 0
    owners = numbered(owners)
    while True:
        holds = records.holds(owners)
        broken = np.flatnonzero(~holds)
        done = float(holds.mean())
        run.report(done, "merging clusters")
        if not len(broken):
            return owners, mergers
        if len(holds) == 1:
            raise InfeasibleError(
                "what is left after every merger does not satisfy the policy",
                {"records": int(np.sum(owners >= 0)), "least": records.policy.least},
            )
        ranges = records.ranges(owners)
        sizes = ranges[2]
        dearest = float(records.points.shape[1]) if int(sizes[broken].min()) <= budget else np.inf
        watch = run.part(between=(done, (1 + done) / 2))
        into, added = _round(records, broken, ranges, by_union, dearest, watch)
        dear = broken[added > dearest * sizes[broken]]
        for cluster in dear[np.argsort(sizes[dear], kind="stable")].tolist():
            if sizes[cluster] <= budget:
                budget -= int(sizes[cluster])
                into[cluster] = -1
        if bool(np.all(into == np.arange(len(into)))):
            into, _ = _round(records, broken, ranges, by_union, np.inf, watch)
        mergers += int(np.sum((into != np.arange(len(into))) & (into >= 0)))
        owners = numbered(np.where(owners >= 0, into[owners], -1))


def _round(
    records: Records, broken: NDArray[np.int64], ranges: Ranges, by_union: bool, dearest: float, run: Run
) -> tuple[Codes, Floats]:
    """Where each cluster goes in a round of mergers, and what the merger of each broken one adds to the loss."""
    from shoal.kernels import merging as kernel

    low, high, sizes = ranges
    clusters = kernel.ranges(low.copy(), high.copy(), sizes.copy(), records.costs)
    mergers = kernel.mergers(clusters, records.index(low, run), _ends(records, low, high, run), records.costs)
    for begin, end in portions(len(broken), run, "merging clusters"):
        kernel.merge(broken[begin:end], mergers, records.costs, by_union, dearest, run.flag)
    kernel.follow(mergers.into)
    return mergers.into, mergers.added[broken]


def _ends(records: Records, low: Codes, high: Codes, run: Run) -> Any:
    """A tree over where ranges begin and where they end, as if these were attributes of their own."""
    from shoal.kernels.index import build

    twice = reordered(records.costs, np.tile(np.arange(low.shape[1]), 2))
    tree = build(np.hstack([low, high]), twice, BUCKET, run.flag)
    run.check()
    return tree


def join_leftovers(records: Records, owners: Codes, run: Run) -> Codes:
    """The clustering with every record that has no cluster in the one to which it adds least loss."""
    from shoal.kernels import merging as kernel

    if int(owners.max()) < 0:
        return np.zeros(len(owners), dtype=np.int32)
    rows = np.flatnonzero(owners < 0)
    if len(rows):
        clusters = kernel.ranges(*records.ranges(owners), records.costs)
        leftovers = kernel.Leftovers(rows, np.zeros(len(clusters.sizes), np.int64), 0)
        kernel.place_leftovers(leftovers, owners, records.tuples, records.points, clusters, records.costs, run.flag)
        run.check()
    return owners


def join_diverse_leftovers(
    records: Records, owners: Codes, rows: NDArray[np.int64], values: Codes, wanted: int, run: Run
) -> Codes:
    """The clustering with some records each in the cluster to which it adds least loss, of those in which no sensitive
    value makes up more than one part in `wanted` with it; what no such cluster takes stays without."""
    from shoal.kernels import merging as kernel

    clusters = kernel.ranges(*records.ranges(owners), records.costs)
    before = -1
    while before != int(np.sum(owners[rows] < 0)):
        # A cluster that took a record may take another one that it could not take before.
        before = int(np.sum(owners[rows] < 0))
        for value in np.unique(values[rows]).tolist():
            free = rows[(values[rows] == value) & (owners[rows] < 0)]
            counts = np.bincount(owners[(values == value) & (owners >= 0)], minlength=len(clusters.sizes))
            leftovers = kernel.Leftovers(free, counts, wanted)
            kernel.place_leftovers(leftovers, owners, records.tuples, records.points, clusters, records.costs, run.flag)
            run.check()
    return owners
