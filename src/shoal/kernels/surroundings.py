"""The clusters around a tuple, found once for all of its records."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.cost import cost

MARGIN = 1e-6
"""Far above rounding, so that no cluster is passed over by it."""


class Surroundings(NamedTuple):
    """Clusters with records of the tuples near one, the *place*.

    - `stamps`: for each cluster, the search that met it last; `figures`: the number of this search, how many clusters
      it met, and how many of them are listed;
    - `clusters`: those that are worth a look, in the order in which they were met; `totals`: what each costs, for each
      record, at least when a record of the place goes there and any other one comes back; `floors`: how much dearer it
      becomes by that.
    """

    stamps: Any
    figures: Any
    clusters: Any
    totals: Any
    floors: Any


@inner
def surroundings(clusters):
    """Room for the surroundings of one place at a time, where there are so many clusters."""
    return Surroundings(
        np.full(clusters, -1, np.int32), np.zeros(3, np.int64), np.empty(clusters, np.int32), np.empty(clusters),
        np.empty(clusters),
    )  # fmt: skip


@inner(inline="always", borrowing=True)
def survey(place, since, most, state, costs, around):
    """Meets the clusters around a place that hold records of tuples stirred after round `since`, and lists those that
    changed after it and become dearer by no more than `most`."""
    stamps, figures, clusters, totals, floors = around
    ends = state.extremes
    figures[0] += 1
    search, met, listed = figures[0], 0, 0
    point = state.points[place]
    for near in state.neighbours[place]:
        if near < 0:
            break
        if state.stirred[near] <= since:
            continue
        for row in range(state.starts[near], state.starts[near + 1]):
            cluster = state.owners[row]
            if cluster < 0 or stamps[cluster] == search:
                continue
            stamps[cluster] = search
            met += 1
            if state.changed[cluster] <= since:
                continue
            size, paid = state.sizes[cluster], state.paid[cluster]
            total, dearest = 0.0, (most + MARGIN + paid) / size
            for attribute in range(len(point)):
                code = point[attribute]
                least, greatest = min(ends[cluster, 1, attribute], code), max(ends[cluster, 2, attribute], code)
                total += cost(costs, attribute, least, greatest)
                if total > dearest:
                    break
            if total <= dearest:
                clusters[listed], totals[listed], floors[listed] = cluster, total, total * size - paid
                listed += 1
    figures[1], figures[2] = met, listed
