"""What any algorithm decided, packed and read back, publishes the same tables."""

from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal import registry
from shoal.api.anonymizing import publish
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError, ShoalError
from shoal.publishing.packing import BROKEN, pack, read, spelled, unpack

POLICIES = (
    Policy(models=(shoal.KAnonymity(k=4),), suppression=0.5, seed=3),
    Policy(models=(shoal.FrequencyLDiversity(l=2),), suppression=0.5, seed=3),
    Policy(models=(shoal.models.InferenceL(l=2),), suppression=0.9, seed=3),
    Policy(models=(), seed=3),
)


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    table = shoal.samples.adult().select("age", "sex", "race", "occupation").head(400)
    return shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])


def decided(name: str, data: shoal.Dataset) -> tuple[Recoding, Policy]:
    algorithm = registry.make("algorithms", name, {})
    for policy in POLICIES:
        if algorithm.claims == bool(policy.models):
            try:
                return algorithm.search(data, policy, Run()), policy
            except ParameterError:
                continue
    pytest.skip("it needs more than this table has")


@pytest.mark.parametrize("name", registry.names("algorithms"))
def test_what_is_read_back_publishes_the_same(name: str, data: shoal.Dataset, tmp_path: Path) -> None:
    try:
        recoding, policy = decided(name, data)
    except ShoalError:
        pytest.skip("it needs more than this table has")
    known = data.summary.keys
    with (tmp_path / "part.npz").open("wb") as file:
        pack(file, *spelled(recoding, known))
    told, arrays = unpack(tmp_path / "part.npz")
    assert ("keys" in arrays) == (recoding.plan is not None and recoding.plan.keys is not known)
    found = read(told, arrays, known)
    made, again = (publish(data, each, policy) for each in (recoding, found))
    assert list(made.frames) == list(again.frames)
    assert all(again.frames[part].equals(frame) for part, frame in made.frames.items())
    assert (found.levels, found.trail, dict(found.hulls)) == (recoding.levels, recoding.trail, dict(recoding.hulls))


def test_a_plan_of_blocks_keeps_them(data: shoal.Dataset, tmp_path: Path) -> None:
    algorithm = registry.make("algorithms", "in-blocks", {"records": 100})
    plan = algorithm.search(data, POLICIES[0], Run()).plan
    with (tmp_path / "part.npz").open("wb") as file:
        pack(file, *spelled(Recoding(plan)))
    found = read(*unpack(tmp_path / "part.npz")).plan
    assert np.array_equal(found.sizes, plan.sizes) and np.array_equal(found.keys, plan.keys)
    assert np.array_equal(found.blocks.of(plan.keys), plan.blocks.of(plan.keys))


def test_nothing_that_could_be_run_is_read(tmp_path: Path) -> None:
    path = tmp_path / "part.npz"
    np.savez(path, told=np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(BROKEN):
        unpack(path)
    path.write_bytes(b"PK no archive")
    with pytest.raises(BROKEN):
        unpack(path)
