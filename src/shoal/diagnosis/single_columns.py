"""Single columns: whether one names people, or determines another one; what detection and the check of plain columns
both go by. Reasons name columns and counts, never a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from shoal.core.grouping import Codes, group
from shoal.core.schema import Kind, Role
from shoal.core.values import Values
from shoal.diagnosis.headings import Heading, is_hint_of_people, is_key, is_key_of_people, is_of_people, meaning_of
from shoal.diagnosis.identifier_patterns import OF_PLACES_AND_DEVICES, PATTERNS
from shoal.diagnosis.national_numbers import validators
from shoal.diagnosis.person_names import is_name

LOOKED_AT = 2000
"""Distinct values of a column whose form is looked at, evenly spaced."""
SURVEYED = 50_000
"""Records by which it is judged whether a column determines another one, evenly spaced."""
HINTING = 50
"""Of these, how many are looked at first: if few of them have a form, the others need not be looked at."""
OF_A_FORM = 0.8
ALMOST_UNIQUE = 0.9
FEW_WORDS = 4
FEWEST = 20
"""Distinct values below which that they are almost unique says nothing."""
FEWEST_KEYS = 10
FEWEST_NAMES, OF_NAMES = 5, 0.4
"""How many of the distinct values, and what share, are known names where a column has names of people. Of columns of
names two in five are or more, of columns of towns one in three or fewer."""
SHORT = 5
"""Characters that a number of a person has at least, on average."""
LONG_NUMBER = 9
"""Digits of whole numbers of one length from which on they are codes, not quantities."""
CONSTANT = 2
"""Columns that a key of people determines at least, where nothing but its heading speaks for it."""
_DATE = re.compile(
    r"(\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}[-. ]?[^\W\d_]{3,9}[-., ]+\d{2,4}|[^\W\d_]{3,9}\.? \d{1,2},? \d{4})"
    r"([T ].*)?"
)
_FIRST_YEAR, _LAST_YEAR = 1850, 2100

QUICK = 4096
"""Records that tell at once, of most pairs of columns, that one does not determine the other."""
SURE = 20.0
"""How sure it has to be that a column determines another one: chance would do it once in e to this."""
SURE_OF_A_COPY = 7.0
BROKEN = 0.01
"""The share of the disagreements to be expected by chance that a dependency may have: a few cells may be damaged."""


def some(values: Values) -> Any:
    """Distinct values to look at, evenly spaced."""
    texts = values.texts
    return texts[np.linspace(0, len(texts) - 1, min(len(texts), LOOKED_AT)).astype(int)] if len(texts) else texts


def _reaches(texts: Sequence[str], test: Callable[[str], Any], share: float) -> bool:
    """Whether at least that share of texts passes a test; ends with the text that makes it impossible."""
    misses = 0
    for text in texts:
        misses += not test(text)
        if (len(texts) - misses) / len(texts) < share:
            return False
    return len(texts) > 0


def _written(text: str) -> bool:
    return any(sign.isalpha() for sign in text)


def are_dates(values: Values) -> bool:
    """Whether values are dates of whatever form."""
    return values.kind is Kind.DATE or _reaches(some(values), _DATE.fullmatch, OF_A_FORM)


def are_years(values: Values) -> bool:
    """Whether values are years, of two digits or four."""
    if values.numbers is None or not len(values.numbers) or not _whole(values):
        return False
    low, high = float(values.numbers[0]), float(values.numbers[-1])
    return _FIRST_YEAR <= low <= high <= _LAST_YEAR or 0 <= low <= high <= 99


def _whole(values: Values) -> bool:
    return values.numbers is not None and bool(np.all(values.numbers % 1 == 0))


def heading_of(name: str, values: Values) -> Heading | None:
    """What a heading says, unless the values belie it."""
    heading = meaning_of(name)
    if heading is None:
        return None
    texts, distinct = some(values), len(values.texts)
    fits = True
    if heading.meaning == "name":
        fits = values.kind not in (Kind.NUMERIC, Kind.DATE) and distinct > 2 and _reaches(texts, _written, OF_A_FORM)
    elif heading.meaning == "number":
        long = float(np.mean([len(text) for text in texts])) >= SHORT if distinct else False
        signs = long and _reaches(texts, lambda text: any(sign.isdigit() or sign == "@" for sign in text), OF_A_FORM)
        fits = values.kind is not Kind.DATE and distinct > 2 and signs
    elif heading.meaning == "year":
        fits = are_years(values)
    elif heading.meaning == "date":
        fits = are_dates(values)
    return heading if fits else None


def naming(name: str, values: Values, distinct: int, present: int) -> tuple[str, ...]:
    """Why a column names people; empty when it does not.

    `values` are its distinct values or some of them, `distinct` how many there are, `present` the records that have
    one.
    """
    texts, ratio = some(values), distinct / present if present else 0.0
    heading, dates = heading_of(name, values), are_dates(values)
    spoken = heading is not None and heading.role is Role.IDENTIFIER
    reasons = []
    pattern = None if dates or distinct <= 2 else _pattern(texts, doubt=not spoken and ratio < 0.5)
    if pattern is not None:
        reasons.append(f"its values have the form of {pattern}")
    if spoken and heading is not None:
        reasons.append(f"its heading says {heading.word!r}")
    if not reasons and (heading is None or spoken) and not dates:
        reasons += _key(name, values, distinct, ratio) or _names(texts)
    if values.kind is Kind.CATEGORICAL and not dates and distinct > 2 and ratio > 0.5:
        count = float(np.mean([len(text.split()) for text in texts]))
        written = _reaches(texts, _written, OF_A_FORM)
        if count >= FEW_WORDS and written:
            reasons.append(f"free text of {count:.0f} words on average, in which anything may stand")
        elif not reasons and heading is None and written and ratio >= ALMOST_UNIQUE and distinct >= FEWEST:
            reasons.append(f"almost unique: {ratio:.0%} of the records that have a value have a text of their own")
    return tuple(reasons)


def is_identifier_that_repeats(name: str, values: Values, distinct: int, present: int) -> bool:
    """Whether a column that names people has several records of some, so that it tells whose they are. Names of people
    do not: two people may have the same one."""
    heading = meaning_of(name)
    pattern = _pattern(some(values), doubt=True)
    keyed = (
        (pattern is not None and pattern not in OF_PLACES_AND_DEVICES)
        or is_key_of_person(name, values)
        or (heading is not None and heading.meaning == "number")
    )
    return keyed and distinct >= FEWEST_KEYS and distinct < present


def _pattern(texts: Any, *, doubt: bool) -> str | None:
    """The form that most values have; of phone numbers it is no proof where they repeat and nothing else says so."""
    few = texts[:: max(1, len(texts) // HINTING)]
    more = validators(few[len(few) // 2]) if len(texts) >= FEWEST_KEYS else {}  # few numbers pass some test by chance
    for pattern, test in (PATTERNS | more).items():
        if doubt and pattern == "phone numbers":
            continue
        if _reaches(few, test, OF_A_FORM / 2) and _reaches(texts, test, OF_A_FORM):
            return pattern
    return None


def are_codes(values: Values) -> bool:
    """Whether values are codes or whole numbers, as keys are; dates are not."""
    coded = _reaches(some(values), lambda text: " " not in text and any(sign.isdigit() for sign in text), OF_A_FORM)
    return coded and not are_dates(values) and (values.kind is not Kind.NUMERIC or _whole(values))


def may_be_person(values: Values, distinct: int, present: int) -> bool:
    """Whether a column may be one by whose values the records of a person are known, which what it determines tells."""
    return FEWEST <= distinct < ALMOST_UNIQUE * present and are_codes(values)


def tells_people(name: str, codes: Codes, personal: Iterable[Codes], others: Iterable[Codes]) -> bool:
    """Whether a column determines what belongs to a person, such as a date of birth or a name; of one whose heading is
    a key, or a word for people, it is enough that it determines several columns."""
    if any(determines(codes, other) for other in personal):
        return True
    return is_hint_of_people(name) and sum(determines(codes, other) for other in others) >= CONSTANT


def _key(name: str, values: Values, distinct: int, ratio: float) -> list[str]:
    if not are_codes(values):
        return []
    if is_key_of_person(name, values) and distinct >= FEWEST_KEYS:
        return ["its heading is that of a key of people"]
    if is_key(name) and distinct >= FEWEST and ratio >= ALMOST_UNIQUE:
        return [f"its heading is that of a key, and it is almost unique: {ratio:.0%} of the records have their own"]
    lengths = {len(text) if text.isalnum() else 0 for text in some(values)}
    if len(lengths) == 1 and min(lengths) >= LONG_NUMBER and distinct >= FEWEST and ratio >= 0.5:
        return [f"its values are codes of {min(lengths)} characters, and {ratio:.0%} of the records have their own"]
    return []


def is_key_of_person(name: str, values: Values) -> bool:
    """Whether a heading is that of a key of people; a mere word for people is, where the values are no counts."""
    if is_key_of_people(name):
        return True
    long = len(values.texts) and float(np.mean([len(text) for text in some(values)])) >= SHORT
    return is_of_people(name) and bool(values.kind is not Kind.NUMERIC or long)


def _names(texts: Any) -> list[str]:
    share = sum(map(is_name, texts)) / max(len(texts), 1)
    if share * len(texts) < FEWEST_NAMES or share < OF_NAMES:
        return []
    return [f"its values read as names of people: {share:.0%} of the distinct ones are known names"]


def determines(column: Codes, other: Codes) -> bool:
    """Whether a column determines another one (a few damaged cells apart), and more than chance would make it.

    Where a value occurs once it determines everything and shows nothing; how sure it is follows from the records that
    share a value, and from how often two records agree on the other column anyway. Missing is a value.

    Example:
        >>> born = np.arange(400, dtype=np.int32) % 100
        >>> determines(born, born // 10), determines(born // 10, born)
        (True, False)
        >>> determines(np.arange(400, dtype=np.int32), born)
        False
    """
    if len(column) > 8 * QUICK:
        step = len(column) // QUICK
        sure, broken = _agreement(column[::step], other[::step])
        if sure >= SURE and broken > 10 * BROKEN:
            return False
    sure, broken = _agreement(column, other)
    return sure >= SURE and broken <= BROKEN


def _agreement(column: Codes, other: Codes) -> tuple[float, float]:
    """How sure one can be that a column would not agree with another one by chance, and the records that break the
    dependency as a share of those that would by chance."""
    if not len(column):
        return 0.0, 1.0
    counts = np.bincount(other + np.int32(1))
    alike = float(np.sum((counts / len(other)) ** 2))
    pairs = group([column + np.int32(1), other + np.int32(1)])
    starts = np.flatnonzero(np.append(True, np.diff(pairs.keys[0]) != 0))
    repeats = len(column) - len(starts)
    broken = len(column) - int(np.maximum.reduceat(pairs.counts, starts).sum())
    expected = repeats * (1 - alike)
    return -repeats * float(np.log(alike)), broken / expected if expected else 1.0


def is_copy(column: tuple[Values, Codes], other: tuple[Values, Codes]) -> bool:
    """Whether two columns hold the same texts, record by record, and that by more than chance."""
    (left, places), (right, others) = column, other
    if not len(left.texts) or len(left.texts) != len(right.texts) or not np.array_equal(left.texts, right.texts):
        return False
    counts = np.bincount(others + np.int32(1))
    alike = float(np.sum((counts / len(others)) ** 2))
    return np.array_equal(places, others) and -len(others) * float(np.log(alike)) >= SURE_OF_A_COPY
