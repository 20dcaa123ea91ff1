"""Numbers with decimal commas and signs between thousands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.parsing.numbers import checked, hint, read, recognized


@pytest.mark.parametrize(
    ("texts", "form", "plain"),
    [
        (["3,14", "2"], "decimal-comma", ["3.14", "2"]),
        (["-0,5", "+1,25"], "decimal-comma", ["-0.5", "+1.25"]),
        (["0,125", "1,125"], "decimal-comma", ["0.125", "1.125"]),
        (["1.234.567,89", "5"], "decimal-comma", ["1234567.89", "5"]),
        (["1.234.567", "1.234"], "decimal-comma", ["1234567", "1234"]),
        (["1 234,5", "12"], "decimal-comma", ["1234.5", "12"]),
        (["1,234.5", "999"], "decimal-point", ["1234.5", "999"]),
        (["1,234,567", "1,234"], "decimal-point", ["1234567", "1234"]),
        (["1 234", "12"], "decimal-point", ["1234", "12"]),
        (["1\u202f234", "12"], "decimal-point", ["1234", "12"]),
        (["1'234", "12.5"], "decimal-point", ["1234", "12.5"]),
    ],
)
def test_formats_are_found_out(texts: list[str], form: str, plain: list[str]) -> None:
    found = recognized(texts)
    assert found is not None and found.form == form and found.doubt is None
    assert read(texts, form) == plain


@pytest.mark.parametrize("texts", [["1,234", "5,678"], ["1,234", "999"], ["-12,345"]])
def test_what_may_be_thousands_or_decimals_asks(texts: list[str]) -> None:
    found = recognized(texts)
    assert found is not None and found.form is None and found.choices == ("decimal-comma", "decimal-point")
    assert f"in {sum(',' in text for text in texts)} of its" in str(found.doubt)
    assert read(texts, "decimal-comma") != read(texts, "decimal-point")


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "22"], ["007,5", "1,5"], ["1,2,3"], ["1,23,456"], ["12,34.5"], ["1.234,5", "1,234.5"], ["a,b"],
        ["123 456 789", "987 654 321"], ["811 02"], ["1 234", "1'234", "5"], ["1,"], [",5"], ["1, 5"],
    ],
)  # fmt: skip
def test_other_texts_and_codes_are_left_alone(texts: list[str]) -> None:
    assert recognized(texts) is None


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=20))
def test_what_is_written_is_read(numbers: list[object]) -> None:
    english = [f"{number:,}" for number in numbers]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    plain = [f"{number}" for number in numbers]
    assert read(english, "decimal-point") == read(german, "decimal-comma") == plain


def test_a_point_before_three_digits_everywhere_is_told() -> None:
    assert "decimal-comma" in str(hint(["1.234", "12.500", "7"]))
    assert hint(["1.234", "0.500"]) is None and hint(["1.234", "1.5"]) is None and hint(["1", "2"]) is None


def test_there_are_two_formats() -> None:
    assert checked("decimal-comma") == "decimal-comma"
    with pytest.raises(ParameterError, match="decimal-comma, decimal-point"):
        checked("comma")
