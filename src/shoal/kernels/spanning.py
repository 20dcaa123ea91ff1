"""Minimum spanning trees by Borůvka's method over a tree of boxes, and cutting them.

Vertices are numbered by their place in the index. Edges have a total order, by weight, then by the lower and the
higher number, so that there is one minimum spanning tree, whoever looks for which part of it.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.index import near_bucket, start, walk_through
from shoal.kernels.sorting import order_of, value_of_rank
from shoal.kernels.worlds import root


class Forest(NamedTuple):
    """The trees so far: the `components` of the vertices, and of each vertex the lightest edge that was found: its
    weight and its other end, -1 for none. It is the lightest while its end is outside, and a bound from below ever."""

    points: Any
    components: Any
    weights: Any
    partners: Any


@inner
def _before(weight, one, other, best, first, second):
    """Whether an edge comes before another one."""
    if weight != best:
        return weight < best
    low, high = min(one, other), max(one, other)
    return low < first or (low == first and high < second)


@inner
def _ties(vertex, first, second):
    """The place before which another vertex makes an edge with this one that comes before an edge as light."""
    if vertex < first:
        return np.iinfo(np.int64).max
    return second if vertex == first else first + (vertex < second)


@kernel
def uniform(boxes, components):
    """For each node the component of all its points, -1 where they differ."""
    labels = np.empty(len(boxes.left), np.int32)
    for node in range(len(labels) - 1, -1, -1):
        child = boxes.left[node]
        if child >= 0:
            labels[node] = labels[child] if labels[child] == labels[child + 1] else -1
        else:
            labels[node] = components[boxes.begins[node]]
            for place in range(boxes.begins[node] + 1, boxes.ends[node]):
                if components[place] != labels[node]:
                    labels[node] = -1
    return labels


@kernel
def lightest(begin, end, forest, boxes, costs, labels, limits, flag):
    """For the vertices `begin:end`, the first edge out of the own component that comes before the component's limit.

    `limits` has the weight and the ends of the best edge known of each component, `labels` the component of each node.
    """
    forest, boxes, costs, labels, limits = borrowed((forest, boxes, costs, labels, limits))
    points, components = forest.points, forest.components
    walk = walk_through(boxes)
    for vertex in range(begin, end):
        if flag[0]:
            break
        own, partner = components[vertex], forest.partners[vertex]
        if partner >= 0 and components[partner] != own:
            continue
        best = limits[own, 0]
        if forest.weights[vertex] > best:
            continue
        point, chosen = points[vertex], -1
        # Without an edge there are no ends yet.
        first = np.int64(limits[own, 1]) if best < np.inf else np.iinfo(np.int64).max
        second = np.int64(limits[own, 2]) if best < np.inf else np.iinfo(np.int64).max
        start(walk)
        while True:
            ties = _ties(vertex, first, second)
            node = near_bucket(walk, boxes, points, labels, own, costs, point, point, best, ties)
            if node < 0:
                break
            for place in range(boxes.begins[node], boxes.ends[node]):
                if components[place] != own:
                    here = walk.costs[place - boxes.begins[node]]
                    if _before(here, vertex, place, best, first, second):
                        best, first, second, chosen = here, min(vertex, place), max(vertex, place), place
        forest.weights[vertex], forest.partners[vertex] = best, chosen


@kernel
def best_edges(forest, count):
    """For each component the first of the edges that are known to leave it: its weight and its two ends."""
    edges = np.full((count, 3), np.inf)
    for vertex in range(len(forest.components)):
        own, partner = forest.components[vertex], forest.partners[vertex]
        if partner >= 0 and forest.components[partner] != own:
            best = edges[own]
            if _before(forest.weights[vertex], vertex, partner, best[0], best[1], best[2]):
                best[0], best[1], best[2] = forest.weights[vertex], min(vertex, partner), max(vertex, partner)
    return edges


@kernel
def unite(components, chosen, edges, lengths, known):
    """Adds every component's edge to the tree, once; returns the number of edges and of components after it."""
    count = len(chosen)
    parents = np.arange(count)
    for component in range(count):
        one, other = int(chosen[component, 1]), int(chosen[component, 2])
        here, there = root(parents, components[one]), root(parents, components[other])
        if here != there:
            parents[max(here, there)] = min(here, there)
            edges[known, 0], edges[known, 1], lengths[known] = one, other, chosen[component, 0]
            known += 1
    numbers = np.full(count, -1, np.int32)
    fresh = 0
    for component in range(count):
        if root(parents, component) == component:
            numbers[component] = fresh
            fresh += 1
    for vertex in range(len(components)):
        components[vertex] = numbers[root(parents, components[vertex])]
    return known, fresh


