"""The order of hashes, sorted in parts."""

import numpy as np
import pytest

from shoal.engines.common import hashing


@pytest.mark.parametrize("spread", [2**64 - 1, 2**40, 3])
def test_parts_sort_as_a_whole_does(spread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = np.random.default_rng(0).integers(0, spread, 5000, dtype=np.uint64)
    monkeypatch.setattr(hashing, "MANY", 100)
    order = hashing.ascending(hashes)
    assert np.array_equal(np.sort(order), np.arange(5000))
    assert np.array_equal(hashes[order], np.sort(hashes))
