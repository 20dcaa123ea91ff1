"""Perturbations keep the moments that they promise, and only those."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.run import Run
from shoal.errors import ParameterError, SchemaError
from shoal.perturbation.additive_noise import AdditiveNoise
from shoal.perturbation.distortion import Distortion, fitted
from shoal.perturbation.multiplicative_noise import MultiplicativeNoise
from shoal.perturbation.pram import estimated_counts, invariant, transitions
from shoal.perturbation.random_projection import RandomProjection
from shoal.perturbation.resampling import Resampling

N = 40_000
RANDOM = np.random.default_rng(5)
SIGNAL = RANDOM.multivariate_normal([10, -5, 3], [[4, 3, 0.5], [3, 9, -1], [0.5, -1, 1]], N)
NAMES = ("a", "b", "c")


def made(method, values=SIGNAL, seed=1):
    return method.perturbed(None, values, NAMES[: values.shape[1]], seed, Run())[0]


def test_independent_noise_adds_a_share_of_the_variance_and_weakens_correlations():
    for distribution in ("normal", "uniform"):
        found = made(AdditiveNoise(share=0.5, distribution=distribution))
        assert np.allclose(found.mean(axis=0), SIGNAL.mean(axis=0), atol=0.08)
        assert np.allclose(found.var(axis=0), 1.5 * SIGNAL.var(axis=0), rtol=0.04)
        before, after = np.corrcoef(SIGNAL.T)[0, 1], np.corrcoef(found.T)[0, 1]
        assert after == pytest.approx(before / 1.5, abs=0.03)


def test_correlated_noise_scales_the_covariance_and_keeps_correlations():
    found = made(AdditiveNoise(share=0.5, correlated=True))
    assert np.allclose(np.cov(found.T), 1.5 * np.cov(SIGNAL.T), atol=0.35)
    assert np.allclose(np.corrcoef(found.T), np.corrcoef(SIGNAL.T), atol=0.02)
    restored = made(AdditiveNoise(share=0.5, correlated=True, restore=True))
    assert np.allclose(np.cov(restored.T), np.cov(SIGNAL.T), atol=0.25)


def test_multiplicative_noise_keeps_the_mean_and_scales_the_second_moment():
    found = made(MultiplicativeNoise(spread=0.3))
    assert np.allclose(found.mean(axis=0), SIGNAL.mean(axis=0), atol=0.08)
    assert np.allclose((found**2).mean(axis=0), 1.09 * (SIGNAL**2).mean(axis=0), rtol=0.03)
    assert np.array_equal(np.sign(found), np.sign(SIGNAL))


def test_a_projection_keeps_inner_products_and_distances_on_average():
    """Supplement 6: x = (1,2,2), y = (2,0,1), two directions: means 4 and 6, variances 30.5 and 36."""
    x, y = np.array([1.0, 2.0, 2.0]), np.array([2.0, 0.0, 1.0])
    generator = np.random.default_rng(0)
    products, distances = [], []
    for _ in range(10_000):
        u, v, _ = RandomProjection(directions=2).changed(np.stack([x, y, x]), NAMES, generator, Run())[:, :2]
        products.append(u @ v)
        distances.append(((u - v) ** 2).sum())
    assert np.mean(products) == pytest.approx(x @ y, abs=0.15) and np.var(products) == pytest.approx(30.5, rel=0.06)
    assert np.mean(distances) == pytest.approx(6, abs=0.15) and np.var(distances) == pytest.approx(36, rel=0.08)


def test_resampling_keeps_ranks_and_the_mean():
    column = RANDOM.exponential(10, 300)[:, None]
    means = [made(Resampling(samples=4), column, seed).mean() for seed in range(200)]
    assert np.mean(means) == pytest.approx(column.mean(), abs=0.1)
    assert np.var(means) == pytest.approx(column.var() / (4 * 300), rel=0.35)
    found = made(Resampling(samples=4), column)
    assert np.all(np.diff(found[np.argsort(column[:, 0]), 0]) >= 0)


def test_distortion_draws_from_what_fits_best():
    from scipy.stats import kstest

    values = {
        "normal": RANDOM.normal(50, 9, 3000),
        "lognormal": RANDOM.lognormal(2, 0.9, 3000),
        "exponential": RANDOM.exponential(7, 3000),
        "uniform": RANDOM.uniform(3, 8, 3000),
    }
    for family, column in values.items():
        fit = fitted(np.sort(column), "best")
        assert fit.family == family
        drawn = fit.draw(np.random.default_rng(3), 3000)
        assert kstest(drawn, column).pvalue > 0.001
        assert fit.distance(np.sort(column)) == pytest.approx(kstest(column, fit.share).statistic), family
    by_rank = made(Distortion(), values["normal"][:, None])
    assert np.array_equal(np.argsort(by_rank[:, 0]), np.argsort(values["normal"]))
    at_random = made(Distortion(assign="random"), values["normal"][:, None])
    assert abs(np.corrcoef(at_random[:, 0], values["normal"])[0, 1]) < 0.08


def test_invariant_transitions_are_those_of_the_supplement():
    shares = np.array([0.5, 0.3, 0.2])
    assert np.allclose(shares @ transitions(3, 0.8), [0.45, 0.31, 0.24])
    found = invariant(transitions(3, 0.8), shares)
    assert np.allclose(found[0], [16697 / 22320, 5329 / 37200, 758 / 6975])
    assert np.allclose(shares @ found, shares) and np.allclose(found.sum(axis=1), 1)
    with pytest.raises(ParameterError, match="singular"):
        estimated_counts(np.array([1.0, 1.0, 1.0]), transitions(3, 1 / 3))


@pytest.mark.parametrize("invariantly", [False, True])
def test_pram_changes_as_often_as_it_says(invariantly):
    towns = RANDOM.choice(["a", "b", "c", None], 20_000, p=[0.5, 0.3, 0.1, 0.1]).tolist()
    data = shoal.read(pl.DataFrame({"town": towns, "row": range(20_000)}), quasi=["town"])
    release = shoal.anonymize(data, algorithm=shoal.perturbation.Pram(keep=0.7, invariant=invariantly), seed=2)
    frame = release.frame.sort("row")
    assert frame["town"].is_null().to_list() == [town is None for town in towns]
    counts = frame["town"].value_counts().drop_nulls().sort("town")["count"].to_numpy()
    true = np.array([towns.count(town) for town in "abc"])
    if invariantly:
        assert np.allclose(counts, true, atol=4 * np.sqrt(20_000) / 2)
    else:
        kept = np.mean([new == old for new, old in zip(frame["town"], towns, strict=True) if old is not None])
        assert kept == pytest.approx(0.7, abs=0.015)
        assert np.allclose(estimated_counts(counts.astype(float), transitions(3, 0.7)), true, rtol=0.12)


@pytest.mark.parametrize(
    "name",
    [
        "additive-noise",
        "multiplicative-noise",
        "random-projection",
        "resampling",
        "distortion",
        "rank-swapping:share=0.5",
    ],
)
def test_missing_values_stay_the_seed_decides_and_nothing_is_claimed(name):
    table = pl.DataFrame({"age": [20, None, 40, 35, 61, 18, 44, 52], "sex": list("ffmmffmm")})
    data = shoal.read(table, quasi=["age", "sex"])
    first, again, *others = (
        shoal.anonymize(data, algorithm=name, seed=seed, repeatable=True).frame.rows() for seed in (1, 1, 2, 3, 4, 5)
    )
    assert first == again and any(first != other for other in others)
    assert [age for age, _ in first].count(None) == 1
    release = shoal.anonymize(data, algorithm=name, seed=1)
    assert not release.view.truthful and not release.claims


@pytest.mark.parametrize(
    "table, method, error, reason",
    [
        ({"age": [1, 1, 1]}, "additive-noise", ParameterError, "one value only"),
        ({"age": [1, 1, 1]}, "distortion", ParameterError, "one value only"),
        ({"age": [1.1] * 6}, "additive-noise", ParameterError, "one value only"),  # whose deviation is not quite 0
        ({"age": [1.1] * 6}, "distortion", ParameterError, "one value only"),
        ({"age": [1, 2, 3], "sex": ["f", "m", "f"]}, "additive-noise:columns=sex", ParameterError, "not numeric"),
        ({"sex": ["f", "m", "f"]}, "resampling", SchemaError, "no quasi-identifier is numeric"),
        ({"age": [1, 2, 3]}, "pram", SchemaError, "no quasi-identifier is categorical"),
        ({"sex": ["f", "f"]}, "pram", ParameterError, "one value only"),
        ({"a": [1, 2, 3, 5], "b": [2, 4, 6, 10]}, "additive-noise:correlated=true", ParameterError, "singular"),
        ({"a": [1, 2], "b": [2, 1]}, "additive-noise:correlated=true", ParameterError, "too few"),
        ({"age": [-1, 2, 3]}, "distortion:family=lognormal", ParameterError, "no lognormal"),
        ({"age": [1, 2, 3]}, "random-projection:directions=2", ParameterError, "more than the 1 columns"),
    ],
)
def test_what_makes_no_sense_is_refused(table, method, error, reason):
    data = shoal.read(pl.DataFrame(table), quasi=list(table))
    with pytest.raises(error, match=reason):
        shoal.anonymize(data, algorithm=method)
