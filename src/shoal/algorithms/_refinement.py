"""Refinement: moves and swaps records between clusters, and splits big clusters, while the loss falls.

Any clustering can end with it. Every round looks, for each record, for the move to a neighbouring cluster or the swap
with one of its records that saves most, in the clusters as they stand; then carries the proposals out, best first,
no cluster twice. The number of threads changes nothing.
"""

from __future__ import annotations

import time
from collections import namedtuple
from typing import Any

import numpy as np

from shoal.algorithms._records import Records, in_slices, numbered
from shoal.core.grouping import Codes
from shoal.core.run import Run

State = namedtuple(
    "State",
    "points tuples starts neighbours owners heads following previous sizes extremes paid changed stirred looked",
)

NEIGHBOURS = 32
"""Nearest tuples whose clusters a record may move to. More find a little more, in proportionally more time."""


CHUNK = 1 << 20
"""Records of clusters that are looked at, times the clusters' mean size, before the clock is."""


def refined(
    records: Records, owners: Codes, seconds: float, run: Run, *, neighbours: int = NEIGHBOURS
) -> tuple[Codes, dict[str, Any]]:
    """The clustering when no move, swap or split saves anything more, or the time is over; and what was done."""
    deadline = time.monotonic() + seconds
    owners, splits = split(records, owners)
    search = _Search(records, owners, neighbours)
    before = float(search.state.paid.sum())
    while time.monotonic() < deadline and search.round(deadline):
        after = float(search.state.paid.sum())
        run.report(1 - after / before if before else 1.0, "refining clusters")
    cells = len(records) * records.points.shape[1]
    facts = {
        "before": before / cells, "after": float(search.state.paid.sum()) / cells, "rounds": search.rounds,
        "exchanges": search.exchanges, "splits": splits, "finished": search.finished,
    }  # fmt: skip
    return search.state.owners, facts


def split(records: Records, owners: Codes) -> tuple[Codes, int]:
    """Clusters of twice the least size or more in two, again and again, wherever both halves satisfy the policy."""
    from shoal.kernels.splitting import bisect

    splits = 0
    frozen = np.zeros(len(owners), dtype=np.bool_)
    while True:
        halves = owners.copy()
        clusters = bisect(
            halves, frozen, records.tuples, records.points, records.space, max(records.policy.least, 1), True
        )
        inside = owners >= 0
        holds = records.holds(halves)
        refused = np.zeros(clusters, dtype=np.bool_)
        refused[owners[inside & ~holds[halves]]] = True
        frozen |= inside & refused[owners]
        taken = numbered(np.where(frozen, owners, halves))
        gained = int(taken.max()) - int(owners.max())
        splits += gained
        if gained == 0:
            return owners, splits
        owners = taken


class _Search:
    """The clusters as they stand, and the proposals of the current round."""

    def __init__(self, records: Records, owners: Codes, neighbours: int) -> None:
        from shoal.kernels import index, refinement

        self.kernel = refinement
        self.records, self.least = records, max(records.policy.least, 1)
        tuples, clusters, dimensions = len(records.points), int(owners.max()) + 1, records.points.shape[1]
        near = np.full((tuples, min(neighbours, tuples)), -1, dtype=np.int32)
        distances = np.empty(near.shape)
        in_slices(
            lambda begin, end: index.nearest(
                records.points, records.points, records.tree, records.space, near.shape[1], near, distances, begin, end
            ),
            tuples,
        )
        self.state = State(
            points=records.points, tuples=records.tuples, starts=records.starts, neighbours=near, owners=owners.copy(),
            heads=np.empty(clusters, np.int32), following=np.empty(len(owners), np.int32),
            previous=np.empty(len(owners), np.int32), sizes=np.zeros(clusters, np.int64),
            extremes=np.empty((clusters, 4, dimensions), np.int32), paid=np.zeros(clusters),
            changed=np.zeros(clusters, np.int64), stirred=np.zeros(tuples, np.int64),
            looked=np.full(len(owners), -1, np.int64),
        )  # fmt: skip
        refinement.link(self.state)
        refinement.measure_all(self.state, records.space)
        self.ceiling = np.full(len(owners), np.inf)
        self.gains = np.zeros(len(owners))
        self.targets, self.partners = np.zeros((2, len(owners)), np.int32)
        self.rounds = self.exchanges = 0
        self.finished = False

    def _propose(self, deadline: float) -> bool:
        """Fills in the proposals, chunk by chunk while there is time; whether all records were looked at."""
        state, space = self.state, self.records.space
        self.gains[:] = 0.0
        self.kernel.stir(state)
        step = max(512, CHUNK * len(state.heads) // max(len(self.records), 1))
        for first in range(0, len(self.records), step):
            if time.monotonic() > deadline:
                return False
            last = min(first + step, len(self.records))

            def look(begin: int, end: int, first: int = first) -> None:
                self.kernel.propose(
                    first + begin, first + end, state, space, self.least,
                    self.ceiling, self.gains, self.targets, self.partners,
                )  # fmt: skip

            in_slices(look, last - first)
        return True

    def round(self, deadline: float = np.inf) -> bool:
        """Proposes, carries out, takes back what breaks the policy; whether anything was proposed."""
        state, space = self.state, self.records.space
        complete = self._propose(deadline)
        chosen = np.flatnonzero(self.gains > 0)
        self.finished = complete and not len(chosen)
        if not len(chosen):
            return False
        self.rounds += 1
        chosen = chosen[np.argsort(-self.gains[chosen], kind="stable")]
        state.looked[:] = self.rounds - 1
        state.looked[chosen] = -1
        changed, homes = state.changed.copy(), state.owners[chosen]
        done = self.kernel.carry_out(chosen, self.targets, self.partners, state, space, self.rounds)
        chosen, homes = chosen[done], homes[done]
        if self.records.judged:
            broken = self._broken(changed)
            undone = broken[homes] | broken[self.targets[chosen]]
            self._take_back(chosen[undone], homes[undone], changed)
            chosen, homes = chosen[~undone], homes[~undone]
            renewed = np.zeros(len(changed), dtype=np.bool_)
            renewed[homes] = renewed[self.targets[chosen]] = True
            self.ceiling[renewed[state.owners]] = np.inf
        self.exchanges += len(chosen)
        return True

    def _broken(self, before: Any) -> Any:
        """Which clusters that changed in this round break the policy."""
        touched = self.state.changed > before
        numbers = np.cumsum(touched) - 1
        owners = self.state.owners
        inside = (owners >= 0) & touched[owners]
        holds = self.records.holds(np.where(inside, numbers[owners], -1).astype(np.int32))
        broken = np.zeros(len(touched), dtype=np.bool_)
        broken[np.flatnonzero(touched)[~holds]] = True
        return broken

    def _take_back(self, rows: Any, homes: Any, before: Any) -> None:
        """Undoes exchanges; from then on their records propose only what saves less."""
        for row, home in zip(rows.tolist(), homes.tolist(), strict=True):
            target = int(self.targets[row])
            self.kernel.exchange(row, int(self.partners[row]), home, self.state, self.records.space)
            self.state.changed[[home, target]] = before[[home, target]]
            self.ceiling[row] = self.gains[row]
