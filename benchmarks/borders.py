"""The diagnosis of sets: calls and time against levelwise search and against grouping each set with polars.

Everything that is compared runs in one process, after a warm-up.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import polars as pl

import shoal
from benchmarks.measuring import fastest, peak_of
from shoal.diagnosis.borders import Memory, Search
from shoal.diagnosis.families import members
from shoal.diagnosis.weighted_rows import WeightedRows

KS = range(2, 51)


def adult() -> tuple[pl.DataFrame, list[str]]:
    frame = shoal.samples.adult()
    return frame, [name for name in frame.columns if name != "salary-class"]


def swept(rows: WeightedRows, *, budget: int = 0, kept: str = "nothing") -> tuple[int, int, int, int]:
    """Calls, scans, levelwise calls and members of the borders, for all k; `kept` is what one k leaves to the next."""
    first = Memory()
    Search(rows, KS[0], budget, first).run()
    alone = {mask: level for mask, level in first.known.items() if mask.bit_count() == 1}
    shared = Memory()
    calls, scans, levelwise, members_ = len(alone) if kept == "columns" else 0, 0, 0, 0
    for k in KS:
        fresh = Memory(dict(alone), list(first.by_value)) if kept == "columns" else Memory()
        found = Search(rows, k, budget, shared if kept == "all" else fresh).run()
        assert found.levelwise is not None
        calls, scans, levelwise = calls + found.calls, scans + found.scans, levelwise + found.levelwise
        members_ += len(found.positive) + len(found.negative)
    return calls, scans, levelwise, members_


def levelwise(value: Callable[[int], int], count: int, k: int) -> set[int]:
    """The sets that plain levelwise search looks at."""
    looked, good = set(), {0}
    layer = {1 << position for position in range(count)}
    while layer:
        looked |= layer
        passed = {mask for mask in layer if value(mask) >= k}
        good |= passed
        grown = {mask | 1 << position for mask in passed for position in range(count) if not mask >> position & 1}
        layer = {mask for mask in grown if all(mask & ~(1 << position) in good for position in members(mask))}
    return looked


def polars_k(frame: pl.DataFrame, names: list[str]) -> Callable[[int], int]:
    coded = frame.select(pl.col(name).cast(pl.String).cast(pl.Categorical) for name in names)

    def value(mask: int) -> int:
        chosen = [names[position] for position in members(mask)]
        return int(coded.group_by(chosen).len()["len"].min())

    return value


def calls() -> None:
    frame, names = adult()
    data = shoal.read(frame, quasi=names)
    rows = WeightedRows.of(data.summary, shoal.KAnonymity(k=2), names)
    print(f"calls for both borders, Adult, {len(names)} attributes, k = {KS[0]} to {KS[-1]}, summed")
    print(f"{'what one k leaves to the next':42}{'calls':>7}{'scans':>7}{'levelwise':>11}{'share':>7}")
    for kept, label in (
        ("nothing", "nothing"),
        ("columns", "value counts of each column alone"),
        ("all", "every level and every witness"),
    ):
        made, scans, plain, borders = swept(rows, kept=kept)
        print(f"{label:42}{made:7,}{scans:7,}{plain:11,}{made / plain:7.3f}")
    print(f"members of the borders: {borders:,}; who asks only yes or no for a set must ask at least for these\n")


def times() -> None:
    frame, names = adult()
    data = shoal.read(frame, quasi=names)
    rows = WeightedRows.of(data.summary, shoal.KAnonymity(k=2), names)
    value = polars_k(frame, names)
    swept(rows, kept="all"), shoal.ask(data), shoal.ask(data, delta=0.1), value(3)  # warm-up
    some = np.random.default_rng(1).choice(np.arange(1, 1 << len(names)), 150, replace=False).tolist()
    every = fastest(lambda: [value(mask) for mask in some], 2) / len(some) * (2 ** len(names) - 1)
    plain = fastest(lambda: [levelwise(value, len(names), k) for k in KS], 1)
    print(f"Adult, {len(names)} attributes, against grouping each of the {2 ** len(names) - 1:,} sets with polars")
    print(f"({every:.1f} s, from 150 sets drawn at random)")
    for label, given in (
        ("k of all sets (question 4)", {}),
        ("k of all sets after δ = 0.1 (question 8)", {"delta": 0.1}),
        ("δ of all sets for k = 5 (question 10)", {"k": 5, "delta": "ask"}),
    ):
        ours = fastest(lambda given=given: shoal.ask(data, **given), 2)
        print(f"{label:44}{ours:8.3f} s{every / ours:8.1f} times faster")
    ours = fastest(lambda: swept(rows, kept="all"), 2)
    print(f"{'borders for k = 2 to 50 (question 3)':44}{ours:8.3f} s{every / ours:8.1f} times faster,")
    print(f"{'':44}{'':10}{plain / ours:8.1f} times faster than levelwise search with polars ({plain:.2f} s)\n")


WIDE = """
import numpy as np, polars as pl, shoal
generator = np.random.default_rng(1)
frame = shoal.samples.census(100_000)
columns = {name: frame[name] for name in frame.columns}
for name in frame.columns:
    codes = frame[name].cast(pl.String).cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    columns[f"{name}-half"], columns[f"{name}-tenth"] = codes // 2, codes // 10
    noise = generator.random(len(codes)) < 0.05
    columns[f"{name}-noise"] = np.where(noise, generator.integers(0, 4, len(codes)), codes % 4)
for number in range(40 - len(columns)):
    columns[f"rare-{number}"] = (generator.random(len(frame)) < 0.01 * (number + 1)).astype(int)
data = shoal.read(pl.DataFrame(columns), quasi=list(columns))
found = shoal.ask(data, k=5, time_limit=SECONDS)
print(
    f"{found.calls:,} calls, {'proven' if found.proven else 'partial'}: {len(found.positive_border):,} maximal and "
    f"{len(found.negative_border):,} minimal sets, {len(found.undecided):,} undecided"
)
"""


def wide(seconds: int) -> None:
    """Forty columns: the borders, or what is proven of them when the time is up."""
    began = time.perf_counter()
    peak, printed = peak_of(WIDE.replace("SECONDS", str(seconds)))
    print(f"100,000 × 40, k = 5, limit {seconds} s: {time.perf_counter() - began:.0f} s, peak {peak:.2f} GB, {printed}")


if __name__ == "__main__":
    calls()
    times()
    wide(180)
