"""Encoding: a column of any type as integers, with its distinct values beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.date_labels import as_published
from shoal.core.formats import Reading, dated, interpret, respelled_note, spelling_notes
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind
from shoal.core.survey import spaced
from shoal.core.values import Values, chronological
from shoal.engines.common.column_types import is_number, is_text, plain_values
from shoal.engines.common.dictionaries import MISSING, codes_of, dictionary, indices_of, look_up, narrowest, occurring
from shoal.engines.common.identity import texts_of
from shoal.errors import HierarchyError, InputError, SchemaError, ShoalError
from shoal.parsing.identity import plain_numbers, plain_text
from shoal.parsing.instants import of_typed
from shoal.parsing.labels import LARGEST, are_numbers, ascending, number
from shoal.parsing.numbers import FORMATS


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """A column as codes into its distinct values; `raw` keeps those values as the type that they came in.

    The `indices` point into the dictionary that the column came with; `translation` has the code of each of its
    entries, and last that of a missing one.
    """

    indices: NDArray[Any]
    translation: Codes
    values: Values
    raw: pa.Array

    @property
    def codes(self) -> Codes:
        """The position of each record's value among the distinct ones; negative: missing."""
        return look_up(self.translation, self.indices)

    @property
    def has_missing(self) -> bool:
        return bool((self.translation[occurring(self.indices, len(self.translation) - 1)] == MISSING).any())


def _read(
    name: str, values: pa.Array, texts: list[str], kind: Kind | None, form: str | None, *, plain: bool
) -> Reading:
    """How the distinct values of a column are understood."""
    temporal = pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)
    if temporal and kind in (None, Kind.DATE):
        zone = values.type.tz if pa.types.is_timestamp(values.type) else None
        return dated(name, texts, of_typed(values), clock=zone or "")
    if is_text(values.type) or kind is Kind.DATE or form not in (None, *FORMATS):
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
        raise _infinite(name)
    return odd


def encode(
    name: str,
    column: pa.ChunkedArray,
    kind: Kind | None,
    missing: Collection[str] = (),
    form: str | None = None,
    *,
    codes: bool = False,
) -> Encoded:
    """A column as codes. The kind and the format of dates and numbers are found out unless they are given; given ones
    must fit. Categories that are the `codes` of something are numbers, and are read as such.

    Blanks around a value do not count; one of nothing else, one that is among `missing`, or a damaged date among dates
    is missing.
    """
    encoded = dictionary(name, column)
    raw = _plain_floats(name, encoded.dictionary)
    try:
        texts = texts_of(raw.drop_null())
        absent = set(map(plain_text, missing))
        filled = np.array([text != "" and text not in absent for text in texts], dtype=np.bool_)
        if (codes or kind in (None, Kind.NUMERIC)) and not is_number(raw.type):
            filled &= ~_spelled_as_no_number(name, texts, filled)
        entries = np.flatnonzero(raw.is_valid().to_numpy(zero_copy_only=False))[filled]
        texts = [text for text, holds in zip(texts, filled, strict=True) if holds]
        values = raw.take(pa.array(entries))
        plain, numbers = numbers_of(values, texts) or (None, None)
        reading = _read(name, values, texts, kind, form, plain=numbers is not None)
    except pa.ArrowInvalid:
        raise SchemaError(f"column {name!r} has a time zone that is not known here; convert it to UTC") from None
    if reading.calendar is not None or reading.form is not None:
        sound = np.array([text is not None for text in reading.texts], dtype=np.bool_)
        entries, values = entries[sound], values.filter(pa.array(sound))
        texts = [text for text in reading.texts if text]
        plain, numbers = numbers_of(values, texts) or (None, None)
        if reading.quantities is not None:
            numbers = reading.quantities[sound]
    spellings = len(texts)
    settled = kind or reading.kind or (Kind.CATEGORICAL if numbers is None else Kind.NUMERIC)
    notes = reading.notes
    if (codes or settled is Kind.NUMERIC) and texts and reading.doubt is None:
        written, texts = texts, plain or plain_numbers(texts, padded=True) or texts
        if numbers is None:
            numbers = _quantities(name, texts)
        if is_text(values.type) and reading.form is None:
            notes += respelled_note(name, written, texts)
    if is_text(values.type):
        values = pa.array(as_published(texts, reading.calendar), values.type)
    spelled = np.array(texts, dtype=object)
    measured = settled is Kind.NUMERIC or reading.calendar is not None
    quantities = numbers if measured and texts else None
    alike = plain_numbers(texts) if quantities is None else None
    if alike is not None:  # numbers that are categories, or too large to be measured, keep their order: 2 before 10
        order = ascending(alike, np.array([float(text) for text in alike], dtype=np.float64))
    elif quantities is None:
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    else:
        order = (ascending if settled is Kind.NUMERIC else chronological)(texts, quantities)
    fresh = np.append(True, spelled[order][1:] != spelled[order][:-1])[: len(order)]
    first = order[fresh]
    translation = np.full(len(raw) + 1, MISSING, dtype=np.int32)
    translation[entries[order]] = np.cumsum(fresh, dtype=np.int32) - np.int32(1)
    if is_text(values.type):
        notes += spelling_notes(name, spelled[first].tolist(), spellings, compared=not measured)
    numbers = None if quantities is None else quantities[first]
    distinct = Values(name, settled, spelled[first], numbers, reading.calendar, reading.form, reading.doubt, notes)
    return Encoded(indices_of(encoded), translation, distinct, values.take(pa.array(first)))


