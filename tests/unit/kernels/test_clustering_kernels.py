"""Each clustering kernel against a plain twin that looks at everything."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads

from shoal.algorithms.mst import spanning_tree
from shoal.core.costs import TABULATED, Costs, level_costs, loss_costs, reordered
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.kernels import bundles, centres, cost, index, members, merging, microaggregation, splitting

GO_ON = np.zeros(1, np.uint8)
STOP = np.ones(1, np.uint8)


def numbers(size: int, *, missing: bool = False) -> Hierarchy:
    flat = Hierarchy.flat("n", [str(value * value) for value in range(size)], np.arange(size, dtype=float) ** 2)
    return flat.with_missing() if missing else flat


def letters(*, missing: bool = False) -> Hierarchy:
    tree = Hierarchy.from_paths(
        "c", [(leaf, group, half, "*") for leaf, group, half in zip("abcdefg", "1112233", "xxxxxyy", strict=True)]
    )
    return tree.with_missing() if missing else tree


def drawn(seed: int, count: int, sizes: list[int]) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.unique(np.stack([generator.integers(0, size, count) for size in sizes], axis=1), axis=0).astype(np.int32)


def plain_cost(hierarchy: Hierarchy, interval: bool, column: np.ndarray, low: int, high: int) -> float:
    """LM by its definition, from the labels' leaves."""
    if low == high:
        return 0.0
    if not interval:
        level = next(level for level, row in enumerate(hierarchy.codes) if row[low] == row[high])
        leaves = int(np.sum(hierarchy.codes[level] == hierarchy.codes[level][low]))
        return (leaves - 1) / (hierarchy.size - 1)
    if hierarchy.missing and low == 0:
        return 1.0
    present = [hierarchy.values[code] for code in column if not (hierarchy.missing and code == 0)]
    return float((hierarchy.values[high] - hierarchy.values[low]) / (max(present) - min(present)))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("tabulated", [False, True])
def test_cost_is_the_definition(monkeypatch: pytest.MonkeyPatch, missing: bool, tabulated: bool) -> None:
    monkeypatch.setattr("shoal.core.costs.TABULATED", TABULATED if tabulated else 0)
    hierarchies = [numbers(6, missing=missing), letters(missing=missing)]
    columns = [np.arange(hierarchy.size, dtype=np.int32) for hierarchy in hierarchies]
    costs = loss_costs(hierarchies, columns, [True, False])
    for attribute, (hierarchy, column) in enumerate(zip(hierarchies, columns, strict=True)):
        for low in range(hierarchy.size):
            for high in range(low, hierarchy.size):
                wanted = plain_cost(hierarchy, attribute == 0, column, low, high)
                assert cost.cost(costs, attribute, low, high) == pytest.approx(wanted)


def test_levels_cost_as_the_hierarchical_distance() -> None:
    costs, scale = level_costs([letters(), numbers(3)], [np.arange(7, dtype=np.int32), np.arange(3, dtype=np.int32)])
    first, second = np.array([0, 0], np.int32), np.array([3, 2], np.int32)
    assert cost.pair(costs, first, second) / scale == pytest.approx(2 * 2 / 3 + 2)


def scatter(leaves: int) -> tuple:
    """Points without ties to speak of, and what they cost; the first attribute has so many leaves."""
    hierarchies = [numbers(leaves), numbers(89, missing=True), letters()]
    points = drawn(7, 160, [leaves, 90, 7])
    costs = loss_costs(hierarchies, list(points.T), [True, True, False])
    return points, costs, index.build(points, costs, 4, GO_ON)


@pytest.fixture
def scattered() -> tuple:
    return scatter(97)


def distances(points: np.ndarray, costs: tuple) -> np.ndarray:
    return np.array([[cost.pair(costs, left, right) for right in points] for left in points])


def together(costs: tuple, points: np.ndarray) -> float:
    return cost.span(costs, points.min(axis=0), points.max(axis=0))


def test_index_holds_every_point_once_inside_its_boxes(scattered: tuple) -> None:
    points, _, (order, begins, ends, left, low, high) = scattered
    assert sorted(order) == list(range(len(points)))
    for node in range(len(left)):
        inside = points[order[begins[node] : ends[node]]]
        assert np.array_equal(inside.min(axis=0), low[node])
        assert np.array_equal(inside.max(axis=0), high[node])
    leaves = np.flatnonzero(left < 0)
    assert sum(ends[leaves] - begins[leaves]) == len(points)


