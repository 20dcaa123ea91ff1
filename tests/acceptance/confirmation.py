"""What a release must be, checked with pandas and the standard library alone: nothing here knows Shoal."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

import pandas as pd

NUMBERS = re.compile(r"\[(-?[\d.]+)-(-?[\d.]+)\]")
DATES = re.compile(r"(?:\[(\d[\d./-]+) - )?(\d+[./-]\d+[./-]\d+)\]?")
"""A day, or two that are the ends of a range."""


def read(path: Path, delimiter: str) -> pd.DataFrame:
    """A published file as texts; an empty cell is an empty text."""
    return pd.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)


def day(text: str, pattern: str) -> date:
    """A day as a table spells it: a column may have the form of ISO beside others that do not."""
    return datetime.strptime(text, "%Y-%m-%d" if text[4:5] == "-" else pattern).date()


def says(cell: str, meant: str | None, pattern: str) -> bool:
    """Whether a published cell is true of what was meant; days are spelled by a pattern."""
    if cell == "*":
        return True
    if not cell or meant is None:
        return not cell and meant is None
    dates, numbers = DATES.fullmatch(cell), NUMBERS.fullmatch(cell)
    if dates:
        first, last = day(dates[1] or dates[2], pattern), day(dates[2], pattern)
        return first <= date.fromisoformat(meant) <= last
    if numbers:
        return float(numbers[1]) <= float(meant) <= float(numbers[2])
    try:
        return float(cell) == float(meant)
    except ValueError:
        return cell == meant


def confirm(
    published: pd.DataFrame,
    meant: pd.DataFrame,
    *,
    key: str,
    person: str | None,
    quasi: list[str],
    hidden: list[str],
    births: list[str],
    dates: str,
    k: int,
) -> None:
    """Raises unless the release has k people in every class, says what is true, and names nobody."""
    assert not set(hidden) & set(published.columns)
    assert published[key].is_unique
    both = published.merge(meant, on=key, suffixes=("", " meant"), validate="one_to_one")
    assert len(both) == len(published)
    people = both[person] if person is not None else both[key]
    classes = people.groupby([both[name] for name in quasi], dropna=False)
    assert classes.nunique().min() >= k
    for name in quasi:
        told = [
            says(cell, None if pd.isna(was) else was, dates)
            for cell, was in zip(both[name], both[f"{name} meant"], strict=True)
        ]
        assert all(told), name
    cells = set(published.drop(columns=key).to_numpy().ravel())
    for name in hidden:
        assert not cells & {value for value in meant[name].dropna() if not value.isdigit()}, name
    for name in births:
        born = meant[name].dropna()
        assert not cells & {*born, *pd.to_datetime(born).dt.strftime(dates)}, name