def _plain_floats(name: str, values: pa.Array) -> pa.Array:
    """Distinct values with not-a-number as missing and no zero with a sign; infinite numbers are refused."""
    if not pa.types.is_floating(values.type):
        return values
    known = pc.if_else(pc.is_nan(values), None, values)
    if pc.any(pc.is_inf(known)).as_py():
        raise _infinite(name)
    zero = pc.equal(known.cast(pa.float32()) if pa.types.is_float16(known.type) else known, 0.0)
    return pc.if_else(zero, pa.scalar(0, known.type), known)


def _infinite(name: str) -> InputError:
    return InputError(f"column {name!r} holds infinite numbers; replace them or make them missing")


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


def glance(name: str, column: pa.ChunkedArray, missing: Collection[str], most: int) -> tuple[Values, Codes] | str:
    """A column as at most so many of its distinct values, and codes; or why it cannot be looked at.

    Encoding every distinct value would take longer than anything else when there are very many.
    """
    plain = plain_values(column)
    try:
        listed = dictionary(name, plain)
        if len(listed.dictionary) <= most:
            encoded = encode(name, plain, None, missing)
            return encoded.values, encoded.codes
        some = listed.dictionary.take(pa.array(spaced(len(listed.dictionary), most)))
        values = encode(name, pa.chunked_array([some]), None, missing).values
    except ShoalError as error:
        return str(error)
    return values, codes_of(listed)


def value_codes(name: str, column: pa.ChunkedArray) -> Codes:
    """The values of a column as codes in any order; negative: missing."""
    if not pa.types.is_floating(column.type):
        return codes_of(dictionary(name, column))
    # Measurements hardly repeat, and then sorting is many times faster than a dictionary.
    values, places = np.unique(column.to_numpy(), return_inverse=True)
    codes = places.astype(np.int32)
    if len(values) and np.isnan(values[-1]):
        codes[codes == len(values) - 1] = MISSING
    return codes


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
    known = [MISSING if leaf is None else leaf for leaf in hierarchy.leaves(values.texts.tolist())]
    leaves = np.array(known, dtype=np.int32)
    lacking = int(np.sum(leaves == MISSING))
    if lacking:
        unknown = np.append(leaves, 0)[encoded.codes] == MISSING
        records = int(unknown.sum() if counts is None else counts[unknown].sum())
        raise HierarchyError(
            f"the hierarchy of column {values.column!r} lacks {lacking} of the column's {len(leaves)} distinct values "
            f"({records:,} records); add a row for each"
        )
    raw = encoded.raw.take(_positions(leaves, hierarchy.size))
    table = np.append(leaves, np.int32(0))[encoded.translation].astype(narrowest(hierarchy.size))
    return look_up(table, encoded.indices), hierarchy, raw


def _positions(leaves: NDArray[np.int32], size: int) -> pa.Array:
    """For each leaf, the position of its value, or null where the table does not have it."""
    positions = np.zeros(size, dtype=np.int64)
    positions[leaves[::-1]] = np.arange(len(leaves))[::-1]  # the first, where one leaf has several spellings
    absent = np.ones(size, dtype=np.bool_)
    absent[leaves] = False
    return pa.array(positions, mask=absent)
