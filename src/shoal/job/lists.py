"""Lists and pairs as one text, the way that options take them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from shoal.errors import ParameterError


def split_names(text: str) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted."""
    cells = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()]


def join_names(names: Sequence[str]) -> str:
    """Names as options take them: one that holds a comma is quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(list(names))
    return text.getvalue()


def split_pairs(entries: Sequence[str], flag: str, form: str = "COLUMN=…") -> dict[str, str]:
    """Entries of such a form, as an option takes them that is given for each of several names."""
    pairs = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError(f"write {flag} as {form}")
        pairs[name.strip()] = value.strip()
    return pairs
