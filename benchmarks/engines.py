"""The DuckDB engine beside DuckDB itself: what Shoal adds to the GROUP BY and the COPY that any tool would need."""

from __future__ import annotations

import tempfile
from pathlib import Path

import shoal
from benchmarks.foundation import QUASI
from benchmarks.measuring import peak_of

SENSITIVE = "occupation"
COLUMNS = [name for name in QUASI if name != SENSITIVE]

_START = "import time\nstarted = time.perf_counter()\n"
_END = "\nprint(time.perf_counter() - started)"


def _read(path: Path, engine: str) -> str:
    return (
        f"import shoal\ndata = shoal.read({str(path)!r}, quasi={COLUMNS!r}, sensitive=[{SENSITIVE!r}], "
        f"hierarchies=shoal.samples.hierarchies('census'), engine={engine!r})\n"
    )


def _timed(what: str, script: str) -> float:
    """The seconds that a script says it took, in a process of its own whose peak memory is printed too."""
    peak, printed = peak_of(script)
    seconds = float(printed.splitlines()[-1])
    print(f"  {what}: {seconds:.1f} s, peak {peak:.2f} GB")
    return seconds


def _sql(statement: str) -> str:
    return f"{_START}import duckdb\nduckdb.execute({statement!r}){_END}"


def engines(rows: int) -> None:
    """Reading and grouping, and an optimal release end to end, each in a process of its own."""
    names = ", ".join(f'"{name}"' for name in [*COLUMNS, SENSITIVE])
    print(f"{rows:,} census rows × {len(COLUMNS)} quasi-identifiers and {SENSITIVE}:")
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "census.parquet", Path(folder) / "out.parquet"
        shoal.samples.census(rows).write_parquet(path)
        grouped = _timed(
            "DuckDB's own GROUP BY", _sql(f"CREATE TABLE t AS SELECT {names}, count(*) FROM '{path}' GROUP BY ALL")
        )
        copied = _timed(
            "DuckDB's own COPY", _sql(f"COPY (FROM '{path}') TO '{out}' (FORMAT parquet, COMPRESSION zstd)")
        )
        release = (
            "release = shoal.anonymize(data, 'k-anonymity:k=5', algorithm='optimal', suppression=0.01, seed=1)\n"
            f"release.write({str(out)!r})"
        )
        for engine in ("duckdb", "embedded"):
            reading = _START + _read(path, engine)
            seconds = _timed(f"{engine}: read and group", reading + "data.summary" + _END)
            print(f"    {seconds / grouped:.1f} times DuckDB's GROUP BY")
            seconds = _timed(f"{engine}: optimal release, verified and written", reading + release + _END)
            print(f"    {seconds / (grouped + copied):.1f} times DuckDB's GROUP BY and COPY")


if __name__ == "__main__":
    engines(5_000_000)
