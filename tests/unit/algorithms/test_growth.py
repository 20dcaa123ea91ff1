"""Clusters of a table that is cut into blocks: everybody has one, it says so, and threads change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads

import shoal
from shoal.algorithms import _growth
from shoal.algorithms._growth import Relaxing, grown
from shoal.algorithms._records import Records
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.kernels.members import EXACT, NEIGHBOURS

QUASI = ["age", "education", "country", "salary-class"]


@pytest.fixture(scope="module")
def census() -> shoal.Dataset:
    table = shoal.samples.census(3000)
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=shoal.samples.hierarchies("census"))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_growth, "BLOCK", 400)


def records(census: shoal.Dataset, k: int = 7) -> Records:
    policy = Policy(models=(shoal.KAnonymity(k=k),), seed=1)
    return Records.of(census, policy, ("interval", "hierarchy", "hierarchy", "interval"))


@pytest.mark.parametrize("rule", [EXACT, NEIGHBOURS])
def test_blocks_leave_fewer_than_the_least_size_each(census: shoal.Dataset, small_blocks: None, rule: int) -> None:
    found = grown(records(census), 5, Run(), Relaxing(rule))
    assert found.blocks > 5
    assert found.facts == {"exact": False, "blocks": found.blocks}
    sizes = np.bincount(found.owners[found.owners >= 0])
    assert len(sizes) == found.clusters
    assert sizes.min() >= 7
    assert int(np.sum(found.owners < 0)) <= 6 * found.blocks


def test_a_table_of_two_blocks_is_not_cut(census: shoal.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_growth, "BLOCK", -(-len(census.summary) // 2))
    assert grown(records(census), 5, Run()).facts == {"exact": True}


def test_threads_change_nothing(census: shoal.Dataset, small_blocks: None) -> None:
    before, found = get_num_threads(), []
    try:
        for threads in (1, min(2, before)):
            set_num_threads(threads)
            found.append(grown(records(census), 5, Run()).owners)
    finally:
        set_num_threads(before)
    assert np.array_equal(*found)


@pytest.mark.parametrize("algorithm", ["k-member", "two-phase", "two-phase:splitting=A"])
def test_the_release_holds_loses_little_more_and_says_so(
    census: shoal.Dataset, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    models = ("k-anonymity:k=5", "distinct-l-diversity:l=2")
    whole = shoal.anonymize(census, *models, algorithm=algorithm, seed=1)
    assert not any("blocks" in note for note in whole.notes)
    monkeypatch.setattr(_growth, "BLOCK", 1000)
    cut = shoal.anonymize(census, *models, algorithm=algorithm, seed=1)
    assert cut.verify(cut.policy).holds
    assert any("approximates the algorithm" in note for note in cut.notes)
    losses = [shoal.metrics.Lm().score(census, release).value for release in (whole, cut)]
    assert losses[1] <= 1.1 * losses[0]  # type: ignore[operator]


def test_a_refinement_that_the_clock_stops_says_so(census: shoal.Dataset) -> None:
    stopped = shoal.anonymize(
        census, "k-anonymity:k=5", algorithm="mondrian:refine=true,time_limit=0.000001", seed=1
    )  # fmt: skip
    assert any("time limit stopped the refinement" in note for note in stopped.notes)
