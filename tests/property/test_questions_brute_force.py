"""Every question of the diagnosis, for every compiled model, against a look at every set with plain Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import summarize
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.diagnosis.questions import ask
from shoal.diagnosis.weighted_rows import Partitions, WeightedRows

TREE = Hierarchy.from_paths("s", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"), ("d", "d", "*")])
MODELS = {
    ("k", None, "equal"): shoal.KAnonymity(k=1),
    ("distinct-l", None, "equal"): shoal.DistinctLDiversity(l=1),
    ("entropy-l", None, "equal"): shoal.EntropyLDiversity(l=1),
    ("frequency-l", None, "equal"): shoal.FrequencyLDiversity(l=1),
    ("recursive-l", 1.5, "equal"): shoal.models.RecursiveLDiversity(c=1.5, l=1),
    ("t", None, "equal"): shoal.TCloseness(t=1),
    ("t", None, "ordered"): shoal.TCloseness(t=1, distance="ordered"),
    ("t", None, "hierarchical"): shoal.TCloseness(t=1, distance="hierarchical"),
}
CHOICES = list(MODELS)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    rows = draw(
        st.lists(st.tuples(*(st.integers(0, 2) for _ in range(width)), st.integers(0, 3)), min_size=1, max_size=16)
    )
    return width, rows


def summary(width, rows):
    columns = [np.array([row[j] for row in rows], np.int32) for j in range(width + 1)]
    names = [f"q{j}" for j in range(width)]
    return names, summarize(names, columns[:width], [3] * width, [("s", columns[width], 4, TREE)])


def flow(shares, priors, distance):
    """The Earth Mover's Distance from its definition for these ground distances."""
    if distance == "equal":
        return sum(max(0.0, shares[v] - priors[v]) for v in range(4))
    if distance == "ordered":
        occurring = [v for v in range(4) if priors[v] > 0]
        total = carried = 0.0
        for v in occurring[:-1]:
            carried += shares[v] - priors[v]
            total += abs(carried)
        return total / max(1, len(occurring) - 1)
    extra = [shares[v] - priors[v] for v in range(4)]
    within = min(max(extra[0], 0) + max(extra[1], 0), -min(extra[0], 0) - min(extra[1], 0))
    upper = [extra[0] + extra[1], extra[2], extra[3]]
    return within / 2 + sum(max(0.0, x) for x in upper)


def level(name, c, distance, values, everyone):
    counts = sorted(Counter(values).values(), reverse=True)
    size = len(values)
    if name == "k":
        return size
    if name == "distinct-l":
        return len(counts)
    if name == "entropy-l":
        return math.exp(-sum(n / size * math.log(n / size) for n in counts))
    if name == "frequency-l":
        return size / counts[0]
    if name == "recursive-l":
        return max((r for r in range(1, len(counts) + 1) if counts[0] < c * sum(counts[r - 1 :])), default=0)
    shares = [values.count(v) / size for v in range(4)]
    priors = [everyone.count(v) / len(everyone) for v in range(4)]
    return -flow(shares, priors, distance)


def classes_of(rows, chosen, name, c, distance):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[j] for j in chosen), []).append(row[-1])
    everyone = [row[-1] for row in rows]
    return [(len(values), level(name, c, distance, values, everyone)) for values in groups.values()]


def sets_of(width):
    return [chosen for size in range(1, width + 1) for chosen in combinations(range(width), size)]


def lost(groups, bound):
    inner = bound - 1e-9
    return sum(size for size, reached in groups if reached < inner)


def level_after(groups, budget):
    reachable = sorted({reached for _, reached in groups})
    best = [bound for bound in reachable if lost(groups, bound) <= budget]
    return math.inf if sum(size for size, _ in groups) <= budget else max(best)


def same(found, expected, name):
    if name == "t":
        return found == pytest.approx(0.0 if math.isinf(expected) else -expected, abs=1e-9)
    return found == pytest.approx(expected, abs=1e-9)


def curve_holds(curve, groups, records, name):
    """The steps are exactly the levels of the classes, and each costs what lies below it."""
    inner = [(-bound if name == "t" else bound, share) for bound, share in curve]
    distinct = []
    for reached in sorted(reached for _, reached in groups):
        if not distinct or reached - distinct[-1] > 1e-9:
            distinct.append(reached)
    return len(inner) == len(distinct) and all(
        bound == pytest.approx(reached, abs=1e-9) and share == pytest.approx(lost(groups, bound) / records)
        for (bound, share), reached in zip(inner, distinct, strict=True)
    )


