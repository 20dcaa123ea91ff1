"""Every privacy model against its definition, written down again in plain Python with exact fractions.

Bounds are fractions with small denominators, so that ties between a class and its bound come up all the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import Classes, summarize
from shoal.core.hierarchy import Hierarchy

TREE = Hierarchy.from_paths(
    "disease", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"), ("e", "e-", "*")]
)
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=24)
SKEWED = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 3, 3, 3, 3, 3])), min_size=1, max_size=24)
SHARES = [Fraction(share) for share in ("0", "1/10", "1/5", "1/4", "1/3", "3/8", "2/5", "1/2", "3/5", "2/3", "1")]


def classes_of(rows: list[tuple[int, int]], left_out: int | None = None) -> Classes:
    """The classes of rows (class, value), without one class when asked; the population counts it still."""
    keys, values = np.array(rows, np.int32).T
    found = summarize(["key"], [keys.copy()], [4], [("disease", values.copy(), 5, TREE)])
    kept = found.keys[0] != (-1 if left_out is None else left_out)
    index = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return found.rolled(index, found.keys[:, kept])


def members(rows: list[tuple[int, int]], left_out: int | None) -> list[list[int]]:
    """The sensitive values of each class, in the order of the classes."""
    keys = sorted({key for key, _ in rows} - {left_out})
    return [[value for key, value in rows if key == wanted] for wanted in keys]


def agree(
    model: Any, rows: list[tuple[int, int]], left_out: int | None,
    verdict: Callable[[list[int], dict[int, Fraction]], bool],
    level: Callable[[list[int], dict[int, Fraction]], Any], worst: Callable[[list[Any]], Any],
) -> None:  # fmt: skip
    """Model and definition give every class the same verdict and the table the same level."""
    classes = classes_of(rows, left_out)
    population = Counter(value for _, value in rows)
    priors = {value: Fraction(count, len(rows)) for value, count in population.items()}
    groups = members(rows, left_out)
    expected = [verdict(group, priors) for group in groups]
    assert model.holds(classes).tolist() == expected
    found = model.measure(classes)
    assert found.holds == all(expected)
    if groups:
        assert found.value == pytest.approx(float(worst([level(group, priors) for group in groups])), abs=1e-12)


def shares(group: list[int]) -> dict[int, Fraction]:
    return {value: Fraction(count, len(group)) for value, count in Counter(group).items()}


LEFT_OUT = st.sampled_from([None, 0])
common = settings(max_examples=count(13, 120), deadline=None)


@common
@given(ROWS, LEFT_OUT, st.integers(1, 5))
def test_distinct(rows: list, left_out: int | None, l: int) -> None:  # noqa: E741
    agree(
        shoal.DistinctLDiversity(l=l), rows, left_out,
        lambda group, _: len(set(group)) >= l, lambda group, _: len(set(group)), min,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.integers(1, 4))
def test_entropy(rows: list, left_out: int | None, l: int) -> None:  # noqa: E741
    def verdict(group: list[int], _: object) -> bool:
        # H >= ln l, in whole numbers: n^n >= l^n times the product of c^c.
        return len(group) ** len(group) >= l ** len(group) * math.prod(c**c for c in Counter(group).values())

    agree(
        shoal.EntropyLDiversity(l=l), rows, left_out, verdict,
        lambda group, _: math.exp(-sum(float(p) * math.log(p) for p in shares(group).values())), min,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(["1", "3/2", "2", "5/2", "3", "4"]))
def test_frequency(rows: list, left_out: int | None, l: str) -> None:  # noqa: E741
    agree(
        shoal.FrequencyLDiversity(l=float(Fraction(l))), rows, left_out,
        lambda group, _: max(shares(group).values()) <= 1 / Fraction(l),
        lambda group, _: 1 / max(shares(group).values()), min,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(["1/3", "1/2", "1", "3/2", "2", "3"]), st.integers(1, 5))
def test_recursive(rows: list, left_out: int | None, c: str, l: int) -> None:  # noqa: E741
    def descending(group: list[int]) -> list[int]:
        return sorted(Counter(group).values(), reverse=True)

    def level(group: list[int], _: object) -> float:
        counts = descending(group)
        return counts[0] / sum(counts[l - 1 :]) if len(counts) >= l else math.inf

    agree(
        shoal.models.RecursiveLDiversity(c=float(Fraction(c)), l=l), rows, left_out,
        lambda group, _: descending(group)[0] < Fraction(c) * sum(descending(group)[l - 1 :]), level, max,
    )  # fmt: skip


def ground(distance: str, occurring: list[int]) -> Callable[[int, int], float]:
    """The distance of two sensitive values, from its definition."""
    if distance == "equal":
        return lambda one, other: float(one != other)
    if distance == "ordered":
        return lambda one, other: abs(occurring.index(one) - occurring.index(other)) / max(len(occurring) - 1, 1)
    return lambda one, other: int(np.argmax(TREE.codes[:, one] == TREE.codes[:, other])) / TREE.height


@settings(max_examples=count(11, 60), deadline=None)
@given(ROWS, LEFT_OUT, st.sampled_from(["equal", "ordered", "hierarchical"]), st.sampled_from(SHARES))
def test_closeness(rows: list, left_out: int | None, distance: str, t: Fraction) -> None:
    """Earth Mover's Distance as the transport problem that defines it."""
    optimize = pytest.importorskip("scipy.optimize")

    def level(group: list[int], priors: dict[int, Fraction]) -> float:
        occurring = sorted(priors)
        apart = ground(distance, occurring)
        costs = [apart(one, other) for one in occurring for other in occurring]
        size = len(occurring)
        gives, takes = np.zeros((size, size, size)), np.zeros((size, size, size))
        for place in range(size):
            gives[place, place, :] = 1
            takes[place, :, place] = 1
        here = shares(group)
        amounts = [float(here.get(value, 0)) for value in occurring] + [float(priors[value]) for value in occurring]
        constraints = np.vstack([gives.reshape(size, -1), takes.reshape(size, -1)])
        return float(optimize.linprog(costs, A_eq=constraints, b_eq=amounts, method="highs").fun)

    agree(
        shoal.TCloseness(t=float(t), distance=distance), rows, left_out,
        lambda group, priors: level(group, priors) <= float(t) + 1e-9, level, max,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(SHARES), st.integers(1, 4), st.sets(st.integers(0, 4), min_size=1))
