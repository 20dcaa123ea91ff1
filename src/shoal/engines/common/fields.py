"""Large CSV files: their columns as codes and distinct texts at once, block by block on all cores.

No text is made of a field: it is looked up among the distinct ones of its column where it stands. A file that is
written otherwise than most is left to the parser of `csv`, which knows everything and takes longer.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.engines.common.dictionaries import narrowest

Places = NDArray[np.int32]

BLOCK = 1 << 22
PADDING = 64
"""Bytes behind a block that can be read with its last one."""
SLOTS = 1 << 10


class OddError(Exception):
    """The file is not written as these are; what it is does not matter here."""


class _Blocks:
    """The rows of a stream below its header, some megabytes at a time, for whoever asks next."""

    def __init__(self, stream: Any, delimiter: str, header: Sequence[str], preamble: int) -> None:
        self._stream, self._lock = stream, Lock()
        self._rest, self._number, self._done = b"", 0, False
        self._delimiter, self._header, self._preamble = delimiter, list(header), preamble

    def next(self, block: bytearray) -> tuple[int, int] | None:
        """Fills a block: its number, and how many of its bytes are rows; None at the end."""
        with self._lock:
            while not self._done:
                length = self._fill(block)
                if self._number == 0:
                    below = self._below_header(block, length)
                    block[: length - below] = block[below:length]
                    length -= below
                cut = _last_row(block, length)
                self._rest = bytes(memoryview(block)[cut:length])
                if self._done and self._rest:
                    raise OddError  # a quotation mark is left open
                self._number += 1
                if cut:
                    return self._number, cut
            return None

    def stop(self) -> None:
        """Nobody needs any more of them."""
        self._done = True

    def _fill(self, block: bytearray) -> int:
        length = len(self._rest)
        block[:length] = self._rest
        with memoryview(block) as room:
            while length < BLOCK:
                read = self._stream.readinto(room[length:BLOCK])
                if not read:
                    self._done = True
                    if length and block[length - 1] != 10:
                        block[length] = 10
                        length += 1
                    break
                length += read
        return length

    def _below_header(self, block: bytearray, length: int) -> int:
        """Where the rows begin; the header has to be a line of its own, as it was detected."""
        begin = end = 0
        for _ in range(self._preamble + 1):
            begin, end = end, block.find(b"\n", end, length) + 1
        line = block[begin:end].decode(errors="replace").lstrip("\ufeff").rstrip("\r\n")
        if next(csv.reader([line], delimiter=self._delimiter), None) != self._header:
            raise OddError
        return end


def _last_row(block: bytearray, length: int) -> int:
    """Where the last whole row ends: at a line end before which quotation marks are in pairs."""
    from shoal.kernels.delimited import marks_in

    end = length
    while length:
        cut = block.rfind(b"\n", 0, end) + 1
        if cut == 0:
            raise OddError
        if marks_in(np.frombuffer(block, np.uint8), cut) % 2 == 0:
            return cut
        end = block.rfind(b'"', 0, cut)
    return 0


@dataclass(eq=False)
class _Lexicon:
    """The distinct texts of a column, as far as one thread has met them."""

    slots: NDArray[np.int32] = field(default_factory=lambda: np.full(SLOTS, -1, np.int32))
    heads: NDArray[np.uint64] = field(default_factory=lambda: np.empty((SLOTS // 2, 4), np.uint64))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(SLOTS // 2 + 1, np.int64))
    texts: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(SLOTS * PADDING, np.uint8))
    used: int = 0

    def encode(self, data: NDArray[np.uint8], layout: tuple[Places, Places, int, int], codes: Places) -> None:
        """Writes the codes of a column of a block."""
        from shoal.kernels import delimited as kernel

        row = 0
        while True:
            lexicon = (self.slots, self.heads, self.ends, self.texts, words(self.texts))
            self.used, row = kernel.encode((data, words(data)), layout, lexicon, self.used, row, codes)
            if row < 0:
                raise OddError
            if row == len(codes):
                return
            self._grow(len(data))

    def _grow(self, longest: int) -> None:
        from shoal.kernels.delimited import refill

        if 2 * self.used >= len(self.slots):
            size = 4 * len(self.slots)
            self.heads = np.concatenate([self.heads, np.empty((size // 2 - len(self.heads), 4), np.uint64)])
            self.ends = np.append(self.ends, np.zeros(size // 2 + 1 - len(self.ends), np.int64))
            self.slots = np.full(size, -1, np.int32)
            refill(self.slots, self.heads, self.used)
        else:
            self.texts = np.append(self.texts, np.zeros(max(len(self.texts), longest), np.uint8))

    def texts_array(self) -> pa.Array:
        """The texts, with quotation marks that were doubled single again."""
        if int(self.ends[self.used]) >= 1 << 31:
            raise OddError
        ends = pa.py_buffer(self.ends[: self.used + 1].astype(np.int32))
        texts = pa.Array.from_buffers(pa.string(), self.used, [None, ends, pa.py_buffer(self.texts)])
        texts.validate(full=True)
        return pc.replace_substring(texts, '""', '"') if pc.any(pc.match_substring(texts, '"')).as_py() else texts


def words(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The eight bytes that begin at each byte."""
    return np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))


