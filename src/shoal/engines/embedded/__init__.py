"""The embedded engine: everything in this process, on all cores."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.engines.common.in_memory import InMemory


@dataclass(frozen=True, kw_only=True)
class Embedded(InMemory):
    """Everything in this process, on all cores. Reads CSV, JSON lines and ARFF (also gz or zst), Parquet (a file, a
    glob such as `parts/*.parquet`, a folder), Arrow IPC, spreadsheets, files of Stata, SPSS and SAS, and frames of
    pandas, polars and pyarrow; gives back what came in.

    Example:
        >>> import polars, shoal
        >>> shoal.read(polars.DataFrame({"age": [21, 22]}), quasi=["age"], engine="embedded").records
        2
    """
