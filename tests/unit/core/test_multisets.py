"""Multisets as text are read back as they were, whatever the values look like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.multisets import parsed, spelled_multiset, spelled_value

texts = st.none() | st.text(alphabet='ab:,"{}1 \n', max_size=6) | st.text(max_size=6)


@given(st.lists(st.tuples(texts, st.integers(1, 10**9)), min_size=1, max_size=6))
def test_what_is_written_is_read(entries: list[tuple[str | None, int]]) -> None:
    values, counts = zip(*entries, strict=True)
    assert parsed(spelled_multiset([spelled_value(value) for value in values], counts)) == entries


@pytest.mark.parametrize(
    "text", [None, "", "{}", "{a}", "{a:}", "{a:0}", "{a:-1}", "{a:1", "a:1", '{"a:1}', "{a:1,}", "{a:1}}"]
)
def test_anything_else_is_none(text: str | None) -> None:
    assert parsed(text) is None
