"""Measures of noise: the supplement's figures, and the laws that they must keep."""

import math

import numpy as np
import pytest

import shoal
import shoal.adversary.noise
from shoal.errors import ParameterError

NOISE_OF_TWO = [[1 / 2, 0], [1 / 2, 1 / 2], [0, 1 / 2]]
NOISE_OF_THREE = [[1 / 4, 0, 0], [1 / 2, 1 / 4, 0], [1 / 4, 1 / 2, 1 / 4], [0, 1 / 4, 1 / 2], [0, 0, 1 / 4]]


def test_each_round_of_the_reconstruction():
    for rounds, share in enumerate([1 / 2, 9 / 20, 17 / 40, 33 / 80, 13 / 32]):
        found = shoal.adversary.noise.reconstructed(NOISE_OF_TWO, [2, 5, 3], rounds=rounds, tolerance=0)
        assert found.shares == pytest.approx([share, 1 - share])
    assert shoal.adversary.noise.reconstructed(NOISE_OF_TWO, [2, 5, 3]).shares == pytest.approx(
        [2 / 5, 3 / 5], abs=1e-5
    )


def test_three_values_with_three_kinds_of_noise():
    first = shoal.adversary.noise.reconstructed(NOISE_OF_THREE, [2, 6, 8, 3, 1], rounds=1)
    assert first.shares == pytest.approx([2 / 5, 7 / 20, 1 / 4])
    limit = shoal.adversary.noise.reconstructed(NOISE_OF_THREE, [2, 6, 8, 3, 1], tolerance=1e-18)
    assert limit.shares == pytest.approx([0.412836, 0.429616, 0.157548], abs=1e-6)


@pytest.mark.parametrize(("distribution", "spread"), [("normal", 1.0), ("uniform", 2.0)])
def test_likelihood_never_falls_and_the_shape_comes_back(distribution, spread):
    generator = np.random.default_rng(1)
    true = np.where(generator.random(3000) < 0.5, generator.uniform(0, 1, 3000), generator.uniform(4, 5, 3000))
    drawn = generator.normal(0, spread, 3000) if distribution == "normal" else generator.uniform(-spread, spread, 3000)
    edges = np.arange(-1.0, 7.0)
    chances = shoal.adversary.noise.likelihood(true + drawn, edges, distribution, spread)
    possible = chances.sum(axis=1) > 0
    found = shoal.adversary.noise.reconstructed(chances[possible], rounds=300)
    assert np.diff(found.likelihoods).min() >= -1e-9 and found.shares.sum() == pytest.approx(1)
    held = np.histogram(true, edges)[0] / len(true)
    seen = np.histogram(true + drawn, edges)[0] / len(true)
    assert (
        shoal.adversary.noise.information_loss(held, found.shares)
        < shoal.adversary.noise.information_loss(held, seen) / 2
    )


def test_interval_privacy():
    for confidence, width in ((0.5, 1.34898), (0.95, 3.91993), (0.999, 6.58105)):
        assert shoal.adversary.noise.interval_width("normal", 2.0, confidence) == pytest.approx(2 * width, abs=2e-5)
        assert shoal.adversary.noise.interval_width("uniform", 5.0, confidence) == pytest.approx(10 * confidence)


def test_entropy_privacy():
    edges, shares = np.arange(6.0), [0.5, 0, 0, 0, 0.5]
    assert shoal.adversary.noise.entropy_privacy(shares, edges) == pytest.approx(2)
    lost = shoal.adversary.noise.privacy_loss(shares, edges, "uniform", 1.0)
    assert lost == pytest.approx(0.610600, abs=1e-5)
    assert 2 * (1 - lost) == pytest.approx(math.exp(-1 / 4), abs=1e-5)
    assert shoal.adversary.noise.noise_privacy("normal", 3.0) == pytest.approx(3 * 4.13273, abs=1e-4)


def test_entropy_privacy_of_normal_values_under_normal_noise(monkeypatch):
    monkeypatch.setattr("shoal.adversary.noise.POINTS", 4_001)
    edges = np.linspace(-6, 6, 241)
    heights = np.exp(-((edges[:-1] + edges[1:]) ** 2) / 8)
    shares = heights / heights.sum()
    assert shoal.adversary.noise.entropy_privacy(shares, edges) == pytest.approx(4.13273, abs=1e-3)
    assert shoal.adversary.noise.privacy_loss(shares, edges, "normal", 1.0) == pytest.approx(0.292893, abs=1e-3)


def test_variances_of_a_projection():
    assert shoal.adversary.noise.projection_variances([1, 2, 2], [2, 0, 1], 2) == (30.5, 36)


def test_spectral_filtering():
    generator = np.random.default_rng(4)
    signal = generator.normal(0, 3, (2000, 1)) * np.ones(10)
    noise = generator.normal(0, 1, signal.shape)
    values, kept, bound = shoal.adversary.noise.spectral_filter(signal + noise, 1.0)
    assert kept == 1 and bound == pytest.approx(1.1464, abs=1e-4)
    assert np.sqrt(((values - signal) ** 2).mean()) == pytest.approx(0.32, abs=0.015)
    assert np.sqrt((noise**2).mean()) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: shoal.adversary.noise.interval_width("normal", 0.0, 0.5),
        lambda: shoal.adversary.noise.interval_width("normal", 1.0, 1.0),
        lambda: shoal.adversary.noise.entropy_privacy([0.5, 0.6], [0, 1, 2]),
        lambda: shoal.adversary.noise.entropy_privacy([1.0], [1, 1]),
        lambda: shoal.adversary.noise.reconstructed([[0.0, 0.0]]),
        lambda: shoal.adversary.noise.reconstructed([[1.0, 0.0]], [0]),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()
