"""Drawing clusters of different sensitive values from buckets, one for each value (bucket and l-member clustering)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.index import Roster, Walk, pop, push, roster, start, walk_through

EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ENDLESS = np.iinfo(np.int64).max
"""More draws than there are, where no rule limits them."""


class Stock(NamedTuple):
    """What is left to draw from.

    - A *kind* is the records with equal tuples and equal values: `points`, `values`, `firsts` (its first record), and
      how many of its records are `remaining`;
    - `left`: by value, how many of its records may still be drawn; `begins`: whether a cluster may begin with it;
    - `roster`: a tree of boxes over the kinds; `masks`: for each node, a bit for each value (modulo 64) that is left
      under it;
    - `owners`: the cluster of each record, -1: none; `origin[0]`: the kind that the last cluster began with;
      `clusters[0]`: how many there are.
    """

    points: Any
    values: Any
    firsts: Any
    remaining: Any
    left: Any
    begins: Any
    roster: Roster
    masks: Any
    walk: Walk
    owners: Any
    origin: Any
    clusters: Any


class Rule(NamedTuple):
    """Which values may be drawn. Those `used` at `stamp` are in the round already, and drawn again only if `again`.
    A value of which no more than `coming` records are left is scarce: drawing it takes of `slack[0]`, and drawing it
    again of `slack[1]` too, and neither may fall below 0. `openings` is room to note which values these are."""

    used: Any
    stamp: Any
    again: Any
    coming: Any
    slack: Any
    openings: Any


class Shape(NamedTuple):
    """What clusters shall be: so many `rounds`, which together take as many records as `sizes` says, and each at least
    `wanted` different values. Without `hall` nothing is kept back for the rounds to come."""

    rounds: Any
    sizes: Any
    wanted: Any
    hall: Any


@inner(borrowing=True)
def _bit(value):
    return np.uint64(1) << np.uint64(value & 63)


@kernel
def filled(points, values, counts, left, boxes, origin):
    """All records still to be drawn; the first cluster begins as far from a kind as can be.

    Clusters begin with outliers, so not with values of which some records will not be drawn: those shall be the
    outliers.
    """
    tree = roster(boxes)
    masks = np.zeros(len(boxes.left), np.uint64)
    for node in range(len(masks) - 1, -1, -1):
        child = boxes.left[node]
        if child >= 0:
            masks[node] = masks[child] | masks[child + 1]
        else:
            for place in range(boxes.begins[node], boxes.ends[node]):
                masks[node] |= _bit(values[boxes.order[place]])
    surplus = -left
    for kind in range(len(values)):
        surplus[values[kind]] += counts[kind]
    return Stock(
        points, values, np.cumsum(counts) - counts, counts.copy(), left.copy(), surplus <= 0, tree, masks,
        walk_through(boxes), np.full(counts.sum(), -1, np.int32), np.full(1, origin, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


@inner(inline="always", borrowing=True)
def _open(value, buckets, rule):
    left = buckets.left[value]
    if left == 0:
        return False
    if rule.used[value] != rule.stamp:
        return left > rule.coming or rule.slack[0] > 0
    return rule.again and (left > rule.coming or (rule.slack[0] > 0 and rule.slack[1] > 0))


@inner(borrowing=True)
def _open_mask(buckets, rule):
    """The bits of the values that may be drawn, perhaps with others."""
    if len(buckets.left) > 64 and rule.slack[0] > 0:
        return EVERY
    mask = NONE
    for value in range(len(buckets.left)):
        if _open(value, buckets, rule):
            mask |= _bit(value)
    return mask


@inner(borrowing=True)
def _note_openings(buckets, rule):
    """Notes for each value whether it may be drawn."""
    for value in range(len(rule.openings)):
        rule.openings[value] = _open(value, buckets, rule)


@inner(borrowing=True)
def _cheapest(buckets, rule, costs, low, high):
    """The kind that may be drawn from and costs least in a cluster; -1 when there is none."""
    boxes, walk, masks, points = buckets.roster.boxes, buckets.walk, buckets.masks, buckets.points
    values, remaining = buckets.values, buckets.remaining
    order, begins, ends, left, box_low, box_high = boxes
    mask, openings = _open_mask(buckets, rule), rule.openings
    _note_openings(buckets, rule)
    dimensions = len(low)
    best, chosen = np.inf, -1
    start(walk)
    while True:
        node = pop(walk, boxes, masks, NONE, best, 0)
        if node < 0:
            return chosen
        child = left[node]
        if child >= 0:
            first = second = 0.0
            for below in range(child, child + 2):
                total = np.inf
                if masks[below] & mask != NONE:
                    total = 0.0
                    for attribute in range(dimensions):
                        begin = min(low[attribute], box_high[below, attribute])
                        end = max(high[attribute], box_low[below, attribute])
                        total += cost(costs, attribute, begin, end)
                        if total > best:
                            break
                first, second = second, total
            push(walk, child, first, second)
            continue
        for place in range(begins[node], ends[node]):
            kind = order[place]
            if remaining[kind] > 0 and openings[values[kind]]:
                total = 0.0
                for attribute in range(dimensions):
                    code = points[kind, attribute]
                    total += cost(costs, attribute, min(low[attribute], code), max(high[attribute], code))
                    if total > best:
                        break
                if total < best:
                    best, chosen = total, kind


@inner(borrowing=True)
def _farthest(buckets, rule, costs, origin, beginning):
    """The kind that may be drawn from and is farthest from one; `beginning`, of the values that a cluster may begin
    with; -1 when there is none."""
    boxes, walk, masks, points = buckets.roster.boxes, buckets.walk, buckets.masks, buckets.points
    values, remaining, begins_with = buckets.values, buckets.remaining, buckets.begins
    order, begins, ends, left, box_low, box_high = boxes
    mask, openings = _open_mask(buckets, rule), rule.openings
    _note_openings(buckets, rule)
    dimensions = points.shape[1]
    best, chosen = -1.0, -1
    start(walk)
    while True:
        # Far is near with the sign turned round.
        node = pop(walk, boxes, masks, NONE, -best, 0)
        if node < 0:
            return chosen
        child = left[node]
        if child >= 0:
            first = second = 0.0
            for below in range(child, child + 2):
                total = np.inf
                if masks[below] & mask != NONE:
                    total = 0.0
                    for attribute in range(dimensions):
                        code = points[origin, attribute]
                        least, most = box_low[below, attribute], box_high[below, attribute]
                        total += max(
                            cost(costs, attribute, min(code, least), max(code, least)),
                            cost(costs, attribute, min(code, most), max(code, most)),
                        )
                    total = -total
                first, second = second, total
            push(walk, child, first, second)
            continue
        for place in range(begins[node], ends[node]):
            kind = order[place]
            if remaining[kind] > 0 and openings[values[kind]] and (begins_with[values[kind]] or not beginning):
                total = 0.0
                for attribute in range(dimensions):
                    here, there = points[origin, attribute], points[kind, attribute]
                    total += cost(costs, attribute, min(here, there), max(here, there))
                if total > best:
                    best, chosen = total, kind


@inner(borrowing=True)
def _next(size, buckets, rule, costs, low, high):
    """Draws the record with which a cluster goes on, or begins; returns its kind, -1 when there is none, and whether
    its value is new in this round."""
    if size > 0:
        kind = _cheapest(buckets, rule, costs, low, high)
    else:
        kind = _farthest(buckets, rule, costs, buckets.origin[0], True)
        if kind < 0:
            kind = _farthest(buckets, rule, costs, buckets.origin[0], False)
    if kind < 0:
        return kind, False
    point, value = buckets.points[kind], buckets.values[kind]
    if size == 0:
        buckets.origin[0] = kind
    for attribute in range(len(low)):
        low[attribute] = point[attribute] if size == 0 else min(low[attribute], point[attribute])
        high[attribute] = point[attribute] if size == 0 else max(high[attribute], point[attribute])
    fresh = rule.used[value] != rule.stamp
    if buckets.left[value] <= rule.coming:
        rule.slack[0] -= 1
        rule.slack[1] -= not fresh
    rule.used[value] = rule.stamp
    buckets.left[value] -= 1
    end = len(buckets.owners) if kind + 1 == len(buckets.firsts) else buckets.firsts[kind + 1]
    buckets.owners[end - buckets.remaining[kind]] = buckets.clusters[0]
    buckets.remaining[kind] -= 1
    if buckets.remaining[kind] == 0:
        _strike(kind, buckets)
    return kind, fresh


@inner(borrowing=True)
def _strike(kind, buckets):
    """Takes the value of a kind without records out of the masks above it where no other kind has it."""
    boxes, masks = buckets.roster.boxes, buckets.masks
    node = buckets.roster.homes[kind]
    mask = NONE
    for place in range(boxes.begins[node], boxes.ends[node]):
        other = boxes.order[place]
        if buckets.remaining[other] > 0:
            mask |= _bit(buckets.values[other])
    while mask != masks[node]:
        masks[node] = mask
        node = buckets.roster.parents[node]
        if node < 0:
            break
        child = boxes.left[node]
        mask = masks[child] | masks[child + 1]


@inner(borrowing=True)
def _slack(left, rounds, wanted):
    """How many records more there are than `rounds` of so many different values need (Hall): a round takes a value
    once, so of each value no more than `rounds` records count."""
    total = -rounds * wanted
    for count in left:
        total += min(count, rounds)
    return total


@kernel
def draw(buckets, shape, costs, until, flag):
    """Draws clusters until there are so many; whether all of them could be finished. With `hall` they can.

    A cluster begins with the record farthest from where the last one began, and takes the one that adds least loss of
    all that may be drawn. A round may take a value again as long as it can still reach all that are wanted.

    Why the slacks: with l values wanted, m of them lacking in this round, and q rounds to come, all can be had if
    Σ min(left, q) ≥ q·l, and Σ min(left, q, and one more of a value that this round lacks) ≥ q·l + m. A draw lowers
    the first sum by one where the value is scarce; the second, only where this round has the value already.
    """
    dimensions = buckets.points.shape[1]
    low, high = np.empty(dimensions, np.int32), np.empty(dimensions, np.int32)
    used = np.full(len(buckets.left), -1, np.int64)
    slack, openings = np.full(2, ENDLESS, np.int64), np.zeros(len(buckets.left), np.bool_)
    coming = shape.rounds[buckets.clusters[0] :].sum()
    stamp = 0
    while buckets.clusters[0] < until and not flag[0]:
        cluster, size = buckets.clusters[0], 0
        draws = shape.sizes[cluster] // shape.rounds[cluster]
        for _ in range(shape.rounds[cluster]):
            if shape.hall:
                slack[0] = _slack(buckets.left, coming - 1, shape.wanted)
                slack[1] = _slack(buckets.left, coming, shape.wanted)
            coming -= 1
            stamp += 1
            lacking = shape.wanted
            for place in range(draws):
                rule = Rule(used, stamp, draws - place > lacking, coming, slack, openings)
                kind, fresh = _next(size, buckets, rule, costs, low, high)
                if kind < 0:
                    return False
                lacking -= fresh
                size += 1
        buckets.clusters[0] += 1
    return True


@kernel
def gather(buckets, least, wanted, costs, spare, flag):
    """Grows clusters by the record that adds least loss, whatever its value, until no value makes up more than one
    part in `wanted` of the cluster, which then has `least` records or more; ends when `spare` records are left. Returns
    whether the last cluster could be finished."""
    dimensions = buckets.points.shape[1]
    low, high = np.empty(dimensions, np.int32), np.empty(dimensions, np.int32)
    used, slack = np.zeros(len(buckets.left), np.int64), np.full(2, ENDLESS, np.int64)
    rule = Rule(used, 0, True, 0, slack, np.zeros(len(buckets.left), np.bool_))
    rest = buckets.left.sum()
    while rest > spare and not flag[0]:
        size, most = 0, 0
        counts = np.zeros(len(buckets.left), np.int64)
        while size < least or most * wanted > size:
            kind, _ = _next(size, buckets, rule, costs, low, high)
            if kind < 0:
                return False
            size, rest = size + 1, rest - 1
            counts[buckets.values[kind]] += 1
            most = max(most, counts[buckets.values[kind]])
        buckets.clusters[0] += 1
    return True