def test_alpha_k(rows: list, left_out: int | None, alpha: Fraction, k: int, chosen: set[int]) -> None:
    def level(group: list[int], _: object) -> Fraction:
        return max(shares(group).get(value, Fraction(0)) for value in chosen)

    agree(
        shoal.models.AlphaKAnonymity(alpha=float(alpha), k=k, values=tuple("abcde"[value] for value in chosen)),
        rows, left_out, lambda group, _: len(group) >= k and level(group, _) <= alpha, level, max,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.integers(1, 4), st.integers(1, 4))
def test_p_sensitive(rows: list, left_out: int | None, p: int, k: int) -> None:
    agree(
        shoal.models.PSensitiveKAnonymity(p=p, k=k), rows, left_out,
        lambda group, _: len(set(group)) >= p and len(group) >= k, lambda group, _: len(set(group)), min,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(["1/10", "1/3", "1/2", "1", "2", "4"]), st.booleans())
def test_beta(rows: list, left_out: int | None, beta: str, enhanced: bool) -> None:
    def gain(group: list[int], priors: dict[int, Fraction], value: int) -> Fraction:
        return max((shares(group)[value] - priors[value]) / priors[value], Fraction(0))

    def capped(group: list[int], priors: dict[int, Fraction]) -> bool:
        return enhanced and any(gain(group, priors, v) > -math.log(priors[v]) + 1e-12 for v in set(group))

    def level(group: list[int], priors: dict[int, Fraction]) -> float:
        gains = [gain(group, priors, value) for value in set(group)]
        return math.inf if capped(group, priors) else float(max(gains))

    agree(
        shoal.models.BetaLikeness(beta=float(Fraction(beta)), enhanced=enhanced), rows, left_out,
        lambda group, priors: not capped(group, priors)
        and all(gain(group, priors, value) <= Fraction(beta) for value in set(group)),
        level, max,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(["3/2", "2", "3", "6"]), st.booleans())
def test_delta_disclosure(rows: list, left_out: int | None, ratio: str, strict: bool) -> None:
    factor = Fraction(ratio)

    def verdict(group: list[int], priors: dict[int, Fraction]) -> bool:
        ratios = [shares(group)[value] / priors[value] for value in set(group)]
        lacks = strict and set(group) < set(priors)
        return not lacks and all(1 / factor < one < factor for one in ratios)

    def level(group: list[int], priors: dict[int, Fraction]) -> float:
        if strict and set(group) < set(priors):
            return math.inf
        return max(abs(math.log(shares(group)[value] / priors[value])) for value in set(group))

    agree(shoal.models.DeltaDisclosure(delta=math.log(factor), strict=strict), rows, left_out, verdict, level, max)


