"""Columns as codes and the list of their distinct values."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.engines.common.dictionaries import one_dictionary

VALUES = [0.0, 1.0, None, -2.5, 1.0, 0.0, None, 1.0]
KINDS = (pa.float16(), pa.float32(), pa.float64())


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_chunks_have_one_list_of_values(kind: pa.DataType, listed: bool) -> None:
    """Also those of half floats, which Arrow puts together wrongly, and those that came with lists of their own."""
    chunks = [pa.array(part, pa.float64()).cast(kind) for part in (VALUES[:3], VALUES[3:], [])]
    column = pa.chunked_array([chunk.dictionary_encode() if listed else chunk for chunk in chunks])
    encoded = one_dictionary(column)
    assert encoded.to_pylist() == VALUES and encoded.dictionary.type == kind
    assert len(encoded.dictionary) == 3


ROLES = {
    "quasi": {"quasi": ["age", "dose"]},
    "sensitive": {"quasi": ["age"], "sensitive": ["dose"]},
    "plain": {"quasi": ["age"]},
}


@pytest.mark.parametrize("role", ROLES)
def test_half_floats_in_pieces_are_published_as_they_are(role: str, tmp_path: Path) -> None:
    half = pa.array([1, 2, 2, 3] * 6, pa.float32()).cast(pa.float16())
    table = pa.table({"age": [30, 40] * 12, "dose": half})
    pa.parquet.write_table(table, tmp_path / "people.parquet", row_group_size=5)
    for source in (tmp_path / "people.parquet", pa.concat_tables([table[:7], table[7:]])):
        data = shoal.read(source, **ROLES[role])
        release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal", seed=1)
        path = tmp_path / f"{type(source).__name__}.parquet"
        release.write(path)
        published = pa.parquet.read_table(path)["dose"]
        assert sorted(float(value) for value in published.to_pylist()) == sorted(half.to_pylist())
