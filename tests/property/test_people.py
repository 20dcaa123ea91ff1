"""Counting people: every model, search and question, held against plain Python on small random tables."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import job
from shoal.core.recoding import Recoding
from shoal.errors import InfeasibleError, ParameterError
from shoal.job.plugins import parse_spec

Row = tuple[int, str, str, str]
"""Who it is, two quasi-identifiers and a sensitive value."""

NAMES = ("patient", "age", "sex", "disease")
ALGORITHMS = (
    "optimal",
    "samarati",
    "incognito",
    "datafly",
    "mondrian",
    "mondrian:strict=false",
    "k-member:refine=true",
)
MODELS = (
    "distinct-l-diversity:l=2",
    "entropy-l-diversity:l=1.5",
    "frequency-l-diversity:l=1.4",
    "recursive-l-diversity:c=2,l=2",
    "p-sensitive-k-anonymity:p=2,k=2",
    "alpha-k-anonymity:alpha=0.7,k=2",
    "t-closeness:t=0.4",
    "t-closeness:t=0.4,distance=ordered",
    "beta-likeness:beta=0.9",
)

rows = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("1234"), st.sampled_from("fm"), st.sampled_from("abc")),
    min_size=4,
    max_size=24,
)


def _table(people: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(NAMES, zip(*people, strict=True), strict=True)))


def _data(people: Iterable[Row], **more: Any) -> shoal.Dataset:
    return shoal.read(_table(people), quasi=["age", "sex"], sensitive=["disease"], person="patient", **more)


class Crowd:
    """Some records in people: how many there are, and how many have each value."""

    def __init__(self, some: Iterable[Row]) -> None:
        some = list(some)
        self.people = len({row[0] for row in some})
        self.having = Counter(value for _, value in {(row[0], row[3]) for row in some})
        self.pairs = sum(self.having.values())


def level(spelled: str, crowd: Crowd, whole: Crowd) -> float:
    """The level of a class, by the definition, counted in people."""
    name, given = parse_spec(spelled)
    counts = sorted(crowd.having.values(), reverse=True)
    values = sorted(whole.having)
    if name == "k-anonymity":
        return crowd.people
    if name == "distinct-l-diversity":
        return min(len(counts), crowd.people)
    if name == "p-sensitive-k-anonymity":
        return min(len(counts), crowd.people) if crowd.people >= int(given["k"]) else -math.inf
    if name == "entropy-l-diversity":
        entropy = -sum(count / crowd.pairs * math.log(count / crowd.pairs) for count in counts)
        return min(math.exp(entropy), crowd.people)
    if name == "frequency-l-diversity":
        return crowd.people / counts[0]
    if name == "recursive-l-diversity":
        c = float(given["c"])
        reached = [rank for rank in range(1, len(counts) + 1) if counts[0] < c * sum(counts[rank - 1 :])]
        return min(max(reached, default=0), crowd.people)
    if name == "alpha-k-anonymity":
        return counts[0] / crowd.people if crowd.people >= int(given["k"]) else math.inf
    if name == "beta-likeness":
        gains = [(n / crowd.people) / (whole.having[value] / whole.people) - 1 for value, n in crowd.having.items()]
        return max(0.0, *gains)
    apart = [crowd.having[value] / crowd.pairs - whole.having[value] / whole.pairs for value in values]
    if given.get("distance") == "ordered":
        steps = [abs(sum(apart[: place + 1])) for place in range(len(values) - 1)]
        return sum(steps) / len(steps) if steps else 0.0
    return sum(abs(each) for each in apart) / 2


def keeps(spelled: str, found: float) -> bool:
    model = job.plugin("models", spelled)
    slack = 1e-9 * max(1.0, abs(model.bound))
    return found >= model.bound - slack if model.more_is_safer else found <= model.bound + slack


def _classes(some: Iterable[Row], key: Any) -> dict[Any, list[Row]]:
    found = defaultdict(list)
    for row in some:
        found[key(row)].append(row)
    return found


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@settings(max_examples=count(5, 25), deadline=None)
@given(people=rows)
def test_levels_are_those_of_the_definition(engine: str, people: list[Row]) -> None:
    data = _data(people, engine=engine)
    for names, key in ((("age", "sex"), lambda row: row[1:3]), (("sex",), lambda row: (row[2],))):
        classes = data.group(names)
        for spelled in ("k-anonymity:k=3", *MODELS):
            wanted = [level(spelled, Crowd(some), Crowd(people)) for _, some in sorted(_classes(people, key).items())]
            found = job.plugin("models", spelled).levels(classes)
            assert found.tolist() == pytest.approx(wanted, rel=1e-9), spelled


def _published(people: list[Row], release: shoal.Release) -> list[tuple[Any, list[Row]]]:
    """The records of each published class, by the plan: who is published as what."""
    recoding: Recoding | None = release.recoding
    assert recoding is not None and recoding.plan is not None
    plan = recoding.plan
    seen: list[Row]
    if plan.by_record:
        data = _data(people)
        order = data.table.listing(("age", "sex"), ("patient", "age", "sex", "disease"), release.seed)
        trees = [data.schema[name].hierarchy for name in NAMES]
        texts = [[tree.labels[0][code] for code in codes] for tree, codes in zip(trees, order, strict=True)]  # type: ignore[union-attr]
        seen = [(int(who), age, sex, value) for who, age, sex, value in zip(*texts, strict=True)]
    else:
        seen = sorted(people, key=lambda row: row[1:3])
    keys = sorted({row[1:3] for row in people})
    shown: dict[Any, list[Row]] = defaultdict(list)
    for place, row in enumerate(seen):
        owner = plan.owners[place if plan.by_record else keys.index(row[1:3])]
        if owner >= 0:
            cells = [book.labels[cell] for book, cell in zip(plan.codebooks, plan.cells[:, owner], strict=True)]
            shown[tuple(cells)].append(row)
    return list(shown.items())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=count(5, 30), deadline=None)
@given(people=rows, second=st.sampled_from([None, *MODELS]), k=st.integers(1, 3), budget=st.sampled_from([0.0, 0.3]))
def test_releases_keep_their_policy_in_people(
    algorithm: str, people: list[Row], second: str | None, k: int, budget: float
) -> None:
    wanted = [f"k-anonymity:k={k}", *([] if second is None else [second])]
    data = _data(people)
    try:
        release = shoal.anonymize(data, *wanted, algorithm=algorithm, suppression=budget, seed=1)
    except (InfeasibleError, ParameterError) as refusal:
        if isinstance(refusal, ParameterError):
            assert algorithm == "incognito" and "generalization cannot break" in str(refusal)
            return
        # Leaving out everything but one class is what some searches find and others do not look for.
        assert not all(keeps(each, level(each, Crowd(people), Crowd(people))) for each in wanted)
        return
    shown = _published(people, release)
    assert sum(len(some) for _, some in shown) == release.published.records
    assert "patient" not in release.frame.columns
    for _, some in shown:
        for each in wanted:
            assert keeps(each, level(each, Crowd(some), Crowd(people))), (each, some)


@pytest.mark.parametrize("spelled", ["k-anonymity:k=3", "distinct-l-diversity:l=2", "frequency-l-diversity:l=1.4"])
@settings(max_examples=count(5, 30), deadline=None)
@given(people=rows, budget=st.sampled_from([0.0, 0.3]))
def test_the_optimal_search_finds_the_optimum_in_people(spelled: str, people: list[Row], budget: float) -> None:
    data = _data(people)
    trees = data.hierarchies
    feasible = []
    for levels in ((a, b) for a in range(trees[0].height + 1) for b in range(trees[1].height + 1)):

        def key(row: Row, levels: tuple[int, int] = levels) -> Any:
            return tuple(
                tree.codes[at][tree.leaf(text)] for tree, at, text in zip(trees, levels, row[1:3], strict=True)
            )

        classes = _classes(people, key).values()
        lost = sum(len(some) for some in classes if not keeps(spelled, level(spelled, Crowd(some), Crowd(people))))
        if lost <= min(int(budget * len(people) + 1e-9), len(people) - 1):
            feasible.append((levels, lost))
    try:
        release = shoal.anonymize(
            data, spelled, algorithm="optimal", suppression=budget, objective="height", seed=1
        )  # fmt: skip
    except InfeasibleError:
        assert not feasible
        return
    assert release.recoding is not None and release.recoding.facts["proven"]
    levels = release.recoding.levels
    assert levels in dict(feasible) and release.suppressed == dict(feasible)[levels]
