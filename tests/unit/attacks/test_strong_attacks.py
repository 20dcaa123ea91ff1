"""The strongest known attacks against what they should find: brute force, closed forms, and other implementations."""

from __future__ import annotations

from itertools import permutations
from math import log, prod

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import shoal
from shoal.adversary.noise import linear_estimate
from shoal.attacks._grouped_people import GroupedPeople
from shoal.attacks.assignment_linkage import Pairs, _answerable, _consistent, _fitting, link
from shoal.attacks.definetti import Definetti, by_regression
from shoal.core.displacement import Coordinate, Displacement
from shoal.core.run import Run
from shoal.perturbation.rank_swapping import RankSwapping, swapped


def perturbed(values: np.ndarray, algorithm: str) -> tuple[shoal.Dataset, shoal.Release, np.ndarray]:
    """A release, and its numbers in the order of the values."""
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(values.T)}).with_row_index("row")
    data = shoal.read(frame, quasi=frame.columns[1:])
    release = shoal.anonymize(data, algorithm=algorithm, seed=5, repeatable=True, allow_plain=["row"])
    return data, release, release.frame.sort("row").drop("row").to_numpy()


def by_windows(before: np.ndarray, after: np.ndarray, most: int) -> float:
    """How many records the best one-to-one assignment within the windows of ranks gets right, with scipy."""
    cost = np.random.default_rng(0).random((len(before), len(before))) * 1e-3
    for new, held in zip(after.T, before.T, strict=True):
        ordered = np.sort(held)
        apart = np.abs(np.searchsorted(ordered, new)[:, None] - np.searchsorted(ordered, held)[None])
        cost += np.where(apart <= most, 0, 1e6)
    rows, columns = linear_sum_assignment(cost)
    return float((rows == columns).mean())


def best(data: shoal.Dataset, release: shoal.Release) -> float:
    """The strongest attack that finds whose record is whose."""
    found = shoal.attack(data, release)
    return max(each.success for each in found if "linkage" in each.name)


def test_rank_swapping_is_linked_at_least_as_well_as_by_windows() -> None:
    values = np.random.default_rng(1).normal(size=(300, 3))
    data, release, after = perturbed(values, "rank-swapping:share=0.1")
    other = by_windows(values, after, 30)
    near = shoal.attack(data, release, "distance-linkage")[0]
    assert near.success < 0.3 and other > 0.55, "the nearest one is a poor guess"
    assert best(data, release) >= other and best(data, release) > 0.99


@pytest.mark.parametrize(
    ("algorithm", "least"),
    [
        ("additive-noise:share=0.02", 1.02),
        ("additive-noise:share=0.1,correlated=true", 1.1),
        ("additive-noise:share=0.1,distribution=uniform", 1.2),
        ("additive-noise:share=0.1,restore=true", 1.02),
        ("multiplicative-noise:spread=0.05", 1.02),
        ("resampling", 1.0),
        ("distortion", 1.0),
    ],
)
def test_linking_all_at_once_links_more(algorithm: str, least: float) -> None:
    generator = np.random.default_rng(2)
    values = 5 + 0.7 * generator.normal(size=(300, 1)) + 0.7 * generator.normal(size=(300, 4))
    data, release, _ = perturbed(values, algorithm)
    near, assigned = shoal.attack(data, release, "distance-linkage", "assignment-linkage")
    assert assigned.success >= least * near.success and assigned.lower_bound and near.lower_bound
    if algorithm in ("resampling", "distortion"):
        assert assigned.success == 1, "who keeps the rank is found"


def test_columns_that_were_not_changed_are_used_too() -> None:
    values = np.random.default_rng(3).normal(size=200)
    frame = pl.DataFrame({"x": values, "town": [f"t{place % 40}" for place in range(200)]})
    data = shoal.read(frame, quasi=["x", "town"])
    release = shoal.anonymize(data, algorithm="additive-noise:share=0.1", seed=1)
    alone, all_of_it = shoal.attack(
        data, release, "assignment-linkage:beside=false", "assignment-linkage"
    )  # fmt: skip
    assert alone.success < 0.1 and all_of_it.success > 0.6


