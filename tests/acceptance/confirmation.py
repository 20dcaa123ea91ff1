"""What a release must be, checked with pandas and the standard library alone: nothing here knows Shoal."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pandas as pd

NUMBERS = re.compile(r"\[(-?[\d.]+)-(-?[\d.]+)\]")
DATES = re.compile(r"\[(\d{4}-\d\d-\d\d) - (\d{4}-\d\d-\d\d)\]")


def read(path: Path, delimiter: str) -> pd.DataFrame:
    """A published file as texts; an empty cell is an empty text."""
    return pd.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)


def says(cell: str, meant: str | None) -> bool:
    """Whether a published cell is true of what was meant."""
    if cell == "*":
        return True
    if not cell or meant is None:
        return not cell and meant is None
    dates, numbers = DATES.fullmatch(cell), NUMBERS.fullmatch(cell)
    if dates:
        return date.fromisoformat(dates[1]) <= date.fromisoformat(meant) <= date.fromisoformat(dates[2])
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
            says(cell, None if pd.isna(was) else was)
            for cell, was in zip(both[name], both[f"{name} meant"], strict=True)
        ]
        assert all(told), name
    cells = set(published.drop(columns=key).to_numpy().ravel())
    for name in hidden:
        assert not cells & {value for value in meant[name].dropna() if not value.isdigit()}, name
    for name in births:
        born = meant[name].dropna()
        assert not cells & {*born, *pd.to_datetime(born).dt.strftime("%d.%m.%Y")}, name
