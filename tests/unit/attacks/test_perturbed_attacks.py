"""Attacks on perturbed releases, against what they mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined


def attacked(values: np.ndarray, algorithm: str, attack: str, **more: str) -> tuple[shoal.Release, object]:
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(values.T)}).with_row_index("row")
    data = shoal.read(frame, quasi=frame.columns[1:], **more)
    release = shoal.anonymize(data, algorithm=algorithm, seed=5)
    return release, shoal.attack(data, release, attack)[0]


def linked(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The chance of each record, from all distances."""
    means, spreads = before.mean(axis=0), before.std(axis=0)
    before, after = (before - means) / spreads, (after - means) / spreads
    distances = ((after[:, None] - before[None]) ** 2).sum(axis=2)
    near = np.isclose(distances, distances.min(axis=1)[:, None], rtol=1e-9, atol=1e-10)
    return np.where(np.diag(near), 1 / near.sum(axis=1), 0.0)


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize(
    ("algorithm", "whole"),
    [("additive-noise:share=0.05", False), ("rank-swapping:share=0.1", True), ("multiplicative-noise", False)],
)
def test_linkage_is_that_of_all_distances(algorithm: str, whole: bool, engine: str) -> None:
    values = np.random.default_rng(1).normal(10, 3, (200, 2)).round(0 if whole else 3)
    release, found = attacked(values, algorithm, "distance-linkage:threshold=0.4", engine=engine)
    frame = release.frame if isinstance(release.frame, pl.DataFrame) else pl.from_arrow(release.frame)
    chances = linked(values, frame.sort("row").drop("row").to_numpy())
    assert found.success == pytest.approx(chances.mean()) and found.success > 2 * found.baseline
    assert found.worst == pytest.approx(chances.max()) and found.baseline == 1 / 200
    assert found.above == pytest.approx((chances > 0.4).mean())


def test_more_noise_links_fewer_people() -> None:
    values = np.random.default_rng(1).normal(size=(400, 3))
    shares = [attacked(values, f"additive-noise:share={share}", "distance-linkage")[1].success for share in (0.001, 5)]
    assert shares[0] > 0.7 and shares[1] < 0.05


def test_a_record_that_lacks_a_value_is_never_linked() -> None:
    values = np.random.default_rng(1).normal(size=(40, 2))
    values[:10, 0] = np.nan
    frame = pl.DataFrame({"a": values[:, 0], "b": values[:, 1]}).with_columns(pl.col("a").fill_nan(None))
    data = shoal.read(frame, quasi=["a", "b"])
    release = shoal.anonymize(data, algorithm="additive-noise:share=1e-9", seed=1)
    assert shoal.attack(data, release, "distance-linkage")[0].success == pytest.approx(30 / 40)


def test_filtering_finds_one_direction_in_ten() -> None:
    """Ten columns of one signal, noise as strong as it: the error falls to about √(1/10) of the noise."""
    generator = np.random.default_rng(2)
    values = generator.normal(size=(2000, 1)) + generator.normal(0, 0.01, (2000, 10))
    _, found = attacked(values, "additive-noise:share=1", "spectral-filtering:within=0.5")
    assert found.detail["kept"] == 1 and found.detail["columns"] == 10
    assert found.detail["noise"] == pytest.approx(1, abs=0.03)
    assert found.detail["rmse"] == pytest.approx(0.32, abs=0.02)
    assert found.success > 2 * found.baseline
    _, defeated = attacked(values, "additive-noise:share=1,correlated=true", "spectral-filtering:within=0.5")
    assert defeated.detail["rmse"] == pytest.approx(defeated.detail["noise"], rel=0.05)


@pytest.mark.parametrize("attack", ["distance-linkage", "spectral-filtering"])
def test_what_cannot_be_attacked_is_said(attack: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": np.arange(30.0), "town": ["n", "s", "w"] * 10})
    data = shoal.read(frame, quasi=["x", "town"])
    shoal.anonymize(data, algorithm="additive-noise", seed=1).write(tmp_path / "noisy.csv")
    for release, reason in (
        (tmp_path / "noisy.csv", "as it was made"),
        (shoal.anonymize(data, "k-anonymity:k=3", seed=1), "no value of this release was changed"),
        (shoal.anonymize(data, algorithm="pram", seed=1), "no numeric column"),
    ):
        with pytest.raises(NotDefined, match=reason):
            shoal.attack(data, release, attack)
