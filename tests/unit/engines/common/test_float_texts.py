"""Floats of a numeric column are spelled as the same numbers are that come as text."""

from __future__ import annotations

import math
import struct

import pyarrow as pa
from counts import count
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.core.schema import Kind, Notation
from shoal.engines.common.identity import published_texts
from shoal.parsing.identity import plain_number


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(9007199254740994.0)
@example(-0.0)
@example(1e16)
@example(1.5e-7)
@settings(max_examples=count(200, 5000), deadline=None)
def test_a_float_is_spelled_as_its_text_is(value: float) -> None:
    for kind in (pa.float64(), pa.float32()):
        if kind == pa.float32():
            try:
                value = struct.unpack("f", struct.pack("f", value))[0]
            except OverflowError:
                return
            if not math.isfinite(value):
                return
        array = pa.array([value, None], kind)
        text, missing = published_texts(array, Notation(Kind.NUMERIC, None))
        shortest = str(array.to_numpy(zero_copy_only=False)[0])
        assert text == plain_number(shortest) and missing is None
