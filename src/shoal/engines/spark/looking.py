"""A look at every column, for the detection of roles: distinct values, and each record's as an integer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shoal.core.grouping import Codes
from shoal.core.values import Values
from shoal.engines.embedded.encoding import Encoded, as_came, encode
from shoal.engines.spark.source import Source
from shoal.errors import InputError, ShoalError


def looked_at(source: Source) -> tuple[dict[str, tuple[Values, Codes] | str], int]:
    """Every column as distinct values and codes, or why it cannot be looked at; and the number of records.

    The records come piece by piece, and leave only integers and distinct values behind.
    """
    pieces: dict[str, list[pa.DictionaryArray | pa.Array]] = {source.column(name): [] for name in source.names}
    places: list[np.ndarray] = []
    for piece in source.session.batches(source.placed(source.names), what=source.label):
        places.append(piece["place"].to_numpy())
        for here, held in pieces.items():
            held.extend(_shortened(piece[here]))
    if not sum(map(len, places)):
        raise InputError("the table has no record")
    order = np.argsort(np.concatenate(places), kind="stable")
    kinds = {} if source.opened is None else source.opened.kinds({}, {})
    looks: dict[str, tuple[Values, Codes] | str] = {}
    for name in source.names:
        try:
            found: Encoded = encode(name, _joined(pieces.pop(source.column(name)), source.came(name)), kinds.get(name))
        except ShoalError as error:
            looks[name] = str(error)
        else:
            looks[name] = found.values, found.codes[order]
    return looks, len(order)


def _shortened(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Repeated values once; nested ones as they are."""
    plain = pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type)
    yield from (column if plain else column.dictionary_encode()).chunks


def _joined(chunks: list[pa.Array], came: pa.DataType | None) -> pa.ChunkedArray:
    whole = pa.chunked_array(chunks).unify_dictionaries() if chunks else pa.chunked_array([], pa.string())
    if came is None or not pa.types.is_dictionary(whole.type):
        return as_came(whole, came)
    combined = whole.combine_chunks()
    combined = combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
    values = as_came(pa.chunked_array([combined.dictionary]), came).combine_chunks()
    return pa.chunked_array([pa.DictionaryArray.from_arrays(combined.indices, values)])