@pytest.mark.parametrize("leaves", [97, TABULATED + 1])
def test_nearest_are_the_nearest(leaves: int) -> None:
    points, costs, boxes = scatter(leaves)
    found, apart = np.empty((len(points), 9), np.int32), np.empty((len(points), 9))
    index.nearest(points[boxes.order], boxes, costs, found, apart, 0, len(points), GO_ON)
    wanted = distances(points, costs)
    assert np.allclose(apart, np.sort(wanted, axis=1)[:, :9])
    assert np.allclose(np.take_along_axis(wanted, found.astype(np.int64), axis=1), apart)


def plain_members(
    points: np.ndarray, counts: np.ndarray, costs: tuple, least: int, start: int, rule: int = members.EXACT,
    room: float = 1.0,
) -> list[list[int]]:  # fmt: skip
    """Greedy k-member, record by record, looking at all of them; the other rules are those of two-phase clustering."""

    def alone(record: int, others: list[int]) -> float:
        near = sorted(others, key=lambda point: cost.pair(costs, points[record], points[point]))[: least - 1]
        return together(costs, points[[record, *near]])

    def joins(record: int, cluster: list[int], rest: list[int]) -> bool:
        others = list(rest)
        others.remove(record)
        if others and len(others) < least:
            return False
        before, after = together(costs, points[cluster]), together(costs, points[[*cluster, record]])
        added = (len(cluster) + 1) * after - len(cluster) * before
        limits = {
            members.NEIGHBOURS: lambda: added <= room * alone(record, others) + 1e-9,
            members.RECORD: lambda: after <= room * alone(record, others) + 1e-9,
            members.LOSS: lambda: after <= room * together(costs, points[cluster[:least]]) + 1e-9,
            members.SIZE: lambda: len(cluster) < room * least,
        }
        return limits[rule]()

    rest = [point for point, count in enumerate(counts) for _ in range(count)]
    clusters, origin = [], start
    while len(rest) >= least:
        origin = max(rest, key=lambda point: cost.pair(costs, points[origin], points[point]))
        cluster = [origin]
        rest.remove(origin)
        while rest and (len(cluster) < least or rule != members.EXACT):
            cheapest = min(rest, key=lambda point: together(costs, points[[*cluster, point]]))
            if len(cluster) >= least and not joins(cheapest, cluster, rest):
                break
            cluster.append(cheapest)
            rest.remove(cheapest)
        clusters.append(sorted(cluster))
    return clusters


