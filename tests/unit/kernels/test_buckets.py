"""Drawing clusters from buckets, held against a plain twin that looks at every record."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.costs import Costs, loss_costs
from shoal.core.hierarchy import Hierarchy
from shoal.kernels import buckets as kernel
from shoal.kernels import index
from shoal.kernels.cost import pair, span

GO_ON = np.zeros(1, np.uint8)


def numbers(size: int) -> Hierarchy:
    return Hierarchy.from_paths("number", [(str(number), "*") for number in range(size)])


def scattered(seed: int, records: int, kinds: int) -> tuple[np.ndarray, np.ndarray, Costs]:
    """Records on a plane, on which no two distances tie, each with one of so many values."""
    generator = np.random.default_rng(seed)
    points = generator.choice(5000, (records, 2), replace=False).astype(np.int32)
    costs = loss_costs([numbers(5000)] * 2, list(points.T), [True, True])
    return points, generator.integers(0, kinds, records).astype(np.int32), costs


def cost_of(points: np.ndarray, costs: Costs, rows: list[int]) -> float:
    return float(span(costs, points[rows].min(axis=0), points[rows].max(axis=0)))


def slack(left: np.ndarray, rounds: int, wanted: int) -> int:
    return int(np.minimum(left, rounds).sum()) - rounds * wanted


def possible(left: np.ndarray, lacking: set[int], missing: int, rounds: int, wanted: int) -> bool:
    """Whether `missing` more different values of those that are lacking, and then so many rounds, can be drawn."""
    extra = np.array([value in lacking for value in range(len(left))])
    both = int(np.minimum(left, rounds + extra).sum()) - rounds * wanted - missing
    return slack(left, rounds, wanted) >= 0 and both >= 0 and int((left[extra] > 0).sum()) >= missing


def plain(points: np.ndarray, values: np.ndarray, costs: Costs, shape: kernel.Shape, origin: int) -> list[list[int]]:
    """The same drawing, where every draw is checked by what it leaves behind."""
    rest, clusters = list(range(len(values))), []
    left = np.bincount(values)
    coming = int(shape.rounds.sum())
    for cluster in range(len(shape.rounds)):
        members: list[int] = []
        for _ in range(shape.rounds[cluster]):
            coming -= 1
            lacking = set(range(len(left)))
            draws = int(shape.sizes[cluster] // shape.rounds[cluster])
            for place in range(draws):

                def allowed(row: int, coming: int = coming, more: int = draws - place - 1) -> bool:
                    after, gone = left.copy(), lacking - {int(values[row])}  # noqa: B023
                    after[values[row]] -= 1
                    missing = max(0, shape.wanted - (len(left) - len(gone)))
                    return missing <= more and possible(after, gone, missing, coming, shape.wanted)

                open_to = [row for row in rest if allowed(row)]
                if members:
                    chosen = min(open_to, key=lambda row: cost_of(points, costs, [*members, row]))
                else:
                    chosen = origin = max(open_to, key=lambda row: pair(costs, points[origin], points[row]))
                members.append(chosen)
                rest.remove(chosen)
                left[values[chosen]] -= 1
                lacking -= {int(values[chosen])}
        clusters.append(sorted(members))
    return clusters


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("kinds", "l", "rounds", "size"), [(5, 3, 1, 3), (5, 2, 2, 4), (6, 3, 1, 5), (90, 4, 1, 4)])
def test_draws_what_a_look_at_every_record_draws(seed: int, kinds: int, l: int, rounds: int, size: int) -> None:  # noqa: E741
    points, values, costs = scattered(seed, 60, kinds)
    left = np.bincount(values, minlength=kinds)
    count = min(len(values) // size, 60 // (l * rounds))
    while slack(left, count * rounds, l) < 0:
        count -= 1
    shape = kernel.Shape(np.full(count, rounds), np.full(count, size), l, True)
    boxes = index.build(points, costs, 3, GO_ON)
    drawn = kernel.filled(points, values, np.ones(60, np.int64), left, boxes, 7)
    for until in (count // 2, count):
        assert kernel.draw(drawn, shape, costs, until, GO_ON)
    found = [np.flatnonzero(drawn.owners == cluster).tolist() for cluster in range(count)]
    assert found == plain(points, values, costs, shape, 7)


def test_equal_records_are_drawn_one_by_one() -> None:
    points, costs = np.zeros((2, 1), np.int32), loss_costs([numbers(3)], [np.arange(3, dtype=np.int32)], [True])
    boxes = index.build(points, costs, 3, GO_ON)
    counts = np.array([3, 3])
    drawn = kernel.filled(points, np.array([0, 1], np.int32), counts, counts, boxes, 0)
    shape = kernel.Shape(np.ones(3, np.int64), np.full(3, 2), 2, True)
    assert kernel.draw(drawn, shape, costs, 3, GO_ON)
    assert drawn.owners.tolist() == [0, 1, 2, 0, 1, 2]
    assert drawn.left.tolist() == [0, 0]


def test_a_quota_is_never_exceeded() -> None:
    points, values, costs = scattered(1, 40, 3)
    boxes = index.build(points, costs, 3, GO_ON)
    quota = np.array([4, 4, 4])
    drawn = kernel.filled(points, values, np.ones(40, np.int64), quota, boxes, 0)
    shape = kernel.Shape(np.ones(4, np.int64), np.full(4, 3), 3, True)
    assert kernel.draw(drawn, shape, costs, 4, GO_ON)
    assert np.bincount(values[drawn.owners >= 0]).tolist() == [4, 4, 4]


@pytest.mark.parametrize("seed", range(4))
def test_gathered_clusters_grow_until_no_value_is_too_frequent(seed: int) -> None:
    points, values, costs = scattered(seed, 60, 4)
    boxes = index.build(points, costs, 3, GO_ON)
    drawn = kernel.filled(points, values, np.ones(60, np.int64), np.bincount(values), boxes, 0)
    kernel.gather(drawn, 3, 2, costs, 0, GO_ON)
    rest, origin = set(range(60)), 0
    for cluster in range(int(drawn.clusters[0])):
        members = set(np.flatnonzero(drawn.owners == cluster).tolist())
        grown = [max(rest, key=lambda row: pair(costs, points[origin], points[row]))]
        origin = grown[0]
        rest.remove(origin)
        while len(grown) < 3 or np.bincount(values[grown]).max() * 2 > len(grown):
            grown.append(min(rest, key=lambda row: cost_of(points, costs, [*grown, row])))
            rest.remove(grown[-1])
        assert members == set(grown)
