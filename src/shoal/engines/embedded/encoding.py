"""Encoding: a column of any type as integers, with its distinct values beside it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.dates import Calendar, of_typed
from shoal.core.formats import Reading, dated, understood
from shoal.core.grouping import Codes
from shoal.core.hierarchy import LARGEST, Hierarchy, are_numbers, ascending, number, spelled
from shoal.core.numbers import FORMATS
from shoal.core.schema import Kind
from shoal.core.survey import spaced
from shoal.core.values import Values, chronological
from shoal.errors import HierarchyError, InputError, SchemaError, ShoalError

_IDLE_FRACTION = re.compile(r"(?<=:\d\d)\.0+(?!\d)")
_PADDED = re.compile(r"[-+]?0\d+")
MISSING = -1
SOME = 1 << 10
CHUNK = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """A column as codes into its distinct values; `raw` keeps those values as the type that they came in.

    `places` are the codes, or with a `translation` what they are looked up by.
    """

    places: NDArray[Any]
    values: Values
    raw: pa.Array
    translation: Codes | None = None

    @property
    def codes(self) -> Codes:
        """The position of each record's value among the distinct ones; negative: missing."""
        return self.places if self.translation is None else looked_up(self.translation, self.places)

    @property
    def has_missing(self) -> bool:
        if self.translation is None:
            return bool((self.places == MISSING).any())
        return bool((self.translation[occurring(self.places, len(self.translation) - 1)] == MISSING).any())


def narrowest(count: int) -> type[np.signedinteger[Any]]:
    """The smallest type of integers that holds so many codes."""
    return np.int8 if count <= 1 << 7 else np.int16 if count <= 1 << 15 else np.int32


