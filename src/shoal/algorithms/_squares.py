"""Microaggregation by squared error: groups whose means say most about the numbers of their records.

Columns count alike: each is standardized, to mean 0 and (population) standard deviation 1. Work is counted, not timed,
so that a seed gives the same groups on any machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms._records import Records, in_portions, numbered, portions
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.run import Run

NEIGHBOURS = 20
"""Nearest records whose groups a record may move to."""

BUDGET = 1_300_000_000
"""Steps that the refinement may take, some seconds of work: one for each number that a distance needs, and so many for
the distance itself."""

DISTANCE = 8

KICKS_A_RECORD = 100
"""More kicks than this for each record gain next to nothing."""

HEAT = 0.1
"""How much error a kick may add at the beginning, as a share of a group's mean error; it falls to nothing."""

KICKS = 64
"""Kicks between two looks at the clock."""


def goes_by_squares(dataset: Dataset, outputs: tuple[str, ...]) -> bool:
    """Whether every quasi-identifier is published as means and has a number in every record."""
    return all(output == "mean" for output in outputs) and not any(tree.missing for tree in dataset.hierarchies)


def standardized(records: Records) -> Floats:
    """The quasi-identifiers, records by columns, each with mean 0 and standard deviation 1; of a column with one value
    all 0."""
    columns = []
    for tree, leaves in zip(records.dataset.hierarchies, records.points.T, strict=True):
        assert tree.values is not None
        values = tree.values[leaves[records.tuples]]
        values = values / max(float(np.abs(values).max()), 1e-300)  # so that no square of a huge number is infinite
        deviations = values - values.mean()
        spread = float(deviations.std())
        constant = bool((values == values[0]).all())
        columns.append(np.zeros_like(values) if constant else deviations / spread)
    return np.ascontiguousarray(np.stack(columns, axis=1))


def farthest_first(points: Floats, least: int, run: Run) -> Codes:
    """The groups of MDAV."""
    from shoal.kernels.squares import maximum_distance

    owners, groups = np.full(len(points), -1, dtype=np.int32), 0
    for _, end in portions(len(points), run, "making groups"):
        # The time of a round is in proportion to what is left, so what is done grows as the square.
        spare = int(len(points) * (1 - end / len(points)) ** 0.5)
        groups = maximum_distance(points, owners, groups, least, spare, run.flag)
    owners[owners < 0] = groups
    return numbered(owners)


def optimal(points: Floats, least: int) -> Codes:
    """The groups of one column that no others beat."""
    from shoal.kernels.squares import shortest_path

    owners = np.empty(len(points), np.int32)
    shortest_path(points, np.argsort(points[:, 0], kind="stable"), least, owners)
    return numbered(owners)


def refined(
    points: Floats, owners: Codes, least: int, generator: np.random.Generator, seconds: float, run: Run
) -> tuple[Codes, dict[str, Any]]:
    """Better groups: records move and swap while that saves error, then kicks dissolve and rebuild neighbouring groups
    until the work or the time is spent; and what was done."""
    from shoal.kernels import squares
    from shoal.kernels.squares_groups import error_of, microaggregation, work
    from shoal.kernels.squares_refinement import DRAWS, GAIN, kick, settle

    limited = run.part(seconds=seconds)
    near = np.zeros((len(points), min(NEIGHBOURS, len(points) - 1)), np.int32)

    def look(begin: int, end: int) -> None:
        squares.nearest(points, near, begin, end, limited.flag)

    in_portions(look, len(points), limited.part(between=(0.0, 0.2)), "finding neighbours")
    state = microaggregation(points, owners, near, least)
    before = error_of(state)
    settle(state, limited.flag)
    limited.check()
    error = best = error_of(state)
    best_owners, heat = state.owners.copy(), HEAT * error / max(int(np.sum(state.now.sizes > 0)), 1)
    kicks, spent = 0, 0.0
    while not (finished := spent >= 1 or best <= GAIN) and not limited.expired:
        draws = generator.random((KICKS, DRAWS))
        error, best = kick(state, draws, heat * (1 - spent) ** 2, error, best, best_owners, limited.flag)
        kicks += KICKS
        steps = work(state) * (points.shape[1] + DISTANCE)
        spent = max(steps / BUDGET, kicks / (KICKS_A_RECORD * len(points)))
        limited.report(0.2 + 0.8 * min(spent, 1.0), "refining groups")
    return numbered(best_owners), {"before": before, "after": best, "kicks": kicks, "finished": finished}


def squared_error(points: Floats, owners: Codes) -> dict[str, float]:
    """What the means of groups lose: the squared error `sse`, that of one mean for all `sst`, and `loss`, the one in
    percent of the other. A record that is left out counts as if it had the mean of all."""
    inside = owners >= 0
    sizes = np.bincount(owners[inside])
    total = float((points**2).sum())
    error = float((points[~inside] ** 2).sum())
    for column in points.T:
        means = np.bincount(owners[inside], weights=column[inside]) / sizes
        error += float(((column[inside] - means[owners[inside]]) ** 2).sum())
    return {"sse": error, "sst": total, "loss": 100 * error / total if total > 0 else 0.0}
