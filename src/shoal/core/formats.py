"""Formats: how the texts of a column are read as dates or numbers, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.core.hierarchy import Floats
from shoal.core.schema import Kind
from shoal.errors import SchemaError
from shoal.parsing import dates, numbers
from shoal.parsing.dates import Calendar
from shoal.parsing.identity import almost_alike, moments_alike, numbers_alike
from shoal.parsing.instants import Instants, clock_of
from shoal.parsing.recognition import Recognition

_MEANING = {
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


def interpret(column: str, texts: Sequence[str], kind: Kind | None, form: str | None, *, plain: bool) -> Reading:
    """The reading of texts. The kind and the format are found out unless they are given; given ones must fit.

    `plain` says that the texts are numbers as they stand.
    """
    if form in numbers.FORMATS:
        return _numeric(column, texts, form, given=True)
    if form is not None:
        return _dated(column, texts, form, given=True)
    if kind is Kind.DATE:
        recognition = dates.recognized(texts)
        if recognition is None and texts:
            raise _no_dates(column, texts, dates.undated(texts), " like 1984-05-17 or 17.05.1984")
        return _recognized_dates(column, texts, recognition or Recognition("iso"))
    if kind in (Kind.CATEGORICAL, Kind.TEXT):
        notes = tuple(
            f"column {column!r} is read as {kind}, as it is said to be: {alike:,} of its distinct values spell a "
            f"{what} that another one spells too, and count as other values"
            for alike, what in _spelled_alike(texts)
        )
        return Reading(texts, notes=notes)
    if plain:
        hints = (numbers.hint(texts), None if kind else dates.hint(texts))
        return Reading(texts, notes=tuple(f"column {column!r}: {hint}" for hint in hints if hint))
    if kind is None and (recognition := dates.recognized(texts)) is not None:
        return _recognized_dates(column, texts, recognition)
    if (recognition := numbers.recognized(texts)) is not None:
        if recognition.form is not None:
            return _numeric(column, texts, recognition.form, given=False)
        return _asked(column, texts, Kind.CATEGORICAL, recognition, "number")
    if kind is None and (spelled := _spelled_alike(texts)):
        alike, what = spelled[0]
        others = ", beside values that are no numbers" if what == "number" else ""
        return Reading(
            texts, Kind.CATEGORICAL,
            doubt=f"column {column!r}: {alike:,} of its distinct values spell a {what} that another one spells too"
            f"{others}; write each in one way, or say --kind COLUMN=text where they are codes that differ",
        )  # fmt: skip
    short = None if kind else dates.hint(texts)
    return Reading(texts, notes=() if short is None else (f"column {column!r} {short}",))


def _spelled_alike(texts: Sequence[str]) -> list[tuple[int, str]]:
    """How many values of texts are numbers, or dates and times, that stand there in another spelling, too."""
    found = ((numbers_alike(texts), "number"), (moments_alike(texts), "date or a time"))
    return [(alike, what) for alike, what in found if alike]


def respelled_note(column: str, written: Sequence[str], plain: Sequence[str]) -> tuple[str, ...]:
    """What to know about numbers that are published in another spelling than the table has."""
    changed = sum(map(str.__ne__, written, plain))
    if not changed:
        return ()
    return (
        f"column {column!r} is read as numbers: {changed:,} of its {len(written):,} distinct values are published "
        "without idle zeros, plus signs and exponents; if they are codes, say --kind COLUMN=text",
    )


def spelling_notes(column: str, texts: Sequence[str], spellings: int, *, compared: bool) -> tuple[str, ...]:
    """What to know about values that are spelled in several ways, and, of texts that are `compared`, about those that
    differ so little that they may be meant as one."""
    notes = []
    if spellings > len(texts):
        notes.append(
            f"column {column!r}: {spellings - len(texts):,} of its {spellings:,} distinct spellings say the same as "
            "another one, and count as one value with it"
        )
    alike = almost_alike(texts) if compared and texts else 0
    if alike:
        notes.append(
            f"column {column!r}: {alike:,} of its {len(texts):,} distinct values differ from another one only in case "
            "or blanks, and count as other values"
        )
    return tuple(notes)


def _numeric(column: str, texts: Sequence[str], form: str, *, given: bool) -> Reading:
    spelled = numbers.read(texts, form)
    unfit = spelled.count(None)
    if unfit:
        raise SchemaError(
            f"column {column!r} is said to hold {_MEANING[form]} and {unfit:,} of its {len(texts):,} distinct values "
            "are none"
        )
    return Reading(spelled, Kind.NUMERIC, form=form, notes=() if given else (_read_as(column, form),))


def _read_as(column: str, form: str) -> str:
    return f"column {column!r} is read as {_MEANING[form]}"


def _recognized_dates(column: str, texts: Sequence[str], recognition: Recognition) -> Reading:
    if recognition.form is not None:
        return _dated(column, texts, recognition.form, given=False)
    return _asked(column, texts, Kind.DATE, recognition, "date")


def _asked(column: str, texts: Sequence[str], kind: Kind, recognition: Recognition, what: str) -> Reading:
    """Texts that are left as they are, because it takes a person to tell what they mean."""
    ask = (
        f"write them in one way, or name the one that counts with --{what}-format: what is written otherwise is then "
        "missing; --kind COLUMN=text takes all for texts"
    )
    if recognition.choices:
        named = " or ".join(f"COLUMN={choice}" for choice in recognition.choices)
        ask = f"say which with --{what}-format {named} (in Python: {what}_formats)"
    return Reading(texts, kind, doubt=f"column {column!r}: {recognition.doubt}; {ask}")


def _dated(column: str, texts: Sequence[str], form: str, *, given: bool) -> Reading:
    moments = dates.read(texts, form)
    damaged = len(texts) - int(moments.sound.sum())
    if not dates.few_damaged(damaged, len(texts)):
        raise _no_dates(column, texts, damaged, f" in the format {form}")
    notes = []
    if not given and form in _MEANING:
        notes.append(_read_as(column, form))
    if "%y" in form:
        notes.append(f"column {column!r}: years of two digits are 1969 to 2068")
    if damaged:
        notes.append(
            f"column {column!r}: {damaged:,} of its {len(texts):,} distinct values are no dates and count as missing"
        )
    reading = dated(column, texts, moments, form, notes=tuple(notes))
    calendar = reading.calendar
    if calendar is None or calendar.clock:
        return reading
    spelled = {text: date for text, date in zip(texts, reading.texts, strict=True) if date is not None}
    pattern = dates.pattern_of(spelled, form, times=calendar.times)
    return replace(reading, calendar=replace(calendar, pattern=pattern))


def dated(
    column: str,
    texts: Sequence[str],
    moments: Instants,
    form: str = "iso",
    clock: str = "",
    notes: tuple[str, ...] = (),
) -> Reading:
    """The reading of dates that are known: each spelled in ISO form, without times that are all midnight.

    Times with a zone are moments, which are spelled by one `clock`: that of a typed column's zone, the one offset that
    all texts name, or else UTC.
    """
    timed = moments.sound & moments.timed
    zoned = timed & moments.zoned
    named, unnamed = int(zoned.sum()), int((timed & ~zoned).sum())
    if named and unnamed:
        what = f"{named:,} of its distinct times name an offset from UTC, and {unnamed:,} do not"
        return _asked(column, texts, Kind.DATE, Recognition(doubt=what), "date")
    if named and not clock:
        clock = clock_of(moments.ahead[zoned])
        if not clock:
            clock = "UTC"
            notes = (*notes, f"column {column!r}: its times have different offsets from UTC and are published in UTC")
    if clock:
        moments = moments.by(clock)
        if not moments.in_order:
            moments, clock = moments.by("UTC"), "UTC"
            notes = (*notes, f"column {column!r}: its clock was once set back to another day; it is published in UTC")
    calendar = Calendar(form, moments.times, clock if moments.times else "")
    quantities = moments.quantities(times=calendar.times)
    spelled = replace(moments, timed=moments.sound).spelled(times=calendar.times)
    return Reading(spelled, Kind.DATE, quantities, calendar, None if form == "iso" else form, notes=notes)


def _no_dates(column: str, texts: Sequence[str], unfit: int, form: str) -> SchemaError:
    return SchemaError(
        f"column {column!r} is said to hold dates and {unfit:,} of its {len(texts):,} distinct values are not dates"
        f"{form}"
    )
