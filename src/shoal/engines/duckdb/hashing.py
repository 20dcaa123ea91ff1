"""Hashes of whole records, as queries: the same numbers as those of the embedded engine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from shoal.engines.common.hashing import ABSENT, PRESENT, keyed
from shoal.engines.duckdb.session import literal

_LOWER = f"{(1 << 64) - 1}::HUGEINT"


def spelled(value: str, kind: str) -> str:
    """A value as a text that every engine can make: floats in seventeen digits, times as numbers."""
    if kind == "VARCHAR":
        return value
    if kind in ("FLOAT", "DOUBLE"):
        return f"printf('%.17g', CAST({value} AS DOUBLE))"
    if kind == "DATE":
        return f"CAST({value} - DATE '1970-01-01' AS VARCHAR)"
    if kind == "TIMESTAMP_NS":
        return f"CAST(epoch_ns({value}) // 1000 AS VARCHAR)"
    if kind.startswith("TIME") and "TIME WITH" not in kind:
        return f"CAST(epoch_us({value}) AS VARCHAR)"
    return f"CAST({value} AS VARCHAR)"


def cell_hash(name: str, value: str, kind: str, seed: int | None = None) -> str:
    """The hash of one column's value."""
    start = keyed(name, seed)
    absent = int.from_bytes(hashlib.md5(start + ABSENT, usedforsecurity=False).digest()[8:], "little")
    prefix = literal((start + PRESENT).decode("utf-8", "surrogatepass"))
    return f"coalesce(md5_number_lower({prefix} || {spelled(value, kind)}), {absent}::UBIGINT)"


def value_hash(value: str, kind: str) -> str:
    """The hash of a value, whatever the column is called; null where there is none."""
    prefix = literal((keyed("", None) + PRESENT).decode())
    return f"md5_number_lower({prefix} || {spelled(value, kind)})"


def row_hash(hashes: Iterable[str]) -> str:
    """The hash of a row: the sum of those of its values, whatever the order of the columns."""
    total = " + ".join(f"CAST({each} AS HUGEINT)" for each in hashes)
    return f"CAST(({total}) & {_LOWER} AS UBIGINT)"  # a division of such numbers would take a hundred times as long
