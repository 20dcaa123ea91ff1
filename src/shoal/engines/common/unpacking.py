"""Compressed files: unpacked while they are read, and refused when far more comes out than a table ever packs into.

A few kilobytes can be made to unpack to more than any memory or disk holds. Tables of people pack to a tenth or so;
what packs to less than one in two hundred is stopped after the first gigabyte.
"""

from __future__ import annotations

import os
import zipfile
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from shoal.errors import InputError, ParameterError

RATIO, LIFTED = 200, "SHOAL_UNPACK_RATIO"
"""How many times its size a file may unpack to, and the environment variable that says otherwise."""
ENOUGH = 1 << 30
"""Bytes that a file may unpack to, however small it is."""
BLOCK = 1 << 22
_DENSEST_GZIP = 1100
"""No gzip file unpacks to more than so many times its size."""
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def ratio_limit() -> int:
    """How many times its size a file may unpack to."""
    text = os.environ.get(LIFTED, str(RATIO))
    if not text.isdigit() or int(text) < 1:
        raise ParameterError(f"{LIFTED} is a whole number: how many times its size a file may unpack to")
    return int(text)


def _too_large(path: Path, came_out: int, went_in: int) -> InputError:
    return InputError(
        f"{path.name}: {came_out / ENOUGH:,.1f} GB came out of the first {went_in / 1e6:,.1f} MB, and that is not all: "
        f"it may be made to fill the memory or the disk. If it is right, unpack it first, or set {LIFTED} to how many "
        "times its size it may become, such as 2000"
    )


class Unpacked:
    """The bytes of a file, unpacked where it is gz or zst. `stream` is for Arrow, which counts nothing: whoever gives
    it away calls `check_unpacked` first, or counts what comes out of it."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            start = file.read(4)
        self.compression = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
        self._path, self._came_out, self._allowed = path, 0, ratio_limit()
        self._file = pa.OSFile(str(path))
        packed = self.compression is not None
        self.stream = pa.CompressedInputStream(self._file, self.compression) if packed else self._file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stream.close()
        self._file.close()

    def count(self, size: int) -> None:
        """Takes note of bytes that came out; refuses a file that unpacks to too much."""
        self._came_out += size
        if self.compression is not None and self._came_out > ENOUGH:
            went_in = self._file.tell()
            if self._came_out > self._allowed * went_in:
                raise _too_large(self._path, self._came_out, went_in)

    def read(self, size: int | None = None) -> bytes:
        """So many bytes, or all."""
        if size is None:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        content = bytes(self.stream.read(size))
        self.count(len(content))
        return content

    def readinto(self, block: Any) -> int:
        """Fills a block; how many bytes there were."""
        length = int(self.stream.readinto(block))
        self.count(length)
        return length


def check_unpacked(path: Path) -> None:
    """Refuses a compressed file that unpacks to too much, before anything is made of it."""
    status = path.stat()
    _check_unpacked(path, status.st_size, status.st_mtime_ns, ratio_limit())


@lru_cache(maxsize=64)
def _check_unpacked(path: Path, size: int, _time: int, _allowed: int) -> None:
    with Unpacked(path) as file:
        if file.compression is None or (file.compression == "gzip" and size * _DENSEST_GZIP <= ENOUGH):
            return
        block = bytearray(BLOCK)
        while file.readinto(block):
            pass


def check_archive(path: Path) -> None:
    """Refuses a workbook, which is an archive, whose parts say that they unpack to too much."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            came_out = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return  # whoever reads it says that it cannot be read
    size = path.stat().st_size
    if came_out > ENOUGH and came_out > ratio_limit() * size:
        raise _too_large(path, came_out, size)
