"""Labels of dates: ISO inside, and in the format of their column where they are published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shoal.core.multisets import parsed, spelled_multiset, spelled_value
from shoal.parsing.dates import Calendar
from shoal.parsing.labels import DATES

Label = str | None


def as_published(labels: Iterable[Label], calendar: Calendar | None) -> list[Label]:
    """Labels with their days and moments spelled as the column does; months, years and other nodes stay as they are.

    Example:
        >>> german = Calendar("day-first", pattern="%d.%m.%Y")
        >>> as_published(["2020-02-01", "[2020-02-01 - 2020-03-05]", "2020-02", None], german)
        ['01.02.2020', '[01.02.2020 - 05.03.2020]', '2020-02', None]
    """
    if calendar is None or not calendar.pattern:
        return list(labels)
    return _respelled(list(labels), calendar.written)


def as_iso(labels: Sequence[Label], form: str) -> list[Label]:
    """Published labels with their days and moments in ISO form.

    Example:
        >>> as_iso(["01.02.2020", "[01.02.2020 - 05.03.2020]", "{01.02.2020:2,:1}", "2020-02", "*"], "day-first")
        ['2020-02-01', '[2020-02-01 - 2020-03-05]', '{2020-02-01:2,:1}', '2020-02', '*']
    """
    return _respelled(labels, lambda texts: Calendar(form).moments(texts).spelled(times=True))


def _respelled(labels: Sequence[Label], spell: Callable[[list[str]], Sequence[Label]]) -> list[Label]:
    """Labels with each date in them spelled anew, all at once; what spells as nothing stays."""
    taken = [_taken_apart(label) for label in labels]
    distinct = sorted({part for parts, _ in taken for part in parts if part is not None})
    known = {text: new or text for text, new in zip(distinct, spell(distinct), strict=True)}
    return [
        label if label is None else put_together([part and known[part] for part in parts])
        for label, (parts, put_together) in zip(labels, taken, strict=True)
    ]


def _taken_apart(label: Label) -> tuple[list[Label], Callable[[list[Label]], str]]:
    """The values that a label names, and how a label names some: one, an interval, a multiset or a set."""
    if label is None:
        return [], str
    if interval := DATES.fullmatch(label):
        return [interval[1], interval[2]], lambda ends: f"[{ends[0]} - {ends[1]}]"
    if (entries := parsed(label)) is not None:
        counts = [count for _, count in entries]
        return [value for value, _ in entries], lambda values: spelled_multiset(
            [spelled_value(value) for value in values], counts
        )
    if label.startswith("{") and label.endswith("}"):
        return [*label[1:-1].split("|")], lambda members: "{" + "|".join(map(str, members)) + "}"
    return [label], lambda values: str(values[0])
