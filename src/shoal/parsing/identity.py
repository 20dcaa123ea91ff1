"""Identity: what a cell says to whoever reads it. Two cells of one identity are one value, however they are spelled."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

INVISIBLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""What Unicode says to show as nothing (Default_Ignorable_Code_Point): zero-width blanks and joiners, marks of writing
direction, byte order marks, soft hyphens, variation selectors, tags. Marks of annotations show as nothing either."""
BLANKS = (
    (0x000B, 0x000C), (0x001C, 0x001F), (0x0085, 0x0085), (0x00A0, 0x00A0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x2800, 0x2800), (0x3000, 0x3000),
)  # fmt: skip
"""Every blank to Unicode but those of the keyboard, and the pattern of Braille that has no dot."""
CONTROLS = ((0x0000, 0x0008), (0x000E, 0x001B), (0x007F, 0x0084), (0x0086, 0x009F))
HYPHENS = "\u2010\u2011"
"""Hyphens that differ from that of the keyboard in where a line may break, and in nothing that is seen."""
_SPELLED_OTHERWISE: dict[int, str | None] = {
    **{code: None for first, last in (*CONTROLS, *INVISIBLE) for code in range(first, last + 1)},
    **{code: " " for first, last in BLANKS for code in range(first, last + 1)},
    **{ord(sign): "-" for sign in HYPHENS},
}
_MINUS = "\u2212"
PLAIN_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?"
"""How plain numbers are spelled, but for a zero with a sign; all that fits is one."""
PLAIN_TEXT = r"[!-~](?:[ -~]*[!-~])?"
"""How most texts are spelled that look like no others."""
_PLAIN = re.compile(PLAIN_NUMBER)
_NUMBER = re.compile(rf"[-+{_MINUS}]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+{_MINUS}]?\d{{1,6}})?")
FIGURES = re.compile(rf"[-+{_MINUS}]?(?:\d+\.?\d*|\.\d+)")
_PADDED = re.compile(rf"[-+{_MINUS}]?0\d")
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?"
_MOMENT = re.compile(rf"\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[-+]\d\d(?::?\d\d)?)?)?|\d:\d\d|{_CLOCK}", re.ASCII)
_IDLE_FRACTION = re.compile(r"(?<=:\d\d)\.0+(?!\d)")
MOST_ZEROS = 40
"""So many zeros in a row are written out; a number with more of them has an exponent."""


