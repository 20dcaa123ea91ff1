"""Numbers as people write them: a decimal comma, and signs between the thousands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.errors import ParameterError
from shoal.parsing.recognition import Recognition

FORMATS = ("decimal-comma", "decimal-point")
_MARKS = {"decimal-comma": ",", "decimal-point": "."}
_BLANKS = " \u00a0\u2009\u202f"
_GROUPING = {"decimal-comma": ".'’" + _BLANKS, "decimal-point": ",'’" + _BLANKS}
_WRITTEN = {
    form: re.compile(rf"[-+]?(?:0|[1-9]\d*|[1-9]\d{{0,2}}([{re.escape(_GROUPING[form])}])\d{{3}}(?:\1\d{{3}})*)"
                     rf"(?:{re.escape(mark)}\d+)?")
    for form, mark in _MARKS.items()
}  # fmt: skip
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")


def checked(form: str) -> str:
    """A format of numbers, when it is one."""
    if form not in FORMATS:
        raise ParameterError(f"there is no such number format; choose one of {', '.join(FORMATS)}")
    return form


def read(texts: Sequence[str], form: str) -> list[str | None]:
    """Texts as numbers with a decimal point and nothing else between their digits; None where one is no number.

    Example:
        >>> read(["1.234,5", "0,25", "x"], "decimal-comma"), read(["1,234.5", "1'000"], "decimal-point")
        (['1234.5', '0.25', None], ['1234.5', '1000'])
    """
    numbers: list[str | None] = []
    for text in texts:
        written = _WRITTEN[form].fullmatch(text)
        if written is None:
            numbers.append(None)
            continue
        plain = text.replace(written[1], "") if written[1] else text
        numbers.append(plain.replace(_MARKS[form], "."))
    return numbers


def recognized(texts: Sequence[str]) -> Recognition | None:
    """The format in which every text is a number; None where there is none, or a code is as likely.

    Example:
        >>> recognized(["3,14", "2,5"]).form, recognized(["1,234", "1,234.5"]).form
        ('decimal-comma', 'decimal-point')
        >>> recognized(["1,234", "5,678"]).doubt
        'a comma in 2 of its distinct values may stand before decimals or between thousands'
    """
    fitting = [form for form in FORMATS if all(_WRITTEN[form].fullmatch(text) for text in texts)]
    if not fitting:
        return None
    signs = {sign for text in texts for sign in text if not sign.isdigit() and sign not in "-+"}
    fitting = [form for form in fitting if len(signs - {_MARKS[form]}) <= 1]
    if not fitting or not signs:
        return None
    if signs <= set(_BLANKS) and len({len(text.lstrip("-+")) for text in texts}) == 1:
        return None  # 123 456 789 in every record is a code
    if len(fitting) == 1 or read(texts, fitting[0]) == read(texts, fitting[1]):
        return Recognition(fitting[-1])
    sign = "comma" if "," in signs else "point"
    count = sum(not text.lstrip("-+").isdigit() for text in texts)
    return Recognition(
        doubt=f"a {sign} in {count:,} of its distinct values may stand before decimals or between thousands",
        choices=FORMATS,
    )


def hint(texts: Sequence[str]) -> str | None:
    """What in plain numbers may have been meant otherwise: three decimals wherever there is a point."""
    pointed = [text for text in texts if "." in text]
    if pointed and all(_THOUSANDS.fullmatch(text) for text in pointed):
        return (
            f"the point in its {len(pointed):,} distinct values that have one is read as a decimal point; "
            "if it stands between thousands, say decimal-comma"
        )
    return None