@pytest.mark.parametrize(("name", "c", "distance"), CHOICES)
@settings(max_examples=count(8, 25), deadline=None)
@given(table=tables(), delta=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]), data=st.data())
def test_all_questions_agree_with_brute_force(name, c, distance, table, delta, data):
    width, rows = table
    names, classes = summary(width, rows)
    model = MODELS[name, c, distance]
    bound = data.draw(st.sampled_from([0.0, 0.2, 0.5, 1.0] if name == "t" else [1, 2, 3]))
    inner = -bound if name == "t" else bound
    budget = int(delta * len(rows) + 1e-9)
    groups = {chosen: classes_of(rows, chosen, name, c, distance) for chosen in sets_of(width)}

    def named(chosen):
        return tuple(names[j] for j in chosen)

    def asked(question, **more):
        return ask(classes, model, more.pop("attributes", names), question=question, **more)

    for chosen in data.draw(st.lists(st.sampled_from(sets_of(width)), min_size=1, max_size=2)):
        own, attributes = groups[chosen], named(chosen)
        assert asked(1, attributes=attributes, bound=bound).answer is (lost(own, inner) == 0)
        assert asked(5, attributes=attributes, bound=bound, delta=delta).answer is (lost(own, inner) <= budget)
        assert same(asked(2, attributes=attributes).answer, level_after(own, 0), name)
        assert same(asked(6, attributes=attributes, delta=delta).answer, level_after(own, budget), name)
        assert asked(9, attributes=attributes, bound=bound, delta="ask").answer == lost(own, inner) / len(rows)
        assert curve_holds(asked(11, attributes=attributes, delta="ask").answer, own, len(rows), name)
    every, after = asked(4).answer, asked(8, delta=delta).answer
    shares, curves = asked(10, bound=bound, delta="ask").answer, asked(12, delta="ask").answer
    assert len(every) == len(after) == len(shares) == len(curves) == len(groups)
    for chosen, own in groups.items():
        assert same(every[named(chosen)], level_after(own, 0), name)
        assert same(after[named(chosen)], level_after(own, budget), name)
        assert shares[named(chosen)] == lost(own, inner) / len(rows)
        assert curve_holds(curves[named(chosen)], own, len(rows), name)
    for question, spent, more in ((3, 0, {}), (7, budget, {"delta": delta})):
        found = asked(question, bound=bound, **more)
        good = {chosen for chosen, own in groups.items() if lost(own, inner) <= spent}
        bad = groups.keys() - good
        maximal = {named(x) for x in good if not any(set(x) < set(y) for y in good)}
        minimal = {named(x) for x in bad if not any(set(y) < set(x) for y in bad)}
        assert found.proven
        assert set(found.positive_border) == maximal and len(found.positive_border) == len(maximal)
        assert set(found.negative_border) == minimal and len(found.negative_border) == len(minimal)
        if found.monotone and found.calls_levelwise is not None:
            assert found.calls_levelwise == len(good) + len(minimal)


@pytest.mark.parametrize(("name", "c", "distance"), CHOICES)
@settings(max_examples=count(8, 40), deadline=None)
@given(table=tables(), budget=st.integers(0, 8))
def test_adding_an_attribute_never_helps_where_a_model_says_so(name, c, distance, table, budget):
    width, rows = table
    names, classes = summary(width, rows)
    every = WeightedRows.of(classes, MODELS[name, c, distance], names)
    partitions = Partitions(every, Run())
    spent = budget if every.monotone(budget) else 0
    reached = {mask: partitions.level(*every.levels(partitions.of(mask)), spent) for mask in range(1, every.full + 1)}
    for mask, below in reached.items():
        for position in range(width):
            assert reached[mask | 1 << position] <= below + 1e-9


@pytest.mark.parametrize(
    "model",
    [
        shoal.EntropyLDiversity(l=2.5),
        shoal.FrequencyLDiversity(l=2),
        shoal.models.RecursiveLDiversity(c=1.5, l=2),
        shoal.TCloseness(t=0.3),
    ],
)
def test_with_a_budget_an_attribute_can_save_records(model):
    # A class of nine a, one b and one c: the added attribute parts a, b, c off, which keep the bound by themselves.
    rows = [(0, 0, 0)] * 8 + [(0, 1, 0), (0, 1, 1), (0, 1, 2)] + [(1, 0, 1), (1, 0, 2)] * 6
    _, classes = summary(2, rows)
    alone = ask(classes, model, ["q0"], question=9, delta="ask").answer
    joined = ask(classes, model, ["q0", "q1"], question=9, delta="ask").answer
    assert joined < alone
    assert not model.growth_monotone
