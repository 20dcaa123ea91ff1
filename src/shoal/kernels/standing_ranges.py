"""Ranges in a tree over where they begin and where they end, of which the best one to merge with a set is found.

Several may be equally good. Then the one counts that a walk through another tree would meet first: one over where
ranges begin alone, which goes to the nearer of two boxes first. That is looked up for those that tie, instead of
walking there.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.cost import cost, union
from shoal.kernels.index import Roster, push, retire, roster, start, stretch, walk_through

ROUNDING = 1e-9
"""More than rounding errs. What is better by no more than that is not better."""
BAND = 2 * ROUNDING
"""What is worse by more than that decides nothing."""
NEVER = np.iinfo(np.int32).max


class Standing(NamedTuple):
    """Ranges that have not gone: the one at place `p` of the tree's order reaches from `low[p]` to `high[p]`, as long
    as it is `kept[p]`, and `sizes[p]` records in it pay `paid[p]` each; `places` has the place of each.

    Those kept under node `n` begin at `latest[n]` or before, and end at `earliest[n]` or after: a set of records costs
    as much with any of them as with these two leaves, or more. None has fewer records than `fewest[n]`, pays more than
    `most[n]`, or more than `dearest[n]` for an attribute. `walked` is the tree that decides among those that tie, whose
    boxes hold all ranges, and `before` the place of each in its order.
    """

    roster: Roster
    low: Any
    high: Any
    kept: Any
    sizes: Any
    paid: Any
    places: Any
    latest: Any
    earliest: Any
    fewest: Any
    most: Any
    dearest: Any
    walk: Any
    walked: Roster
    before: Any


@inner
def _places(order):
    """The place of each thing that stands in an order."""
    places = np.empty(len(order), np.int32)
    for place in range(len(order)):
        places[order[place]] = place
    return places


@inner
def standing(boxes, ends, low, high, sizes, paid, costs):
    """Ranges in a tree over where they begin and end, `ends`, with another one over where they begin, `boxes`."""
    order, nodes, attributes = ends.order, len(ends.left), low.shape[1]
    walked = roster(boxes)
    for name in range(len(order)):
        stretch(name, low[name], high[name], walked)
    ranges = Standing(
        roster(ends), low[order], high[order], np.ones(len(order), np.bool_), sizes[order], paid[order], _places(order),
        np.empty((nodes, attributes), np.int32), np.empty((nodes, attributes), np.int32), np.empty(nodes, np.int64),
        np.empty(nodes), np.empty((nodes, attributes)), walk_through(ends), walked, _places(boxes.order),
    )  # fmt: skip
    for node in range(nodes - 1, -1, -1):
        _fit_node(node, ranges, costs)
    return ranges


@inner
def _fit_node(node, ranges, costs):
    """Finds for one node, after those below it, where the ranges under it begin at the latest and end at the earliest,
    how few records one has, and how much one pays; whether anything is new."""
    child, latest, earliest, dearest = ranges.roster.boxes.left[node], ranges.latest, ranges.earliest, ranges.dearest
    begin, end = ranges.roster.boxes.begins[node], ranges.roster.boxes.ends[node]
    low, high, kept = ranges.low, ranges.high, ranges.kept
    few, most, fresh = NEVER, 0.0, False
    if child >= 0:
        few = min(ranges.fewest[child], ranges.fewest[child + 1])
        most = max(ranges.most[child], ranges.most[child + 1])
    else:
        for place in range(begin, end):
            if kept[place]:
                few, most = min(few, ranges.sizes[place]), max(most, ranges.paid[place])
    for attribute in range(latest.shape[1]):
        late, early, dear = -1, NEVER, 0.0
        if child >= 0:
            late = max(latest[child, attribute], latest[child + 1, attribute])
            early = min(earliest[child, attribute], earliest[child + 1, attribute])
            dear = max(dearest[child, attribute], dearest[child + 1, attribute])
        else:
            for place in range(begin, end):
                if kept[place]:
                    least, greatest = low[place, attribute], high[place, attribute]
                    late, early = max(late, least), min(early, greatest)
                    dear = max(dear, cost(costs, attribute, least, greatest))
        fresh |= late != latest[node, attribute] or early != earliest[node, attribute]
        fresh |= dear != dearest[node, attribute]
        latest[node, attribute], earliest[node, attribute], dearest[node, attribute] = late, early, dear
    fresh |= few != ranges.fewest[node] or most != ranges.most[node]
    ranges.fewest[node], ranges.most[node] = few, most
    return fresh


@inner
def _fit_above(name, ranges, costs):
    """Does that for the bucket of a range and the nodes above it, as far as anything is new."""
    node, parents = ranges.roster.homes[name], ranges.roster.parents
    while node >= 0 and _fit_node(node, ranges, costs):
        node = parents[node]


@inner
def move(name, low, high, size, paid, ranges, costs):
    """Has a range reach from and to other leaves, and so many records that pay so much."""
    place = ranges.places[name]
    ranges.sizes[place], ranges.paid[place] = size, paid
    for attribute in range(len(low)):
        ranges.low[place, attribute], ranges.high[place, attribute] = low[attribute], high[attribute]
    stretch(name, low, high, ranges.walked)
    _fit_above(name, ranges, costs)


@inner
def strike(name, ranges, costs):
    """Strikes a range off."""
    ranges.kept[ranges.places[name]] = False
    retire(name, ranges.walked)
    _fit_above(name, ranges, costs)


@inner
def _nearer(child, boxes, low, high, costs):
    """Which of two children the walk goes to first, and what a set costs at least with anything in it and in the
    other one."""
    near = far = 0.0
    for at in range(child, child + 2):
        near, far = far, 0.0
        for attribute in range(len(low)):
            begin = min(low[attribute], boxes.high[at, attribute])
            far += cost(costs, attribute, begin, max(high[attribute], boxes.low[at, attribute]))
    return (child + 1, far, near) if near > far else (child, near, far)


@inner
def _precedes(one, other, ranges, low, high, costs):
    """Whether the walk for a set of records meets the one range before the other."""
    boxes, homes, parents = ranges.walked.boxes, ranges.walked.homes, ranges.walked.parents
    left, right = homes[one], homes[other]
    if left == right:
        return ranges.before[one] < ranges.before[other]
    # Nodes come after the one above them, so that the later one of two that differ is not above the other.
    under = left
    while left != right:
        if left > right:
            under, left = left, parents[left]
        else:
            right = parents[right]
    return _nearer(boxes.left[left], boxes, low, high, costs)[0] == under


@inner
def best_range(name, low, high, size, own, by_union, ranges, costs):
    """The range to merge a set with, -1 when there is no other: the one whose union costs each record least
    (`by_union`), or the one with which the merger adds least to the loss of all records of both. `own` is what all of
    the set pay by themselves."""
    boxes, walk, kept, sizes, paid = ranges.roster.boxes, ranges.walk, ranges.kept, ranges.sizes, ranges.paid
    lows, highs, latest, earliest = ranges.low, ranges.high, ranges.latest, ranges.earliest
    fewest, most, dearest, left = ranges.fewest, ranges.most, ranges.dearest, boxes.left
    least, worst, chosen, limit, attributes = np.inf, np.inf, -1, np.inf, len(low)
    stack, bounds, depth = walk.stack, walk.bounds, 1
    stack[0], bounds[0] = 0, -np.inf
    while depth > 0:
        depth -= 1
        node, child = stack[depth], left[stack[depth]]
        if not bounds[depth] < limit:
            continue
        if child < 0:
            for place in range(boxes.begins[node], boxes.ends[node]):
                other = boxes.order[place]
                if other == name or not kept[place]:
                    continue
                score = 0.0
                for attribute in range(attributes):
                    begin = min(low[attribute], lows[place, attribute])
                    score += cost(costs, attribute, begin, max(high[attribute], highs[place, attribute]))
                if not by_union:
                    score = score * (size + sizes[place]) - own - sizes[place] * paid[place]
                if score < least - BAND:
                    least, worst, chosen = score, score, other
                    limit = least + BAND if by_union else (least + BAND + own) / size
                elif score <= least + BAND:
                    least, worst = min(least, score), max(worst, score)
                    if _precedes(other, chosen, ranges, low, high, costs):
                        chosen = other
            continue
        bound, first = np.inf, np.inf
        for at in range(child, child + 2):
            bound, first = np.inf, bound
            if fewest[at] < NEVER:
                bound = extra = 0.0
                for attribute in range(attributes):
                    begin = min(low[attribute], latest[at, attribute])
                    charge = cost(costs, attribute, begin, max(high[attribute], earliest[at, attribute]))
                    bound += charge
                    extra += max(charge - dearest[at, attribute], 0.0)
                # What each record of the range pays more than before counts as well.
                if not by_union:
                    bound += fewest[at] / size * max(max(extra, bound - most[at]) - ROUNDING, 0.0)
        nearer, farther = (child, child + 1) if first <= bound else (child + 1, child)
        if max(first, bound) < limit:
            stack[depth], bounds[depth] = farther, max(first, bound)
            depth += 1
        if min(first, bound) < limit:
            stack[depth], bounds[depth] = nearer, min(first, bound)
            depth += 1
    if worst > least + ROUNDING / 2:
        # Neither a tie nor a difference: what comes first may decide what counts as better.
        return first_met(name, low, high, size, own, by_union, ranges, costs)
    return chosen


@inner
def first_met(name, low, high, size, own, by_union, ranges, costs):
    """The same, by the walk itself: whatever is better than all that it met before is the best."""
    boxes, alive, walk = ranges.walked.boxes, ranges.walked.alive, walk_through(ranges.walked.boxes)
    least, chosen = np.inf, -1
    start(walk)
    while walk.depth[0] > 0:
        walk.depth[0] -= 1
        node, bound = walk.stack[walk.depth[0]], walk.bounds[walk.depth[0]]
        limit = least if by_union else (least + own) / size
        if not bound < limit or alive[node] == 0:
            continue
        child = boxes.left[node]
        if child >= 0:
            near, nearer, farther = _nearer(child, boxes, low, high, costs)
            push(walk, child, nearer if near == child else farther, farther if near == child else nearer)
            continue
        for step in range(boxes.begins[node], boxes.ends[node]):
            other, place = boxes.order[step], ranges.places[boxes.order[step]]
            if other == name or not ranges.kept[place]:
                continue
            score = union(costs, low, high, ranges.low[place], ranges.high[place], np.inf)
            if not by_union:
                score = score * (size + ranges.sizes[place]) - own - ranges.sizes[place] * ranges.paid[place]
            if score < least - ROUNDING:
                least, chosen = score, other
    return chosen
