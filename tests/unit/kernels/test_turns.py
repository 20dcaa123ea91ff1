"""Threads that take turns take every piece once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from shoal.kernels import turns


@numba.njit(nogil=True)
def _worked(counters, pieces, done):
    """Takes pieces until there are none, and marks each."""
    while True:
        piece = turns.take(counters, turns.COMPILED)
        if piece >= pieces:
            return
        done[piece] += 1
        turns.finish(counters)


def test_every_piece_is_taken_once() -> None:
    counters, done = turns.turns(), np.zeros(200_000, np.int64)
    assert not turns.all_done(counters, 1)
    with ThreadPoolExecutor(3) as pool:
        for each in [pool.submit(_worked, counters, len(done), done) for _ in range(3)]:
            each.result()
    assert (done == 1).all() and turns.all_done(counters, len(done))
    assert turns.take(counters, turns.OTHERS) == 0  # pieces of another kind are counted apart
