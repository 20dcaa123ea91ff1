"""Map posteriors: what is believed of people when a dependency is a map between the values of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.adversary.assignments import Assignments, assignments
from shoal.adversary.posteriors import Effort, KnownPeople, Posteriors
from shoal.core.grouping import Codes, Counts
from shoal.core.run import Run

WIDEST = 1 << 26
"""Entries of the table of values and groups of a component."""


def by_maps(people: KnownPeople, effort: Effort, run: Run) -> Posteriors:
    """What is believed when all maps that fit the groups are equally likely, component by component."""
    generator = np.random.default_rng(effort.seed)
    parts = []
    for number, (share, chosen) in enumerate(people.by_component()):
        if number % 64 == 0:
            run.report(share, "counting maps")
        parts.append(_component(people.some(chosen), effort, generator))
    return Posteriors.joined(parts)


def _component(people: KnownPeople, effort: Effort, generator: np.random.Generator) -> Posteriors:
    groups, group_of = np.unique(people.groups, return_inverse=True)
    values, value_of = np.unique(people.values, return_inverse=True)
    others, other_of = np.unique(people.other, return_inverse=True)
    if (len(values) + len(others)) * len(groups) > WIDEST:
        return _by_twins(people)
    counts, having = np.zeros((len(values), len(groups)), np.int64), np.zeros((len(others), len(groups)), np.int64)
    np.add.at(counts, (value_of, group_of), 1)
    np.add.at(having, (other_of, group_of), 1)
    things, bins = (counts, having) if people.determines else (having, counts)
    maps = assignments(things, bins, nodes=effort.nodes, draws=effort.draws, generator=generator)
    _, kind_of, alike = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    block = alike[kind_of.reshape(-1)]
    if people.determines:
        return _of_values(maps, counts, having, block, groups.astype(np.int32), values.astype(np.int32))
    return _of_others(maps, having, block, values.astype(np.int32))


def _by_twins(people: KnownPeople) -> Posteriors:
    """What twins alone say."""
    kinds = people.kinds()
    low, high = people.bounds(kinds.keys[0])
    unknown = np.full(len(high), -1, np.int32)
    return Posteriors(kinds.counts, high, low, high, kinds.keys[0], unknown, error=1.0, exact=False)


def _of_values(
    maps: Assignments, counts: Counts, having: Counts, block: Counts, groups: Codes, values: Codes
) -> Posteriors:
    """A person's value given that values determine the other column: the share of its maps times the value's share
    of the people of the group who have what the person has."""
    settled = maps.possible.sum(axis=1) == 1
    parts = []
    for place, owner in enumerate(groups.tolist()):
        here, known = np.flatnonzero(counts[:, place]), np.flatnonzero(having[:, place])
        share = np.minimum(counts[here, place][:, None] / having[known, place], 1.0)
        possible = maps.possible[np.ix_(here, known)]
        high = np.where(possible, np.minimum(share, 1 / block[here][:, None]), 0.0)
        # Somebody's probabilities add up to one, so that the greatest is at least one over how many are possible.
        sure = np.where(possible & settled[here][:, None], share, 0.0).max(axis=0)
        low = np.maximum(1 / possible.sum(axis=0), sure)
        exact = share * maps.shares[np.ix_(here, known)] if maps.shares is not None else high
        best = values[here[exact.argmax(axis=0)]]
        parts.append((having[known, place], exact, low, high, np.full(len(known), owner), best))
    return _combine(parts, maps)


def _of_others(maps: Assignments, having: Counts, block: Counts, values: Codes) -> Posteriors:
    """A person's value given that the other column determines it: the share of the maps."""
    possible = maps.possible.T
    high = np.where(possible, 1 / block[:, None], 0.0)
    exact = maps.shares.T if maps.shares is not None else high
    low, best = 1 / possible.sum(axis=0), values[exact.argmax(axis=0)]
    return _combine([(having.sum(axis=1), exact, low, high, np.full(len(having), -1), best)], maps)


def _combine(parts: list[tuple[Any, ...]], maps: Assignments) -> Posteriors:
    """The posteriors of people, group by group, by the chances of each value."""
    known = maps.count is not None
    people, exact, low, high, groups, values = zip(*parts, strict=True)
    most = np.concatenate([each.max(axis=0) for each in exact])
    return Posteriors(
        np.concatenate(people),
        most,
        most if known else np.concatenate(low),
        most if known else np.concatenate([each.max(axis=0) for each in high]),
        np.concatenate(groups).astype(np.int32),
        np.concatenate(values),
        link=float(maps.shares.max()) if maps.shares is not None else 1.0,
        error=maps.error,
        exact=known,
        maps=maps.count,
    )
