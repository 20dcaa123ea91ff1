"""The overlap of two lists, who is in it and how large it is, by encryption; and the size of the messages."""

from __future__ import annotations

import sys
import time

from shoal.overlap import Asker, answered, points


def timed(people: int, *, size_only: bool) -> None:
    own = [f"person {number:07}" for number in range(people)]
    other = [f"Person {number:07}" for number in range(people // 2, people + people // 2)]
    points.multiply("hash", points.draw(), bytes(32))
    start = time.perf_counter()
    asker = Asker.of(own, size_only=size_only)
    asked = time.perf_counter()
    answer = answered(asker.message, other, fewest=1)
    replied = time.perf_counter()
    found = asker.finished(answer)
    done = time.perf_counter()
    assert found.size == people - people // 2
    print(
        f"{people:,} people each, {'how many' if size_only else 'who'}: ask {asked - start:.1f} s, "
        f"answer {replied - asked:.1f} s, finish {done - replied:.1f} s, together {done - start:.1f} s; "
        f"messages {len(asker.message) / 2**20:.1f} and {len(answer) / 2**20:.1f} MB"
    )


if __name__ == "__main__":
    for people in map(int, sys.argv[1:]) if len(sys.argv) > 1 else (10_000, 100_000):
        for size_only in (False, True):
            timed(people, size_only=size_only)
