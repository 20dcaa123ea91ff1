"""Labels: numbers and intervals as a published value spells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.parsing.identity import plain_number

Floats = NDArray[np.float64]

LARGEST = 1e300
"""What is larger is no quantity: a placeholder, or a code that happens to look like a number."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
INTERVAL = re.compile(rf"\[({NUMBER})-({NUMBER})[\])]")
DATES = re.compile(r"\[(.+) - (.+)\]")


def objects(values: Iterable[str | None]) -> NDArray[Any]:
    """Texts, and nothing where one is missing, as an array of objects however many there are."""
    return np.array([*values, None], object)[:-1]


def number(text: str | None) -> float:
    """The number that a label spells, or not-a-number."""
    try:
        return float(text) if text is not None and "_" not in text else float("nan")
    except ValueError:
        return float("nan")


def are_numbers(values: Floats) -> bool:
    """Whether all are numbers, and small enough that neither their differences nor their sums overflow."""
    return bool(np.all(np.abs(values) <= LARGEST))


def spelled(value: float) -> str:
    """A number as a label, in its plainest spelling."""
    exact = isinstance(value, int) and abs(value) < 10**40
    label = plain_number(str(value) if exact else repr(float(value)))
    assert label is not None
    return label


def ascending(texts: Sequence[str], numbers: Floats) -> NDArray[np.int64]:
    """The order of numbers, exact also where different ones are the same in floating point, then that of spellings."""
    order: NDArray[np.int64] = np.argsort(numbers, kind="stable")
    if bool(np.any(numbers[order][1:] == numbers[order][:-1])):
        return np.array(sorted(range(len(texts)), key=lambda place: (Decimal(texts[place]), texts[place])), np.int64)
    return order


def is_less(text: str, other: str) -> bool:
    """Whether a number is less than another one, exactly; False where a text spells none."""
    first, second = plain_number(text), plain_number(other)
    return first is not None and second is not None and Decimal(first) < Decimal(second)