def test_the_seed_says_which_records_of_a_large_table_are_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.attacks.assignment_linkage.COMPARED", 200)
    data, release, _ = perturbed(np.random.default_rng(4).normal(size=(200, 2)), "rank-swapping:share=0.1")
    one, again, another = shoal.attack(
        data, release, "assignment-linkage:seed=1", "assignment-linkage:seed=1", "assignment-linkage:seed=2"
    )  # fmt: skip
    assert 1 < one.detail["records"] < 200 and one.interval
    assert one == again and one.detail != another.detail


def test_missing_values_stay_missing_and_tell() -> None:
    values = np.random.default_rng(1).normal(size=(60, 2))
    values[:20, 0] = np.nan
    frame = pl.DataFrame({"a": values[:, 0], "b": values[:, 1]}).with_columns(pl.col("a").fill_nan(None))
    data = shoal.read(frame, quasi=["a", "b"])
    for algorithm in (
        "rank-swapping:share=0.2",
        "additive-noise:share=1e-6",
        "additive-noise:share=1e-6,correlated=true",
    ):
        release = shoal.anonymize(data, algorithm=algorithm, seed=1)
        found = shoal.attack(data, release, "assignment-linkage")[0]
        assert found.success > (0.6 if "correlated" in algorithm or "rank" in algorithm else 0.99), algorithm


def test_what_says_nothing_about_records_is_refused() -> None:
    values = np.random.default_rng(1).normal(size=(50, 2))
    for algorithm in ("random-projection", "distortion:assign=random"):
        data, release, _ = perturbed(values, algorithm)
        with pytest.raises(shoal.errors.NotDefined, match="how far a value moved"):
            shoal.attack(data, release, "assignment-linkage")