class _Lane:
    """What one thread makes of the blocks that it gets."""

    def __init__(self, blocks: _Blocks, delimiter: str, width: int, chosen: Sequence[int]) -> None:
        self.blocks, self.delimiter, self.width, self.chosen = blocks, ord(delimiter), width, chosen
        self.lexicons = [_Lexicon() for _ in chosen]
        self.codes: dict[int, list[NDArray[Any]]] = {}

    def run(self) -> None:
        block = bytearray(BLOCK + PADDING)
        data = np.frombuffer(block, np.uint8)
        places, marks = np.empty((2, BLOCK + PADDING), np.int32)
        try:
            while (filled := self.blocks.next(block)) is not None:
                number, length = filled
                self.codes[number] = self._encode(data, length, places, marks)
        finally:
            self.blocks.stop()  # where one thread fails, no other one reads on

    def _encode(self, data: NDArray[np.uint8], length: int, places: Places, marks: Places) -> list[NDArray[Any]]:
        rows = self._lay_out(data, length, places, marks)
        codes, encoded = np.empty(rows, np.int32), []
        for column, lexicon in zip(self.chosen, self.lexicons, strict=True):
            lexicon.encode(data, (places, marks, self.width, column), codes)
            encoded.append(codes.astype(narrowest(lexicon.used)))
        return encoded

    def _lay_out(self, data: NDArray[np.uint8], length: int, places: Places, marks: Places) -> int:
        """Writes where the fields are; returns the number of rows."""
        from shoal.kernels import delimited as kernel

        rows: int
        fields, rows = kernel.separators(data, length, self.delimiter, places, marks)
        if fields < 0:
            raise OddError  # a carriage return stands alone
        # Blank lines are no rows, but of a file of one column, where they are records without a value.
        if fields != rows * self.width or not kernel.are_laid_out(data, places, rows, self.width):
            rows = kernel.laid_out(data, places, marks, fields, self.width)
        if rows < 0:
            raise OddError
        return rows


def columns(
    stream: Any, *, delimiter: str, header: Sequence[str], preamble: int, chosen: Sequence[int], missing: Sequence[str]
) -> list[pa.DictionaryArray]:
    """Fields of a CSV file in utf-8, whose header is below so many other lines; `missing` are spellings of a missing
    value.

    Raises `OddError` where a row has another number of fields, or anything else is not as it is in most files.
    """
    blocks = _Blocks(stream, delimiter, header, preamble)
    lanes = [_Lane(blocks, delimiter, len(header), chosen) for _ in range(pa.cpu_count())]
    with ThreadPoolExecutor(len(lanes)) as pool:
        try:
            list(pool.map(_Lane.run, lanes))
        finally:
            blocks.stop()  # also when somebody interrupts
        return list(pool.map(lambda at: _join(lanes, at, missing), range(len(chosen))))


def _join(lanes: Sequence[_Lane], at: int, missing: Sequence[str]) -> pa.DictionaryArray:
    """A column from what the threads made of its blocks."""
    lists = [lane.lexicons[at].texts_array() for lane in lanes]
    together = pa.concat_arrays(lists).dictionary_encode()
    texts = together.dictionary
    absent = pc.is_in(texts, pa.array(["", *missing], pa.string())).to_numpy(zero_copy_only=False)
    places = np.where(absent, -1, np.cumsum(~absent) - 1).astype(narrowest(len(texts)))
    tables = np.split(places[together.indices.to_numpy()], np.cumsum([len(each) for each in lists])[:-1])
    parts = {
        number: (table, encoded[at])
        for lane, table in zip(lanes, tables, strict=True)
        for number, encoded in lane.codes.items()
    }
    codes = np.empty(sum(len(encoded) for _, encoded in parts.values()), places.dtype)
    begin = 0
    for _, (table, encoded) in sorted(parts.items()):
        np.take(table, encoded, mode="wrap", out=codes[begin : begin + len(encoded)])
        begin += len(encoded)
    indices = pa.array(codes, mask=codes < 0) if absent.any() else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, texts.filter(pa.array(~absent)))
