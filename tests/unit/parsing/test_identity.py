"""The one spelling of a text or a number, held against Unicode's own tables and exact fractions."""

from __future__ import annotations

import sys
import unicodedata
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.parsing.identity import almost_alike, numbers_alike, plain_number, plain_numbers, plain_text, plain_texts

VISIBLE = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13456)}
"""Signs of format that are seen: those that stand around Arabic and Kaithi numbers, and joiners of hieroglyphs."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe\u0301"), ("Å", "\u212b"), ("a", "a\u200b"), ("ab", "a\u200db"), ("ab", "a\u200cb"),
        ("a", "\ufeffa"), ("ab", "a\u00adb"), ("a", "\u200ea\u200f"), ("a", "\u202aa\u202c"), ("ab", "a\u2060b"),
        ("a b", "a\u00a0b"), ("a b", "a\u202fb"), ("a b", "a\u3000b"), ("a b", "a\u2800b"), ("a", " \t a\n"),
        ("a-b", "a\u2011b"), ("a\nb", "a\r\nb"), ("❤", "❤\ufe0f"), ("é", "e\u200d\u0301"), ("ab", "a\x00b"),
        ("", "\u200b\u00a0"),
    ],
)  # fmt: skip
def test_what_looks_the_same_is_one_text(one: str, other: str) -> None:
    assert plain_text(one) == plain_text(other) == one


@pytest.mark.parametrize(("one", "other"), [("a", "A"), ("a b", "a  b"), ("a b", "ab"), ("ﬁ", "fi"), ("1", "１")])
def test_what_looks_different_is_not(one: str, other: str) -> None:
    assert plain_text(one) != plain_text(other)


def test_no_sign_that_shows_nothing_is_left() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        if 0xD800 <= code < 0xE000:
            continue
        found = plain_text(f"a{sign}b")
        if sign.isspace():
            assert found in ("a b", "a\tb", "a\nb"), hex(code)
        elif unicodedata.category(sign) in ("Cc", "Cf") and code not in VISIBLE:
            assert found == "ab", hex(code)
        elif unicodedata.category(sign)[0] in "LNP" and unicodedata.is_normalized("NFC", f"a{sign}b"):
            assert found == f"a{sign}b" or "FILLER" in unicodedata.name(sign) or sign in "\u2010\u2011", hex(code)


@settings(deadline=None)
@given(st.text())
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    once = plain_text(text)
    assert plain_text(once) == once == unicodedata.normalize("NFC", once).strip()
    assert plain_texts(pa.array([text, "a"])) == [once, "a"]


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False) | st.fractions().map(float) | st.integers())
def test_a_plain_number_is_the_same_number(number: object) -> None:
    plain = plain_number(str(number))
    assert plain is not None and Fraction(plain) == Fraction(str(number))
    assert plain_number(plain) == plain


@settings(deadline=None)
@given(st.integers(-(10**25), 10**25), st.integers(0, 12), st.integers(0, 4), st.integers(-8, 8), st.booleans())
def test_every_spelling_of_a_number_is_one(digits: int, decimals: int, zeros: int, moved: int, signed: bool) -> None:
    value = Fraction(digits, 10**decimals)
    text = f"{abs(digits):0{decimals + 1}d}"
    whole, rest = text[: len(text) - decimals], text[len(text) - decimals :]
    sign = "-" if digits < 0 else "+" if signed else ""
    shifted = Fraction(abs(digits), 10**decimals) * Fraction(10) ** moved
    spellings = [
        f"{sign}{whole}.{rest}{'0' * zeros}",
        f"{sign}{whole}{'.' if rest else ''}{rest}",
        f"{sign}{_decimal(shifted)}e{-moved}",
        f"{sign}{_decimal(shifted)}E{-moved:+03d}",
        f"{sign.replace('-', chr(0x2212))}{whole}.{rest}0",
    ]
    plain = {plain_number(spelling, padded=True) for spelling in spellings}
    assert len(plain) == 1 and Fraction(plain.pop() or "") == value


def _decimal(value: Fraction) -> str:
    """A fraction with a power of ten below it, written out."""
    scale = 0
    while value.denominator != 1:
        value, scale = value * 10, scale + 1
    text = f"{value.numerator:0{scale + 1}d}"
    return f"{text[: len(text) - scale]}.{text[len(text) - scale :]}" if scale else text


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "1x", "0x10", "1_000", "1,5", "1.2.3", "1e", "e5", "--1", "+-1", "nan", "inf", "-Infinity", "1 2",
     "007", "-01", "+00", "00.5", "008.45", "0123"],
)  # fmt: skip
def test_what_is_no_number(text: str) -> None:
    assert plain_number(text) is None


def test_numbers_keep_every_digit() -> None:
    large = [str(2**53 + step) for step in range(4)]
    assert plain_numbers(large) == large and plain_numbers([f"{text}.0" for text in large]) == large
    assert plain_number("9007199254740993e-3") == "9007199254740.993"
    assert plain_number("0." + "0" * 60 + "1") == "1e-61" and plain_number("1" + "0" * 60) == "1e60"
    digits = "1234567890" * 30
    assert plain_number(digits + ".50") == digits + ".5"
    assert plain_number("1e999999") == "1e999999" and plain_number("1e9999999") is None


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "2"], ["1", "2"]), (["1", "1.0", "+2"], ["1", "1", "2"]), (["-0", "0"], ["0", "0"]),
        (["1", "x"], None), (["x", "1"], None), (["007", "7"], None), (["7", "007"], None), ([], None),
        (["1" + "0" * 50], ["1e50"]),
    ],
)  # fmt: skip
def test_a_column_is_numbers_when_all_are(texts: list[str], numbers: list[str] | None) -> None:
    assert plain_numbers(texts) == numbers


def test_what_is_almost_alike_is_counted() -> None:
    assert almost_alike(["flu", "Flu", "FLU", "gout"]) == 2 and almost_alike(["a b", "ab", "a  b"]) == 2
    assert almost_alike(["Straße", "STRASSE", "ﬁn", "fin"]) == 2 and almost_alike(["a", "b"]) == 0
    assert numbers_alike(["1", "1.0", "+1", "x", "007", "7"]) == 2 and numbers_alike(["a", "b"]) == 0
