"""Floats that are no numbers, in files whose statistics do not know of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import shoal


def test_they_are_missing_wherever_records_are_put_in_order(tmp_path: Path) -> None:
    table = pa.table({"ill": [float("nan"), 0.5, -float("nan")], "row": ["a", "b", "c"], "age": [3.5, 2.0, 7.0]})
    pq.write_table(table, tmp_path / "table.parquet")
    published = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(tmp_path / "table.parquet", quasi=["age"], sensitive=["ill"], engine=engine)
        release = shoal.anonymize(
            data, algorithm="multiplicative-noise:spread=0.5", seed=2**41, repeatable=True, allow_plain=["row"]
        )
        release.write(tmp_path / f"{engine}.csv")
        published.append((tmp_path / f"{engine}.csv").read_bytes())
    assert published[0] == published[1]