def grown(
    points: np.ndarray, counts: np.ndarray, boxes: index.Boxes, costs: Costs, least: int, start: int,
    rule: int = members.EXACT, room: float = 1.0,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """All clusters, grown in two goes."""
    growth = members.seeded(points, counts, boxes, start)
    for spare in (counts.sum() // 2, 0):
        members.grow(points, counts, growth, costs, least, (rule, room), spare, GO_ON)
    return growth.owners, int(growth.clusters[0])


def test_growing_is_greedy_k_member(scattered: tuple) -> None:
    points, costs, boxes = scattered
    counts = np.random.default_rng(3).choice([1, 1, 1, 2, 7], len(points)).astype(np.int64)
    owners, clusters = grown(points, counts, boxes, costs, 3, 5)
    tuples = np.repeat(np.arange(len(points)), counts)
    found = [sorted(tuples[owners == cluster].tolist()) for cluster in range(clusters)]
    wanted = plain_members(points, counts, costs, 3, 5)
    paid = [together(costs, points[cluster]) for cluster in found]
    assert len(found) == len(wanted)
    assert np.sum(owners < 0) == counts.sum() % 3
    assert paid[:12] == pytest.approx([together(costs, points[cluster]) for cluster in wanted[:12]])
    assert sum(paid) == pytest.approx(sum(together(costs, points[cluster]) for cluster in wanted), rel=0.02)


RULES = {"neighbours": 1.0, "record": 1.2, "loss": 1.5, "size": 1.7}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_relaxed_clusters_grow_as_far_as_their_rule_says(seed: int, rule: str) -> None:
    """Against the plain twin, on lines where no tie decides."""
    generator = np.random.default_rng(seed)
    hierarchy = numbers(400)
    points = np.sort(generator.choice(400, 24, replace=False)).astype(np.int32)[:, None]
    counts = generator.choice([1, 1, 2, 3], len(points)).astype(np.int64)
    costs = loss_costs([hierarchy], [points[:, 0]], [True])
    boxes = index.build(points, costs, 4, GO_ON)
    relaxing = (getattr(members, rule.upper()), RULES[rule])
    owners, clusters = grown(points, counts, boxes, costs, 3, 5, *relaxing)
    tuples = np.repeat(np.arange(len(points)), counts)
    found = [sorted(tuples[owners == cluster].tolist()) for cluster in range(clusters)]
    assert found == plain_members(points, counts, costs, 3, 5, *relaxing)
    assert max(len(cluster) for cluster in found) > 3


def ends_of(low: np.ndarray, high: np.ndarray, costs: Costs) -> tuple:
    twice = reordered(costs, np.tile(np.arange(low.shape[1]), 2))
    return index.build(np.hstack([low, high]), twice, 3, GO_ON)


@pytest.mark.parametrize("by_union", [False, True])
def test_merging_takes_the_best_fitting_cluster(scattered: tuple, by_union: bool) -> None:
    points, costs, _ = scattered
    low, high = points[:40].copy(), np.maximum(points[:40], points[40:80])
    low = np.minimum(low, points[40:80])
    sizes = np.random.default_rng(1).integers(1, 9, 40)
    boxes = index.build(low, costs, 3, GO_ON)

    def merged(dearest: float) -> merging.Mergers:
        held = merging.ranges(low.copy(), high.copy(), sizes.copy(), costs)
        mergers = merging.mergers(held, boxes, ends_of(low, high, costs), costs)
        merging.merge(np.array([11]), mergers, costs, by_union, dearest, GO_ON)
        return mergers

    def union(other: int) -> float:
        return cost.span(costs, np.minimum(low[11], low[other]), np.maximum(high[11], high[other]))

    def extra(other: int) -> float:
        apart = sizes[11] * cost.span(costs, low[11], high[11]) + sizes[other] * cost.span(
            costs, low[other], high[other]
        )
        return (sizes[11] + sizes[other]) * union(other) - apart

    others = [other for other in range(40) if other != 11]
    best = min(others, key=union if by_union else extra)
    found = merged(np.inf)
    assert found.into[11] == best
    assert found.added[11] == pytest.approx(extra(best))
    assert merged(found.added[11] / sizes[11] - 1e-6).into[11] == 11


@pytest.mark.parametrize("by_union", [False, True])
@pytest.mark.parametrize("leaves", [97, TABULATED + 1])
def test_every_merger_is_the_best_there_is(leaves: int, by_union: bool) -> None:
    """Against looking at all clusters, from small and narrow ones to few that are large and wide."""
    points, costs, _ = scatter(leaves)
    draw = np.random.default_rng(5)
    sizes, wide = draw.integers(1, 9, 80), draw.random((80, 1)) < 0.5
    low, high = np.minimum(points[:80], points[80:]), np.maximum(points[:80], points[80:])
    low, high = np.where(wide, low, points[:80]), np.where(wide, high, points[:80])
    held = merging.ranges(low.copy(), high.copy(), sizes.copy(), costs)
    mergers = merging.mergers(held, index.build(low, costs, 3, GO_ON), ends_of(low, high, costs), costs)
    standing = list(range(80))
    for cluster in draw.permutation(80)[:70].tolist():

        def score(other: int, cluster: int = cluster) -> float:
            both = cost.span(costs, np.minimum(low[cluster], low[other]), np.maximum(high[cluster], high[other]))
            apart = [sizes[each] * cost.span(costs, low[each], high[each]) for each in (cluster, other)]
            return both if by_union else (sizes[cluster] + sizes[other]) * both - sum(apart)

        mergers.fresh[cluster] = True
        merging.merge(np.array([cluster]), mergers, costs, by_union, np.inf, GO_ON)
        standing.remove(cluster)
        chosen = int(mergers.into[cluster])
        assert score(chosen) == pytest.approx(min(map(score, standing)))
        low[chosen], high[chosen] = np.minimum(low[chosen], low[cluster]), np.maximum(high[chosen], high[cluster])
        sizes[chosen] += sizes[cluster]


def test_chains_of_mergers_end_where_the_last_one_went() -> None:
    into = np.array([1, 3, 2, 3, 0], np.int32)
    merging.follow(into)
    assert into.tolist() == [3, 3, 2, 3, 3]


def test_leftovers_join_where_they_add_least(scattered: tuple) -> None:
    points, costs, _ = scattered
    owners = (np.arange(len(points)) % 20).astype(np.int32)
    owners[0] = -1
    groups = [points[owners == cluster] for cluster in range(20)]

    def extra(cluster: int) -> float:
        grown = np.vstack([groups[cluster], points[:1]])
        return len(grown) * together(costs, grown) - len(groups[cluster]) * together(costs, groups[cluster])

    low, high = np.array([group.min(axis=0) for group in groups]), np.array([group.max(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    best = min(range(20), key=extra)
    tuples = np.arange(len(points), dtype=np.int32)
    for wanted, already, expected in ((0, 10**6, best), (2, 0, best), (2, 10**6, -1)):
        owners[0] = -1
        held = merging.ranges(low.copy(), high.copy(), sizes.copy(), costs)
        leftovers = merging.Leftovers(np.zeros(1, np.int64), np.full(20, already), wanted)
        merging.place_leftovers(leftovers, owners, tuples, points, held, costs, GO_ON)
        assert owners[0] == expected, "a cluster that has too much of a value takes no more of it"


@pytest.mark.parametrize("counts", [[15, 20, 25], [70, 75, 10]], ids=["fewer than leaves", "more than leaves"])
def test_bundles_take_the_farthest_and_then_what_adds_least(scattered: tuple, counts: list[int]) -> None:
    points, costs, _ = scattered
    records = np.random.default_rng(4).permutation(sum(counts))
    sizes = np.array(counts)
    starts = np.append(0, np.cumsum(sizes)[:-1])
    widths = np.repeat([3, 2], [7, 5])
    owners = np.full(sum(counts), -1, np.int32)
    pools = bundles.Pools(records.copy(), points[records], starts, sizes.copy())
    bundles.bundle(pools, widths, costs, 256, owners, 7, 1, GO_ON)
    left = [records[start : start + size].tolist() for start, size in zip(starts, sizes, strict=True)]
    group: list[int] = []
    for which, width in enumerate(widths):
        for value in range(width):
            costing = [together(costs, points[[*group, record]]) if group else 0.0 for record in left[value]]
            if value:
                best, paid = int(np.argmin(costing)), together(costs, points[group])
                best = next((at for at, here in enumerate(costing) if here <= paid + bundles.ROUNDING), best)
                group.append(left[value][best])
            else:
                best = int(np.argmax(costing))
                group = [left[value][best]]
            assert owners[left[value][best]] == 7 + which
            last = left[value].pop()
            if best < len(left[value]):
                left[value][best] = last
    assert np.array_equal(pools.points, points[pools.records])


def test_bisecting_parts_the_two_farthest(scattered: tuple) -> None:
    points, costs, _ = scattered
    tuples, frozen = np.arange(30, dtype=np.int32), np.zeros(30, np.bool_)
    owners = np.zeros(30, np.int32)
    assert splitting.bisect(owners, frozen, tuples, points, costs, 4, True, GO_ON) == 2
    apart = distances(points[:30], costs)
    one, other = np.unravel_index(np.argmax(apart), apart.shape)
    assert owners[one] != owners[other]
    nearer = np.sign(apart[one] - apart[other])
    assert all(owners[row] == owners[one] for row in range(30) if nearer[row] < 0) or np.bincount(owners).min() == 4
    before = sum(together(costs, points[:30][owners == half]) * np.sum(owners == half) for half in range(2))
    clusters = splitting.bisect(owners, frozen, tuples, points, costs, 4, False, GO_ON)
    parts = [points[:30][owners == cluster] for cluster in range(clusters)]
    assert min(map(len, parts)) >= 4
    assert sum(together(costs, part) * len(part) for part in parts) < before
    assert splitting.bisect(np.zeros(30, np.int32), ~frozen, tuples, points, costs, 4, False, GO_ON) == 1


def plain_centre(hierarchies: list[Hierarchy], outputs: list[bool], group: np.ndarray) -> tuple[list[int], list[int]]:
    low, high = [], []
    for hierarchy, interval, column in zip(hierarchies, outputs, group.T, strict=True):
        if interval:
            present = [hierarchy.values[code] for code in column if not (hierarchy.missing and code == 0)]
            offset = int(hierarchy.missing)
            mean = np.mean(present) if present else None
            code = 0 if mean is None else offset + int(np.argmin(np.abs(hierarchy.values[offset:] - mean)))
            low.append(code)
            high.append(code)
        else:
            low.append(int(column.min()))
            high.append(int(column.max()))
    return low, high


def test_one_pass_joins_the_closest_centre_which_moves(scattered: tuple) -> None:
    points, costs, _ = scattered
    hierarchies, outputs = [numbers(97), numbers(89, missing=True), letters()], [True, True, False]
    tuples = np.arange(len(points), dtype=np.int32)
    seeds = np.array([3, 40, 77, 110, 150])
    owners = np.full(len(points), -1, np.int32)
    owners[seeds] = range(5)
    middles = centres.centre_points(owners, tuples, points, 5, costs)
    held = centres.gathering(middles, index.build(middles.low, costs, 2, GO_ON), 2**62, len(points))
    centres.join(np.flatnonzero(owners < 0), owners, tuples, points, held, costs, 2**62, GO_ON)
    groups = {cluster: [int(seed)] for cluster, seed in enumerate(seeds)}
    for row in range(len(points)):
        if row in seeds:
            continue
        apart = []
        for rows in groups.values():
            low, high = plain_centre(hierarchies, outputs, points[rows])
            apart.append(cost.span(costs, np.minimum(low, points[row]), np.maximum(high, points[row])))
        assert apart[owners[row]] == pytest.approx(min(apart))
        groups[owners[row]].append(row)


@pytest.mark.parametrize("least", [3, 2**62])
@pytest.mark.parametrize("seed", range(3))
def test_where_the_last_record_went_changes_nothing_for_the_next_alike(seed: int, least: int) -> None:
    """Many records are alike, and many centres equally close."""
    draw = np.random.default_rng(seed)
    points = drawn(seed, 120, [9, 5, 7])
    costs = loss_costs([numbers(9), numbers(4, missing=True), letters()], list(points.T), [True, False, False])
    tuples = np.sort(draw.integers(0, len(points), 600)).astype(np.int32)
    owners = np.full(600, -1, np.int32)
    seeds = draw.choice(600, 60, replace=False)
    owners[seeds] = range(60)
    free, answers = draw.permutation(np.flatnonzero(owners < 0)), []
    for forgetting in (False, True):
        own, middles = owners.copy(), centres.centre_points(owners, tuples, points, 60, costs)
        held = centres.gathering(middles, index.build(middles.low, costs, 2, GO_ON), least, len(points))
        for row in free:
            centres.join(np.array([row]), own, tuples, points, held, costs, least, GO_ON)
            assert held.joined[tuples[row]] == own[row]
            if forgetting:
                held.joined[:] = -1
        answers.append(own.tolist())
    assert answers[0] == answers[1]


def plain_average(hierarchies: list[Hierarchy], points: np.ndarray, counts: np.ndarray) -> list[int]:
    rows = np.repeat(points, counts, axis=0)
    low, _ = plain_centre(hierarchies, [True, True, False], rows)
    return [*low[:2], int(np.argmax(np.bincount(rows[:, 2])))]


def tallied(points: np.ndarray, counts: np.ndarray, costs: Costs) -> np.ndarray:
    tallies = np.zeros(costs.sizes.sum(), np.int64)
    for attribute, column in enumerate(points.T):
        np.add.at(tallies, costs.leaves[attribute] + column, counts)
    return tallies


def test_average_is_mean_and_commonest_value(scattered: tuple) -> None:
    points, costs, _ = scattered
    counts = np.random.default_rng(5).integers(1, 5, len(points))
    wanted = plain_average([numbers(97), numbers(89, missing=True), letters()], points, counts)
    assert microaggregation.average(tallied(points, counts, costs), costs).tolist() == wanted


def plain_microaggregation(points: np.ndarray, counts: np.ndarray, costs: Costs, least: int) -> list[int]:
    """MDAV that looks at every tuple every time; of equally far ones it takes the first."""
    remaining, owners, cluster = counts.tolist(), [-1] * int(counts.sum()), 0
    starts = (np.cumsum(counts) - counts).tolist()

    def squared(left: np.ndarray, right: np.ndarray) -> float:
        total = 0.0
        for attribute, (one, other) in enumerate(zip(left, right, strict=True)):
            total += cost.cost(costs, attribute, min(one, other), max(one, other)) ** 2
        return total

    def farthest(origin: np.ndarray) -> np.ndarray:
        return points[max((i for i, left in enumerate(remaining) if left), key=lambda i: squared(origin, points[i]))]

    while (rest := sum(remaining)) >= 2 * least:
        origin = farthest(microaggregation.average(tallied(points, np.array(remaining), costs), costs))
        for turn in range(2 if rest >= 3 * least else 1):
            origin = farthest(origin) if turn else origin
            need = least
            for point in sorted(range(len(points)), key=lambda i: squared(origin, points[i])):
                joining = min(need, remaining[point])
                first = starts[point] + int(counts[point]) - remaining[point]
                owners[first : first + joining] = [cluster] * joining
                remaining[point] -= joining
                need -= joining
            cluster += 1
    return owners


@pytest.mark.parametrize("tabulated", [0, TABULATED])
@pytest.mark.parametrize("least", [2, 5])
def test_microaggregation_is_its_plain_twin(monkeypatch: pytest.MonkeyPatch, least: int, tabulated: int) -> None:
    monkeypatch.setattr("shoal.core.costs.TABULATED", tabulated)
    points = drawn(least, 150, [9, 8, 7])  # many are equally far
    costs = loss_costs([numbers(9), numbers(8, missing=True), letters()], list(points.T), [True, True, False])
    counts = np.random.default_rng(least).integers(1, 4, len(points))
    left = microaggregation.unclustered(points, counts, index.build(points, costs, 2, GO_ON), costs)
    for spare in (100, 30, 0):
        microaggregation.maximum_distance(points, counts, left, costs, least, spare, GO_ON)
    wanted = plain_microaggregation(points, counts, costs, least)
    assert left.owners.tolist() == wanted
    assert left.clusters[0] == max(wanted) + 1 and left.rest[0] == wanted.count(-1) < 2 * least


def kruskal(points: np.ndarray, costs: tuple) -> list[float]:
    """The lengths of a minimum spanning tree's edges; every minimum tree has the same."""
    edges = sorted(
        (cost.pair(costs, points[one], points[other]), one, other) for one, other in combinations(range(len(points)), 2)
    )
    parent = list(range(len(points)))

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            vertex = parent[vertex]
        return vertex

    lengths = []
    for length, one, other in edges:
        if root(one) != root(other):
            parent[root(one)] = root(other)
            lengths.append(length)
    return lengths


@pytest.mark.parametrize("count", [1, 2, 13, 150])
def test_spanning_tree_is_minimal_and_spans(count: int) -> None:
    hierarchies = (letters(), numbers(9), letters(missing=True))
    points = drawn(count, count, [7, 9, 8])
    edges, lengths = spanning_tree(points, hierarchies, Run())
    costs, scale = level_costs(hierarchies, list(points.T))
    assert np.allclose(lengths * scale, kruskal(points, costs))
    assert all(
        length * scale == pytest.approx(cost.pair(costs, points[one], points[other]))
        for (one, other), length in zip(edges, lengths, strict=True)
    )
    reached = {0}
    for _ in edges:
        reached |= {end for edge in edges.tolist() for end in edge if set(edge) & reached}
    assert reached == set(range(len(points)))


def test_spanning_tree_does_not_depend_on_the_number_of_threads() -> None:
    points = drawn(1, 3000, [7, 9, 8])
    hierarchies = (letters(), numbers(9), letters(missing=True))
    before = get_num_threads()
    try:
        set_num_threads(1)
        single = spanning_tree(points, hierarchies, Run())
        set_num_threads(min(2, before))
        double = spanning_tree(points, hierarchies, Run())
    finally:
        set_num_threads(before)
    assert np.array_equal(single[0], double[0])
    assert np.array_equal(single[1], double[1])


def test_heights_without_a_small_common_multiple_cost_whole_numbers() -> None:
    heights = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    hierarchies = [
        Hierarchy.from_paths("c", [(leaf, *[f"{leaf}{level}" for level in range(height - 1)], "*") for leaf in "ab"])
        for height in heights
    ]
    costs, scale = level_costs(hierarchies, [np.arange(2, dtype=np.int32)] * len(heights))
    apart = cost.pair(costs, np.zeros(len(heights), np.int32), np.ones(len(heights), np.int32))
    assert apart == int(apart)
    assert apart / scale == pytest.approx(2 * len(heights))
