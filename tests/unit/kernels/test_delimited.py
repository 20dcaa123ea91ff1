"""Fields of delimited text, sixty-four bytes at a time, beside what a plain loop finds byte by byte."""

import numpy as np
import pytest
from counts import count
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.kernels.bits import WIDTH
from shoal.kernels.delimited import marks_in, separators

TEXT = st.lists(
    st.sampled_from([b",", b"\n", b'"', b'""', b"\r\n", b"a", b'"a,\n"', b"x" * 61, b"x" * 64, b"\xc3\xa9"]),
    max_size=60,
).map(b"".join)


def expected(text: bytes, delimiter: int) -> tuple[list[int], list[int], int]:
    """Where separators stand outside quotation marks, how many marks stand before each, and how many end a line."""
    places, marks, quotes, lines = [], [], 0, 0
    for at, byte in enumerate(text):
        if byte == ord('"'):
            quotes += 1
        elif quotes % 2 == 0 and byte in (delimiter, ord("\n")):
            places.append(at)
            marks.append(quotes)
            lines += byte == ord("\n")
    return places, marks, lines


@settings(deadline=None, max_examples=count(84, 300))
@given(text=TEXT, delimiter=st.sampled_from(b",;"), behind=st.sampled_from([b",", b'"', b"\n"]))
@example(text=b'"' + b"," * 200 + b'"\n', delimiter=ord(","), behind=b",")
@example(text=b'a"' * WIDTH, delimiter=ord(","), behind=b'"')
def test_separators_are_those_of_a_plain_loop(text: bytes, delimiter: int, behind: bytes) -> None:
    """What stands behind the text, which is read with its last bytes, does not count."""
    data = np.frombuffer(text + behind * WIDTH, np.uint8)
    places, marks = np.empty((2, len(data)), np.int32)
    found, lines = separators(data, len(text), delimiter, places, marks)
    assert (places[:found].tolist(), marks[:found].tolist(), lines) == expected(text, delimiter)
    assert marks_in(data, len(text)) == text.count(b'"')


@pytest.mark.parametrize("before", [0, 1, 62, 63, 64, 200])
def test_a_carriage_return_belongs_to_a_line_end(before: int) -> None:
    places, marks = np.empty((2, 400), np.int32)
    for end, whole in ((b"\r\n", True), (b"\r", False), (b"\rx\n", False), (b'"\r"\n', False)):
        text = b"y" * before + end
        data = np.frombuffer(text + bytes(WIDTH), np.uint8)
        assert (separators(data, len(text), ord(","), places, marks)[0] >= 0) == whole
