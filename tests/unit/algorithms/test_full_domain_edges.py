"""Full-domain searches: options, and input at the edge of what they can take."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import job
from shoal.algorithms.full_domain._checker import WORTH_THREADS
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError, SchemaError

SEARCHES = ("samarati", "optimal", "incognito", "datafly")
HIERARCHIES = shoal.samples.hierarchies("adult")
QUASI = ["age", "sex", "race", "education", "workclass"]


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    table = shoal.samples.adult().drop("education-num")  # it says what education does
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=HIERARCHIES)


def levels(data: shoal.Dataset, algorithm: object, **policy: object) -> dict[str, int]:
    chosen = Policy(models=(shoal.KAnonymity(k=5),), **policy)
    return algorithm.search(data, chosen, Run()).facts["levels"]


@pytest.mark.parametrize("name", SEARCHES)
def test_one_record(name: str) -> None:
    data = shoal.read(pl.DataFrame({"age": [30], "sex": ["f"]}), quasi=["age", "sex"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm=name)
    assert release.frame.rows() == [(30, "f")]
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=name, suppression=1.0)
    assert caught.value.attempt["records"] == 1


@pytest.mark.parametrize("name", SEARCHES)
def test_one_quasi_identifier(name: str) -> None:
    data = shoal.read(pl.DataFrame({"zip": ["10a", "10b", "20a", "20b"]}), quasi=["zip"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=name)
    assert release.recoding.facts["levels"] == {"zip": 1}
    assert sorted(release.frame["zip"]) == ["10*", "10*", "20*", "20*"]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_column_with_one_value(name: str) -> None:
    data = shoal.read(pl.DataFrame({"sex": ["f"] * 3, "age": [1, 2, 2]}), quasi=["sex", "age"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=name, suppression=0.5)
    assert release.suppressed <= 1


@pytest.mark.parametrize("name", SEARCHES)
def test_no_solution_names_the_closest_node(name: str, data: shoal.Dataset) -> None:
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(data, shoal.KAnonymity(k=40_000), algorithm=name, suppression=0.1)
    attempt = caught.value.attempt
    assert attempt["suppressed"] == attempt["records"] == 30_162
    assert attempt["budget"] == 3016 and attempt["lacking"] == 30_162 - 3016
    assert set(attempt["levels"]) == set(QUASI)
    json.dumps(attempt)
    assert caught.value.exit_code == 3


def test_nothing_left_is_no_solution(data: shoal.Dataset) -> None:
    """A budget of everything does not mean an empty table."""
    with pytest.raises(InfeasibleError, match="30,161 may be") as caught:
        shoal.anonymize(data, shoal.KAnonymity(k=40_000), algorithm="optimal", suppression=1.0)
    assert caught.value.attempt["checked"] == 1


@pytest.mark.smoke
def test_level_limits_hold(data: shoal.Dataset) -> None:
    free = levels(data, shoal.algorithms.Optimal(), suppression=0.02)
    bound = levels(
        data,
        shoal.algorithms.Optimal(least_levels={"age": free["age"] + 1}, greatest_levels={"education": 0}),
        suppression=0.02,
    )
    assert bound["age"] > free["age"] and bound["education"] == 0
    with pytest.raises(ParameterError, match="left no level"):
        levels(data, shoal.algorithms.Optimal(least_levels={"age": 2}, greatest_levels={"age": 1}))
    with pytest.raises(SchemaError, match="no column named 'height'"):
        levels(data, shoal.algorithms.Optimal(greatest_levels={"height": 1}))


def test_limits_can_leave_no_solution(data: shoal.Dataset) -> None:
    with pytest.raises(InfeasibleError) as caught:
        levels(data, shoal.algorithms.Optimal(greatest_levels=dict.fromkeys(QUASI, 0)), suppression=0.01)
    assert caught.value.attempt["levels"] == dict.fromkeys(QUASI, 0)
    assert caught.value.attempt["checked"] == 1


def test_weights_move_the_loss_elsewhere(data: shoal.Dataset) -> None:
    even = levels(data, shoal.algorithms.Optimal(), suppression=0.01)
    spared = max(even, key=lambda name: even[name])
    assert even[spared] > 0
    weighted = levels(data, shoal.algorithms.Optimal(weights={spared: 50}), suppression=0.01)
    assert weighted[spared] < even[spared]
    assert levels(data, shoal.algorithms.Optimal(weights=dict.fromkeys(QUASI, 3)), suppression=0.01) == even


@pytest.mark.parametrize("weights", [{"age": -1}, dict.fromkeys(QUASI, 0), {"age": float("nan")}])
def test_weights_that_mean_nothing(data: shoal.Dataset, weights: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=r"weights are numbers from 0 up|must be finite"):
        levels(data, shoal.algorithms.Optimal(weights=weights))


def test_weights_need_an_objective_of_cells(data: shoal.Dataset) -> None:
    with pytest.raises(ParameterError, match="class sizes"):
        levels(data, shoal.algorithms.Optimal(weights={"age": 2}), objective=shoal.metrics.Dm())
    with pytest.raises(ParameterError, match="cannot be minimized"):
        levels(data, shoal.algorithms.Optimal(), objective=shoal.metrics.CAvg())
    with pytest.raises(SchemaError, match="no column named 'shoe'"):
        levels(data, shoal.algorithms.Optimal(weights={"shoe": 2}))


def test_options_as_a_command_spells_them() -> None:
    spelled = job.plugin("algorithms", "optimal:least_levels=age:2|sex:1,weights=age:0.5,time_limit=3")
    assert spelled == shoal.algorithms.Optimal(least_levels={"age": 2, "sex": 1}, weights={"age": 0.5}, time_limit=3.0)
    for text in ("optimal:least_levels=age", "optimal:weights=age:much", "optimal:time_limit=0"):
        with pytest.raises(ParameterError):
            job.plugin("algorithms", text)


def test_incognito_refuses_what_it_cannot_prune(data: shoal.Dataset) -> None:
    with pytest.raises(ParameterError, match="optimal search"):
        shoal.anonymize(data, shoal.TCloseness(t=0.3), algorithm="incognito", suppression=0.1)


def test_runners_up_are_the_next_best(data: shoal.Dataset) -> None:
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02)
    facts = shoal.algorithms.Optimal().search(data, policy, Run()).facts
    scores = [facts["score"], *(entry["score"] for entry in facts["runners_up"])]
    assert len(scores) > 1 and scores == sorted(scores)
    for entry in facts["runners_up"]:
        fixed = shoal.algorithms.Optimal(least_levels=entry["levels"], greatest_levels=entry["levels"])
        alone = fixed.search(data, policy, Run()).facts
        assert (alone["score"], alone["left_out"]) == (pytest.approx(entry["score"]), entry["left_out"])


def test_pruned_and_checked_nodes_add_up(data: shoal.Dataset) -> None:
    nodes = shoal.algorithms.Optimal().search(data, Policy(models=(shoal.KAnonymity(k=5),)), Run()).facts["nodes"]
    assert nodes["checked"] + sum(nodes["pruned"].values()) == nodes["total"]
    assert nodes["checked"] < nodes["total"] / 4


def test_an_early_stop_says_so(data: shoal.Dataset) -> None:
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02)
    proven = shoal.algorithms.Optimal().search(data, policy, Run()).facts
    stopped = shoal.algorithms.Optimal(check_limit=20, anytime_above=0).search(data, policy, Run()).facts
    assert proven["proven"] and proven["bound"] == proven["score"]
    assert not stopped["proven"]
    assert stopped["nodes"]["checked"] <= 22
    assert stopped["bound"] <= proven["score"] <= stopped["score"]
    assert stopped["gap"] == pytest.approx((stopped["score"] - stopped["bound"]) / stopped["score"])


def test_a_loss_that_only_rounding_tells_from_none() -> None:
    """The table as it is costs nothing, one level up next to nothing: the search ends there, and goes down."""
    ages = ["5", "9007199254740993", "9007199254740994"] * 4
    trees = {"age": "intervals:width=10,bottom=20,top=60"}
    data = shoal.read(pl.DataFrame({"age": ages}), quasi=["age"], hierarchies=trees)
    policy = Policy(models=(shoal.KAnonymity(k=4),), objective=shoal.metrics.Gcp())
    facts = shoal.algorithms.Optimal().search(data, policy, Run()).facts
    assert (facts["levels"], facts["score"], facts["bound"], facts["gap"]) == ({"age": 0}, 0.0, 0.0, 0.0)


def test_progress_is_told(data: shoal.Dataset) -> None:
    told: list[tuple[float, str]] = []
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=1.0)
    shoal.algorithms.Optimal().search(data, policy, Run(lambda done, doing: told.append((done, doing))))
    shoal.algorithms.Samarati().search(data, policy, Run(lambda done, doing: told.append((done, doing))))
    assert told and all(0 <= done <= 1 for done, _ in told)
    assert any("nodes checked" in doing for _, doing in told)


def test_many_quasi_identifiers_with_limited_effort() -> None:
    """Twenty columns, more than ten billion nodes: a node that beats Datafly's, and a bound below it."""
    table = shoal.samples.adult().drop("fnlwgt")
    derived = [(pl.col("age") // width).alias(f"age{width}") for width in (2, 3, 4, 6, 7, 8)]
    data = shoal.read(table.with_columns(derived), quasi=[*table.columns, *(f"age{w}" for w in (2, 3, 4, 6, 7, 8))])
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02)
    facts = shoal.algorithms.Optimal(check_limit=600).search(data, policy, Run()).facts
    assert facts["nodes"]["total"] > 10**10
    assert facts["score"] < shoal.algorithms.Datafly().search(data, policy, Run()).facts["score"]
    assert 0 < facts["bound"] < facts["score"]
    assert 0 < facts["gap"] < 1
    course = facts["course"]
    assert course and all(entry["bound"] <= facts["score"] <= entry["score"] for entry in course)
    assert all(one["bound"] <= other["bound"] for one, other in pairwise(course))
    assert all(2 * one["checked"] <= other["checked"] for one, other in pairwise(course))
    in_time = (
        shoal.algorithms.Optimal(time_limit=0.2).search(data, policy, Run()).facts
    )  # to search it to the end takes ages
    assert not in_time["proven"] and 0 <= in_time["bound"] < in_time["score"]


def test_a_lattice_of_more_nodes_than_can_be_counted() -> None:
    """Fifty columns with four levels each, 10³⁰ nodes: a node within the limit, and a bound below it."""
    generator = np.random.default_rng(4)
    people = {f"q{at}": generator.integers(0, 8, 400) for at in range(50)}
    paths = [[str(leaf), f"{leaf // 2}/2", f"{leaf // 4}/4", "*"] for leaf in range(8)]
    trees = {name: shoal.Hierarchy.from_paths(name, paths) for name in people}
    data = shoal.read(pl.DataFrame(people), quasi=list(people), hierarchies=trees)
    policy = Policy(models=(shoal.KAnonymity(k=3),), suppression=0.1)
    facts = shoal.algorithms.Optimal(check_limit=400).search(data, policy, Run()).facts
    assert facts["nodes"]["total"] == 4**50
    assert facts["left_out"] <= 40 and not facts["proven"]
    assert facts["bound"] < facts["score"] < 1
    no_time = shoal.algorithms.Optimal().search(data, policy, Run(seconds=0)).facts
    assert no_time["left_out"] <= 40 and no_time["bound"] <= facts["score"] <= no_time["score"]


@pytest.mark.parametrize("model", [shoal.KAnonymity(k=3), shoal.TCloseness(t=0.0), shoal.EntropyLDiversity(l=1.5)])
def test_one_distinct_tuple(model: shoal.KAnonymity) -> None:
    table = pl.DataFrame({"age": [40] * 6, "sex": ["f"] * 6, "illness": list("xxyyzz")})
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["illness"])
    release = shoal.anonymize(data, model, algorithm="optimal", suppression=1.0)
    assert release.recoding.facts["proven"] and release.suppressed == 0
    assert release.frame["age"].to_list() == [40] * 6


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The facts with all counts, the nodes in the order in which they were checked, and the release, with one thread,
    with two, and with seven, which is more than most machines have cores and divides no batch."""
    table = shoal.samples.adult().drop("education-num").gather_every(3)
    quasi = [*QUASI, "marital-status", "native-country"]
    searches = [
        ((shoal.KAnonymity(k=5),), shoal.algorithms.Optimal()),
        ((shoal.KAnonymity(k=3), shoal.TCloseness(t=0.3)), shoal.algorithms.Optimal()),
        (
            (shoal.KAnonymity(k=3), shoal.EntropyLDiversity(l=3)),
            shoal.algorithms.Optimal(check_limit=300, anytime_above=0),
        ),
        ((shoal.KAnonymity(k=5),), shoal.algorithms.Optimal(check_limit=900, anytime_above=0)),
    ]
    monkeypatch.setattr("shoal.algorithms.full_domain._checker.SHARED", 0)
    told: list[list[Any]] = []
    for threads in (1, 2, 7):
        monkeypatch.setattr("shoal.kernels.threads.count", lambda threads=threads: threads)
        data = shoal.read(table, quasi=quasi, sensitive=["occupation"], hierarchies=HIERARCHIES)
        assert len(data.summary) >= WORTH_THREADS
        told.append([])
        for models, search in searches:
            release = shoal.anonymize(data, *models, algorithm=search, suppression=0.3, seed=1)
            told[-1] += [release.recoding.facts, release.recoding.trail, release.frame.write_csv()]
    assert told[0] == told[1] == told[2]
