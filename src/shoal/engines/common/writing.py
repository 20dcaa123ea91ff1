"""Writing: the pieces of a published table as a file of the format that its ending names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.common import arff, lines, program_files
from shoal.engines.common.formats import ENDINGS
from shoal.engines.common.source import MemorySource
from shoal.errors import OutputError
from shoal.storage.files import in_folder, names_table

ROW_GROUP = 1 << 20
"""How many rows are written at a time: as many as a row group of Parquet has."""


def format_of(path: Path) -> str:
    """The format in which a release is written to a path; an ending that names none is refused."""
    if in_folder(path):
        return "parquet"
    ending = Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    for form in ("parquet", "arrow", "csv", "arff"):
        if ending in ENDINGS[form]:
            return form
    for form, endings in program_files.WRITTEN.items():
        if path.suffix.lower() in endings:
            return form
    if names_table(path):
        raise OutputError(
            f"{path.name}: this is a table of a database, which only the duckdb engine can write; read the table with "
            "engine='duckdb'"
        )
    raise OutputError(
        f"{path.name}: the format is not known by this ending; use .csv, .parquet, .arrow, .xlsx, .sav, .dta, .xpt or "
        ".arff, or no ending for a folder of Parquet files"
    )


def write(
    path: Path,
    schema: pa.Schema,
    pieces: Iterable[pa.Table],
    source: MemorySource | None = None,
    coded: pa.Table | None = None,
) -> None:
    """Writes the pieces of a table to a file, one after the other, in the dialect of a CSV `source`; of CSV, the same
    table `coded` is quicker."""
    form = format_of(path)
    nested = [entry.name for entry in schema if pa.types.is_nested(entry.type)]
    dialect, nominal = (None, frozenset[str]()) if source is None else (source.dialect, source.nominal)
    delimiter = "\t" if ".tsv" in path.suffixes else dialect.delimiter if dialect else ","
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    try:
        if form in ("parquet", "arrow"):
            with _writer(path, form, schema) as file:
                for piece in pieces:
                    file.write_table(piece)
            return
        if nested:
            raise OutputError(f"{path.name}: column {nested[0]!r} is nested, which {form} cannot hold; write .parquet")
        if form in program_files.WRITTEN:
            whole = pa.concat_tables([schema.empty_table(), *pieces])
            program_files.write_file(path, form, whole, {} if source is None else source.labels_for(form))
            return
        with pa.output_stream(str(path), compression=compression) as stream:
            if form == "arff":  # its header lists the values of the whole table
                stream.write(arff.render(pa.concat_tables([schema.empty_table(), *pieces]), nominal).encode())
                return
            stream.write(lines.header(schema.names, delimiter))
            rows = lines.of_pieces(pieces, delimiter) if coded is None else lines.of_codes(coded, delimiter)
            for block in rows:
                stream.write(block)
    except pa.ArrowException as error:
        raise OutputError(f"{path.name}: could not be written ({type(error).__name__})") from None


def _writer(path: Path, form: str, schema: pa.Schema) -> Any:
    if form == "arrow":
        return pa.ipc.new_file(str(path), schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    from pyarrow import parquet

    return parquet.ParquetWriter(path, schema, compression="zstd")
