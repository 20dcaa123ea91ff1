"""The arena: NIST's national excerpt, and NIST's two figures of our releases beside those that NIST published.

Of each release three things are told: its k when cells are compared (strict), the k-marginal score, and how many of the
people who are unique in the table occur in it exactly. A release with ranges or multisets is scored twice: as it is
read, every value that a cell may stand for alike, and as one table of plain values that a recipient draws from it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shoal
from benchmarks.cell_suppression import NIST, TEN
from shoal.errors import NotDefined
from shoal.metrics.unique_exact_matches import chance
from shoal.utility.expected import Expected

K = 6
SEED = 1
MOST = 30
"""People who share a combination, beyond whom none counts as rare."""
METRICS = ("k-marginal", "unique-exact-matches")
SENSITIVE = "PINCP_DECILE"
PUBLISHED = (
    ("sdcMicro, k = 6 (NIST's report)", 907, 0.4741),
    ("AIM, ε = 1 (NIST's report)", 976, 0.1411),
    ("MST, ε = 1 (NIST's report)", 958, 0.1247),
    ("PATE-CTGAN, ε = 10 (NIST's report)", 805, None),
)
"""Measured by NIST on the same columns of the same table; k and times are not told there."""


@dataclass(frozen=True)
class Entry:
    """A way to publish: a name, the algorithm, whether a column is sensitive, and the models."""

    name: str
    algorithm: str
    sensitive: bool = False
    models: tuple[str, ...] = (f"k-anonymity:k={K}",)


ENTRIES = (
    Entry("generalized, full domain (optimal)", "optimal"),
    Entry("generalized, local (mondrian)", "mondrian"),
    Entry("generalized, local (default)", "auto"),
    Entry("generalized, local (default), k = 14", "auto", models=("k-anonymity:k=14",)),
    Entry("cells suppressed", "cell-suppression"),
    Entry("multisets", "multiset"),
    Entry("buckets (anatomy), l = 6", "anatomy", True, ("frequency-l-diversity:l=6",)),
    Entry("microaggregated (mdav)", "mdav"),
    Entry("microaggregated (k-member, means)", "k-member:numeric=mean"),
    Entry("values exchanged (pram, 80 % stay)", "pram:keep=0.8", False, ()),
    Entry("values swapped (rank-swapping)", "rank-swapping:share=0.1", False, ()),
)


def data_of(entry: Entry, table: pl.DataFrame) -> Any:
    quasi = [name for name in TEN if not (entry.sensitive and name == SENSITIVE)]
    return shoal.read(table, quasi=quasi, sensitive=[SENSITIVE] if entry.sensitive else [])


def drawn(data: Any, release: Any, folder: Path) -> Path | None:
    """A table of plain values that a recipient may draw from a release; None where it has plain values already."""
    names = (*data.schema.quasi, *data.schema.sensitive)
    if not release.view.truthful:
        return None
    try:
        expected = Expected.of_release(release, names)
    except NotDefined:
        return None
    leaves = expected.drawn(round(expected.records), SEED)
    columns = {
        name: pl.Series(expected.trees[name].labels[0][leaves[name]].tolist(), dtype=pl.String) for name in names
    }
    path = folder / "drawn.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def measured(data: Any, release: Any) -> dict[str, Any]:
    found = shoal.evaluate(data, release, *METRICS, baselines=False)
    k = found.get("k")
    return {name: found[name].value for name in METRICS} | {"k": None if k is None else k.value}


def chance_at_full_size(counts: NDArray[np.int64]) -> float:
    """The share of the unique people of a table who are met in another sample of the same size, as Good and Toulmin
    (1956) estimate it: the alternating sum of m times the combinations that m people share, smoothed by Euler's
    transform."""
    shared = np.bincount(np.minimum(counts, MOST))[1:MOST]
    places = np.arange(1, len(shared) + 1)
    sums = np.cumsum(np.where(places % 2, 1, -1) * places * shared).astype(np.float64)
    while len(sums) > 1:
        sums = (sums[1:] + sums[:-1]) / 2
    return float(1 - sums[0] / shared[0])


def rows(table: pl.DataFrame, wanted: str) -> Iterator[tuple[str, ...]]:
    for name, score, matched in PUBLISHED:
        yield name, "", f"{score}", "" if matched is None else f"{matched:.1%}", "", "", ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.csv"
        for share in (0.01, 0.05, 0.1):
            table.sample(fraction=share, seed=SEED).write_csv(path)
            found = measured(data_of(ENTRIES[0], table), path)
            yield f"random sample, {share:.0%}", "1", _score(found), _matched(found), "", "", ""
        for entry in (each for each in ENTRIES if wanted in each.name):
            data, began = data_of(entry, table), time.process_time()
            release = shoal.anonymize(data, *entry.models, algorithm=entry.algorithm, seed=SEED, repeatable=True)
            seconds = f"{time.process_time() - began:.1f}"
            found, plain = measured(data, release), drawn(data, release, Path(folder))
            other = None if plain is None else measured(data, plain)
            yield (
                entry.name, "" if found["k"] is None else str(found["k"]), _score(found), _matched(found),
                "" if other is None else _score(other), "" if other is None else _matched(other), seconds,
            )  # fmt: skip


def _score(found: dict[str, Any]) -> str:
    return f"{found[METRICS[0]]:.0f}"


def _matched(found: dict[str, Any]) -> str:
    return f"{found[METRICS[1]]:.1%}"


def main(wanted: str = "") -> None:
    if not NIST.exists():
        print("the arena needs NIST's excerpt beside the repository")
        return
    table = pl.read_csv(NIST, infer_schema=False).select(TEN)
    counts = table.group_by(TEN).len()["len"].to_numpy().astype(np.int64)
    print(f"{table.height:,} records, {len(TEN)} columns, {int((counts == 1).sum()):,} unique people")
    print(f"by chance, {chance(counts):.1%} of the unique people of a half are matched by the other half,")
    print(f"and an estimated {chance_at_full_size(counts):.1%} by another sample of the same size\n")
    print("| release | strict k | k-marginal | unique matched | drawn: k-marginal | drawn: unique matched | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for row in rows(table, wanted):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
