"""Types of columns, as Arrow has them: which are texts, which can have a role, and how a column gets its own back."""

from __future__ import annotations

import re

import pyarrow as pa

from shoal.errors import SchemaError


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values, where a dictionary lists them."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def check_type(name: str, given: pa.DataType) -> None:
    """Refuses a type whose values cannot be told apart as texts: nested and binary ones."""
    kind, types = value_type(given), pa.types
    if not (
        is_text(kind)
        or is_number(kind)
        or any(test(kind) for test in (types.is_null, types.is_boolean, types.is_temporal))
    ):
        raise SchemaError(f"column {name!r} holds {kind}, which cannot have a privacy role; leave it plain or drop it")


def plain_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with every dictionary in it resolved, however deep: a dictionary may list what only others had."""
    kind = _plain_type(column.type)
    if "list_view<" in str(column.type):  # which keep the cells of others too, and Arrow cannot cast
        return pa.chunked_array([pa.array(column.to_pylist(), kind)])
    return column if kind == column.type else column.cast(kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))


def cast_back(column: pa.ChunkedArray, source_type: pa.DataType | None) -> pa.ChunkedArray:
    """A column with the type that it had at the source, where an engine has another one for it."""
    if source_type is None:
        return column
    plain = value_type(source_type)
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(plain, plain)
    try:
        return column if plain == column.type else column.cast(plain)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def in_known_zone(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times whose zone is an offset that polars has no name for (+05:30), the same ones in UTC; others as they are."""
    if not pa.types.is_timestamp(column.type) or not re.fullmatch(r"[+-]\d{2}:(?!00)\d{2}", column.type.tz or ""):
        return column
    return column.cast(pa.timestamp(column.type.unit, "UTC"))
