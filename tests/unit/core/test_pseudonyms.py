"""Pseudonyms: equal within a column, unlinkable between columns and keys."""

from __future__ import annotations

from shoal import Pseudonyms

KEY = b"a key of at least sixteen bytes"


def test_a_person_cannot_be_linked_by_keyed_pseudonyms_of_two_columns() -> None:
    keyed = Pseudonyms(key=KEY)
    (first,), (second,) = keyed.of("patient", ["Ann"]), keyed.of("referred by", ["Ann"])
    assert first != second
    assert [first] == keyed.of("patient", ["Ann"]) and [first] != Pseudonyms(key=KEY + b"!").of("patient", ["Ann"])
