"""Cell suppression beside sdcMicro's local suppression: hidden cells by both meanings of a hidden cell, bounds, times.

sdcMicro's algorithm is written down here once more, as its published sources have it. Older versions end a pass at the
first record that has enough matches by then; newer ones hide a cell of every record of a pass.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shoal
from benchmarks.local_recoding import NINE, REFERENCE

FIVE = NINE[:5]
NIST = Path(__file__).parents[2] / "shared" / "data" / "nist" / "national2019.csv"
TEN = ["AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE"]
MOST = (2, 4)


def local_suppression(codes: NDArray[np.int16], k: int, *, early: bool) -> NDArray[np.int16]:
    """sdcMicro's local suppression with its own importance of columns: codes from 1 up, 0 where a cell is hidden.

    Of each tuple only the first k records take part. A record that too few match hides a cell that lets its nearest
    records match, in the column with the most values.
    """
    _, numbers, counts = np.unique(codes.T, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(numbers, kind="stable")
    ranks = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = np.sort(order[ranks < k])
    cells = codes[:, part] + np.int16(1)
    matches = np.minimum(counts, k)[numbers[part]].astype(np.int64)
    columns = np.argsort([-len(np.unique(column)) for column in codes], kind="stable")
    while np.any(matches < k):
        rows = np.flatnonzero(matches < k)
        for row in rows[np.argsort(matches[rows], kind="stable")].tolist():
            if early and matches[row] >= k:
                break
            own = cells[:, row, None]
            differing = (cells != own) & (cells != 0) & (own != 0)
            distances = differing.sum(axis=0, dtype=np.int8)
            nearest = distances == min(distances[distances > 0].min(initial=len(cells)), len(cells))
            column = next(place for place in columns if np.any(differing[place] & nearest))
            fresh = (distances == 1) & differing[column]
            cells[column, row] = 0
            matches[fresh] += 1
            matches[row] += int(fresh.sum())
    published = codes + np.int16(1)
    published[:, part] = cells
    return published


def below(cells: NDArray[np.int16], k: int) -> int:
    """How many records are in classes below k when cells are compared."""
    counts = np.unique(cells.T, axis=0, return_counts=True)[1]
    return int(counts[counts < k].sum())


def line(name: str, seconds: float, hidden: int, alone: int, bound: float | None = None) -> None:
    proven = "" if bound is None else f"{bound:9,.0f}"
    print(f"{name:44} {seconds:7.2f} {hidden:9,} {proven:>9} {alone:9,}", flush=True)


def beside(title: str, table: pl.DataFrame, quasi: list[str], k: int) -> None:
    """One table, hidden by sdcMicro's way and by ours."""
    print(f"\n{title}, {table.height:,} records, {len(quasi)} quasi-identifiers, k = {k}")
    print(f"{'':44} {'s':>7} {'hidden':>9} {'bound':>9} {'below k':>9}")
    columns = [table[name].cast(pl.Categorical).to_physical().to_numpy() for name in quasi]
    codes = np.stack(columns).astype(np.int16)
    for early, version in ((True, "older"), (False, "newer")):
        began = time.process_time()
        cells = local_suppression(codes, k, early=early)
        line(
            f"sdcMicro, {version} versions, wildcard",
            time.process_time() - began,
            int((cells == 0).sum()),
            below(cells, k),
        )
    data = shoal.read(table, quasi=quasi)
    policies = [*((f"wildcard-k-anonymity:k={k}", f"cell-suppression:most={most}") for most in MOST)]
    for model, algorithm in (*policies, (f"k-anonymity:k={k}", "cell-suppression")):
        shoal.anonymize(data, model, algorithm=algorithm)
        began = time.process_time()
        release = shoal.anonymize(data, model, algorithm=algorithm)
        spent, facts, sizes = time.process_time() - began, release.recoding.facts, release.classes.sizes
        meaning = algorithm.partition(":")[2] + ", wildcard" if "wildcard" in model else "strict"
        line(f"Shoal {meaning}", spent, sum(facts["hidden"].values()), int(sizes[sizes < k].sum()), facts["bound"])


if __name__ == "__main__":
    adult = pl.read_csv(REFERENCE / "adult.csv", separator=";", infer_schema=False)
    beside("Adult", adult, FIVE, 5)
    beside("Adult", adult, NINE, 5)
    beside("NIST excerpt", pl.read_csv(NIST, infer_schema=False), TEN, 6)