def looked_up(table: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """What a table has at places, the last entry at -1. Looking all up at once would take eight bytes for each."""
    if len(table) == 1:
        return np.full(len(places), table[0])
    found = np.empty(len(places), table.dtype)
    for begin in range(0, len(places), CHUNK):
        np.take(table, places[begin : begin + CHUNK], mode="wrap", out=found[begin : begin + CHUNK])
    return found


def occurring(places: NDArray[Any], count: int) -> NDArray[np.bool_]:
    """Which of so many places occur, and last whether a negative one does."""
    found = np.zeros(count + 1, dtype=np.bool_)
    found[-1] = places.min(initial=0) < 0
    # A look all over tells mostly: rows may stand class by class.
    found[places[:: max(1, len(places) // SOME)]] = True
    for begin in range(0, len(places), CHUNK):
        if found[:-1].all():
            break
        found[places[begin : begin + CHUNK]] = True
    return found


def _texts(values: pa.Array) -> list[str]:
    kind = values.type
    if pa.types.is_floating(kind):  # through its shortest spelling, which for a narrow float is not that of its double
        return [spelled(float(str(value))) for value in values.to_numpy(zero_copy_only=False)]
    if pa.types.is_boolean(kind):
        return ["true" if value else "false" for value in values.to_pylist()]
    if pa.types.is_duration(kind):
        return [str(value) for value in values.cast(pa.int64()).to_pylist()]
    if pa.types.is_temporal(kind):
        return [_moment(text) for text in values.cast(pa.string()).to_pylist()]
    return [_moment(str(value).strip()) for value in values.to_pylist()]


def _moment(text: str) -> str:
    """A time without a fraction of nothing, which files of one kind hold and files of another do not."""
    return _IDLE_FRACTION.sub("", text) if ".0" in text and ":" in text else text


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read(
    name: str, values: pa.Array, texts: list[str], kind: Kind | None, form: str | None, *, plain: bool
) -> Reading:
    """How the distinct values of a column are understood."""
    temporal = pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)
    if temporal and kind in (None, Kind.DATE):
        moments = of_typed(values)
        return dated(texts, moments, Calendar("iso", moments.times))
    if _is_text(values.type) or kind is Kind.DATE or form not in (None, *FORMATS):
        return understood(name, texts, kind, form, plain=plain)
    return Reading(texts)


def numbers_of(values: pa.Array, texts: list[str]) -> NDArray[np.float64] | None:
    """The values as numbers, when every one is a number of its own.

    Codes with leading zeros are none, nor are codes such as 250.0 and 250.00, nor whole numbers so large that two
    of them are the same floating-point number: as numbers, different values would become one.
    """
    if not texts or pa.types.is_boolean(values.type):
        return None
    if pa.types.is_temporal(values.type) and not pa.types.is_duration(values.type):
        return None
    if not _is_numeric(values.type) and any(_PADDED.fullmatch(text) for text in texts):
        return None
    numbers = np.array([number(text) for text in texts], dtype=np.float64)
    alone = are_numbers(numbers) and len(np.unique(numbers)) == len(set(texts))
    return numbers if alone else None


def _spelled_as_no_number(name: str, texts: list[str], filled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which texts spell not-a-number among numbers, and so are missing; an infinite number among them is refused."""
    odd = np.array([text.lower().lstrip("+-") in ("nan", "inf", "infinity") for text in texts], dtype=np.bool_) & filled
    rest = [text for text, chosen in zip(texts, filled & ~odd, strict=True) if chosen]
    if not odd.any() or not rest or not all(np.isfinite(number(text)) for text in rest):
        return np.zeros(len(texts), dtype=np.bool_)
    if any(chosen and not text.lower().endswith("nan") for text, chosen in zip(texts, odd, strict=True)):
        raise InputError(f"column {name!r} holds infinite numbers; replace them or make them missing")
    return odd


def check_type(name: str, given: pa.DataType) -> None:
    """Refuses a type whose values cannot be told apart as texts: nested and binary ones."""
    kind = given.value_type if pa.types.is_dictionary(given) else given
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    if not (texts or _is_numeric(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind)):
        raise SchemaError(f"column {name!r} holds {kind}, which cannot have a privacy role; leave it plain or drop it")


def dictionary(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one array of indices and one of distinct values; nested and binary ones are refused."""
    check_type(name, column.type)
    return in_one(column)


def in_one(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one array of indices and one of distinct values, whatever it holds."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if encoded.num_chunks == 1:
        return encoded.chunk(0)
    combined = encoded.unify_dictionaries().combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def encode(
    name: str, column: pa.ChunkedArray, kind: Kind | None, missing: Collection[str] = (), form: str | None = None
) -> Encoded:
    """A column as codes. The kind and the format of dates and numbers are found out unless they are given; given ones
    must fit.

    Blanks around a value do not count; one of nothing else, one that is among `missing`, or a damaged date among dates
    is missing.
    """
    combined = dictionary(name, column)
    indices = indices_of(combined)
    raw = combined.dictionary
    if pa.types.is_floating(raw.type):
        raw = pc.if_else(pc.is_nan(raw), None, raw)
        infinite = int(pc.sum(pc.is_inf(raw)).as_py() or 0)
        if infinite:
            raise InputError(f"column {name!r} holds infinite numbers; replace them or make them missing")
    present = raw.is_valid().to_numpy(zero_copy_only=False)
    try:
        texts = _texts(raw.drop_null())
    except pa.ArrowInvalid:
        raise SchemaError(f"column {name!r} has a time zone that is not known here; convert it to UTC") from None
    filled = np.array([text != "" and text not in missing for text in texts], dtype=np.bool_)
    if kind in (None, Kind.NUMERIC) and not _is_numeric(raw.type):
        filled &= ~_spelled_as_no_number(name, texts, filled)
    kept = np.flatnonzero(present)[filled]
    texts = [text for text, holds in zip(texts, filled, strict=True) if holds]
    values = raw.take(pa.array(kept))
    numbers = numbers_of(values, texts)
    reading = _read(name, values, texts, kind, form, plain=numbers is not None)
    if reading.calendar is not None or reading.form is not None:
        sound = np.array([text is not None for text in reading.texts], dtype=np.bool_)
        kept, values, texts = kept[sound], values.filter(pa.array(sound)), [text for text in reading.texts if text]
        if reading.form is not None and _is_text(values.type):  # in another spelling than a release has
            values = pa.array(texts, values.type)
        numbers = numbers_of(values, texts) if reading.quantities is None else reading.quantities[sound]
    found = kind or reading.kind or (Kind.CATEGORICAL if numbers is None else Kind.NUMERIC)
    if found is Kind.NUMERIC and numbers is None and texts and reading.doubt is None:
        numbers = np.array([number(text) for text in texts], dtype=np.float64)
        unfit, large = int(np.sum(~np.isfinite(numbers))), int(np.sum(np.abs(numbers) > LARGEST))
        if unfit or large:
            what = f"{unfit} of its {len(texts)} distinct values are not numbers"
            if not unfit:
                what = f"{large} of its {len(texts)} distinct values are beyond {LARGEST:g}, too large to reckon with"
            raise SchemaError(f"column {name!r} is said to be numeric and {what}")
    if len(set(texts)) < len(texts):  # blanks beside: the shortest spelling stands for all, whichever came first
        raws = [str(value) for value in values.to_pylist()]
        shortest = sorted(range(len(texts)), key=lambda place: (len(raws[place]), raws[place]))
        kept, texts, values = kept[shortest], [texts[place] for place in shortest], values.take(pa.array(shortest))
        numbers = None if numbers is None else numbers[shortest]
    listed = np.array(texts, dtype=object)
    measured = found is Kind.NUMERIC or reading.calendar is not None
    quantities = numbers if measured and texts else None
    if quantities is None:
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    else:
        order = (ascending if found is Kind.NUMERIC else chronological)(texts, quantities)
    fresh = np.append(True, listed[order][1:] != listed[order][:-1])[: len(order)]
    first = order[fresh]
    translation = np.full(len(raw) + 1, MISSING, dtype=np.int32)
    translation[kept[order]] = np.cumsum(fresh, dtype=np.int32) - np.int32(1)
    described = Values(
        name, found, listed[first], None if quantities is None else quantities[first], reading.calendar, reading.form,
        reading.doubt, reading.notes,
    )  # fmt: skip
    return Encoded(indices, described, values.take(pa.array(first)), translation)


def glanced(name: str, column: pa.ChunkedArray, missing: Collection[str], most: int) -> tuple[Values, Codes] | str:
    """A column as at most so many of its distinct values, and codes; or why it cannot be looked at.

    Encoding every distinct value would take longer than anything else when there are very many.
    """
    resolved = plain_values(column)
    try:
        combined = dictionary(name, resolved)
        if len(combined.dictionary) <= most:
            encoded = encode(name, resolved, None, missing)
            return encoded.values, encoded.codes
        chosen = combined.dictionary.take(pa.array(spaced(len(combined.dictionary), most)))
        values = encode(name, pa.chunked_array([chosen]), None, missing).values
    except ShoalError as error:
        return str(error)
    return values, codes_of(combined)


def numbered(name: str, column: pa.ChunkedArray) -> Codes:
    """The values of a column as codes in any order; negative: missing."""
    if not pa.types.is_floating(column.type):
        return codes_of(dictionary(name, column))
    # Measurements hardly repeat, and then sorting is many times faster than a dictionary.
    values, codes = np.unique(column.to_numpy(), return_inverse=True)
    numbers = codes.astype(np.int32)
    if len(values) and np.isnan(values[-1]):
        numbers[numbers == len(values) - 1] = MISSING
    return numbers


def codes_of(combined: pa.DictionaryArray) -> Codes:
    """The indices of a dictionary; negative: missing."""
    return indices_of(combined).astype(np.int32, copy=False)


def indices_of(combined: pa.DictionaryArray) -> NDArray[Any]:
    """The indices of a dictionary, as narrow as they came; negative: missing."""
    indices = combined.indices
    if pa.types.is_unsigned_integer(indices.type) or indices.type == pa.int64():
        indices = indices.cast(pa.int32())
    found: NDArray[Any] = (indices.fill_null(MISSING) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    return found


def bind(
    encoded: Encoded, hierarchy: Hierarchy, counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], Hierarchy, pa.Array]:
    """The column as leaves of a hierarchy, the hierarchy (with a missing value where needed), raw values by leaf.

    With `counts`, a code counts as so many records.
    """
    values = encoded.values
    if values.calendar is not None:
        hierarchy = hierarchy.dated(values.calendar)
    elif values.kind is not Kind.NUMERIC:
        hierarchy = replace(hierarchy, values=None, bounds=None)
    if encoded.has_missing:
        hierarchy = hierarchy.with_missing()
    leaves = hierarchy.leaves(values.texts.tolist())
    found = np.array([MISSING if leaf is None else leaf for leaf in leaves], dtype=np.int32)
    lacking = int(np.sum(found == MISSING))
    if lacking:
        unknown = np.append(found, 0)[encoded.codes] == MISSING
        records = int(unknown.sum() if counts is None else counts[unknown].sum())
        raise HierarchyError(
            f"the hierarchy of column {values.column!r} lacks {lacking} of the column's {len(found)} distinct values "
            f"({records:,} records); add a row for each"
        )
    raw = encoded.raw.take(_positions(found, hierarchy.size))
    table = np.append(found, np.int32(0))
    if encoded.translation is None:
        return table[encoded.places], hierarchy, raw
    table = table[encoded.translation].astype(narrowest(hierarchy.size))
    return looked_up(table, encoded.places), hierarchy, raw


def _positions(leaves: NDArray[np.int32], size: int) -> pa.Array:
    """For each leaf, the position of its value, or null where the table does not have it."""
    positions = np.zeros(size, dtype=np.int64)
    positions[leaves[::-1]] = np.arange(len(leaves))[::-1]  # the first, where one leaf has several spellings
    absent = np.ones(size, dtype=np.bool_)
    absent[leaves] = False
    return pa.array(positions, mask=absent)


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


def as_came(column: pa.ChunkedArray, came: pa.DataType | None) -> pa.ChunkedArray:
    """A column with the type that it had at the source, where an engine has another one for it."""
    if came is not None and pa.types.is_dictionary(came):
        came = came.value_type
    came = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(came, came)
    if came is None or came == column.type:
        return column
    try:
        return column.cast(came)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def in_known_zone(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times whose zone is an offset that polars has no name for (+05:30), the same ones in UTC; others as they are."""
    if not pa.types.is_timestamp(column.type) or not re.fullmatch(r"[+-]\d{2}:(?!00)\d{2}", column.type.tz or ""):
        return column
    return column.cast(pa.timestamp(column.type.unit, "UTC"))
