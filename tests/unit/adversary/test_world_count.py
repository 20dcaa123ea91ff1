"""World counts: the same shares as by looking at every world, and the same steps as one move after the other."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from shoal.adversary import world_count
from shoal.adversary.world_count import WorldCount
from shoal.core.run import Run
from shoal.errors import CancelledError

ENOUGH = 1_000_000


def component(seed: int) -> WorldCount:
    """Up to six people of some kinds in one or two groups each, whose values are those of a world."""
    draw = np.random.default_rng(seed)
    groups, width = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    memberships, sizes, remaining = [], [], [0] * (groups * width)
    for _ in range(int(draw.integers(1, 4))):
        memberships.append(sorted(draw.choice(groups, min(groups, int(draw.integers(1, 3))), replace=False).tolist()))
        sizes.append(int(draw.integers(1, 3)))
        for value in draw.integers(0, width, sizes[-1]).tolist():
            for place in memberships[-1]:
                remaining[place * width + value] += 1
    return WorldCount(list(range(10, 10 + len(sizes))), sizes, memberships, tuple(remaining), width)


def by_every_world(worlds: WorldCount) -> dict[int, tuple[float, int]]:
    kinds = [at for at, size in enumerate(worlds.sizes) for _ in range(size)]
    total, having = 0, [Counter[int]() for _ in worlds.sizes]
    for values in product(range(worlds.width), repeat=len(kinds)):
        counts = [0] * len(worlds.remaining)
        for kind, value in zip(kinds, values, strict=True):
            for place in worlds.groups[kind]:
                counts[place * worlds.width + value] += 1
        if tuple(counts) == worlds.remaining:
            total += 1
            for kind, value in zip(kinds, values, strict=True):
                having[kind][value] += 1
    return {
        worlds.kinds[at]: (max(each.values()) / (total * worlds.sizes[at]), len(each)) for at, each in enumerate(having)
    }


def plain_steps(worlds: WorldCount) -> list[int]:
    """How many states there are to begin with and after each move, one move after the other."""
    states, known = {worlds.remaining}, []
    for size, places in zip(worlds.sizes, worlds.groups, strict=True):
        after: set[tuple[int, ...]] = set()
        for state in states:
            for counts in product(range(size + 1), repeat=worlds.width):
                left = list(state)
                for place in places:
                    for value, count in enumerate(counts):
                        left[place * worlds.width + value] -= count
                if sum(counts) == size and min(left) >= 0:
                    after.add(tuple(left))
                    known.append(len(after))
        states = after
    return known


@pytest.mark.parametrize("seed", range(60))
def test_shares_are_those_of_all_worlds(seed: int) -> None:
    worlds = component(seed)
    steps, layers = worlds.layers(ENOUGH, Run())
    assert layers is not None and steps == len(plain_steps(worlds))
    assert {kind: (share, left) for kind, share, left in worlds.shares(layers)} == by_every_world(worlds)


@pytest.mark.parametrize("seed", range(20))
def test_counting_stops_at_the_step_that_is_one_too_many(seed: int) -> None:
    worlds = component(seed)
    steps, _ = worlds.layers(ENOUGH, Run())
    for nodes in range(1, steps + 1):
        assert worlds.layers(nodes, Run()) == (nodes, None)
    assert worlds.layers(steps + 1, Run())[1] is not None


def test_counting_stops_where_states_take_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # three people of one kind with three values of each of two: four states, of which the third is too many
    worlds = WorldCount([0, 1], [3, 3], [[0], [0]], (3, 3), 2)
    monkeypatch.setattr(world_count, "CELLS", 6)
    assert worlds.layers(ENOUGH, Run()) == (3, None)


@pytest.mark.parametrize("many", [255, 256, 70_000])
def test_counts_of_any_size(many: int) -> None:
    worlds = WorldCount([0, 1], [1, many], [[0], [0]], (many, 1), 2)
    steps, layers = worlds.layers(ENOUGH, Run())
    assert steps == 4 and layers is not None
    shares = {kind: share for kind, share, _ in worlds.shares(layers)}
    assert shares == {0: many / (many + 1), 1: many / (many + 1)}


def test_states_of_many_values_have_keys_of_their_own() -> None:
    """Whole numbers of more than 61 bits would share their hashes: two groups of 61 values are the worst."""
    worlds = WorldCount([0, 1], [6, 6], [[0], [1]], (*[3] * 4, *[0] * 57) * 2, 61)
    _, layers = worlds.layers(ENOUGH, Run())
    assert layers is not None
    most = max(layers, key=len)
    assert len(most) > 40 and len({hash(state) for state in most}) == len(most)


def test_a_component_without_worlds() -> None:
    worlds = WorldCount([0, 1], [1, 1], [[0], [0, 1]], (1, 1, 0, 1, 0, 1), 3)
    _, layers = worlds.layers(ENOUGH, Run())
    assert layers is not None
    impossible = WorldCount([0, 1], [1, 1], [[0], [0, 1]], (1, 1, 0, 0, 0, 1), 3)
    assert impossible.layers(ENOUGH, Run())[1] == [*impossible.layers(ENOUGH, Run())[1][:-1], {}]  # type: ignore[index]


def test_counting_can_be_stopped() -> None:
    run = Run()
    run.cancel()
    with pytest.raises(CancelledError):
        component(1).layers(ENOUGH, run)
