"""The spanning tree on one thread and on two: how long the busier of the threads works, in processor seconds, so that
other work on the machine does not count."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Any
from unittest import mock

import numba
import numpy as np

from benchmarks.local_recoding import NINE, adult
from shoal.algorithms import mst
from shoal.core.run import Run
from shoal.kernels import spanning


def busiest(points: Any, hierarchies: Any, threads: int) -> float:
    """Processor seconds of the main thread, and in each step of the busier one of those that share it."""
    numba.set_num_threads(threads)
    slices, kernel, shared = mst.in_slices, spanning.lightest, 0.0
    spent: defaultdict[int, float] = defaultdict(float)

    def lightest(*arguments: Any) -> None:
        begun = time.thread_time()
        kernel(*arguments)
        spent[threading.get_ident()] += time.thread_time() - begun

    def in_slices(*arguments: Any) -> list[Any]:
        nonlocal shared
        spent.clear()
        done = slices(*arguments)
        shared += max(spent.values())
        return done

    with mock.patch.object(spanning, "lightest", lightest), mock.patch.object(mst, "in_slices", in_slices):
        begun = time.thread_time()
        mst.spanning_tree(points, hierarchies, Run())
        return time.thread_time() - begun + shared


def main() -> None:
    data = adult(NINE)
    points = np.ascontiguousarray(data.summary.keys.T)
    mst.spanning_tree(points[:500], data.hierarchies, Run())  # compiled before anything is measured
    one, two = (min(busiest(points, data.hierarchies, threads) for _ in range(3)) for threads in (1, 2))
    print(f"Adult, nine quasi-identifiers, {len(points):,} distinct records: one thread {one:.2f} s,")
    print(f"the busier of two {two:.2f} s: {one / two:.2f} times as fast on two cores")


if __name__ == "__main__":
    main()
