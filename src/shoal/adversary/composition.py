"""Composition: what several releases say together about the sensitive value of a person.

A world gives everybody a value so that every group of every release has the values that it is published with; all
worlds are equally likely. People with the same groups in all releases are of one *kind*, and are equally likely to have
a value. What a group has beyond the people who are known to be in it (people who left, counterfeits) counts as people
of whom nothing else is known.

Kinds and groups fall apart into *components* that share nothing, and each is judged on its own. A kind that is all of a
group has that group's values; taking them out of its other groups may settle further kinds. What is left of a component
is counted out where it is small. Of a larger one it is known which values no group of a person rules out; how likely
they are is estimated from the shares of the groups as if the releases were independent. A component in which no world
fits contradicts itself, because values were changed; only what its people's own groups rule out is known there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.adversary.group_memberships import Beliefs, Flags, GroupMemberships
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.release_history import AlignedReleases, LocatedRelease, PublishedValues
from shoal.core.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class Together:
    """What releases tell together, and each of them alone, about one sensitive attribute of people; `shown` says who is
    in one of these releases. It is how likely the most likely value is (`risks`, `alone[r]`) and how many values are
    left (`left`, `left_alone[r]`). What is not `exact` is estimated, and `left` an upper bound then; where values
    changed, people are `contradicted`."""

    shown: Flags
    places: Codes
    risks: Floats
    exact: Flags
    left: Counts
    contradicted: Flags
    alone: Floats
    left_alone: Counts


def together(
    name: str,
    releases: Sequence[LocatedRelease],
    people: AlignedReleases,
    *,
    nodes: int,
    run: Run,
    independent: bool = False,
) -> Together:
    """What releases that have a sensitive attribute tell about it; `people` are theirs, by groups.

    At most so many steps (`nodes`) of counting worlds are made in a component; none where the releases are
    `independent` samples, in which people have the same value and groups nothing else in common. A run whose time is up
    leaves the rest estimated.
    """
    columns = [each.values[name] for each in releases]
    shown = people.shown
    places = people.places[:, shown]
    kinds = group(list(places + 1), index=True)
    beliefs, contradicted = _compose(
        GroupMemberships.of(kinds.keys - 1, kinds.counts, columns), nodes, independent, run
    )
    alone, left_alone = np.zeros(places.shape), np.zeros(places.shape, np.int64)
    for row, (where, column) in enumerate(zip(places, columns, strict=True)):
        here = where >= 0
        alone[row, here], left_alone[row, here] = _greatest_shares(column)[where[here]], column.widths[where[here]]
    risks, left = beliefs.best[kinds.index], beliefs.left[kinds.index]
    impossible = left == 0  # who sees that believes the release that says most
    risks[impossible] = alone[:, impossible].max(axis=0)
    exact, contradictory = beliefs.exact[kinds.index], contradicted[kinds.index]
    return Together(shown, places, risks, exact, left, contradictory, alone, left_alone)


def _compose(memberships: GroupMemberships, nodes: int, independent: bool, run: Run) -> tuple[Beliefs, Flags]:
    """What is believed of each kind of people by all releases, and which kinds are contradicted."""
    estimated, possible = memberships.estimate(run)
    beliefs = Beliefs(estimated.copy(), possible == 1, possible.copy())
    if independent:
        return beliefs, possible == 0
    memberships.break_at(np.flatnonzero(possible == 0))
    symmetric = memberships.symmetric()
    memberships.settle(beliefs, run)
    memberships.count_out(beliefs, symmetric, nodes, run)
    memberships.exchange(beliefs, symmetric)
    contradicted = memberships.broken[memberships.component_of[: memberships.people]]
    beliefs.best[contradicted], beliefs.left[contradicted] = estimated[contradicted], possible[contradicted]
    beliefs.exact[contradicted] = False
    return beliefs, contradicted


def _greatest_shares(column: PublishedValues) -> Floats:
    """The share of the most frequent value of each group."""
    greatest = np.zeros(len(column.sizes))
    np.maximum.at(greatest, column.owners, column.counts / column.sizes[column.owners])
    return greatest
