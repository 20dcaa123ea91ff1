"""Rates: how often something succeeded in a sample, and how far off that may be. All attacks that sample go by this."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from shoal.errors import ParameterError

CONFIDENCE = 0.95
"""Of every interval that is reported."""


@dataclass(frozen=True)
class Rate:
    """A rate and how far off it may be; one that was computed, and not sampled, is exact."""

    value: float
    error: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """From where to where it may lie."""
        return max(0.0, self.value - self.error), min(1.0, self.value + self.error)


def wilson(successes: float, trials: int, confidence: float = CONFIDENCE) -> Rate:
    """The middle and the half width of Wilson's interval, which never leaves 0 to 1.

    Expected successes need not be whole: a guess among equals counts by its chance.

    Example:
        >>> found = wilson(60, 100)
        >>> round(found.value, 6), round(found.error, 6)
        (0.596301, 0.094298)
    """
    if not 0 < confidence < 1:
        raise ParameterError("the confidence of an interval is a share between 0 and 1")
    if trials <= 0 or not 0 <= successes <= trials * (1 + 1e-9):
        raise ParameterError("a rate needs at least one trial, and at most as many successes")
    successes = min(successes, trials)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    width = z / (trials + z * z) * sqrt(successes * (trials - successes) / trials + z * z / 4)
    return Rate((successes + z * z / 2) / (trials + z * z), width)


def excess(attack: Rate, control: Rate) -> Rate:
    """What an attack gains over the same attack on people who are not in the release, as a share of what could be
    gained; the error follows from both errors.

    Example:
        >>> found = excess(wilson(60, 100), wilson(45, 100))
        >>> round(found.value, 6), round(found.error, 6)
        (0.263524, 0.214775)
    """
    left = 1 - control.value
    if left <= 0:
        return Rate(0.0, 0.0)
    error = sqrt((attack.error / left) ** 2 + (control.error * (attack.value - 1) / left**2) ** 2)
    return Rate((attack.value - control.value) / left, error)