@inner
def rooted(edges, count):
    """The tree from vertex 0: an order in which parents come first, each vertex' parent and the edge to it."""
    degree = np.zeros(count + 1, np.int64)
    for edge in range(len(edges)):
        degree[edges[edge, 0] + 1] += 1
        degree[edges[edge, 1] + 1] += 1
    starts = np.cumsum(degree)
    filled = starts[:-1].copy()
    beside = np.empty(2 * len(edges), np.int64)
    for edge in range(len(edges)):
        for end in range(2):
            beside[filled[edges[edge, end]]] = edge
            filled[edges[edge, end]] += 1
    order = np.zeros(count, np.int64)
    parents, above = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    reached = 1
    for at in range(count):
        vertex = order[at]
        for place in range(starts[vertex], starts[vertex + 1]):
            edge = beside[place]
            other = edges[edge, 0] + edges[edge, 1] - vertex
            if edge != above[vertex]:
                parents[other], above[other] = vertex, edge
                order[reached] = other
                reached += 1
    return order, parents, above


@kernel
def cut(edges, lengths, counts, wanted, least, flag):
    """Drops the longest edges, so many as `wanted`, and returns the subtree of each vertex.

    Of edges of the same length at the limit, those go first that leave at least `least` records on both sides;
    then the order of the edges decides. Edges without length stay.
    """
    count = len(counts)
    order, parents, above = rooted(edges, count)
    below = np.zeros(len(edges), np.int64)
    for vertex in range(count):
        if above[vertex] >= 0:
            below[above[vertex]] = vertex
    positive = 0
    for length in lengths:
        positive += length > 0
    wanted = min(wanted, positive)
    severed = np.zeros(count, np.bool_)
    if wanted > 0:
        limit = value_of_rank(lengths.copy(), len(lengths) - wanted)
        for edge in range(len(edges)):
            if lengths[edge] > limit:
                severed[below[edge]] = True
                wanted -= 1
        sizes = counts.copy()
        for at in range(count - 1, 0, -1):
            vertex = order[at]
            if not severed[vertex]:
                sizes[parents[vertex]] += sizes[vertex]
        for even in (True, False):
            for edge in range(len(edges)):
                vertex = below[edge]
                if wanted == 0 or lengths[edge] != limit or severed[vertex] or flag[0]:
                    continue
                top = parents[vertex]
                while even and parents[top] >= 0 and not severed[top]:
                    top = parents[top]
                if even and (sizes[vertex] < least or sizes[top] - sizes[vertex] < least):
                    continue
                severed[vertex] = True
                wanted -= 1
                top = parents[vertex]
                while even:
                    sizes[top] -= sizes[vertex]
                    if parents[top] < 0 or severed[top]:
                        break
                    top = parents[top]
    return _subtrees(order, parents, severed)


@inner
def _subtrees(order, parents, severed):
    """The number of the subtree that each vertex is in, when some are severed from their parents."""
    owners = np.zeros(len(order), np.int32)
    fresh = 1
    for at in range(1, len(order)):
        vertex = order[at]
        owners[vertex] = owners[parents[vertex]]
        if severed[vertex]:
            owners[vertex] = fresh
            fresh += 1
    return owners


@kernel
def cut_evenly(edges, lengths, counts, least, flag):
    """Drops every edge, the longest first, that leaves at least `least` records on both sides, and returns the subtree
    of each vertex. Edges without length stay; of equally long ones those farthest from the root go first, which
    makes more subtrees."""
    count = len(counts)
    order, parents, above = rooted(edges, count)
    sizes = counts.copy()
    for at in range(count - 1, 0, -1):
        sizes[parents[order[at]]] += sizes[order[at]]
    severed = np.zeros(count, np.bool_)
    upwards = np.empty(max(count - 1, 0), np.float64)
    for at in range(count - 1, 0, -1):
        upwards[count - 1 - at] = -lengths[above[order[at]]]
    for place in order_of(upwards):
        vertex = order[count - 1 - place]
        if flag[0] or upwards[place] == 0.0:
            break
        if sizes[vertex] < least:
            continue
        top = parents[vertex]
        while parents[top] >= 0 and not severed[top]:
            top = parents[top]
        if sizes[top] - sizes[vertex] < least:
            continue
        severed[vertex] = True
        at = parents[vertex]
        while True:
            sizes[at] -= sizes[vertex]
            if at == top:
                break
            at = parents[at]
    return _subtrees(order, parents, severed)
