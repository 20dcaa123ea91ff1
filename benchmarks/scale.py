"""Large tables on the DuckDB engine beside DuckDB itself: `python -m benchmarks.scale 1 10 100` (millions of rows).

Every piece of work runs in a process of its own, which prints the time and the memory of each of its stages. Ratios are
of processor time: that of both sides is measured in one run, and other work on the machine changes it little. Importing
packages and loading kernels, which takes the same whatever the size of the table, is left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.foundation import QUASI
from benchmarks.measuring import peak_of

PIECE = 5_000_000
PLAIN = ("marital-status", "work-class", "salary-class")
GENERATED = "census-{}.parquet"
OWN_LIMIT, LIMIT = "6GB", "3GB"
"""The memory limits of DuckDB on its own, and inside Shoal, whose searches need room too."""

_MEASURED = """
import json, time
def peak():
    return int(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))) / 2**20
stages, last = {}, [time.perf_counter(), time.process_time()]
def lap(stage):
    now = [time.perf_counter(), time.process_time()]
    seconds, processor, _ = stages.get(stage, (0.0, 0.0, 0.0))
    stages[stage] = (seconds + now[0] - last[0], processor + now[1] - last[1], peak())
    last[:] = now
"""

STARTED = """
names = ["age", "gender", "race"]
small = shoal.read(shoal.samples.census(5000).select(names), quasi=names, engine="duckdb")
for algorithm in ("optimal", "mondrian"):
    shoal.anonymize(small, "k-anonymity:k=5", algorithm=algorithm, suppression=0.01)
lap("starting")
stages.clear()
"""

WATCHED = """
from shoal.core.run import Run
STAGES = ("looking at the plain columns", "publishing", "verifying", "writing", "reading back")
current = ["starting"]
def told(share, doing):
    doing = doing if doing in STAGES else "searching"
    if doing != current[0]:
        lap(current[0])
        current[0] = doing
run = Run(told)
"""


def generated(folder: Path, millions: int) -> Path:
    """A folder with so many census records, in files of five million; what is there already stays."""
    from shoal import samples

    place = folder / f"census-{millions}"
    place.mkdir(parents=True, exist_ok=True)
    rows = millions * 1_000_000
    for number, first in enumerate(range(0, rows, PIECE)):
        path = place / GENERATED.format(number)
        if not path.exists():
            samples.census(min(PIECE, rows - first), seed=number).write_parquet(path)
    return place


class Work:
    """One piece of work: what its stages took, in seconds, seconds of processor time, and peak memory so far."""

    def __init__(self, name: str, script: str) -> None:
        _, printed = peak_of(f"{_MEASURED}\n{script}\nprint(json.dumps([stages, globals().get('answer')]))")
        self.name = name
        self.stages: dict[str, tuple[float, float, float]]
        self.stages, self.answer = json.loads(printed.splitlines()[-1])

    @property
    def seconds(self) -> float:
        return sum(seconds for seconds, _, _ in self.stages.values())

    @property
    def processor(self) -> float:
        return sum(processor for _, processor, _ in self.stages.values())

    @property
    def peak(self) -> float:
        return max(peak for *_, peak in self.stages.values())

    def tell(self, beside: Iterable[Work] = (), bound: float | None = None) -> None:
        whole = sum(work.processor for work in beside)
        most = "" if bound is None else f" (at most {bound})"
        ratio = f", {self.processor / whole:.2f} times{most}" if whole else ""
        print(
            f"  {self.name}: {self.seconds:.1f} s, processor {self.processor:.1f} s, peak {self.peak:.2f} GB{ratio}",
            flush=True,
        )
        if len(self.stages) > 1:
            for stage, (seconds, processor, peak) in self.stages.items():
                share = processor / max(self.processor, 1e-9)
                print(f"    {stage}: {share:.0%} ({processor:.1f} s, {seconds:.1f} s by the clock), peak {peak:.2f} GB")


def own(name: str, statement: str, temporary: Path) -> Work:
    config = {"memory_limit": OWN_LIMIT, "temp_directory": str(temporary)}
    return Work(
        name, f"import duckdb\nheld = duckdb.connect(config={config!r})\nheld.execute({statement!r})\nlap({name!r})"
    )


def _reading(table: Path, engine: str, quasi: Sequence[str] = QUASI) -> str:
    return (
        f"import shoal\n{STARTED}data = shoal.read({str(table)!r}, quasi={list(quasi)!r}, engine={engine!r}, "
        "hierarchies=shoal.samples.hierarchies('census'))\nlap('reading')\ndata.summary\nlap('summary')\n"
    )


def _released(table: Path, engine: str, algorithm: str, out: Path, quasi: Sequence[str] = QUASI) -> Work:
    script = (
        f"{WATCHED}{_reading(table, engine, quasi)}current[0] = 'searching'\n"
        f"release = shoal.anonymize(data, 'k-anonymity:k=5', algorithm={algorithm!r}, suppression=0.01, seed=1, "
        "run=run)\n"
        f"release.write({str(out)!r}, run=run.part())\nlap(current[0])\n"
        "import hashlib\nfrom shoal.api import quick_metrics\n"
        "found = shoal.evaluate(data, release, *quick_metrics(), baselines=False).as_dict()\n"
        "sizes = hashlib.sha256(release.classes.sizes.tobytes() + data.summary.keys.tobytes()).hexdigest()\n"
        "answer = [list(release.recoding.levels or ()), release.published.records, len(release.classes), sizes, "
        "hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()]"
    )
    return Work(f"{algorithm} release", script)


def _content(folder: Path) -> str:
    """A digest of the rows of a release, in their order."""
    import hashlib

    import polars as pl

    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(pl.read_parquet(path).hash_rows(seed=0).to_numpy().tobytes())
    return digest.hexdigest()


def scale(millions: int, folder: Path, *, compare: bool = False) -> dict[str, Any]:
    """Diagnosis and releases of so many million records, beside DuckDB's own GROUP BY and COPY."""
    table, out = generated(folder, millions), folder / "out"
    place, engine = f"'{table}/*.parquet'", f"duckdb:memory_limit={LIMIT},temporary={folder}"
    names = ", ".join(f'"{name}"' for name in QUASI)
    print(f"{millions} million census rows × {len(QUASI)} quasi-identifiers:")
    grouped, copied = _own_work(place, names, folder)
    diagnosis = Work(
        "diagnosis", f"{_reading(table, engine)}answer = shoal.diagnose(data, k=5)['k'].value\nlap('diagnosis')"
    )
    diagnosis.tell([grouped], 1.3)
    optimal = _released(table, engine, "optimal", out)
    optimal.tell([grouped, copied], 2.5)
    made = _content(out)
    if compare:
        other = _released(table, "embedded", "optimal", out)
        other.tell()
        print(f"    the same levels, counts, classes and findings: {other.answer == optimal.answer}")
        print(f"    the same rows in the same order: {_content(out) == made}", flush=True)
    mondrian = _released(table, engine, "mondrian", out)
    mondrian.tell([grouped, copied], 5.0)
    return {work.name: work.processor for work in (grouped, copied, diagnosis, optimal, mondrian)}


