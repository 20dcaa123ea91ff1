"""Rotation: distances stay, columns do not, and a few known people undo it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks.known_records import located
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.perturbation.rotation import random_rotation

NAMES = ["age", "resting-blood-pressure", "cholesterol", "maximum-heart-rate"]


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    return shoal.read(shoal.samples.heart_statlog().select(*NAMES).with_row_index("row"), quasi=NAMES)


@pytest.fixture(scope="module")
def release(data: shoal.Dataset) -> shoal.Release:
    return shoal.anonymize(data, algorithm="rotation", allow_plain=["row"])


def standardized(frame: pl.DataFrame) -> np.ndarray:
    true = shoal.samples.heart_statlog().select(*NAMES).to_numpy()
    return frame.sort("row").select(*NAMES).to_numpy() / true.std(axis=0)


def test_distances_stay_and_columns_do_not(release: shoal.Release) -> None:
    before = standardized(shoal.samples.heart_statlog().with_row_index("row"))
    after = standardized(release.frame)
    apart = [np.linalg.norm(points[:, None] - points[None], axis=2) for points in (before, after)]
    assert apart[1] == pytest.approx(apart[0], abs=1e-6)
    same = [abs(np.corrcoef(old, new)[0, 1]) for old, new in zip(before.T, after.T, strict=True)]
    assert min(same) < 0.9
    assert not np.allclose(before.mean(axis=0), after.mean(axis=0), atol=0.05), "they are moved as well"


def test_every_direction_is_equally_likely() -> None:
    """The first axis goes anywhere: its mean is the origin and its covariance that of a sphere."""
    generator = np.random.default_rng(1)
    turned = np.stack([random_rotation(3, generator)[0] for _ in range(4000)])
    assert np.abs(turned.mean(axis=0)).max() < 0.04
    assert np.cov(turned.T) == pytest.approx(np.eye(3) / 3, abs=0.03)
    signs = [np.linalg.det(random_rotation(3, generator)) for _ in range(200)]
    assert 60 < sum(sign > 0 for sign in signs) < 140


@pytest.mark.parametrize("attack", ["known-records", "known-records:linked=false"])
def test_five_known_people_tell_everybody(data: shoal.Dataset, release: shoal.Release, attack: str) -> None:
    """Four columns, five people: the other 265 are found to the last digit, whether or not it is known which records
    are theirs; with four people it fails."""
    found = shoal.attack(data, release, f"{attack}{',' if ':' in attack else ':'}within=0.000001")[0]
    assert found.success == pytest.approx(265 / 270) and found.detail["known"] == found.detail["located"] == 5
    assert found.baseline < 0.01 and found.worst == 1.0
    fewer = shoal.attack(data, release, f"{attack}{',' if ':' in attack else ':'}within=0.000001,known=4")[0]
    assert fewer.success < 0.1


def test_noise_is_not_undone_by_them(data: shoal.Dataset) -> None:
    noisy = shoal.anonymize(data, algorithm="additive-noise:share=1", allow_plain=["row"])
    few, many = shoal.attack(data, noisy, "known-records:within=0.01", "known-records:within=0.01,known=200")
    assert few.success < 0.05 and many.success < 0.05
    assert many.detail["rmse"] < few.detail["rmse"], "with many the fit is a regression"
    unlinked = shoal.attack(data, noisy, "known-records:linked=false")[0]
    assert unlinked.detail["located"] == 0 and unlinked.success <= unlinked.baseline


def test_projections_onto_as_many_directions_are_undone_and_onto_fewer_are_not(data: shoal.Dataset) -> None:
    whole, half = (
        shoal.anonymize(data, algorithm=f"random-projection{more}", allow_plain=["row"])
        for more in ("", ":directions=2")
    )
    assert shoal.attack(data, whole, "known-records:within=0.000001")[0].success > 0.97
    assert shoal.attack(data, half, "known-records:within=0.000001")[0].success < 0.05


def test_people_are_located_by_their_distances_alone() -> None:
    generator = np.random.default_rng(5)
    points = generator.normal(size=(60, 3))
    moved = points @ random_rotation(3, generator) + 4.0
    order = generator.permutation(60)
    rows = located(points[:4], moved[order], Run())
    assert rows is not None and order[rows].tolist() == [0, 1, 2, 3]
    assert located(points[:4] * 1.01, moved, Run()) is None


def test_a_column_without_spread_is_refused() -> None:
    flat = shoal.read(pl.DataFrame({"a": [1, 1, 1], "b": [1, 2, 3]}), quasi=["a", "b"])
    with pytest.raises(ParameterError, match="one value only"):
        shoal.anonymize(flat, algorithm="rotation")
