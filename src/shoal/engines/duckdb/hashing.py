"""Hashes of whole records, as queries: the same numbers as those of the embedded engine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from shoal.engines.common.hashing import ABSENT, PRESENT, in_quotes, keyed
from shoal.engines.duckdb.session import literal

_LOWER = f"{(1 << 64) - 1}::HUGEINT"


def spelled(value: str, kind: str) -> str:
    """A value as a text that every engine can make: floats in seventeen digits, times as numbers, bytes in pairs of
    digits."""
    if kind == "VARCHAR":
        return value
    if kind in ("FLOAT", "DOUBLE"):
        return f"printf('%.17g', CAST({value} AS DOUBLE))"
    if kind == "BLOB":
        return f"hex({value})"
    if kind == "DATE":
        return f"CAST({value} - DATE '1970-01-01' AS VARCHAR)"
    if kind == "TIMESTAMP_NS":
        return f"CAST(epoch_ns({value}) // 1000 AS VARCHAR)"
    if kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(")):
        return _nested(value, kind)
    if kind.startswith("TIME") and "TIME WITH" not in kind:
        return f"CAST(epoch_us({value}) AS VARCHAR)"
    return f"CAST({value} AS VARCHAR)"


def _nested(value: str, kind: str, depth: int = 0) -> str:
    """A list, a struct or a map as a text."""
    import duckdb

    try:
        parsed = duckdb.sqltype(kind)
    except duckdb.Error:  # what Arrow has no type for
        return f"CAST({value} AS VARCHAR)"
    if parsed.id == "struct":
        parts = [
            f"{literal(f'{in_quotes(name)}: ')} || {_inner(f'struct_extract({value}, {literal(name)})', inner, depth)}"
            for name, inner in parsed.children
        ]
        inside = " || ', ' || ".join(parts)
        return f"CASE WHEN {value} IS NOT NULL THEN '{{' || {inside} || '}}' END"
    if parsed.id == "map":
        (_, key), (_, item) = parsed.children
        return _nested(f"map_entries({value})", f"STRUCT(key {key}, value {item})[]", depth)
    entry = f"e{depth}"
    text = _inner(entry, parsed.children[0][1], depth + 1)
    return f"'[' || array_to_string(list_transform({value}, lambda {entry}: {text}), ', ') || ']'"


def _inner(value: str, kind: object, depth: int) -> str:
    """What a list or a struct holds, as a text."""
    named = str(kind)
    if named.endswith("]") or named.startswith(("STRUCT(", "MAP(")):
        text = _nested(value, named, depth)
    elif named in ("VARCHAR", "JSON") or named.startswith("ENUM("):
        plain = f"CAST({value} AS VARCHAR)"
        text = f"""'"' || replace(replace({plain}, '\\', '\\\\'), '"', '\\"') || '"'"""
    else:
        text = spelled(value, named)
    return f"coalesce({text}, 'null')"


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
