"""The overlap of two lists of 100,000 people by commutative encryption, beside comparing the lists themselves."""

from __future__ import annotations

import time

from shoal.overlap import Asker, answered, points


def timed(people: int) -> None:
    own = [f"person {number:07}" for number in range(people)]
    other = [f"Person {number:07}" for number in range(people // 2, people + people // 2)]
    points.multiplied("hash", points.draw(), bytes(32))
    start = time.perf_counter()
    asker = Asker.of(own)
    asked = time.perf_counter()
    answer = answered(asker.message, other)
    replied = time.perf_counter()
    found = asker.finished(answer)
    done = time.perf_counter()
    assert found.size == people - people // 2
    print(
        f"{people:,} people each: ask {asked - start:.1f} s, answer {replied - asked:.1f} s, "
        f"finish {done - replied:.1f} s, together {done - start:.1f} s; "
        f"messages {len(asker.message) / 2**20:.1f} and {len(answer) / 2**20:.1f} MB"
    )


if __name__ == "__main__":
    timed(10_000)
    timed(100_000)
