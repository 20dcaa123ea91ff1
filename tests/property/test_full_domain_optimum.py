"""The full-domain searches against brute force: every node, grouped and scored in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import inf, log2, prod

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms.full_domain import _parts
from shoal.algorithms.full_domain._checker import Checker
from shoal.core.classes import Classes, Histogram
from shoal.core.lattice import Lattice
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError

TOP = "*"
MODELS = {
    "k-anonymity": [shoal.KAnonymity(k=3)],
    "distinct": [shoal.KAnonymity(k=2), shoal.DistinctLDiversity(l=2)],
    "entropy": [shoal.EntropyLDiversity(l=1.8)],
    "recursive": [shoal.models.RecursiveLDiversity(c=2, l=2)],
    "frequency": [shoal.FrequencyLDiversity(l=2)],
    "t-equal": [shoal.TCloseness(t=0.25)],
    "t-ordered": [shoal.TCloseness(t=0.2, distance="ordered")],
    "beta": [shoal.models.BetaLikeness(beta=0.7)],
    "inference": [shoal.models.InferenceL(l=2)],
    "combinations": [shoal.models.KCombinations(k=3, size=2)],
    "p-sensitive and t": [shoal.models.PSensitiveKAnonymity(p=2, k=2), shoal.TCloseness(t=0.4)],
}
OBJECTIVES = {
    name: shoal.registry.make("metrics", name, {})
    for name in ("loss", "loss-arithmetic", "gcp", "dm", "dm-all", "aecs", "entropy", "precision", "height")
}


@st.composite
def paths(draw: st.DrawFn, letter: str) -> list[list[str]]:
    """A hierarchy over up to six values: random parents, level by level, then the top."""
    leaves = draw(st.integers(1, 6))
    rows = [[f"{letter}{leaf}"] for leaf in range(leaves)]
    groups = leaves
    for level in range(1, draw(st.integers(1, 3))):
        fewer = draw(st.integers(1, groups))
        parents = [draw(st.integers(0, fewer - 1)) for _ in range(groups)]
        names = {row[-1] for row in rows}
        parent = {name: parents[at] for at, name in enumerate(sorted(names))}
        for row in rows:
            row.append(f"{letter}{level}/{parent[row[-1]]}")
        groups = len({row[-1] for row in rows})
    return [[*row, TOP] for row in rows]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[list[str]]], list[tuple[str, ...]], list[str]]:
    trees = [draw(paths(letter)) for letter in "abc"[: draw(st.integers(1, 3))]]
    rows = draw(st.integers(1, 24))
    records = [tuple(tree[draw(st.integers(0, len(tree) - 1))][0] for tree in trees) for _ in range(rows)]
    return trees, records, [draw(st.sampled_from("xyz")) for _ in range(rows)]


def opened(trees: list[list[list[str]]], records: list[tuple[str, ...]], sensitive: list[str]) -> shoal.Dataset:
    names = [f"q{at}" for at in range(len(trees))]
    frame = pl.DataFrame({name: [row[at] for row in records] for at, name in enumerate(names)})
    hierarchies = {name: shoal.Hierarchy.from_paths(name, tree) for name, tree in zip(names, trees, strict=True)}
    return shoal.read(
        frame.with_columns(pl.Series("s", sensitive)), quasi=names, sensitive=["s"], hierarchies=hierarchies
    )


def scored(name: str, trees: list[list[list[str]]], rows: list[tuple[str, ...]], node: tuple[int, ...],
           groups: dict[tuple[str, ...], list[int]], gone: set[int]) -> float:  # fmt: skip
    """The objective at a node, by its definition."""
    n, d = len(rows), len(trees)
    maps = [{row[0]: row[level] for row in tree} for tree, level in zip(trees, node, strict=True)]
    kept = [members for members in groups.values() if not gone & set(members)]
    if name == "height":
        return sum(node)
    if name == "dm":
        return sum(len(members) ** 2 for members in kept) + n * len(gone)
    if name == "dm-all":
        return sum(len(members) ** 2 for members in groups.values())
    if name == "aecs":
        return n / (len(kept) + bool(gone))
    terms = []
    for at, (tree, level) in enumerate(zip(trees, node, strict=True)):
        below = Counter(row[level] for row in tree)
        share = {label: count / len(tree) for label, count in below.items()}
        height = len(tree[0]) - 1
        cells = [maps[at][row[at]] for row in rows]
        if name == "entropy":
            raw, published = Counter(row[at] for row in rows), Counter(cells)
            bits = -sum(log2(raw[row[at]] / published[cell]) for row, cell in zip(rows, cells, strict=True))
            left = Counter(cells[row] for row in gone)
            terms.append(bits - sum(count * log2(count / len(gone)) for count in left.values()))
        elif name == "precision":
            terms.append(sum(1 if row in gone else level / height for row in range(n)) / n)
        elif name == "gcp":
            cost = {label: 0.0 if below[label] == 1 else share[label] for label in share}
            terms.append(sum(1 if row in gone else cost[cells[row]] for row in range(n)) / n)
        else:
            spent = sum(1 if row in gone else share[cells[row]] for row in range(n))
            least = n / len(tree)
            terms.append(max(0.0, (spent - least) / (n - least)) if len(tree) > 1 else 0.0)
    if name == "entropy":
        return sum(terms)
    return prod(1 + term for term in terms) ** (1 / d) - 1 if name == "loss" else sum(terms) / d


def classified(alike: dict[tuple[str, ...], list[int]], codes: list[int], whole: Histogram) -> Classes:
    """Groups of records as models take them."""
    groups, labels = list(alike.values()), [sorted(set(column)) for column in zip(*alike, strict=True)]
    keys = [
        [names.index(label) for label in column] for names, column in zip(labels, zip(*alike, strict=True), strict=True)
    ]
    tallies = [sorted(Counter(codes[at] for at in members).items()) for members in groups]
    starts = np.cumsum([0, *map(len, tallies)]).astype(np.int64)
    values = np.array([value for tally in tallies for value, _ in tally], np.int32)
    counts = np.array([count for tally in tallies for _, count in tally], np.int64)
    histogram = Histogram("s", starts, values, counts, whole.population, whole.hierarchy)
    sizes = np.array([len(members) for members in groups], np.int64)
    return Classes((), np.array(keys, np.int32), sizes, (histogram,), (), len(codes))


def brute(data: shoal.Dataset, trees: list[list[list[str]]], records: list[tuple[str, ...]], policy: Policy,
          name: str) -> dict[tuple[int, ...], tuple[float, int]]:  # fmt: skip
    """Score and suppressed records of every node that satisfies the policy within the budget."""
    found = {}
    codes, whole = data.codes("s").tolist(), data.summary.sensitive[0]
    for node in product(*(range(len(tree[0])) for tree in trees)):
        maps = [{row[0]: row[level] for row in tree} for tree, level in zip(trees, node, strict=True)]
        groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, row in enumerate(records):
            groups[tuple(mapping[value] for mapping, value in zip(maps, row, strict=True))].append(at)
        published = dict(groups)
        while published:
            holds = policy.holds(classified(published, codes, whole))
            if holds.all():
                break
            published = {key: published[key] for key, kept in zip(list(published), holds, strict=True) if kept}
        gone = {at for key, members in groups.items() if key not in published for at in members}
        if len(gone) <= policy.budget(len(records)) and len(gone) < len(records):
            found[node] = scored(name, trees, records, node, groups, gone), len(gone)
    return found


def check(algorithm: object, data: shoal.Dataset, policy: Policy) -> object:
    return algorithm.search(data, policy, Run())  # type: ignore[attr-defined]


common = settings(
    max_examples=count(8, 30), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
limits = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])


@pytest.mark.parametrize("models", MODELS)
@common
@given(table=tables(), limit=limits, objective=st.sampled_from(list(OBJECTIVES)))
def test_optimal_is_the_least_of_all_nodes(models: str, table: tuple, limit: float, objective: str) -> None:
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit, objective=OBJECTIVES[objective])
    expected = brute(data, trees, records, policy, objective)
    if not expected:
        with pytest.raises(InfeasibleError) as caught:
            check(shoal.algorithms.Optimal(), data, policy)
        assert caught.value.attempt["suppressed"] > min(policy.budget(len(records)), len(records) - 1)
        return
    found = check(shoal.algorithms.Optimal(), data, policy)
    score, suppressed = expected[found.levels]
    assert found.facts["score"] == pytest.approx(score, abs=1e-9, rel=1e-9)
    assert score == pytest.approx(min(entry[0] for entry in expected.values()), abs=1e-9, rel=1e-9)
    assert found.facts["left_out"] == suppressed == int(data.summary.sizes[found.plan.withheld].sum())
    assert found.facts["proven"] and found.facts["gap"] == 0


@pytest.mark.parametrize("models", MODELS)
@common
@given(table=tables(), limit=limits, objective=st.sampled_from(list(OBJECTIVES)), seed=st.integers(0, 9))
def test_what_parts_and_climbing_add_keeps_the_optimum(
    models: str, table: tuple, limit: float, objective: str, seed: int
) -> None:
    """As in a lattice that is too large to be searched to the end, with every column or two a part of its own."""
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit, objective=OBJECTIVES[objective], seed=seed)
    expected = brute(data, trees, records, policy, objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parts, "LARGEST", 4)
        if not expected:
            with pytest.raises(InfeasibleError):
                check(shoal.algorithms.Optimal(anytime_above=0), data, policy)
            return
        found = check(shoal.algorithms.Optimal(anytime_above=0), data, policy)
    least = min(entry[0] for entry in expected.values())
    assert found.facts["proven"]
    assert found.facts["score"] == pytest.approx(least, abs=1e-9, rel=1e-9)
    assert found.facts["score"] == pytest.approx(expected[found.levels][0], abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@common
@given(table=tables(), limit=limits)
def test_every_objective(objective: str, table: tuple, limit: float) -> None:
    """The search's score, the metric's score of the release, and the definition are one number."""
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=(shoal.KAnonymity(k=2),), suppression=limit, objective=OBJECTIVES[objective])
    expected = brute(data, trees, records, policy, objective)
    assume(expected)
    release = shoal.anonymize(
        data, *policy.models, algorithm="optimal", suppression=limit, objective=OBJECTIVES[objective]
    )
    least = min(entry[0] for entry in expected.values())
    assert release.recoding.facts["score"] == pytest.approx(least, abs=1e-9, rel=1e-9)
    assert OBJECTIVES[objective].score(data, release).value == pytest.approx(least, abs=1e-9, rel=1e-9)


@common
@given(table=tables(), limit=limits, models=st.sampled_from(["k-anonymity", "distinct", "combinations"]))
def test_samarati_finds_the_least_height(table: tuple, limit: float, models: str) -> None:
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit)
    expected = brute(data, trees, records, policy, "loss")
    assume(expected)
    found = check(shoal.algorithms.Samarati(), data, policy)
    height = min(map(sum, expected))
    assert sum(found.levels) == found.facts["height"] == height
    ties = [entry[::-1] for node, entry in expected.items() if sum(node) == height]
    fewest, least = min(ties)
    assert found.facts["left_out"] == fewest
    assert found.facts["score"] == pytest.approx(least, abs=1e-9)


@common
@given(table=tables(), limit=limits, models=st.sampled_from(["k-anonymity", "distinct", "combinations", "t-equal"]))
def test_incognito_finds_every_minimal_node(table: tuple, limit: float, models: str) -> None:
    limit = 0.0 if models == "t-equal" else limit
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit)
    expected = brute(data, trees, records, policy, "loss")
    assume(expected)
    found = check(shoal.algorithms.Incognito(), data, policy)
    below = {
        node for node in expected
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in expected)
    }  # fmt: skip
    assert {tuple(node.values()) for node in found.facts["minimal"]} == below
    assert found.facts["satisfying"] == len(expected)
    assert found.facts["score"] == pytest.approx(min(entry[0] for entry in expected.values()), abs=1e-9)


@common
@given(table=tables(), limit=limits, models=st.sampled_from(list(MODELS)))
def test_datafly_stays_within_the_budget(table: tuple, limit: float, models: str) -> None:
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit)
    expected = brute(data, trees, records, policy, "loss")
    try:
        found = check(shoal.algorithms.Datafly(), data, policy)
    except InfeasibleError:
        assert tuple(len(tree[0]) - 1 for tree in trees) not in expected
        return
    score, suppressed = expected[found.levels]
    assert found.facts["score"] == pytest.approx(score, abs=1e-9)
    assert found.facts["left_out"] == suppressed


@common
@given(table=tables(), limit=limits, models=st.sampled_from(list(MODELS)), checks=st.integers(1, 12),
       objective=st.sampled_from(list(OBJECTIVES)))  # fmt: skip
def test_a_stopped_search_tells_a_true_bound(
    table: tuple, limit: float, models: str, checks: int, objective: str
) -> None:
    trees, records, sensitive = table
    data = opened(trees, records, sensitive)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit, objective=OBJECTIVES[objective])
    expected = brute(data, trees, records, policy, objective)
    least = min((entry[0] for entry in expected.values()), default=inf)
    try:
        found = check(shoal.algorithms.Optimal(check_limit=checks, anytime_above=0), data, policy)
    except InfeasibleError:
        assert len(expected) < len(list(product(*(range(len(tree[0])) for tree in trees))))
        return
    facts = found.facts
    assert facts["bound"] <= least + 1e-9 * max(1, abs(least))
    assert facts["score"] == pytest.approx(expected[found.levels][0], abs=1e-9, rel=1e-9)
    if facts["proven"]:
        assert facts["score"] == pytest.approx(least, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@common
@given(table=tables(), models=st.sampled_from(list(MODELS)), limit=limits, parted=st.booleans())
def test_no_node_of_a_box_beats_its_bound(
    objective: str, table: tuple, models: str, limit: float, parted: bool
) -> None:
    """Every box of the lattice: no node in it scores or loses less than the box is said to, or than the floor of its
    lowest node, also where it is known what is lost in parts of the columns."""
    data = opened(*table)
    policy = Policy(models=tuple(MODELS[models]), suppression=limit, objective=OBJECTIVES[objective])
    checker = Checker(data, policy, Run())
    lattice = Lattice.of(data.hierarchies)
    nodes = list(lattice)
    verdicts = {node: checker.check(node) for node in nodes}
    if parted:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_parts, "LARGEST", 4)
            _parts.bound_parts(checker, lattice, Run(), most=inf)
    floors = {node: checker.floor(node) for node in nodes}
    for low, high in product(nodes, nodes):
        if any(first > last for first, last in zip(low, high, strict=True)) or verdicts[high].lost > checker.budget:
            continue
        (bound,) = checker.bounds([(low, high)])
        for node, verdict in verdicts.items():
            if all(a <= b <= c for a, b, c in zip(low, node, high, strict=True)):
                assert verdict.suppressed >= verdicts[high].lost
                if verdict.feasible:
                    slack = 1e-9 * max(1, abs(verdict.score))
                    assert max(bound.least, floors[low]) <= verdict.score + slack
                    if low != high and node[bound.attribute] == high[bound.attribute]:
                        assert bound.upper <= verdict.score + slack
                    for wanted in (verdict.score + 2 * slack, 1.5 * abs(verdict.score) + 2 * slack):
                        highest = checker.bounds([(low, high)], wanted)[0].highest
                        assert all(a <= b <= c for a, b, c in zip(node, highest, high, strict=True))
