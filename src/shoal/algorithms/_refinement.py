"""Refinement: moves and swaps records between clusters, splits big ones and rebuilds neighbouring ones, while the loss
falls.

Any clustering can end with it. Every round looks, for each record, for the move to a neighbouring cluster or the swap
with one of its records that saves most, in the clusters as they stand; then carries the proposals out, best first,
no cluster twice. When nothing is left to propose, a few neighbouring clusters at a time are dissolved and rebuilt, here
and there, in blocks that know nothing of one another. Loss is what will be published: along a hierarchy that of the
closest common node. The number of threads changes nothing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from shoal.algorithms._effort import MILLION, judging, larger, rebuilding
from shoal.algorithms._records import LEAST_PORTION, Records, in_slices, numbered
from shoal.core.blocks import Blocks
from shoal.core.grouping import Codes
from shoal.core.run import Run
from shoal.core.sensitive import SensitiveModel

NEIGHBOURS = 32
"""Nearest tuples whose clusters a record may move to. More find a little more, in proportionally more time."""

NEIGHBOURS_SHARE = 0.2
"""Of the progress that is told, what finding the nearest tuples counts."""

ROUNDS_SHARE = 0.4
"""Of that progress, what moves and swaps count before anything is rebuilt."""

REBUILDINGS = 24
"""How often clusters are rebuilt at most, for each record."""

TIMES, FEWEST = 2, 1000
"""Rebuildings before clusters are cut into other blocks, for each record; and in each block at least."""

WORTHWHILE = 0.002
"""The share of the loss that a phase has to save for another one to follow."""

BLOCK = 2048
"""Clusters in a block at most."""

FEW_KINDS = 64
"""Sensitive values up to which the counts of every cluster are at hand."""

MEASURES = 2
"""Levels beside the number and the frequency of values that proposals are held against."""

LOOK = 0.35e-7
"""Million steps that one look at a record of another cluster takes."""

ENDLESS = 1e9
"""Million steps that nothing takes."""

CHUNK, FEWEST_ROWS = 1 << 20, 128
"""Records that look at other clusters, times the clusters' mean size, before the clock is looked at; and so many at
least."""

OVERTIME = 1.1
"""Times the work that is allowed at which a round is given up; until then it is finished."""


def refined(
    records: Records, owners: Codes, seconds: float, run: Run, *, rebuildings: int = REBUILDINGS,
    neighbours: int = NEIGHBOURS, work: float = ENDLESS,
) -> tuple[Codes, dict[str, Any]]:  # fmt: skip
    """The clustering when no move, swap or split saves anything more, or the time is over or the work done; and what
    was done."""
    limited = run.part(seconds=seconds)
    owners, splits = split(records, owners, limited)
    search = _ClusterSearch(records, owners, neighbours, limited, work)
    before = float(search.state.paid.sum())
    search.exchange(NEIGHBOURS_SHARE, ROUNDS_SHARE)
    rebuilt = search.rebuild(rebuildings, ROUNDS_SHARE, 1.0)
    if rebuilt:
        search.exchange(1.0, 1.0)
    cells, after = len(records) * records.points.shape[1], float(search.state.paid.sum())
    losses = {"before": before / cells, "after": after / cells}
    counts = {"rounds": search.rounds, "exchanges": search.exchanges, "rebuilt": rebuilt, "splits": splits}
    stopped = "time" if limited.expired else "work" if search.worked else ""
    facts = {**losses, **counts, "work": round(search.work, 3), "finished": search.finished and not stopped}
    return numbered(search.state.owners), {**facts, **({"stopped": stopped} if stopped else {})}


def split(records: Records, owners: Codes, run: Run) -> tuple[Codes, int]:
    """Clusters of twice the least size or more in two, again and again, wherever both halves satisfy the policy."""
    from shoal.kernels.splitting import bisect

    splits = 0
    frozen = np.zeros(len(owners), dtype=np.bool_)
    while True:
        halves = owners.copy()
        clusters = bisect(
            halves, frozen, records.tuples, records.points, records.costs, max(records.policy.least, 1), True, run.flag
        )
        run.check()
        inside = owners >= 0
        holds = records.holds(halves)
        refused = np.zeros(clusters, dtype=np.bool_)
        refused[owners[inside & ~holds[halves]]] = True
        frozen |= inside & refused[owners]
        parts = numbered(np.where(frozen, owners, halves))
        gained = int(parts.max()) - int(owners.max())
        splits += gained
        if gained == 0:
            return owners, splits
        owners = parts


def _guard(records: Records) -> tuple[Any, bool]:
    """What proposals are held against at once: bounds on the number and the frequency of values, and on two further
    levels that are compiled; and whether that is all that the policy asks for. Other models are asked when a round is
    over, which takes far more rounds."""
    from shoal.kernels import levels
    from shoal.kernels.guarding import Guard

    histograms = records.dataset.summary.sensitive
    bounds = {levels.DISTINCT: 0.0, levels.FREQUENCY: 0.0}
    measures: list[tuple[levels.Measure, SensitiveModel]] = []
    whole = records.dataset.schema.person is None
    for model in records.policy.models:
        covered = model.by_size
        if len(histograms) == 1 and isinstance(model, SensitiveModel):
            measure, exact = model.compiled(histograms[0]), model.bounding(histograms[0])
            covered = model.floor <= records.policy.least
            if measure is not None and measure.kind in bounds:
                bounds[measure.kind] = max(bounds[measure.kind], float(model.threshold))
            elif exact is not None and len(measures) < MEASURES:
                measures.append((_writeable(exact), model))
            else:
                covered = False
        whole &= covered
    kinds = len(histograms[0].population) if measures or any(bounds.values()) else 0
    lacking = MEASURES - len(measures)
    unused = levels.Measure(levels.DISTINCT, np.empty(0))
    return Guard(
        kinds, bounds[levels.DISTINCT], bounds[levels.FREQUENCY], len(measures),
        (*(measure for measure, _ in measures), *(unused for _ in range(lacking))),
        np.array([*(float(model.threshold) for _, model in measures), *np.zeros(lacking)]),
        np.array([*(1.0 if model.more_is_safer else -1.0 for _, model in measures), *np.zeros(lacking)]),
    ), whole  # fmt: skip


def _writeable(measure: Any) -> Any:
    """The same measure with arrays as kernels are compiled for them."""
    arrays = {
        name: np.require(getattr(measure, name), requirements=["C", "W"]) for name in ("priors", "nodes", "masses")
    }
    return measure._replace(number=float(measure.number), **arrays)


class _ClusterSearch:
    """The clusters as they stand, and the proposals of the current round."""

    def __init__(self, records: Records, owners: Codes, neighbours: int, run: Run, allowed: float = ENDLESS) -> None:
        from shoal.kernels import refinement, threads

        self.kernel, self.watch, self.threads = refinement, run, threads.count()
        self.records, self.least = records, max(records.policy.least, 1)
        tuples, dimensions = len(records.points), records.points.shape[1]
        # Room for as many clusters as there can be.
        clusters = max(len(owners) // self.least, int(owners.max()) + 1)
        self.guard, self.guards_all = _guard(records)
        kinds = self.guard.kinds
        values = records.dataset.listing(records.policy.seed)[0] if kinds else np.empty(0, np.int32)
        near = records.nearest(neighbours, run.part(between=(0.0, NEIGHBOURS_SHARE)))
        self.state = refinement.Clusters(
            points=records.points, tuples=records.tuples, starts=records.starts, neighbours=near, owners=owners.copy(),
            heads=np.empty(clusters, np.int32), following=np.empty(len(owners), np.int32),
            previous=np.empty(len(owners), np.int32), sizes=np.zeros(clusters, np.int64),
            extremes=np.empty((clusters, 4, dimensions), np.int32), paid=np.zeros(clusters),
            changed=np.zeros(clusters, np.int64), stirred=np.zeros(tuples, np.int64),
            looked=np.full(len(owners), -1, np.int64), values=values,
            counts=np.zeros((clusters if 0 < kinds <= FEW_KINDS else 0, kinds), np.int32),
        )  # fmt: skip
        refinement.link(self.state)
        refinement.measure_all(self.state, records.costs)
        targets, partners = np.zeros((2, len(owners)), np.int32)
        self.proposals = refinement.Proposals(np.full(len(owners), np.inf), np.zeros(len(owners)), targets, partners)
        self.rounds = self.exchanges = 0
        self.finished = False
        self.work, self.allowed = LOOK * tuples * near.shape[1], allowed

    @property
    def worked(self) -> bool:
        """Whether the work that is allowed is done."""
        return bool(self.work >= self.allowed)

    @property
    def over(self) -> bool:
        """Whether there is no time or no work left."""
        return self.watch.expired or self.worked

    def exchange(self, begin: float, end: float) -> None:
        """Moves and swaps records until none of that saves anything more, or the time is over."""
        paid = self.state.paid
        loss, first, share = float(paid.sum()), 0.0, 0.0
        while not self.over and self.round():
            saved, loss = loss - float(paid.sum()), float(paid.sum())
            first = max(first, saved)
            # Rounds save less and less; the last ones next to nothing.
            share = max(share, 1 - saved / first if first > 0 else 0.0)
            self.watch.report(begin + (end - begin) * share, "refining clusters")

    def rebuild(self, rebuildings: int, begin: float, end: float) -> int:
        """Dissolves and rebuilds clusters as long as it is worth while, and so many times for each record at most;
        returns how often that saved something.

        Models that are asked only when a round is over could refuse all of a block then, so that nothing is rebuilt
        where there are any.
        """
        paid, state = self.state.paid, self.state
        saved, phase, phases = 0, 0, -(-rebuildings // TIMES)
        cells = len(self.records) * state.points.shape[1] / MILLION
        fewest = (2 if self.guard.kinds else 1) * TIMES * rebuilding(cells, self.least)
        whole = fewest * larger(self.least)
        while self.guards_all and phase < phases and not self.over:
            loss = float(paid.sum())
            clusters = np.flatnonzero(state.sizes)
            share = min(1.0, max(self.allowed - self.work, fewest) / whole)
            saved += sum(self._rebuilt(phase, clusters, *self._blocks(phase, clusters), share))
            self.work += share * whole
            phase += 1
            self.watch.report(begin + (end - begin) * phase / phases, "rebuilding clusters")
            if loss - float(paid.sum()) <= WORTHWHILE * loss:
                break
        state.changed[:] = self.rounds  # every record may look at every cluster again
        state.looked[:] = -1
        return saved

    def _blocks(self, phase: int, clusters: Any) -> tuple[Codes, int]:
        """The block of each of some clusters, and the number of blocks: others in every phase, so that clusters which
        are parted in one meet in another."""
        corners = self.state.extremes[clusters, 3 * (phase % 2)]
        order = np.random.default_rng(phase).permutation(corners.shape[1])
        blocks = Blocks.cut(corners, self.records.costs, BLOCK, self.watch, order)
        return blocks.of(corners.T), len(blocks)

    def _rebuilt(self, phase: int, clusters: Any, homes: Codes, blocks: int, share: float) -> list[int]:
        """Rebuilds some clusters, each block on its own, a share of what a whole phase rebuilds; returns how often that
        saved something."""
        from shoal.kernels.rebuilding import Block, rebuild

        state, watch = self.state, self.watch
        zones = np.full(len(state.heads), -1, np.int32)
        zones[clusters] = homes
        rows = np.flatnonzero(state.owners >= 0)
        rows = rows[np.argsort(zones[state.owners[rows]], kind="stable")]
        edges = np.searchsorted(zones[state.owners[rows]], np.arange(blocks + 1))
        counts = np.bincount(homes, minlength=blocks)
        free = np.flatnonzero(state.sizes == 0)
        most = np.diff(edges) // self.least
        firsts = np.append(0, np.cumsum(most - counts))

        def work(zone: int) -> int:
            if watch.expired:
                return 0
            spare = np.append(np.zeros(counts[zone], np.int64), free[firsts[zone] : firsts[zone + 1]])
            random = np.random.SeedSequence((self.records.policy.seed, phase, zone)).generate_state(1, np.uint64) | 1
            some = rows[edges[zone] : edges[zone + 1]]
            block = Block(some, np.int32(zone), zones, spare, np.full(1, counts[zone], np.int64), random)
            times = max(int(share * TIMES * len(some)), FEWEST)
            return int(rebuild(times, block, state, self.records.costs, self.least, self.guard, watch.flag))

        with ThreadPoolExecutor(self.threads) as pool:
            saved = list((map if blocks == 1 else pool.map)(work, range(blocks)))
        watch.check()
        return saved

    def _propose(self) -> bool:
        """Fills in the proposals, chunk by chunk while there is time; whether all records were looked at."""
        state, costs, proposals, flag = self.state, self.records.costs, self.proposals, self.watch.flag
        proposals.gains[:] = 0.0
        self.kernel.stir(state)
        step = max(FEWEST_ROWS, CHUNK * int(np.count_nonzero(state.sizes)) // max(len(self.records), 1))

        def look(begin: int, end: int) -> int:
            return int(self.kernel.propose(begin, end, state, proposals, costs, self.least, self.guard, flag))

        for first in range(0, len(self.records), step):
            if self.watch.expired or self.work >= OVERTIME * self.allowed:
                return False
            looks = in_slices(look, first, min(first + step, len(self.records)), min(LEAST_PORTION, step))
            self.work += LOOK * sum(looks)
            self.watch.check()
        return True

    def round(self) -> bool:
        """Proposes, carries out, takes back what breaks the policy; whether anything was proposed."""
        state, costs = self.state, self.records.costs
        gains, targets = self.proposals.gains, self.proposals.targets
        complete = self._propose()
        chosen = np.flatnonzero(gains > 0)
        self.finished = complete and not len(chosen)
        if not len(chosen):
            return False
        self.rounds += 1
        chosen = chosen[np.argsort(-gains[chosen], kind="stable")]
        state.looked[:] = self.rounds - 1
        state.looked[chosen] = -1
        changed, homes = state.changed.copy(), state.owners[chosen]
        if self.guards_all and self.guard.kinds:
            done = self.kernel.carry_out_guarded(
                chosen, self.proposals, state, costs, self.least, self.guard, self.rounds
            )
        else:
            done = self.kernel.carry_out(chosen, self.proposals, state, costs, self.rounds)
        chosen, homes = chosen[done], homes[done]
        if self.records.judged and not self.guards_all:
            self.work += judging(self.records.dataset, self.records.policy)
            broken = self._broken(changed)
            undone = broken[homes] | broken[targets[chosen]]
            self._take_back(chosen[undone], homes[undone], changed)
            chosen, homes = chosen[~undone], homes[~undone]
            renewed = np.zeros(len(changed), dtype=np.bool_)
            renewed[homes] = renewed[targets[chosen]] = True
            self.proposals.ceiling[renewed[state.owners]] = np.inf
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
        proposals = self.proposals
        for row, home in zip(rows.tolist(), homes.tolist(), strict=True):
            self.watch.check()
            target = int(proposals.targets[row])
            self.kernel.exchange(row, int(proposals.partners[row]), home, self.state, self.records.costs)
            self.state.changed[[home, target]] = before[[home, target]]
            proposals.ceiling[row] = proposals.gains[row]