@common
@given(ROWS, LEFT_OUT, st.sampled_from(SHARES), st.sampled_from(SHARES))
def test_delta_presence(rows: list, left_out: int | None, one: Fraction, other: Fraction) -> None:
    low, high = sorted([one, other])

    def level(group: list[int], _: object) -> Fraction:
        return Fraction(sum(value in (1, 2) for value in group), len(group))

    model = shoal.models.DeltaPresence(delta_min=float(low), delta_max=float(high), values=("b", "c"))
    agree(model, rows, left_out, lambda group, _: low <= level(group, _) <= high, level, max)
    groups = members(rows, left_out)
    least = min((level(group, None) for group in groups), default=Fraction(0))
    assert model.measure(classes_of(rows, left_out)).detail["least"] == pytest.approx(float(least))


@common
@given(ROWS, LEFT_OUT, st.integers(1, 5))
def test_k_map(rows: list, left_out: int | None, k: int) -> None:
    agree(
        shoal.models.KMap(k=k, values=("a",)), rows, left_out,
        lambda group, _: 0 not in group or len(group) >= k,
        lambda group, _: len(group) if 0 in group else math.inf, min,
    )  # fmt: skip


@common
@given(SKEWED, LEFT_OUT, st.sampled_from(SHARES[1:-1]), st.sampled_from(SHARES[1:-1]))
def test_rho(rows: list, left_out: int | None, one: Fraction, other: Fraction) -> None:
    if one == other:
        return
    rho1, rho2 = sorted([one, other])

    def level(group: list[int], priors: dict[int, Fraction]) -> Fraction:
        """The greatest posterior of an event (a value, or its absence) whose prior is at most rho1."""
        here = shares(group)
        posteriors = [here.get(value, Fraction(0)) for value, prior in priors.items() if prior <= rho1]
        posteriors += [1 - here.get(value, Fraction(0)) for value, prior in priors.items() if 1 - prior <= rho1]
        return max(posteriors, default=Fraction(0))

    agree(
        shoal.models.RhoPrivacy(rho1=float(rho1), rho2=float(rho2)), rows, left_out,
        lambda group, priors: level(group, priors) <= rho2, level, max,
    )  # fmt: skip


@common
@given(ROWS, LEFT_OUT, st.sampled_from(SHARES), st.sampled_from(SHARES[:5]))
def test_disclosure_bounds(rows: list, left_out: int | None, delta: Fraction, epsilon: Fraction) -> None:
    def verdict(group: list[int], priors: dict[int, Fraction]) -> bool:
        positive = any(share > 1 - delta for share in shares(group).values())
        negative = any(shares(group).get(value, Fraction(0)) < epsilon for value in priors)
        return not positive and not negative

    model = shoal.models.DisclosureBounds(delta=float(delta), epsilon=float(epsilon))
    agree(model, rows, left_out, verdict, lambda group, _: 1 - max(shares(group).values()), min)


@common
@given(ROWS, LEFT_OUT, st.integers(1, 3))
def test_inference(rows: list, left_out: int | None, l: int) -> None:  # noqa: E741
    groups = members(rows, left_out)
    row = {value: [group.count(value) for group in groups] for value in range(5)}

    def level(group: list[int], _: object) -> int:
        return min(sum(row[other] == row[value] for other in range(5)) for value in group)

    agree(shoal.models.InferenceL(l=l), rows, left_out, lambda group, _: level(group, _) >= l, level, min)


@settings(max_examples=count(14, 80), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6), st.integers(2, 3))
def test_inference_bounds_the_attacker(pairs: list[tuple[int, int]], l: int) -> None:  # noqa: E741
    """Whoever knows everybody's dependent value and counts every assignment that keeps it a function of the
    sensitive value believes in no value by more than 1/l, in a class that satisfies the model."""
    from itertools import permutations

    function = dict(pairs)
    values = [value for value, _ in pairs]
    dependents = [function[value] for value in values]
    if not shoal.models.InferenceL(l=l).holds(classes_of([(0, value) for value in values])).all():
        return
    worlds = {
        world
        for world in permutations(values)
        if len({(value, dependent) for value, dependent in zip(world, dependents, strict=True)}) == len(set(world))
    }
    for person in range(len(values)):
        beliefs = Counter(world[person] for world in worlds)
        assert max(beliefs.values()) * l <= len(worlds)
