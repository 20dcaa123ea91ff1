"""Microaggregation by squared error: what it reports, how little it loses, and that its groups are sound."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms import _squares
from shoal.core.run import Run
from shoal.errors import CancelledError
from shoal.kernels import squares_refinement
from shoal.kernels.squares_groups import error_of, microaggregation


@pytest.fixture(autouse=True)
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_squares, "BUDGET", 2_000_000)


def table(records: int = 120, columns: int = 3, seed: int = 0) -> pl.DataFrame:
    """Skewed numbers in clumps, some records twice."""
    generator = np.random.default_rng(seed)
    values = np.exp(generator.normal(size=(records, columns)) + generator.integers(0, 3, (records, 1)))
    values = np.round(values[generator.integers(0, records, records)], 2)
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(values.T)})
    return frame.with_row_index("row").with_columns(s=pl.col("row") % 3)


def quasi(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name.startswith("c")]


def anonymized(frame: pl.DataFrame, algorithm: str, *models: str, seed: int = 1, **more: object) -> shoal.Release:
    data = shoal.read(frame, quasi=quasi(frame), sensitive=["s"])
    wanted = models or ("k-anonymity:k=3",)
    return shoal.anonymize(data, *wanted, algorithm=algorithm, seed=seed, allow_plain=["row"], **more)


def loss(frame: pl.DataFrame, release: shoal.Release) -> tuple[float, float]:
    """SSE and SST of what was published, from nothing but the two tables."""
    names = quasi(frame)
    shown = frame.select("row").join(release.frame, on="row", how="left", maintain_order="left")
    true, means = frame[names].to_numpy().astype(float), shown[names].to_numpy().astype(float)
    spread = np.where(true.std(axis=0) > 0, true.std(axis=0), 1.0)
    return float((((true - means) / spread) ** 2).sum()), float((((true - true.mean(axis=0)) / spread) ** 2).sum())


@pytest.mark.parametrize("algorithm", ["mdav", "mdav:refine=true"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("models", [("k-anonymity:k=3",), ("k-anonymity:k=4", "distinct-l-diversity:l=3")])
def test_the_reported_error_is_that_of_the_published_means(
    algorithm: str, columns: int, models: tuple[str, ...]
) -> None:
    frame = table(columns=columns)
    release = anonymized(frame, algorithm, *models)
    facts, (error, total) = release.recoding.facts, loss(frame, release)
    assert facts["sse"] == pytest.approx(error, rel=1e-6)
    assert facts["sst"] == pytest.approx(total)
    assert facts["loss"] == pytest.approx(100 * error / total, rel=1e-6)
    assert release.verify(release.policy).holds


@pytest.mark.parametrize("least", [2, 3, 5])
def test_mdav_takes_the_farthest_record_and_its_nearest(least: int) -> None:
    """Against MDAV as its paper words it, in plain numpy."""
    points = np.random.default_rng(least).normal(size=(47, 4))
    left, groups = list(range(len(points))), []

    def take(origin: int) -> None:
        left.sort(key=lambda record: ((points[record] - points[origin]) ** 2).sum())
        groups.append(sorted(left[:least]))
        del left[:least]

    while len(left) >= 2 * least:
        middle = points[left].mean(axis=0)
        first = max(left, key=lambda record: ((points[record] - middle) ** 2).sum())
        both = len(left) >= 3 * least
        take(first)
        if both:
            take(max(left, key=lambda record: ((points[record] - points[first]) ** 2).sum()))
    groups.append(sorted(left))
    found = _squares.farthest_first(points, least, Run())
    assert sorted(np.flatnonzero(found == group).tolist() for group in range(found.max() + 1)) == sorted(groups)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("least", [2, 3])
def test_one_column_has_the_least_error_that_there_is(seed: int, least: int) -> None:
    """Against every way to group eight records, also those that are not consecutive."""
    points = np.random.default_rng(seed).exponential(size=(8, 1)).round(1)
    best = min(error(points, owners) for owners in groupings(len(points), least))
    assert error(points, _squares.optimal(points, least)) == pytest.approx(best)


@cache
def groupings(records: int, least: int) -> list[np.ndarray]:
    """Every way to group records so that each group has enough of them; groups are numbered as they come."""
    ways = [[0]]
    for _ in range(records - 1):
        ways = [[*way, group] for way in ways for group in range(min(max(way) + 2, records // least))]
    return [np.array(way) for way in ways if np.bincount(way).min() >= least]


def error(points: np.ndarray, owners: np.ndarray) -> float:
    return sum(float(((held - held.mean(axis=0)) ** 2).sum()) for g in set(owners) for held in [points[owners == g]])


@pytest.mark.parametrize("least", [2, 3, 7])
@pytest.mark.parametrize("records", [15, 60, 200])
def test_refinement_saves_error_and_keeps_sizes(least: int, records: int) -> None:
    points = np.random.default_rng(records).standard_t(3, size=(records, 3))
    before = _squares.farthest_first(points, least, Run())
    after, facts = _squares.refined(points, before, least, np.random.default_rng(1), 60, Run())
    assert facts["finished"] and facts["before"] == pytest.approx(error(points, before))
    assert facts["after"] == pytest.approx(error(points, after)) and error(points, after) < error(points, before)
    sizes = np.bincount(after)
    assert least <= sizes.min() and sizes.max() < 2 * least


def test_a_kick_that_is_taken_back_changes_nothing() -> None:
    """With no heat the error never rises, and what is told is that of the groups, however many kicks there were."""
    points = np.random.default_rng(3).normal(size=(90, 2))
    owners = _squares.farthest_first(points, 4, Run())
    near = np.argsort(((points[:, None] - points) ** 2).sum(axis=2), axis=1)[:, 1:13].astype(np.int32)
    state, flag = microaggregation(points, owners, near, 4), np.zeros(1, np.uint8)
    squares_refinement.settle(state, flag)
    told, generator = error_of(state), np.random.default_rng(0)
    best = told
    for _ in range(40):
        draws = generator.random((16, squares_refinement.DRAWS))
        now, best = squares_refinement.kick(state, draws, 0.0, told, best, owners, flag)
        assert now <= told and now == pytest.approx(error(points, state.owners))
        told = now
    assert np.bincount(state.owners).sum() == len(points) and best == pytest.approx(error(points, owners))


@pytest.mark.parametrize("algorithm", ["mdav", "mdav:refine=true"])
def test_neither_order_nor_unit_of_the_numbers_matters(algorithm: str) -> None:
    frame = table()
    plain = anonymized(frame, algorithm)
    scaled = frame.with_columns(c0=pl.col("c0") * 8, c1=pl.col("c1") / 4)
    for other in (frame.reverse(), scaled):
        assert anonymized(other, algorithm).recoding.facts == plain.recoding.facts
    assert anonymized(frame.reverse(), algorithm).frame.equals(plain.frame)


@pytest.mark.parametrize("algorithm", ["mdav", "mdav:refine=true"])
@pytest.mark.parametrize(
    "columns",
    [
        {"c0": [5] * 12, "c1": list(range(12))},
        {"c0": [5] * 12},
        {"c0": [1e300, -1e300, 1e-300] * 4, "c1": [0.0, 1.0] * 6},
        {"c0": [1, 1, 1, 1, 2, 2, 2, 2, 9, 9, 9, 9], "c1": [0] * 12},
        {"c0": [1, 2, 3]},
        {"c0": [1, 2, 3, 4, 5]},
    ],
    ids=["one constant", "all constant", "huge and tiny", "duplicates", "k records", "less than 2k"],
)
def test_odd_tables(algorithm: str, columns: dict[str, list[float]]) -> None:
    frame = pl.DataFrame(columns).with_row_index("row").with_columns(s=pl.col("row") % 3)
    release = anonymized(frame, algorithm)
    assert release.verify(release.policy).holds and release.frame.height == frame.height
    assert 0 <= release.recoding.facts["loss"] <= 100 + 1e-9


def test_a_column_with_missing_values_goes_by_ranges() -> None:
    frame = table().with_columns(c0=pl.when(pl.col("row") % 9 == 0).then(None).otherwise(pl.col("c0")))
    release = anonymized(frame, "mdav:refine=true")
    assert "sse" not in release.recoding.facts and release.verify(release.policy).holds


def test_a_record_that_is_left_out_counts_as_the_mean_of_all() -> None:
    points = np.array([[0.0], [2.0], [4.0], [6.0]]) - 3.0
    assert _squares.squared_error(points, np.array([0, 0, 1, 1])) == {"sse": 4.0, "sst": 20.0, "loss": 20.0}
    assert _squares.squared_error(points, np.array([0, 0, -1, -1])) == {"sse": 12.0, "sst": 20.0, "loss": 60.0}


def test_refinement_stops_when_it_is_told_to() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    owners = _squares.farthest_first(points, 3, Run())
    _, facts = _squares.refined(points, owners, 3, np.random.default_rng(0), 0.0, Run())
    assert not facts["finished"] and facts["kicks"] == 0
    told: list[float] = []

    def stop(share: float, doing: str) -> None:
        told.append(share)
        if doing == "refining groups":
            run.cancel()

    run = Run(stop)
    with pytest.raises(CancelledError):
        _squares.refined(points, owners, 3, np.random.default_rng(0), 60.0, run)
    assert all(left <= right for left, right in pairwise(told))