def _own_work(place: str, names: str, folder: Path) -> tuple[Work, Work]:
    """What DuckDB itself takes to count some columns, and to copy all."""
    grouped = own(
        "DuckDB's own GROUP BY", f"CREATE TABLE t AS SELECT {names}, count(*) FROM {place} GROUP BY ALL", folder
    )
    grouped.tell()
    copied = own(
        "DuckDB's own COPY",
        f"COPY (FROM {place}) TO '{folder / 'copy.parquet'}' (FORMAT parquet, COMPRESSION zstd)",
        folder,
    )
    copied.tell()
    return grouped, copied


def plain(millions: int, folder: Path, *, compare: bool = False) -> None:
    """A release of which three columns have no role, and are published as they are."""
    table, out, quasi = generated(folder, millions), folder / "out", [name for name in QUASI if name not in PLAIN]
    names = ", ".join(f'"{name}"' for name in quasi)
    print(f"{millions} million census rows × {len(quasi)} quasi-identifiers and {len(PLAIN)} columns without a role:")
    beside = _own_work(f"'{table}/*.parquet'", names, folder)
    made = _released(table, f"duckdb:memory_limit={LIMIT},temporary={folder}", "optimal", out, quasi)
    made.tell(beside)
    if compare:
        rows = _content(out)
        other = _released(table, "embedded", "optimal", out, quasi)
        other.tell(beside)
        print(f"    the same levels, counts, classes and findings: {other.answer == made.answer}")
        print(f"    the same rows in the same order: {_content(out) == rows}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="*", default=[1])
    parser.add_argument("--plain", action="store_true", help="only a release with columns that have no role")
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.plain:
            for millions in given.millions:
                plain(millions, given.folder or Path(folder), compare=millions <= 1)
            return
        spent = {
            millions: scale(millions, given.folder or Path(folder), compare=millions <= 10)
            for millions in given.millions
        }
    for name in next(iter(spent.values())):
        told = ", ".join(f"{millions} million: {held[name] / millions:.2f} s" for millions, held in spent.items())
        print(f"{name}, processor time for each million rows: {told}")


if __name__ == "__main__":
    main()
