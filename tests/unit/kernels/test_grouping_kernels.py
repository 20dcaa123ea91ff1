"""What grouping asks of its kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.core import grouping
from shoal.kernels import threads
from shoal.kernels.grouping import apart

WARM = """
import numpy as np, numba
from shoal.kernels.compilation import seconds_compiling
seconds_compiling()
from shoal.core.grouping import group
for radix in (4, 2**20):
    group([np.arange(4, dtype=np.int32)] * 3, [radix] * 3, weights=np.ones(4, np.int64), index=True)
from shoal.kernels import grouping
print(seconds_compiling() > 0, sum(grouping.aggregate.stats.cache_misses.values()))
"""


def test_a_warm_process_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled = [
        subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert [answer.strip() for answer in compiled] == ["True 1", "False 0"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sort", [None, 5000, 3000, 800])
@pytest.mark.parametrize("radices", [[5, 7, 3], [500, 700, 30_000]])
def test_chunks_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch, radices: list[int], sort: int | None, weighted: bool
) -> None:
    """Tables that grow or keys that are sorted, so many at a time; chunks of any size and several threads; against
    numpy."""
    generator = np.random.default_rng(4)
    columns = [(generator.random(5000) ** 3 * radix).astype(np.int32) for radix in radices]
    weights = generator.integers(1, 9, 5000) if weighted else None
    monkeypatch.setattr(grouping, "CHUNK", 77)
    monkeypatch.setattr(grouping, "BLOCK", 1000)
    monkeypatch.setattr(threads, "count", lambda: 3)
    if sort:
        monkeypatch.setattr(grouping, "DENSEST", 0)
        monkeypatch.setattr(grouping, "SORTED", -1.0)
        monkeypatch.setattr(grouping, "SORTED_ROWS", sort)
    monkeypatch.setattr(grouping, "SLOTS", 4)
    found = grouping.group(columns, radices, weights=weights, index=True)
    keys, index = np.unique(np.stack(columns), axis=1, return_inverse=True)
    assert np.array_equal(found.keys, keys)
    assert found.index is not None and np.array_equal(found.index, index.ravel())
    assert np.array_equal(found.counts, np.bincount(index.ravel(), weights).astype(np.int64))


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_without_a_digit_of_their_own_add_nothing(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    """Sorting where all keys but one have the same first digit."""
    columns = [np.zeros(40_000, np.int32), np.arange(40_000, dtype=np.int32) % 17_000]
    columns[0][7] = 999
    weights = np.arange(40_000) % 5 if weighted else None
    monkeypatch.setattr(grouping, "BLOCK", 10_000)
    monkeypatch.setattr(threads, "count", lambda: 4)
    found = grouping.group(columns, [1000, 17_000], weights=weights)
    keys, index = np.unique(np.stack(columns), axis=1, return_inverse=True)
    assert np.array_equal(found.keys, keys)
    assert np.array_equal(found.counts, np.bincount(index.ravel(), weights).astype(np.int64))


@pytest.mark.parametrize("entries", [0, 1, 400])
def test_keys_are_taken_apart_into_runs_and_values(entries: int) -> None:
    generator = np.random.default_rng(entries)
    keys = np.sort(generator.choice(1000, entries, replace=False))
    counts, population = generator.integers(1, 9, entries), np.zeros(7, np.int64)
    values, starts, owners, sizes = apart(keys, counts, 7, population)
    assert values.tolist() == (keys % 7).tolist()
    assert owners.tolist() == np.unique(keys // 7).tolist()
    assert starts.tolist() == [*np.unique(keys // 7, return_index=True)[1], entries]
    assert sizes.tolist() == [int(counts[keys // 7 == owner].sum()) for owner in owners]
    assert population.tolist() == [int(counts[keys % 7 == value].sum()) for value in range(7)]
