"""Rows as lines of a CSV file, some thousands at a time on all cores."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.engines.common.dictionaries import dictionary, indices_of
from shoal.engines.common.fields import words

ROWS = 1 << 16
"""How many rows are written at a time: as many as caches hold."""
LARGE = 1 << 18
"""A table of so many rows is worth the code that is compiled for large ones."""
SHORT = 1 << 10
"""Lines that have at most so many bytes get room for the longest one, which takes less time than adding them up."""

Piece = TypeVar("Piece")


def header(names: Sequence[str], delimiter: str) -> bytes:
    """The first line."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def of_pieces(pieces: Iterable[pa.Table], delimiter: str) -> Iterator[Any]:
    """Tables of plain values as lines."""
    options = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")

    def lines(piece: pa.Table) -> pa.Buffer:
        stream = pa.BufferOutputStream()
        pa.csv.write_csv(_never_blank(piece), stream, options)
        return stream.getvalue()

    return _in_order(lines, pieces)


def are_texts(table: pa.Table) -> bool:
    """Whether a table is one of several columns of texts with dictionaries, which `of_codes` takes."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else None for kind in table.schema.types]
    return len(kinds) > 1 and all(kind in (pa.string(), pa.large_string()) for kind in kinds)


def of_codes(table: pa.Table, delimiter: str) -> Iterator[Any]:
    """Columns of texts with dictionaries as the same lines: each different text is spelled once, and then copied. What
    is yielded holds until the next is asked for."""
    from shoal.kernels.delimited import COPIED, render

    columns, spelled, starts = [], [], [0]
    for at, name in enumerate(table.column_names):
        column = dictionary(name, table[name])
        ending = delimiter if at < table.num_columns - 1 else "\n"
        texts = pc.replace_substring(column.dictionary.cast(pa.large_string()), '"', '""')
        around = [pa.scalar(text, pa.large_string()) for text in ('"', '"' + ending, "")]
        texts = pc.binary_join_element_wise(around[0], texts, *around[1:]).fill_null(ending)
        spelled += [texts, pa.array([ending], pa.large_string())]  # the last one is what a missing value is
        columns.append(indices_of(column))
        starts.append(starts[-1] + len(texts) + 1)
    together = pa.concat_arrays(spelled)
    _, offsets, content = together.buffers()
    ends = np.frombuffer(offsets, np.int64, len(together) + 1)
    known = np.append(np.frombuffer(content, np.uint8, int(ends[-1])), np.zeros(2 * COPIED, np.uint8))
    lengths = np.diff(ends)
    by_column = [lengths[begin:end] for begin, end in pairwise(starts)]
    longest = sum(int(each.max()) for each in by_column)
    firsts = np.array(starts, np.int64)

    rows = min(ROWS, table.num_rows)
    free: deque[tuple[Any, Any]] = deque()

    def lines(begin: int) -> tuple[pa.Buffer, tuple[Any, Any]]:
        try:
            codes, room = free.pop()
        except IndexError:
            codes, room = np.empty((len(columns), rows), np.int32), np.empty(0, np.uint8)
        if begin + rows > table.num_rows:
            codes = np.empty((len(columns), table.num_rows - begin), np.int32)
        for row, indices in zip(codes, columns, strict=True):
            row[:] = indices[begin : begin + rows]
        most = codes.shape[1] * longest
        if longest > SHORT:
            most = sum(int(each[row].sum()) for each, row in zip(by_column, codes, strict=True))
        if len(room) < most + 2 * COPIED:
            room = np.empty(most + 2 * COPIED, np.uint8)
        length = render(codes, firsts, ends, words(known), words(room))
        return pa.py_buffer(room).slice(0, length), (codes, room)

    for piece, used in _in_order(lines, range(0, table.num_rows, rows) if rows else ()):
        yield piece
        free.append(used)  # memory that is touched for the first time takes as long as the lines


def _in_order(work: Callable[[Piece], Any], pieces: Iterable[Piece]) -> Iterator[Any]:
    """What is made of pieces, in their order, a few of them at a time."""
    threads = pa.cpu_count()
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for piece in pieces:
            waiting.append(pool.submit(work, piece))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _never_blank(table: pa.Table) -> pa.Table:
    """A table of one column with quoted texts: a line with nothing in it would be read as no record at all."""
    if table.num_columns > 1:
        return table
    return pa.table({name: table[name].cast(pa.string()).fill_null("") for name in table.column_names})
