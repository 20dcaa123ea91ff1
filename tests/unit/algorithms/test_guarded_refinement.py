"""Refinement under models of sensitive values: proposals are held against the models at once, and work is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numba import get_num_threads, set_num_threads

import shoal
from shoal.algorithms import _refinement
from shoal.algorithms._records import Records
from shoal.algorithms._refinement import refined
from shoal.core.policy import Policy
from shoal.core.run import Run

MODELS: list[tuple[Any, ...]] = [
    (shoal.EntropyLDiversity(l=2.5),),
    (shoal.models.RecursiveLDiversity(c=2, l=2),),
    (shoal.TCloseness(t=0.35), shoal.DistinctLDiversity(l=3)),
    (shoal.TCloseness(t=0.2, distance="ordered"),),
    (shoal.TCloseness(t=0.35), shoal.EntropyLDiversity(l=2), shoal.FrequencyLDiversity(l=2)),
]
SPELLED = ["entropy", "recursive", "t and distinct", "ordered t", "three"]


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    generator = np.random.default_rng(4)
    illness = generator.choice(list("abcdef"), 180, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    table = pl.DataFrame(
        {"age": generator.integers(18, 90, 180), "town": generator.choice(list("stuvw"), 180), "illness": illness}
    )
    return shoal.read(table, quasi=["age", "town"], sensitive=["illness"])


def begun(data: shoal.Dataset, models: tuple[Any, ...]) -> tuple[Records, Any]:
    """Eight classes that satisfy the models: every eighth record of each value, in no order."""
    records = Records.of(data, Policy(models=(*models, shoal.KAnonymity(k=4)), seed=1), ("interval", "hierarchy"))
    (values,) = data.listing(1)
    owners = np.empty(len(records), np.int32)
    owners[np.argsort(values, kind="stable")] = np.arange(len(records)) % 8
    assert records.holds(owners).all()
    return records, owners


@pytest.mark.parametrize("models", MODELS, ids=SPELLED)
def test_nothing_is_proposed_that_breaks_a_model(models: tuple[Any, ...], data: shoal.Dataset) -> None:
    """No verdict is asked for after a round, so that whatever the guard lets through by mistake would stay."""
    records, owners = begun(data, models)
    search = _refinement._ClusterSearch(records, owners, 32, Run())
    assert search.guards_all and search.guard.kinds == 6
    search._broken = None  # type: ignore[method-assign,assignment]
    before = float(search.state.paid.sum())
    search.exchange(0.0, 0.5)
    search.rebuild(4, 0.5, 1.0)
    search.exchange(1.0, 1.0)
    assert float(search.state.paid.sum()) < 0.9 * before
    assert records.holds(_refinement.numbered(search.state.owners)).all()
    counted = np.zeros_like(search.state.counts)
    np.add.at(counted, (search.state.owners, search.state.values), 1)
    assert np.array_equal(counted, search.state.counts)


@pytest.mark.parametrize("models", MODELS, ids=SPELLED)
def test_counts_at_hand_and_counts_anew_say_the_same(models: tuple[Any, ...], data: shoal.Dataset) -> None:
    records, owners = begun(data, models)
    at_hand, _ = refined(records, owners, 60, Run())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_refinement, "FEW_KINDS", 0)
        anew, _ = refined(records, owners, 60, Run())
    assert np.array_equal(at_hand, anew)


def test_work_is_the_same_whatever_the_threads_and_stops_where_it_is_said(data: shoal.Dataset) -> None:
    records, owners = begun(data, MODELS[2])
    _, whole = refined(records, owners, 60, Run())
    assert whole["finished"] and "stopped" not in whole
    before, results = get_num_threads(), []
    try:
        for threads in (1, before):
            set_num_threads(threads)
            results.append(refined(records, owners, 60, Run(), work=whole["work"] / 2))
    finally:
        set_num_threads(before)
    (some, facts), (same, again) = results
    assert np.array_equal(some, same) and facts == again
    assert facts["stopped"] == "work" and not facts["finished"]
    assert facts["work"] < whole["work"] and whole["after"] < facts["after"] < facts["before"]
    assert records.holds(some).all()


def test_models_that_are_not_compiled_are_asked_after_every_round(data: shoal.Dataset) -> None:
    records, owners = begun(data, (shoal.models.BetaLikeness(beta=3),))
    search = _refinement._ClusterSearch(records, owners, 32, Run())
    assert not search.guards_all
    clusters, facts = refined(records, owners, 60, Run())
    assert facts["exchanges"] > 0 and records.holds(clusters).all()


def test_a_round_is_given_up_where_a_few_large_classes_take_too_much(
    data: shoal.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for 45 classes; how many there are says how long a look at the others takes."""
    records, owners = begun(data, MODELS[0])
    monkeypatch.setattr(_refinement, "CHUNK", 1000)
    free = _refinement._ClusterSearch(records, owners, 32, Run())
    bound = _refinement._ClusterSearch(records, owners, 32, Run(), allowed=free.work)
    assert free._propose() and not bound._propose()
    assert bound.allowed < bound.work < free.work
