"""Proposals of the refinement, held against a look at every record of every cluster around."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms import _refinement
from shoal.algorithms._records import Records
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.kernels.cost import span

LEAST_GAIN = 1e-9


def searching(models: tuple[Any, ...], kinds: int, seed: int) -> _refinement._ClusterSearch:
    """Sixty records, many of them equal, in clusters of five that satisfy the models, as far as they can."""
    generator = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": generator.integers(18, 26, 60),
            "town": generator.choice(list("stuv"), 60),
            "illness": [f"{value:02}" for value in generator.permutation(np.arange(60) % kinds)],
        }
    )
    data = shoal.read(table, quasi=["age", "town"], sensitive=["illness"])
    records = Records.of(data, Policy(models=models, seed=seed), ("interval", "hierarchy"))
    (values,) = data.listing(seed)
    owners = np.empty(60, np.int32)
    owners[np.argsort(values, kind="stable")] = np.arange(60) % 12
    return _refinement._ClusterSearch(records, owners, 6, Run())


def best_proposal(row: int, search: _refinement._ClusterSearch) -> tuple[float, int, int]:
    """What is saved, the target and the partner, by trying all there are in the order in which they are met."""
    state, costs, guard = search.state, search.records.costs, search.guard

    def loss(rows: list[int]) -> float:
        codes = state.points[state.tuples[rows]]
        return len(rows) * float(span(costs, codes.min(axis=0), codes.max(axis=0))) if rows else 0.0

    def keeps(rows: list[int]) -> bool:
        counts = Counter(state.values[rows].tolist())
        return len(counts) >= guard.distinct and len(rows) / max(counts.values()) >= guard.frequency

    def members(cluster: int) -> list[int]:
        listed, at = [], int(state.heads[cluster])
        while at >= 0:
            listed.append(at)
            at = int(state.following[at])
        return listed

    home, looked = int(state.owners[row]), state.looked[row]
    best, seen = (0.0, 0, 0), {home}
    if state.paid[home] <= 0:
        return best
    fresh, here = state.changed[home] > looked, members(home)
    for near in state.neighbours[state.tuples[row]]:
        if near < 0 or (not fresh and state.stirred[near] <= looked):
            continue
        for other in range(state.starts[near], state.starts[near + 1]):
            target = int(state.owners[other])
            if target in seen or (not fresh and state.changed[target] <= looked):
                continue
            seen.add(target)
            there = members(target)
            partners = there if state.paid[target] > 0 else there[:1]
            for partner in [*([-1] if len(here) > search.least else []), *partners]:
                if partner >= 0 and state.tuples[partner] == state.tuples[row]:
                    continue
                left = [one for one in here if one != row] + ([partner] if partner >= 0 else [])
                right = [one for one in there if one != partner] + [row]
                gain = float(state.paid[home] + state.paid[target]) - loss(left) - loss(right)
                alike = partner >= 0 and state.values[partner] == state.values[row]
                if gain > best[0] + LEAST_GAIN and (alike or (keeps(left) and keeps(right))):
                    best = (gain, target, partner)
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("models", "kinds"),
    [
        ((shoal.FrequencyLDiversity(l=2), shoal.KAnonymity(k=3)), 6),
        ((shoal.DistinctLDiversity(l=3), shoal.KAnonymity(k=4)), 10),
        ((shoal.FrequencyLDiversity(l=4),), _refinement.FEW_KINDS - 4),
    ],
    ids=["frequency", "distinct", "rare values"],
)
def test_the_best_move_or_swap_is_proposed(models: tuple[Any, ...], kinds: int, seed: int) -> None:
    search = searching(models, kinds, seed)
    assert search.guard.kinds == kinds
    rounds = 0
    while search._propose():
        proposals = search.proposals
        for row in range(len(search.records)):
            gain, target, partner = best_proposal(row, search)
            assert proposals.gains[row] == pytest.approx(gain, abs=1e-12)
            if gain > 0:
                assert (proposals.targets[row], proposals.partners[row]) == (target, partner)
        if not search.round():
            break
        rounds += 1
    assert rounds > 1
