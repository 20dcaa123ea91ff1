"""Published cells in bins."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.utility.published_cells import BinnedTable


def test_many_cells_are_counted_bin_by_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of all pairs of cells would not fit into memory where numbers have noise."""
    generator = np.random.default_rng(1)
    owners = {name: generator.integers(0, 40, 300).astype(np.int32) for name in "ab"}
    shares = {name: generator.dirichlet(np.ones(bins), 40) for name, bins in (("a", 3), ("b", 5))}
    table = BinnedTable(owners, shares, generator.integers(1, 9, 300).astype(np.float64))
    at_once = table.joint("a", "b")
    monkeypatch.setattr("shoal.utility.published_cells.MANY", 0)
    assert np.allclose(table.joint("a", "b"), at_once, rtol=1e-12) and at_once.shape == (3, 5)
