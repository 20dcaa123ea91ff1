"""Encoding: a column of any type as integers, with its distinct values beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.formats import Reading, dated, interpret, respelled_note, spelling_notes
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind
from shoal.core.survey import spaced
from shoal.core.values import Values, chronological
from shoal.errors import HierarchyError, InputError, SchemaError, ShoalError
from shoal.parsing.dates import read as read_dates
from shoal.parsing.identity import (
    identifier,
    plain_number,
    plain_numbers,
    plain_text,
    plain_texts,
    without_idle_fraction,
)
from shoal.parsing.instants import of_typed
from shoal.parsing.labels import LARGEST, are_numbers, ascending, number
from shoal.parsing.numbers import FORMATS

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


def texts_of(values: pa.Array) -> list[str]:
    """What each of some values, none of which is missing, says as a text."""
    kind = values.type
    if pa.types.is_floating(kind):  # through its shortest spelling, which for a narrow float is not that of its double
        return [_float_text(float(str(value))) for value in values.to_numpy(zero_copy_only=False)]
    if pa.types.is_boolean(kind):
        return ["true" if value else "false" for value in values.to_pylist()]
    if pa.types.is_duration(kind):
        return [str(value) for value in values.cast(pa.int64()).to_pylist()]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return [str(text) for text in of_typed(values).spelled(times=True)]
    if pa.types.is_temporal(kind):
        return [without_idle_fraction(text) for text in values.cast(pa.string()).to_pylist()]
    if _is_text(kind):
        texts = plain_texts(values)
        timed = pc.any(pc.match_substring(values, ".0")).as_py() and pc.any(pc.match_substring(values, ":")).as_py()
        return [without_idle_fraction(text) for text in texts] if timed else texts
    return [str(value) for value in values.to_pylist()]


def _float_text(value: float) -> str:
    """A float as Arrow writes it into a CSV file."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def identified(values: pa.Array, kind: Kind) -> list[str]:
    """What each value of a column of a kind says, in the spelling that stands for all."""
    texts = texts_of(values)
    if kind is Kind.NUMERIC:
        return [plain_number(text) or text for text in texts]
    if kind is Kind.DATE:
        spelled = read_dates(texts, "iso").spelled(times=True)
        return [date or text for date, text in zip(spelled, texts, strict=True)]
    return texts


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
        zone = values.type.tz if pa.types.is_timestamp(values.type) else None
        return dated(name, texts, of_typed(values), clock=zone or "")
    if _is_text(values.type) or kind is Kind.DATE or form not in (None, *FORMATS):
        return interpret(name, texts, kind, form, plain=plain)
    return Reading(texts)


def numbers_of(values: pa.Array, texts: Sequence[str]) -> tuple[list[str], NDArray[np.float64]] | None:
    """The values as plain numbers, and in floating point, when every one is a number.

    Codes with leading zeros are none, nor are whole numbers so large that two different ones are the same
    floating-point number: as numbers, different values would become one.
    """
    if pa.types.is_boolean(values.type):
        return None
    if pa.types.is_temporal(values.type) and not pa.types.is_duration(values.type):
        return None
    plain = plain_numbers(texts)
    if plain is None:
        return None
    numbers = np.array([float(text) for text in plain], dtype=np.float64)
    exact = are_numbers(numbers) and len(np.unique(numbers)) == len(set(plain))
    return (plain, numbers) if exact else None


def _spelled_as_no_number(name: str, texts: list[str], filled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which texts spell not-a-number among numbers, and so are missing; an infinite number among them is refused."""
    odd = np.array([text.lower().lstrip("+-") in ("nan", "inf", "infinity") for text in texts], dtype=np.bool_) & filled
    rest = [text for text, chosen in zip(texts, filled & ~odd, strict=True) if chosen]
    if not odd.any() or plain_numbers(rest, padded=True) is None:
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


def by_identity(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of identifiers as one array of indices and one of what the distinct ones say; blank ones are missing."""
    combined = dictionary(name, column)
    said = pa.array(said_by(combined.dictionary), pa.large_string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(said.indices.take(combined.indices), said.dictionary)


def said_by(identifiers: pa.Array) -> list[str | None]:
    """What each identifier says, where it says anything."""
    present = identifiers.drop_null()
    said = identifier if _is_text(present.type) else lambda text: plain_number(text) or text
    texts = map(said, present.to_pylist() if _is_text(present.type) else texts_of(present))
    return [next(texts) or None if filled else None for filled in identifiers.is_valid().to_pylist()]


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
        zero = pc.equal(raw.cast(pa.float32()) if pa.types.is_float16(raw.type) else raw, 0.0)
        raw = pc.if_else(zero, pa.scalar(0, raw.type), raw)  # no zero with a sign
    present = raw.is_valid().to_numpy(zero_copy_only=False)
    try:
        texts = texts_of(raw.drop_null())
        absent = set(map(plain_text, missing))
        filled = np.array([text != "" and text not in absent for text in texts], dtype=np.bool_)
        if kind in (None, Kind.NUMERIC) and not _is_numeric(raw.type):
            filled &= ~_spelled_as_no_number(name, texts, filled)
        kept = np.flatnonzero(present)[filled]
        texts = [text for text, holds in zip(texts, filled, strict=True) if holds]
        values = raw.take(pa.array(kept))
        plain, numbers = numbers_of(values, texts) or (None, None)
        reading = _read(name, values, texts, kind, form, plain=numbers is not None)
    except pa.ArrowInvalid:
        raise SchemaError(f"column {name!r} has a time zone that is not known here; convert it to UTC") from None
    spellings = len(texts)
    if reading.calendar is not None or reading.form is not None:
        sound = np.array([text is not None for text in reading.texts], dtype=np.bool_)
        kept, values, texts = kept[sound], values.filter(pa.array(sound)), [text for text in reading.texts if text]
        plain, numbers = numbers_of(values, texts) or (None, None)
        if reading.quantities is not None:
            numbers = reading.quantities[sound]
        spellings = len(texts)
    found = kind or reading.kind or (Kind.CATEGORICAL if numbers is None else Kind.NUMERIC)
    notes = reading.notes
    if found is Kind.NUMERIC and texts and reading.doubt is None:
        written, texts = texts, plain or plain_numbers(texts, padded=True) or texts
        if numbers is None:
            numbers = _quantities(name, texts)
        if _is_text(values.type) and reading.form is None:
            notes += respelled_note(name, written, texts)
    if _is_text(values.type):
        values = pa.array(texts, values.type)
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
    if _is_text(values.type):
        notes += spelling_notes(name, listed[first].tolist(), spellings, compared=not measured)
    described = Values(
        name, found, listed[first], None if quantities is None else quantities[first], reading.calendar, reading.form,
        reading.doubt, notes,
    )  # fmt: skip
    return Encoded(indices, described, values.take(pa.array(first)), translation)


def _quantities(name: str, texts: list[str]) -> NDArray[np.float64]:
    """The numbers of a column that is said to be numeric; one that is not is refused."""
    numbers = np.array([number(text) for text in texts], dtype=np.float64)
    unfit, large = int(np.sum(~np.isfinite(numbers))), int(np.sum(np.abs(numbers) > LARGEST))
    if unfit or large:
        what = f"{unfit} of its {len(texts)} distinct values are not numbers"
        if not unfit:
            what = f"{large} of its {len(texts)} distinct values are beyond {LARGEST:g}, too large to reckon with"
        raise SchemaError(f"column {name!r} is said to be numeric and {what}")
    return numbers


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
    elif values.kind is Kind.NUMERIC:
        hierarchy = hierarchy.numbered()
    else:
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