@given(st.integers(0, 2**32 - 1), st.integers(3, 6), st.integers(1, 2), st.booleans())
@settings(deadline=None, max_examples=count(11, 40))
def test_only_what_no_assignment_allows_is_ruled_out(seed: int, size: int, columns: int, ties: bool) -> None:
    """Every assignment in which values were swapped in pairs, each within the window, keeps all its pairs."""
    generator = np.random.default_rng(seed)
    before = generator.integers(0, 3 if ties else 100, (size, columns)).astype(float)
    method = RankSwapping(share=0.5)
    after = np.stack([swapped(column, size // 2, generator) for column in before.T], axis=1)
    moved = method.displacement(before, after)
    assert moved is not None
    pairs = next(iter(_fitting(moved, np.arange(size), Run())))
    pairs = _consistent(moved, pairs.where(_answerable(moved, pairs)), size, Run())
    left = set(zip(pairs.records.tolist(), pairs.people.tolist(), strict=True))
    possible = set()
    for order in permutations(range(size)):
        if all(_swap_exists(before[:, at], after[list(np.argsort(order)), at], size // 2) for at in range(columns)):
            possible |= set(enumerate(order))
    assert possible and possible <= left


def _swap_exists(before: np.ndarray, after: np.ndarray, most: int) -> bool:
    """Whether swapping ranks in pairs, each at most so many away, makes one column of the other."""
    order = np.argsort(before, kind="stable")
    held, wanted = before[order], after[order]

    def made(free: tuple[int, ...]) -> bool:
        if not free:
            return True
        first, rest = free[0], free[1:]
        if held[first] == wanted[first] and made(rest):
            return True
        return any(
            other - first <= most and held[other] == wanted[first] and held[first] == wanted[other]
            and made(tuple(each for each in rest if each != other))
            for other in rest
        )  # fmt: skip

    return made(tuple(range(len(held))))


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=count(6, 15))
def test_chances_are_nearly_those_of_all_assignments(seed: int) -> None:
    """Of six records, the link by balanced chances is the likeliest by all 720 assignments, but for near ties."""
    generator = np.random.default_rng(seed)
    before = generator.normal(size=(6, 2))
    after = before + generator.normal(0, 0.4, (6, 2))
    coordinates = (Coordinate.of(after[:, at], before[:, at], 10.0, 0.4) for at in range(2))
    found = link(Displacement(tuple(coordinates)), np.arange(6), 6, Run()).chances
    weights = np.exp(-((after[:, None] - before[None]) ** 2).sum(axis=2) / (2 * 0.4**2))
    exact = np.zeros((6, 6))
    for order in permutations(range(6)):
        weight = prod(weights[row, column] for row, column in enumerate(order))
        exact[range(6), order] += weight
    exact /= exact.sum(axis=1, keepdims=True)
    ordered = np.sort(exact, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 0.2
    assert np.array_equal(found[clear] == 1, exact.argmax(axis=1)[clear] == np.arange(6)[clear])


def test_of_a_large_table_some_records_are_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=(300, 3))
    data, release, _ = perturbed(values, "rank-swapping:share=0.1")
    whole = shoal.attack(data, release, "assignment-linkage")[0]
    monkeypatch.setattr("shoal.attacks.assignment_linkage.COMPARED", 3000)
    some = shoal.attack(data, release, "assignment-linkage")[0]
    assert some.detail["records"] < 100 and some.interval is not None and some.interval[0] < some.success
    assert whole.interval is None and some.success <= 1 and some.success > 0.5
    monkeypatch.setattr("shoal.attacks.assignment_linkage.REMEMBERED", 10)
    few = shoal.attack(data, release, "assignment-linkage")[0]
    assert 0 < few.success <= whole.success


def test_likely_pairs_stand_together() -> None:
    from shoal.attacks.assignment_linkage import _likely

    pairs = Pairs(np.array([3, 3, 3, 1, 1]), np.array([0, 1, 2, 0, 1]), np.array([-1.0, -50.0, -2.0, -30.0, -31.0]))
    kept = _likely(pairs)
    assert list(zip(kept.records.tolist(), kept.people.tolist(), strict=True)) == [(3, 0), (3, 2), (1, 0), (1, 1)]


# ------------------------------------------------------------------------------------------------------- estimation


def test_the_linear_estimate_has_the_error_of_the_closed_form() -> None:
    """For normal values the least mean squared error is the trace of Σ - Σ(Σ + N)⁻¹Σ."""
    generator = np.random.default_rng(4)
    root = generator.normal(size=(5, 5))
    covariance = root @ root.T
    true = generator.multivariate_normal(np.zeros(5), covariance, 40_000)
    noise = np.diag([0.5, 1.0, 2.0, 4.0, 0.1])
    gains = np.array([1.0, 0.5, 2.0, 1.0, 1.0])
    noisy = 3 + true * gains + generator.multivariate_normal(np.zeros(5), noise, 40_000)
    shown = gains[:, None] * covariance * gains + noise
    left = covariance - (covariance * gains) @ np.linalg.solve(shown, (covariance * gains).T)
    found = linear_estimate(noisy, np.zeros(5), gains, noise)
    assert ((found - true) ** 2).mean(axis=0) == pytest.approx(np.diag(left), rel=0.05)
    exact = (noisy - 3) @ np.linalg.solve(shown, (covariance * gains).T)
    assert np.sqrt(((found - exact) ** 2).mean()) < 0.05


@pytest.mark.parametrize("algorithm", ["additive-noise:share=0.1", "additive-noise:share=0.5,correlated=true"])
def test_estimates_find_more_than_filters(algorithm: str) -> None:
    generator = np.random.default_rng(2)
    values = generator.normal(size=(1500, 2)) @ generator.normal(size=(2, 6)) + 0.3 * generator.normal(size=(1500, 6))
    data, release, after = perturbed(values, algorithm)
    filtered, estimated = shoal.attack(data, release, "spectral-filtering", "linear-estimation")
    assert estimated.success > 1.2 * filtered.success and estimated.detail["rmse"] < 0.85 * filtered.detail["rmse"]
    spreads = values.std(axis=0)
    noise = np.cov(after - values, rowvar=False, bias=True)
    signal = np.cov(after, rowvar=False, bias=True) - noise
    optimal = after.mean(axis=0) + (after - after.mean(axis=0)) @ np.linalg.inv(signal + noise) @ signal
    share = (np.abs((optimal - values) / spreads) <= 0.1).mean()
    assert estimated.success >= share - 0.01, "as many as by the formula"
    assert shoal.attack(data, release, "linear-estimation")[0].lower_bound


def test_a_column_that_is_mostly_true_is_taken_as_it_is() -> None:
    generator = np.random.default_rng(5)
    gains = np.where(generator.random(800) < 0.9, 0.0, generator.exponential(1000, 800)).round()
    data, release, after = perturbed(np.column_stack([gains, generator.normal(size=800)]), "rank-swapping:share=0.05")
    found = shoal.attack(data, release, "linear-estimation")[0]
    same = (np.abs(after[:, 0] - gains) <= 0.1 * gains.std()).mean()
    assert found.success >= same / 2 and found.detail["as_published"] >= 1


# -------------------------------------------------------------------------------------------------------- deFinetti


def correlated(people: int, copies: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Three illnesses: one column names the right one with 0.75, and `copies` of another with 0.5, which are all the
    same. Also by how much likelier each illness is by both columns, as a logarithm."""
    generator = np.random.default_rng(7)
    ill = np.arange(people) % 3
    columns = []
    for right in (0.75, 0.5):
        wrong = (ill + generator.integers(1, 3, people)) % 3
        columns.append(np.where(generator.random(people) < right, ill, wrong))
    logs = np.zeros((people, 3))
    logs[range(people), columns[0]] += log(0.75 / 0.125)
    logs[range(people), columns[1]] += log(0.5 / 0.25)
    table = {"strong": columns[0], **{f"weak{copy}": columns[1] for copy in range(copies)}, "ill": ill}
    letters = {name: ["abc"[value] for value in column] for name, column in table.items()}
    return pl.DataFrame(letters).with_row_index("row"), logs


def test_columns_that_say_the_same_count_once() -> None:
    table, logs = correlated(2400, 6)
    data = shoal.read(table, quasi=table.columns[1:-1], sensitive=["ill"])
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy", seed=1, allow_plain=["row"])
    right = []  # of somebody who knows how the table was made
    homes = release.frame.sort("row")["group"].to_numpy()
    for home in np.unique(homes):
        people = np.flatnonzero(homes == home)
        held = people % 3
        weights = {order: sum(logs[person, held[place]] for person, place in zip(people, order, strict=True))
                   for order in permutations(range(len(people)))}  # fmt: skip
        likely = max(weights.values())
        ties = [order for order, weight in weights.items() if weight > likely - 1e-9]
        right.append(np.mean([np.mean(held[list(order)] == held) for order in ties]) * len(people))
    optimal = sum(right) / len(homes)
    found = shoal.attack(data, release, "definetti")[0]
    assert optimal > 0.85 and found.success == pytest.approx(optimal, abs=0.02)
    assert found.success == found.detail["regression"] > found.detail["bayes"] + 0.05


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=2)
def test_a_settled_regression_agrees_with_its_own_beliefs(seed: int) -> None:
    """With one column and hardly a ridge: beliefs are those over all permutations, weighed by how much likelier a value
    is among those who have the same code, as the beliefs themselves say."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 5, 8)
    homes = np.repeat(np.arange(8), sizes)
    column, values = generator.integers(0, 3, len(homes)), generator.integers(0, 2, len(homes))
    made = GroupedPeople(homes.astype(np.int32), column[None].astype(np.int32), homes, values, 2)
    effort = Definetti(steps=1500, tolerance=1e-300)
    found, _ = by_regression(made, effort, generator, Run(), ridge=1e-4, settled=1e-7)
    usual = np.bincount(values, minlength=2) / len(values)
    among = {code: found[column == code].mean(axis=0) for code in np.unique(column)}
    for home in range(8):
        people = np.flatnonzero(homes == home)
        beliefs, total = np.zeros((len(people), 2)), 0.0
        for order in permutations(range(len(people))):
            held = [values[people[place]] for place in order]
            each = (
                among[column[person]][value] / usual[value] for person, value in zip(people, held, strict=True)
            )  # fmt: skip
            weight = prod(each)
            total += weight
            for row, value in enumerate(held):
                beliefs[row, value] += weight
        assert np.allclose(found[people], beliefs / total, atol=0.01)


def test_large_groups_keep_their_counts() -> None:
    generator = np.random.default_rng(9)
    homes = np.repeat(np.arange(4), 30)
    column, values = generator.integers(0, 3, 120), generator.integers(0, 3, 120)
    made = GroupedPeople(homes.astype(np.int32), column[None].astype(np.int32), homes, values, 3)
    found, _ = by_regression(made, Definetti(steps=200), generator, Run())
    assert np.allclose(found.sum(axis=1), 1)
    for home in range(4):
        held = np.bincount(values[homes == home], minlength=3)
        assert found[homes == home].sum(axis=0) == pytest.approx(held, abs=0.05)
