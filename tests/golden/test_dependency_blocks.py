"""How many records the blocks of twins remove, for the frequencies that the paper's example begins with."""

from __future__ import annotations

import pytest

from shoal.algorithms._twin_blocks import VARIANTS, removed

FREQUENCIES = [50, 45, 40, 30, 26, 20, 12, 8, 4]
REMOVED = {
    2: {"one": 199, "bottom-up": 33, "top-down": 31, "dynamic": 31},
    3: {"one": 199, "bottom-up": 43, "top-down": 89, "dynamic": 43},
    4: {"one": 199, "bottom-up": 95, "top-down": 89, "dynamic": 89},
}


@pytest.mark.parametrize("l", REMOVED)
def test_removed_records(l: int) -> None:  # noqa: E741
    found = {name: removed(FREQUENCIES, variant(FREQUENCIES, l)) for name, variant in VARIANTS.items()}
    assert {"one": removed(FREQUENCIES, [(0, 9)]), **found} == REMOVED[l]


def test_blocks() -> None:
    def blocks(variant: str, l: int) -> list[list[int]]:  # noqa: E741
        return [FREQUENCIES[begin:end] for begin, end in VARIANTS[variant](FREQUENCIES, l)]

    assert blocks("top-down", 2) == [[50, 45, 40], [30, 26], [20, 12], [8, 4]]
    assert blocks("dynamic", 3) == [[50, 45, 40], [30, 26, 20], [12, 8, 4]]
    assert blocks("top-down", 4) == [[50, 45, 40, 30, 26], [20, 12, 8, 4]]
