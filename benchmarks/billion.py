"""A release of a billion records in bounded memory: `python -m benchmarks.billion 10 100 1000` (millions of rows).

The table is SAL, as the literature cuts it from the census: seven quasi-identifiers, the salary sensitive, the
occupation left out. It is read from Parquet, counted, searched for the optimal release, published, verified, written to
a folder, read back and verified again, in one process. It kills itself when it holds more memory than it may: it looks
twenty times a second, and the peak that the operating system counted is told at every stage. The file `stages.log` in
the folder tells of every stage when it is done. At the end it is told what lies in the folder, also where memory ran
out.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.foundation import QUASI
from benchmarks.scale import LIMIT, STARTED, WATCHED, Work, generated

SENSITIVE, LEFT_OUT = "salary-class", "occupation"
POLICY = ("k-anonymity:k=5", "distinct-l-diversity:l=3")
BOUND = 8
"""GB of memory above which the process is killed."""

_BOUNDED = """
import os, signal, threading
from pathlib import Path
temporary, spilled = Path({temporary!r}), [0.0]
temporary.mkdir(exist_ok=True)
def in_use():
    return int(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmRSS'))) / 2**20
def watch():
    looks = 0
    while True:
        if in_use() > {bound}:
            os.kill(os.getpid(), signal.SIGKILL)
        if looks % 20 == 0:
            sizes = []
            for path in temporary.glob('**/*'):
                try:
                    sizes.append(path.stat().st_blocks * 512)
                except OSError:  # it is gone
                    pass
            spilled[0] = max(spilled[0], sum(sizes) / 2**30)
        looks += 1
        time.sleep(0.05)
threading.Thread(target=watch, daemon=True).start()
quiet = lap
def lap(stage):
    quiet(stage)
    seconds, processor, peak = stages[stage]
    with open({log!r}, 'a') as log:
        print(f'{{time.strftime("%H:%M:%S")}} {{stage}}: {{processor:.1f}} s, {{seconds:.1f}} s by the clock, peak '
              f'{{peak:.2f}} GB, now {{in_use():.2f}} GB, spilled {{spilled[0]:.2f}} GB', file=log)
"""

_WORK = """
current[0] = 'reading'
try:
    data = shoal.read({table!r}, quasi={quasi!r}, sensitive=[{sensitive!r}], drop=[{dropped!r}], engine={engine!r},
                      hierarchies=shoal.samples.hierarchies('census'))
    lap('reading')
    current[0] = 'summary'
    data.summary
    lap('summary')
    current[0] = 'searching'
    release = shoal.anonymize(data, *{policy!r}, algorithm='optimal', suppression=0.01, seed=1, run=run)
    release.write({out!r}, run=run.part())
    lap(current[0])
    facts = release.recoding.facts
    answer = dict(levels=facts['levels'], proven=facts['proven'], checked=facts['nodes']['checked'],
                  published=release.published.records, classes=len(release.classes), combinations=len(data.summary),
                  counted=len(data.summary.sensitive[0].values), spilled=spilled[0])
    with open({log!r}, 'a') as log:
        print(answer, file=log)
    del data, release
    again = shoal.verify({out!r}, engine={engine!r})
    lap('verifying what was written, as a recipient does')
    answer['verified'] = bool(again.holds)
except (shoal.errors.ShoalError, MemoryError) as error:
    lap(current[0])
    answer = f'{{type(error).__name__}}: {{error}}'
"""


def release(millions: int, folder: Path, bound: int = BOUND, limit: str = LIMIT) -> None:
    """The release of so many million records, told stage by stage."""
    table, out, temporary = generated(folder, millions), folder / f"release-{millions}", folder / "temporary"
    quasi = [name for name in QUASI if name not in (SENSITIVE, LEFT_OUT)]
    print(f"{millions} million census rows × {len(quasi)} quasi-identifiers and a sensitive attribute:", flush=True)
    work = _WORK.format(
        table=str(table), quasi=quasi, sensitive=SENSITIVE, dropped=LEFT_OUT, policy=POLICY, out=str(out),
        engine=f"duckdb:memory_limit={limit},temporary={temporary}", log=str(folder / "stages.log"),
    )  # fmt: skip
    bounded = _BOUNDED.format(bound=bound, temporary=str(temporary), log=str(folder / "stages.log"))
    done = Work("optimal release", f"import shoal, shoal.errors\n{bounded}{WATCHED}{STARTED}{work}")
    done.tell()
    print(f"    {done.answer}", flush=True)
    left = sorted(path.name for path in folder.glob("*") if path.name.startswith((".", out.name)))
    print(f"    in the folder: {', '.join(left) or 'nothing'}; temporary files: {len(list(temporary.glob('**/*')))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="*", default=[1])
    parser.add_argument("--bound", type=int, default=BOUND, help="GB above which the process is killed")
    parser.add_argument("--limit", default=LIMIT, help="the memory limit of DuckDB inside it")
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for millions in given.millions:
            release(millions, given.folder or Path(folder), given.bound, given.limit)


if __name__ == "__main__":
    main()
