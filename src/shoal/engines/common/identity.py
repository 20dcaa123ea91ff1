"""What values say, whatever their type and however they are spelled."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.date_labels import as_iso
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind, Notation
from shoal.engines.common.column_types import is_text
from shoal.engines.common.dictionaries import dictionary
from shoal.parsing.dates import read as read_dates
from shoal.parsing.identity import (
    are_plain_numbers,
    identifier,
    identifiers,
    plain_number,
    plain_texts,
    without_idle_fraction,
)
from shoal.parsing.instants import of_typed


def texts_of(values: pa.Array) -> list[str]:
    """What each of some values, none of which is missing, says as a text."""
    kind = values.type
    if kind == pa.float64():
        return [_float_text(value) for value in values.to_pylist()]
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
    if is_text(kind):
        texts = plain_texts(values)
        timed = pc.any(pc.match_substring(values, ".0")).as_py() and pc.any(pc.match_substring(values, ":")).as_py()
        return [without_idle_fraction(text) for text in texts] if timed else texts
    return [str(value) for value in values.to_pylist()]


def _float_text(value: float) -> str:
    """A float as Arrow writes it into a CSV file."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def published_texts(values: pa.Array, notation: Notation | None) -> list[str | None]:
    """What each value of a published column says, in the spelling that stands for all; None where it is missing."""
    texts = texts_of(values.drop_null())
    kind = None if notation is None else notation.kind
    if kind is Kind.NUMERIC and pa.types.is_floating(values.type):  # spelled plainly, unless they are huge or tiny
        texts = [(plain_number(text) or text) if "e" in text or text.endswith(".0") else text for text in texts]
    elif kind is Kind.NUMERIC:
        plain = are_plain_numbers(texts).to_pylist()
        texts = [text if same else plain_number(text) or text for text, same in zip(texts, plain, strict=True)]
    elif kind is Kind.DATE and notation is not None and notation.form is not None:
        return _with_missing(as_iso(texts, notation.form), values)
    elif kind is Kind.DATE:
        dates = read_dates(texts, "iso").spelled(times=True)
        texts = [date or text for date, text in zip(dates, texts, strict=True)]
    return _with_missing(texts, values)


def identifier_texts(values: pa.Array) -> list[str | None]:
    """What each identifier says; None where it says nothing."""
    present = values.drop_null()
    if is_text(present.type):
        return _with_missing([identifier(text) or None for text in present.to_pylist()], values)
    return _with_missing([plain_number(text) or text or None for text in texts_of(present)], values)


def _with_missing(texts: list[str | None] | list[str], values: pa.Array) -> list[str | None]:
    """The texts of the values that there are, with None where one is missing."""
    if not values.null_count:
        return [*texts]
    present = iter(texts)
    return [next(present) if filled else None for filled in values.is_valid().to_pylist()]


def identifier_dictionary(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of identifiers as one array of indices and one of what the distinct ones say; blank ones are missing."""
    encoded = dictionary(name, column)
    texts = pa.array(identifier_texts(encoded.dictionary), pa.large_string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(texts.indices.take(encoded.indices), texts.dictionary)


def leaf_identifiers(hierarchy: Hierarchy) -> pa.Array:
    """What each leaf of a column says that is taken for one of identifiers."""
    return pa.array(identifiers(hierarchy.labels[0].tolist()), pa.large_string())


def spelled_otherwise(values: pa.Array, published: pa.Array) -> pa.Array:
    """Which texts are published in another spelling, or as missing."""
    return pc.and_(values.is_valid(), pc.invert(pc.equal(values, published).fill_null(False)))
