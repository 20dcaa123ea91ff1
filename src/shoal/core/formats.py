"""Formats: how the texts of a column are read as dates or numbers, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.core import dates, numbers
from shoal.core.dates import Calendar, Moments
from shoal.core.hierarchy import Floats
from shoal.core.recognition import Recognition
from shoal.core.schema import Kind
from shoal.errors import SchemaError

_TOLD = {
    "day-first": "dates with the day first",
    "month-first": "dates with the month first",
    "decimal-comma": "numbers with a decimal comma",
    "decimal-point": "numbers with signs between the thousands",
}


@dataclass(frozen=True, eq=False)
class Reading:
    """How distinct texts of a column are understood: each as a plain spelling, None where it counts as missing.

    Dates have their `quantities` and their `calendar`. `form` is the format where it is none that needs no word: ISO
    dates and plain numbers. A `doubt` is a question that somebody has to answer before the column gets a role that
    needs its meaning; `notes` are what should be known.
    """

    texts: Sequence[str | None]
    kind: Kind | None = None
    quantities: Floats | None = None
    calendar: Calendar | None = None
    form: str | None = None
    doubt: str | None = None
    notes: tuple[str, ...] = ()


def understood(column: str, texts: Sequence[str], kind: Kind | None, form: str | None, *, plain: bool) -> Reading:
    """The reading of texts. The kind and the format are found out unless they are given; given ones must fit.

    `plain` says that the texts are numbers as they stand.
    """
    if form in numbers.FORMATS:
        return _numeric(column, texts, form, given=True)
    if form is not None:
        return _dated(column, texts, form, given=True)
    if kind is Kind.DATE:
        found = dates.recognized(texts)
        if found is None and texts:
            raise _no_dates(column, texts, dates.undated(texts), " like 1984-05-17 or 17.05.1984")
        return _recognized_dates(column, texts, found or Recognition("iso"))
    if kind in (Kind.CATEGORICAL, Kind.TEXT):
        return Reading(texts)
    if plain:
        hints = (numbers.hint(texts), None if kind else dates.hint(texts))
        return Reading(texts, notes=tuple(f"column {column!r}: {hint}" for hint in hints if hint))
    if kind is None and (found := dates.recognized(texts)) is not None:
        return _recognized_dates(column, texts, found)
    if (found := numbers.recognized(texts)) is not None:
        if found.form is not None:
            return _numeric(column, texts, found.form, given=False)
        return _asked(column, texts, Kind.CATEGORICAL, found, "number")
    short = None if kind else dates.hint(texts)
    return Reading(texts, notes=() if short is None else (f"column {column!r} {short}",))


def _numeric(column: str, texts: Sequence[str], form: str, *, given: bool) -> Reading:
    spelled = numbers.read(texts, form)
    unfit = spelled.count(None)
    if unfit:
        raise SchemaError(
            f"column {column!r} is said to hold {_TOLD[form]} and {unfit:,} of its {len(texts):,} distinct values are "
            "none"
        )
    if not given and len({float(text or "") for text in spelled}) < len(set(texts)):
        return Reading(texts)  # codes, such as 250,0 and 250,00: as numbers, different values would become one
    return Reading(spelled, Kind.NUMERIC, form=form, notes=() if given else (_told(column, form),))


def _told(column: str, form: str) -> str:
    return f"column {column!r} is read as {_TOLD[form]}"


def _recognized_dates(column: str, texts: Sequence[str], found: Recognition) -> Reading:
    if found.form is not None:
        return _dated(column, texts, found.form, given=False)
    return _asked(column, texts, Kind.DATE, found, "date")


def _asked(column: str, texts: Sequence[str], kind: Kind, found: Recognition, what: str) -> Reading:
    """Texts that are left as they are, because it takes a person to tell what they mean."""
    ask = (
        f"write them in one way, or name the one that counts with --{what}-format: what is written otherwise is then "
        "missing; --kind COLUMN=text takes all for texts"
    )
    if found.choices:
        named = " or ".join(f"COLUMN={choice}" for choice in found.choices)
        ask = f"say which with --{what}-format {named} (in Python: {what}_formats)"
    return Reading(texts, kind, doubt=f"column {column!r}: {found.doubt}; {ask}")


def _dated(column: str, texts: Sequence[str], form: str, *, given: bool) -> Reading:
    moments = dates.read(texts, form)
    damaged = len(texts) - int(moments.sound.sum())
    if not dates.few_damaged(damaged, len(texts)):
        raise _no_dates(column, texts, damaged, f" in the format {form}")
    notes = []
    if not given and form in _TOLD:
        notes.append(_told(column, form))
    if "%y" in form:
        notes.append(f"column {column!r}: years of two digits are 1969 to 2068")
    if damaged:
        notes.append(
            f"column {column!r}: {damaged:,} of its {len(texts):,} distinct values are no dates and count as missing"
        )
    named = None if form == "iso" else form
    return dated(texts, moments, Calendar(form, moments.times), form=named, notes=tuple(notes))


def dated(
    texts: Sequence[str], moments: Moments, calendar: Calendar, *, form: str | None = None, notes: tuple[str, ...] = ()
) -> Reading:
    """The reading of dates that are known. What is in ISO form stays as it is, without times that are all midnight."""
    spelled: Sequence[str | None] = moments.spelled(times=calendar.times)
    one_day_each = len({text for text in spelled if text is not None}) == int(moments.sound.sum())
    if calendar.form == "iso" and (calendar.times or not one_day_each):
        spelled = [text if sound else None for text, sound in zip(texts, moments.sound.tolist(), strict=True)]
    quantities = moments.quantities(times=calendar.times)
    return Reading(spelled, Kind.DATE, quantities, calendar, form, notes=notes)


def _no_dates(column: str, texts: Sequence[str], unfit: int, form: str) -> SchemaError:
    return SchemaError(
        f"column {column!r} is said to hold dates and {unfit:,} of its {len(texts):,} distinct values are not dates"
        f"{form}"
    )
