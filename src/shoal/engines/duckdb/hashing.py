"""Hashes of whole records, as queries: the same numbers as those of the embedded engine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pyarrow as pa

from shoal.engines.common.column_types import value_type
from shoal.engines.common.hashing import ABSENT, PRESENT, in_quotes, keyed
from shoal.engines.duckdb.session import literal

_LOWER = f"{(1 << 64) - 1}::HUGEINT"
_TO_UNIT = {"s": "// 1000000000", "ms": "// 1000000", "us": "// 1000", "ns": ""}
"""What makes nanoseconds the unit in which a column came."""
_DAY = 86_400_000


def spelling(value: str, kind: str, source_type: pa.DataType | None = None) -> str:
    """A value as a text that every engine can make: floats in seventeen digits, times as numbers, bytes in pairs of
    digits. Times of day and dates are counted in the unit of their `source_type`, where that is known."""
    source_type = None if source_type is None else value_type(source_type)
    if kind == "VARCHAR":
        return value
    if kind in ("FLOAT", "DOUBLE"):
        return f"printf('%.17g', CAST({value} AS DOUBLE))"
    if kind == "BLOB":
        return f"hex({value})"
    if kind == "DATE":
        days = f"({value} - DATE '1970-01-01')"
        return f"CAST({days} * {_DAY} AS VARCHAR)" if source_type == pa.date64() else f"CAST({days} AS VARCHAR)"
    if kind in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
        return f"CAST(epoch_ns({value}) // 1000 AS VARCHAR)"
    if kind in ("TIME", "TIME_NS"):
        unit = (
            source_type.unit
            if source_type is not None and pa.types.is_time(source_type)
            else "ns"
            if kind == "TIME_NS"
            else "us"
        )
        return f"CAST(epoch_ns({value}) {_TO_UNIT[unit]} AS VARCHAR)"
    if kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(")):
        return _nested_spelling(value, kind, source_type)
    if kind.startswith("TIME") and "TIME WITH" not in kind:
        return f"CAST(epoch_us({value}) AS VARCHAR)"
    return f"CAST({value} AS VARCHAR)"


def _nested_spelling(value: str, kind: str, source_type: pa.DataType | None, depth: int = 0) -> str:
    """A list, a struct or a map as a text."""
    import duckdb

    try:
        parsed = duckdb.sqltype(kind)
    except duckdb.Error:  # what Arrow has no type for
        return f"CAST({value} AS VARCHAR)"
    if parsed.id == "struct":
        fields = [f"struct_extract({value}, {literal(name)})" for name, _ in parsed.children]
        types = _inner_types(source_type, len(fields))
        inside = " || ', ' || ".join(
            f"{literal(f'{in_quotes(name)}: ')} || {_inner_spelling(field, inner, type, depth)}"
            for (name, inner), field, type in zip(parsed.children, fields, types, strict=True)
        )
        return f"CASE WHEN {value} IS NOT NULL THEN '{{' || {inside} || '}}' END"
    if parsed.id == "map":
        (_, key), (_, item) = parsed.children
        entries = None
        if source_type is not None and pa.types.is_map(source_type):
            entries = pa.list_(pa.struct({"key": source_type.key_type, "value": source_type.item_type}))
        return _nested_spelling(f"map_entries({value})", f"STRUCT(key {key}, value {item})[]", entries, depth)
    entry = f"e{depth}"
    text = _inner_spelling(entry, parsed.children[0][1], _inner_types(source_type, 1)[0], depth + 1)
    return f"'[' || array_to_string(list_transform({value}, lambda {entry}: {text}), ', ') || ']'"


def _inner_types(source_type: pa.DataType | None, count: int) -> list[pa.DataType | None]:
    """The types of what a list or a struct holds, where they are known."""
    if source_type is None or source_type.num_fields != count:
        return [None] * count
    return [source_type.field(at).type for at in range(count)]


def _inner_spelling(value: str, kind: object, source_type: pa.DataType | None, depth: int) -> str:
    """What a list or a struct holds, as a text."""
    named = str(kind)
    if named.endswith("]") or named.startswith(("STRUCT(", "MAP(")):
        text = _nested_spelling(value, named, source_type, depth)
    elif named in ("VARCHAR", "JSON") or named.startswith("ENUM("):
        plain = f"CAST({value} AS VARCHAR)"
        text = f"""'"' || replace(replace({plain}, '\\', '\\\\'), '"', '\\"') || '"'"""
    else:
        text = spelling(value, named, source_type)
    return f"coalesce({text}, 'null')"


def cell_hash(name: str, value: str, kind: str, source_type: pa.DataType | None, seed: int | None = None) -> str:
    """The hash of one column's value."""
    start = keyed(name, seed)
    absent = int.from_bytes(hashlib.md5(start + ABSENT, usedforsecurity=False).digest()[8:], "little")
    prefix = literal((start + PRESENT).decode("utf-8", "surrogatepass"))
    return f"coalesce(md5_number_lower({prefix} || {spelling(value, kind, source_type)}), {absent}::UBIGINT)"


def value_hash(value: str, kind: str, source_type: pa.DataType | None) -> str:
    """The hash of a value, whatever the column is called; null where there is none."""
    prefix = literal((keyed("", None) + PRESENT).decode())
    return f"md5_number_lower({prefix} || {spelling(value, kind, source_type)})"


def row_hash(hashes: Iterable[str]) -> str:
    """The hash of a row: the sum of those of its values, whatever the order of the columns."""
    total = " + ".join(f"CAST({each} AS HUGEINT)" for each in hashes)
    return f"CAST(({total}) & {_LOWER} AS UBIGINT)"  # a division of such numbers would take a hundred times as long
