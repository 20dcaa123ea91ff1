"""What perturbations change in the statistics of a table, against plain numpy from the two tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined

NAMES = ["a", "b", "c"]


def table(records: int = 300) -> pl.DataFrame:
    generator = np.random.default_rng(2)
    values = generator.multivariate_normal([5, 0, -3], [[4, 3, 0], [3, 9, 1], [0, 1, 1]], records).round(3)
    frame = pl.DataFrame(dict(zip(NAMES, values.T, strict=True)))
    return frame.with_columns(town=pl.Series(generator.choice(["n", "s", "w", None], records))).with_row_index("row")


@pytest.fixture(params=["embedded", "duckdb"])
def data(request: pytest.FixtureRequest) -> shoal.Dataset:
    return shoal.read(table(), quasi=[*NAMES, "town"], engine=request.param)


def both(release: shoal.Release) -> tuple[np.ndarray, np.ndarray]:
    shown = pl.from_arrow(release.frame) if not isinstance(release.frame, pl.DataFrame) else release.frame
    return table()[NAMES].to_numpy(), shown.sort("row")[NAMES].to_numpy()


def test_figures_are_those_of_the_two_tables(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, algorithm="additive-noise:share=0.5", seed=3)
    before, after = both(release)
    spreads = before.std(axis=0)
    means = np.abs(after.mean(axis=0) - before.mean(axis=0)) / spreads
    deviations = np.abs(after.std(axis=0) - spreads) / spreads
    moments = shoal.metrics.Moments().score(data, release)
    assert moments.value == pytest.approx((means.mean() + deviations.mean()) / 2)
    assert moments.detail["b, mean"] == pytest.approx(means[1])

    steps = np.abs(np.quantile(after, [0.25, 0.5, 0.75], axis=0) - np.quantile(before, [0.25, 0.5, 0.75], axis=0))
    assert shoal.metrics.Quantiles(parts=4).score(data, release).value == pytest.approx((steps / spreads).mean())

    apart = np.abs(np.cov(after.T, bias=True) - np.cov(before.T, bias=True)) / np.outer(spreads, spreads)
    covariances = shoal.metrics.Covariances().score(data, release)
    assert covariances.value == pytest.approx(apart[np.triu_indices(3)].mean())
    moved = np.abs(np.corrcoef(after.T) - np.corrcoef(before.T))[np.triu_indices(3, 1)]
    assert covariances.detail["correlations"] == pytest.approx(moved.mean())
    assert covariances.detail["greatest change of a correlation"] == pytest.approx(moved.max())


def test_a_swap_keeps_every_marginal_but_not_relations(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, algorithm="rank-swapping:share=0.5", seed=3)
    for metric in ("moments", "quantiles", "marginals"):
        assert shoal.evaluate(data, release, metric)[metric].value == pytest.approx(0, abs=1e-12)
    assert shoal.evaluate(data, release, "covariances")["covariances"].value > 0.05


def test_marginals_of_categories(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, algorithm="pram:keep=0.2", seed=3)
    frame = pl.from_arrow(release.frame) if not isinstance(release.frame, pl.DataFrame) else release.frame
    counts = [{town: towns.to_list().count(town) for town in "nsw"} for towns in (table()["town"], frame["town"])]
    expected = sum(abs(counts[0][town] - counts[1][town]) for town in "nsw") / 2 / 300
    assert shoal.metrics.Marginals().score(data, release).value == pytest.approx(expected) and expected > 0
    for metric in (shoal.metrics.Moments(), shoal.metrics.Quantiles(), shoal.metrics.Covariances()):
        with pytest.raises(NotDefined, match="no numeric column"):
            metric.score(data, release)


def test_noise_far_outside_moves_a_marginal_altogether() -> None:
    frame = pl.DataFrame({"x": np.arange(100.0) % 2 + np.arange(100.0) / 1e6})
    data = shoal.read(frame, quasi=["x"])
    release = shoal.anonymize(data, algorithm="additive-noise:share=1e6", seed=3)
    assert shoal.metrics.Marginals().score(data, release).value > 0.8


@pytest.mark.parametrize(
    "metric",
    [shoal.metrics.Moments(), shoal.metrics.Covariances(), shoal.metrics.Quantiles(), shoal.metrics.Marginals()],
)
def test_what_cannot_be_compared_is_said(metric: shoal.metrics.Moments, tmp_path: Path) -> None:
    data = shoal.read(table(), quasi=[*NAMES, "town"])
    name = type(metric).__name__.lower()
    shoal.anonymize(data, algorithm="additive-noise", seed=3).write(tmp_path / "noisy.csv")
    assert "as it was made" in shoal.evaluate(data, tmp_path / "noisy.csv", metric)[name].how
    coarse = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=3)
    if name == "marginals":  # it reads truthful releases by what their cells may stand for
        assert shoal.evaluate(data, coarse, metric)[name].value > 0
        return
    assert "no value of this release was changed" in shoal.evaluate(data, coarse, metric)[name].how
    fewer = shoal.read(table(200), quasi=[*NAMES, "town"])
    noisy = shoal.anonymize(data, algorithm="additive-noise", seed=3)
    with pytest.raises(NotDefined, match="another number of records"):
        metric.score(fewer, noisy)


def test_a_projection_without_values_in_its_last_columns(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, algorithm="random-projection:directions=2", seed=3)
    assert set(shoal.metrics.Quantiles().score(data, release).detail) == {"a", "b"}
