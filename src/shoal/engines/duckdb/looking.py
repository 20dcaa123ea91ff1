"""A look at every column, for the detection of roles: distinct values, and each record's as an integer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.grouping import Codes
from shoal.core.values import Values
from shoal.engines.duckdb.encoding import distinct
from shoal.engines.duckdb.session import quoted
from shoal.engines.duckdb.source import Source
from shoal.engines.embedded.encoding import Encoded, encode
from shoal.errors import InputError, ShoalError


def looked_at(source: Source) -> tuple[dict[str, tuple[Values, Codes] | str], int]:
    """Every column as distinct values and codes, or why it cannot be looked at; and the number of records.

    The values of a column are sent for once; the records come as batches, and leave only integers behind.
    """
    session = source.session
    sets: dict[str, pa.Array] = {}
    found: dict[str, Encoded | str] = {}
    kinds = {} if source.opened is None else source.opened.kinds({}, {})
    for name in source.names:
        column = f"s.{quoted(name)}"
        values = distinct(session, column, source.relation, came=source.came(name), what=source.label).values
        try:
            found[name] = encode(name, values, kinds.get(name))
        except ShoalError as error:
            found[name] = str(error)
        else:
            sets[name] = values.combine_chunks()
    columns: dict[str, list[Codes]] = {name: [] for name in sets}
    selected = ", ".join(f"s.{quoted(name)}" for name in sets) or "0"
    records = 0
    for batch in session.batches(f"SELECT {selected} FROM {source.relation}", what=source.label):
        records += batch.num_rows
        for name, column in zip(sets, batch.columns, strict=False):
            places = pc.index_in(column.cast(sets[name].type), value_set=sets[name]).to_numpy()
            each = found[name]
            assert isinstance(each, Encoded)
            columns[name].append(each.codes[places.astype(np.int64)])
    if records == 0:
        raise InputError("the table has no record")
    looks: dict[str, tuple[Values, Codes] | str] = {}
    for name, each in found.items():
        looks[name] = each if isinstance(each, str) else (each.values, np.concatenate(columns[name]))
    return looks, records
