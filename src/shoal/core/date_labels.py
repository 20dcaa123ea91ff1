"""Labels of dates: ISO inside, and in the format of their column where they are published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shoal.core.multisets import parsed, spelled_multiset, spelled_value
from shoal.parsing.date_patterns import separated
from shoal.parsing.dates import ORDERS, Calendar
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
    """Published labels with their days and moments in ISO form; in formats in which nothing is published they stay.

    Example:
        >>> as_iso(["01.02.2020", "[01.02.2020 - 05.03.2020]", "{01.02.2020:2,:1}", "2020-02", "*"], "day-first")
        ['2020-02-01', '[2020-02-01 - 2020-03-05]', '{2020-02-01:2,:1}', '2020-02', '*']
    """
    form = form if form in ORDERS or separated(form) else "iso"
    return _respelled(labels, lambda texts: Calendar(form).moments(texts).spelled(times=True))


def _respelled(labels: Sequence[Label], spell: Callable[[list[str]], Sequence[Label]]) -> list[Label]:
    """Labels with each date in them spelled anew, all at once; what spells as nothing stays."""
    several = {label: _taken_apart(label) for label in labels if label is not None and label.startswith(("[", "{"))}
    parts = dict.fromkeys(part for values, _ in several.values() for part in values if part is not None)
    texts = [*(parts | dict.fromkeys(label for label in labels if label is not None and label not in several))]
    spelled = {text: new or text for text, new in zip(texts, spell(texts), strict=True)}
    for label, (values, put_together) in several.items():
        spelled[label] = put_together([value if value is None else spelled[value] for value in values])
    return [label if label is None else spelled[label] for label in labels]


def _taken_apart(label: str) -> tuple[list[Label], Callable[[list[Label]], str]]:
    """The values that a label of several names, and how it names them: an interval, a multiset or a set."""
    if interval := DATES.fullmatch(label):
        return [interval[1], interval[2]], lambda ends: f"[{ends[0]} - {ends[1]}]"
    if (entries := parsed(label)) is not None:
        counts = [count for _, count in entries]
        return [value for value, _ in entries], lambda values: spelled_multiset(
            [spelled_value(value) for value in values], counts
        )
    if label.startswith("{") and label.endswith("}"):
        return [*label[1:-1].split("|")], lambda members: "{" + "|".join(map(str, members)) + "}"
    return [], lambda _: label
