"""The line between a risk that is accepted and one that is not: at most one in so many people.

Regulators of health data accept a risk of one in eleven in what is published, and write it as 0.09 or 9 %. So a class
of eleven people is on the safe side of 0.09, though 1/11 is 0.0909: wherever a threshold is given, it means this.
"""

from __future__ import annotations

import math

from shoal.core.contracts.model import SLACK
from shoal.core.formatting import percent
from shoal.errors import ParameterError

SAFE = 11
"""The fewest people in a class whose risk regulators accept in what is published."""
LINE = 1 / SAFE
"""The highest risk that they accept."""
DIGITS = 2
"""With so many a threshold is written."""
TINY = 1e-9
"""What rounding may do to a number of people."""


def accepted(threshold: float) -> float:
    """The highest risk that a threshold accepts: one in a whole number of people where it is written for that.

    Example:
        >>> [round(accepted(each), 4) for each in (0.09, 0.33, 0.2, 0.091, 0.9)]
        [0.0909, 0.3333, 0.2, 0.091, 0.9]
    """
    if not 0 < threshold < 1:
        return threshold
    whole = 1 / math.floor(1 / threshold + TINY)
    return whole if round(whole, DIGITS) == threshold else threshold


def is_above(risk: float, threshold: float) -> bool:
    """Whether a risk is above what a threshold accepts.

    Example:
        >>> is_above(1 / 11, 0.09), is_above(1 / 10, 0.09)
        (False, True)
    """
    return risk > accepted(threshold) + SLACK


def one_in(threshold: float) -> int:
    """The fewest people whose risk a threshold accepts.

    Example:
        >>> one_in(0.09), one_in(0.2), one_in(1 / 3), one_in(0.091), one_in(0.095)
        (11, 5, 3, 11, 11)
    """
    if not 0 < threshold <= 1:
        raise ParameterError("the threshold is the highest risk of a person that is accepted, above 0 and at most 1")
    return math.ceil(1 / accepted(threshold) - TINY)


def hundredths(risk: float) -> str:
    """A risk in percent as regulators write it, where one in eleven is 9 %.

    Example:
        >>> hundredths(1 / 11), hundredths(1 / 3), hundredths(0.025)
        ('9', '33', '2.5')
    """
    whole = round(100 * risk)
    same = whole > 0 and accepted(whole / 100) == risk
    return str(whole) if same else percent(risk).removesuffix(" %")


def risk_words(risk: float) -> str:
    """A risk as people read it beside a threshold: one that is at the line looks like it.

    Example:
        >>> risk_words(1 / 11), risk_words(0.0912)
        ('9 %', '9.1 %')
    """
    return f"{hundredths(risk)} %"


def line_words(threshold: float) -> str:
    """A threshold as people read it.

    Example:
        >>> line_words(0.09), line_words(0.9)
        ('9 % (one in 11)', '90 %')
    """
    risk = accepted(threshold)
    people = round(1 / risk) if risk else 0
    of_people = people > 1 and abs(1 / people - risk) < TINY
    return f"{risk_words(risk)} (one in {people:,})" if of_people else risk_words(risk)