def plain_text(text: str) -> str:
    """A text in the spelling that stands for all that look the same: Unicode's composed form (NFC), without invisible
    signs and without blanks around it, every blank an ordinary one, line ends as `\\n`.

    Example:
        >>> plain_text("\\ufeffcafe\\u0301\\u00a0bar\\u200b ") == "caf\\u00e9 bar"
        True
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text.translate(_SPELLED_OTHERWISE)).strip()


def without_idle_fraction(text: str) -> str:
    """A time without a fraction of nothing, which files of one kind hold and files of another do not.

    Example:
        >>> without_idle_fraction("03:04:05.000000"), without_idle_fraction("1.000")
        ('03:04:05', '1.000')
    """
    return _IDLE_FRACTION.sub("", text) if ".0" in text and ":" in text else text


def plain_number(text: str, *, padded: bool = False) -> str | None:
    """The plainest spelling of a number, exactly that number; None where a text is none.

    What has leading zeros is a code, unless `padded` says that it is a number all the same.

    Example:
        >>> [plain_number(text) for text in ("1.50", "+1", "1e0", "-0.0", ".5", "12345678901234567890.0")]
        ['1.5', '1', '1', '0', '0.5', '12345678901234567890']
        >>> plain_number("007"), plain_number("007", padded=True), plain_number("1e300"), plain_number("x")
        (None, '7', '1e300', None)
    """
    short = text.rstrip("0").rstrip(".") if "." in text else text
    if _PLAIN.fullmatch(short) and short != "-0":
        return short if len(short) <= MOST_ZEROS else _spelled(short)
    if not _NUMBER.fullmatch(text) or (not padded and _PADDED.match(text)):
        return None
    return _spelled(text.replace(_MINUS, "-"))


def _spelled(text: str) -> str:
    negative, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits)).lstrip("0")
    significant = figures.rstrip("0")
    if not significant:
        return "0"
    zeros = exponent + len(figures) - len(significant)
    point = len(significant) + zeros
    if zeros > MOST_ZEROS or -point > MOST_ZEROS:
        rest = significant[1:]
        spelled = f"{significant[0]}{'.' if rest else ''}{rest}e{point - 1}"
    elif zeros >= 0:
        spelled = significant + "0" * zeros
    elif point > 0:
        spelled = f"{significant[:point]}.{significant[point:]}"
    else:
        spelled = f"0.{'0' * -point}{significant}"
    return "-" + spelled if negative else spelled


def identifier(text: str) -> str:
    """What an identifier says. That must be the same in every list, whatever else the list has: so each is taken by
    itself. Figures count as a number, and what may be an exponent stays as it is.

    Example:
        >>> [identifier(text) for text in ("1.0", "+1", "007", "12e4", "Bo\u200b ")]
        ['1', '1', '007', '12e4', 'Bo']
    """
    bare = plain_text(text)
    return (plain_number(bare) if FIGURES.fullmatch(bare) else None) or bare


def identifiers(texts: Sequence[str | None]) -> list[str | None]:
    """What different people are called in any list; as they are where two of them would become one."""
    people = [None if text is None else identifier(text) for text in texts]
    return people if len(set(people)) == len(set(texts)) else list(texts)


def plain_texts(texts: pa.Array) -> list[str]:
    """Each of some texts, none of which is missing, as `plain_text` spells it; most columns take a look only."""
    spellings: list[str] = texts.to_pylist()
    if pc.all(pc.match_substring_regex(texts, f"^(?:{PLAIN_TEXT})$")).as_py():
        return spellings
    return [plain_text(text) for text in spellings]


def are_plain_numbers(texts: Sequence[str | None]) -> pa.BooleanArray:
    """Which texts are numbers as `plain_number` spells them; a missing one is none.

    Example:
        >>> are_plain_numbers(["1", "1.0", "-0", "-2.5", "x", None]).to_pylist()
        [True, False, False, True, False, False]
    """
    column = pa.array(texts, pa.large_string())
    plain = pc.and_(
        pc.match_substring_regex(column, f"^(?:{PLAIN_NUMBER})$"),
        pc.and_(pc.not_equal(column, "-0"), pc.less_equal(pc.binary_length(column), MOST_ZEROS)),
    )
    return plain.fill_null(False)


def plain_numbers(texts: Sequence[str], *, padded: bool = False) -> list[str] | None:
    """The texts of a column as plain numbers, when every one is a number.

    Example:
        >>> plain_numbers(["1", "1.0", "+2"]), plain_numbers(["1", "1.0", "x"]), plain_numbers(["007", "7"])
        (['1', '1', '2'], None, None)
    """
    if not texts or plain_number(texts[0], padded=padded) is None:
        return None
    numbers = list(texts)
    for place in pc.indices_nonzero(pc.invert(are_plain_numbers(texts))).to_pylist():  # most columns have none
        number = plain_number(texts[place], padded=padded)
        if number is None:
            return None
        numbers[place] = number
    return numbers


def numbers_alike(texts: Sequence[str]) -> int:
    """How many different texts spell a number that another one of them spells too.

    Example:
        >>> numbers_alike(["1", "1.0", "1.0", "x"])
        1
    """
    spelled = {text for text in texts if not text[:1].isalpha()}
    numbers = [number for text in spelled if (number := plain_number(text)) is not None]
    return len(numbers) - len(set(numbers))


def moments_alike(texts: Sequence[str]) -> int:
    """How many different texts spell a date, a moment or a time of day that another one of them spells too.

    Example:
        >>> moments_alike(["2020-01-01", "2020-01-01T00:00", "9:05", "09:05:00", "x"])
        2
    """
    spelled = {text for text in texts if text[:1].isdigit() and ("-" in text or ":" in text)}
    moments = [moment for text in spelled if (moment := _moment(text)) is not None]
    return len(moments) - len(set(moments))


def _moment(text: str) -> dt.datetime | dt.time | None:
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return dt.datetime.fromisoformat(text) if "-" in text[:5] else dt.time.fromisoformat(text.rjust(5, "0"))
    except ValueError:
        return None


def almost_alike(texts: Sequence[str]) -> int:
    """How many texts differ from another one only in case, in blanks, or in the form of their signs.

    Example:
        >>> almost_alike(["flu", "Flu", "F lu", "gout"])
        2
    """
    column = pa.array(texts, pa.large_string())
    if pc.all(pc.string_is_ascii(column)).as_py():
        bare = pc.replace_substring_regex(pc.ascii_lower(column), r"\s", "")
        return 0 if bare.equals(column) else len(texts) - len(set(bare.to_pylist()))
    return len(texts) - len({"".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts})
