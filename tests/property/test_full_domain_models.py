"""What searches believe about models: how much of a class every split loses, and what strictness changes."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import Classes, summarize
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError

TREE = Hierarchy.from_paths("s", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
MODELS = [
    shoal.KAnonymity(k=3),
    shoal.DistinctLDiversity(l=2),
    shoal.models.PSensitiveKAnonymity(p=2, k=3),
    shoal.EntropyLDiversity(l=2),
    shoal.EntropyLDiversity(l=1.3),
    shoal.models.RecursiveLDiversity(c=2, l=2),
    shoal.FrequencyLDiversity(l=2),
    shoal.models.BetaLikeness(beta=0.5),
    shoal.TCloseness(t=0.1),
    shoal.TCloseness(t=0.3),
    shoal.TCloseness(t=0.15, distance="ordered"),
    shoal.TCloseness(t=0.2, distance="hierarchical"),
    shoal.models.InferenceL(l=2),
]


def grouped(owners: list[int], values: list[int]) -> Classes:
    """Classes by owner, with the population of all records."""
    return summarize(
        ["class"], [np.array(owners, np.int32)], [max(owners) + 1], [("s", np.array(values, np.int32), 4, TREE)]
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
@settings(max_examples=count(20, 250), deadline=None)
@given(records=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_no_split_loses_less_than_the_model_says(model: shoal.KAnonymity, records: list[tuple[int, int, int]]) -> None:
    """Classes, each split at random: the parts that break the model hold as many records as `judge` says, or more;
    all of them, when a class cannot lose the model by growing."""
    coarse = [owner for owner, _, _ in records]
    values = [value for _, _, value in records]
    fine = [4 * owner + part for owner, part, _ in records]
    whole, parts = grouped(coarse, values), grouped(fine, values)
    holds, lost = model.judge(whole)
    assert holds.tolist() == model.holds(whole).tolist()
    kept = model.holds(parts)
    for at, owner in enumerate(whole.keys[0].tolist()):
        broken = int(parts.sizes[(parts.keys[0] // 4 == owner) & ~kept].sum())
        assert broken >= lost[at]
        if model.growth_monotone and not holds[at]:
            assert broken == whole.sizes[at]
        if holds[at]:
            assert lost[at] == 0


def test_the_least_loss_of_a_class_is_reached() -> None:
    """A tenth of the table has value 1. Of 25 records with nine of them, five have to go: the other twenty are then
    exactly 0.1 away from the table."""
    values = [1] * 9 + [0] * 16 + [1] * 16 + [0] * 209
    whole = grouped([0] * 25 + [1] * 225, values)
    split = grouped([0] * 5 + [1] * 20 + [2] * 225, values)
    model = shoal.TCloseness(t=0.1)
    assert model.judge(whole)[1].tolist() == [5, 0]
    assert model.holds(split).tolist() == [False, True, True]


def exhaustive(data: shoal.Dataset, policy: Policy) -> dict[tuple[int, ...], int]:
    """The records that each node leaves out, where that is within the budget."""
    found = {}
    for node in product(*(range(tree.height + 1) for tree in data.hierarchies)):
        classes = data.summary.generalize(node)
        gone = int(classes.sizes[~policy.holds(classes)].sum())
        if gone <= policy.budget(data.records) and gone < data.records:
            found[node] = gone
    return found


@settings(max_examples=count(8, 25), deadline=None)
@example(rows=[("p", "x", "a", "c"), ("p", "x", "b", "c"), ("p", "x", "b", "c"), ("q", "x", "a", "d")], limit=0.3)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pqr"), st.sampled_from("xy"), st.sampled_from("ab"), st.sampled_from("cd")),
        min_size=2, max_size=14,
    ),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
)  # fmt: skip
def test_strict_diversity_is_searched_exactly(rows: list[tuple[str, ...]], limit: float) -> None:
    """With other sensitive attributes known, a class can lose diversity by growing; the search must not prune by it."""
    table = pl.DataFrame(rows, schema=["one", "two", "s", "other"], orient="row")
    data = shoal.read(table, quasi=["one", "two"], sensitive=["s", "other"], protect_jointly=True)
    policy = Policy(
        models=(shoal.DistinctLDiversity(l=2, column="s"),), suppression=limit, objective=shoal.metrics.Height()
    )
    expected = exhaustive(data, policy)
    if not expected:
        with pytest.raises(InfeasibleError):
            shoal.algorithms.Optimal().search(data, policy, Run())
        return
    found = shoal.algorithms.Optimal().search(data, policy, Run())
    assert found.facts["score"] == min(map(sum, expected))
    assert found.facts["left_out"] == expected[found.levels]
