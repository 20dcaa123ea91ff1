"""The header of a table: its names are trimmed and checked, and never shown where they look like a record.

Whoever reads a file without a header takes its first person for the names of the columns, and every error that lists
names would recite that person. Nothing says for sure what a first line is; what follows weighs the evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import count, zip_longest
from pathlib import Path

from shoal.errors import InputError, Unshown, quoted

LONGEST = 255
LOOKED_AT = 1000
"""Records below a header that are compared with it."""
LISTED = 10
"""Names that a message lists."""

# Beside control characters those that turn the direction of writing, which hide what a name really is.
_UNPRINTABLE = re.compile(r"[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_ALONE = re.compile(
    r"""[\W\d]*\d[\W\d]* | [-+]?\d[\d.]*[eE][-+]?\d+  # numbers, amounts, dates, times, phone numbers
    | \d{4}-\d\d-\d\d.* | \d{1,2}[\s.-]*[^\W\d_]{3,9}\.?[\s.,-]+\d{2,4} | [^\W\d_]{3,9}\.?\s\d{1,2},?\s\d{4}
    | \S+@\S+ | \w+://\S+ | (?:[A-Za-z]:)?[\\/].* | [-=<{~]{2,}.* | [{<="].*  # addresses, paths, what is no table
    | [0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12} | (?=[a-f]*\d)[0-9a-f]{16,} | (?=[A-F]*\d)[0-9A-F]{16,}
    | (?i:n/?a | nan | null | none | nil | unknown | missing | true | false) | [?.*-]+  # what stands for nothing
    """,
    re.VERBOSE,
)
_NOBODY_NAMED = re.compile(r"|Unnamed: 0|\.\.\.1|X__1|__index_level_0__")
_NUMBERED = re.compile(r"(\D*[^\W\d])\d{1,4}")
_KNOWN = frozenset(Path(__file__).with_name("column_words.txt").read_text(encoding="utf-8").split())
"""Words that columns are called by."""
_CONNECTING = re.compile(r"a|an|and|da|de|del|der|di|do|du|el|et|in|la|le|no|nr|of|og|och|or|per|the|to|und|van|y")


def names(
    header: Sequence[str], where: str, records: Sequence[Sequence[str]] | None = None, *, rename: bool = False
) -> tuple[str, ...]:
    """The names of a table's columns without the blanks around them; names that no release could carry are refused.

    Names that occur more than once are refused too, or numbered with `rename`. `records` are texts of some records
    below the header, which tell whether its names may be shown.
    """
    trimmed = tuple(name.strip("\ufeff").strip() for name in header)
    for wrong, what in (
        (sum(not name for name in trimmed), "have no name"),
        (sum(len(name) > LONGEST for name in trimmed), f"have a name of more than {LONGEST} characters"),
        (sum(_UNPRINTABLE.search(name) is not None for name in trimmed), "have a name with control characters"),
    ):
        if wrong:
            raise InputError(
                f"{where}: {wrong} of {len(trimmed)} columns {what}; rename them, and check that the header is one"
            )
    if len(set(trimmed)) == len(trimmed):
        return trimmed
    if rename:
        return renamed(trimmed)
    shown = {name: name for name in reversed(held_back(trimmed, records))}
    several = [(shown[name], times) for name, times in Counter(trimmed).items() if times > 1]
    repeated = ", ".join(f"column {quoted(name)} occurs {times} times" for name, times in several[:LISTED])
    more = f" and {len(several) - LISTED} more do" if len(several) > LISTED else ""
    raise InputError(f"{where}: {repeated}{more}; rename them, or ask for --rename-duplicates (rename_duplicates=True)")


def renamed(header: Sequence[str]) -> tuple[str, ...]:
    """The names with a number behind each one that occurred before: the first that no other column has.

    Example:
        >>> renamed(["x", "x", "x.1", "x"])
        ('x', 'x.2', 'x.1', 'x.3')
    """
    used, renamed, last = set(header), [], dict[str, int]()
    for name in header:
        if name in last:
            numbers = (number for number in count(last[name] + 1) if f"{name}.{number}" not in used)
            last[name] = next(numbers)
            name = f"{name}.{last[name]}"
            used.add(name)
        else:
            last[name] = 0
        renamed.append(name)
    return tuple(renamed)


def numbers_rows(name: str) -> bool:
    """Whether a heading is what R and pandas give to the column of row numbers: nothing, or a stand-in for it."""
    return _NOBODY_NAMED.fullmatch(name.strip("\ufeff").strip()) is not None


def held_back(header: tuple[str, ...], records: Sequence[Sequence[str]] | None = None) -> tuple[str, ...]:
    """The names as they are, or `Unshown` where they look like a record; `records` are texts of some below them."""
    if not is_record(header, records):
        return header
    return tuple(Unshown(name, place) for place, name in enumerate(header, 1))


def is_record(header: Sequence[str], records: Sequence[Sequence[str]] | None = None) -> bool:
    """Whether a header looks like one more record.

    It does where a name is a number, a date or an address, occurs among its column's values or is written exactly as
    they are, unless more names are words for columns or stand above values of another kind. Where nothing speaks for
    either, it is a record if it is written like one throughout.

    Example:
        >>> is_record(["name", "age"], [["Ann", "31"]]), is_record(["Bob", "44"], [["Ann", "31"]])
        (False, True)
    """
    below = zip_longest(*(records or ())[:LOOKED_AT], [""] * len(header), fillvalue="")
    columns = [[text for cell in column if (text := cell.strip())] for column in below]
    paired = list(zip(header, columns, strict=False))
    stems = Counter(match[1] for name in header if (match := _NUMBERED.fullmatch(name)))
    counted = {name for name in header if (match := _NUMBERED.fullmatch(name)) and stems[match[1]] > 1}  # q1, q2, q3
    named = [name in counted or _is_known(name) or _stands_above(name, column) for name, column in paired]
    alike = sum(
        _ALONE.fullmatch(name) is not None or (not known and (name in column or _same_shape(name, column)))
        for (name, column), known in zip(paired, named, strict=True)
    )
    if alike or any(named) or records is None:
        return alike > 0 and alike >= sum(named)
    return all(_same_case(name, column) for name, column in paired)


def _is_known(name: str) -> bool:
    """Whether most words of a name are such as columns are called by."""
    parted = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", unicodedata.normalize("NFC", name))
    words = [word for word in re.findall(r"[^\W\d_]+", parted.lower()) if not _CONNECTING.fullmatch(word)]
    return 2 * sum(word in _KNOWN for word in words) > len(words)


def _stands_above(name: str, column: list[str]) -> bool:
    """Whether a word stands above values that are none: numbers, dates, and codes unless it could be one."""
    if not column or _ALONE.fullmatch(name) or not re.search(r"[^\W\d_]", name):
        return False
    word = re.compile(r"[^\W\d_]" if re.search(r"\d", name) else r"[^\W\d_]{2}")
    wordless = sum(word.search(text) is None and re.search(r"\d", text) is not None for text in column)
    return wordless >= 0.9 * len(column)


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]", lambda letter: "a" if letter[0].islower() else "A", re.sub(r"\d", "9", text))


def _same_shape(name: str, column: list[str]) -> bool:
    """Whether a name with digits is written like the values below it, such as codes and addresses are."""
    if not re.search(r"\d", name) or sum(re.search(r"\d", text) is not None for text in column) < 0.8 * len(column):
        return False
    shape = _shape(name)
    street = re.match(r"\d.*[^\W\d_]", name) is not None
    same = sum(_shape(text) == shape or (street and re.match(r"\d.*[^\W\d_]", text) is not None) for text in column)
    return same > 0 and same >= 0.1 * len(column)


def _case(text: str) -> str:
    letters = re.sub(r"[\W\d_]", "", text)
    if "_" in text or not letters:
        return "spelled"
    return "upper" if letters.isupper() and len(letters) > 1 else "capital" if letters[0].isupper() else "lower"


def _same_case(name: str, column: list[str]) -> bool:
    case = _case(name)
    return not column or 2 * sum(_case(text) == case for text in column) >= len(column)
