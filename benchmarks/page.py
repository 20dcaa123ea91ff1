"""The page: how long somebody waits for the first screen, for a change of role, and on a table of a million rows.

Seconds on this machine, the server warm: another table was looked at before. Everything goes through the real server
and its JSON twins, which do the same work as the pages.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import polars as pl

import shoal

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit" / "web"))

ROWS = 1_000_000


def waited(page, path: str, panel: str, seconds: float = 600) -> float:
    """Seconds until a panel is ready."""
    began = time.perf_counter()
    state = page.facts(path, panel=panel, seconds=seconds)[panel]["state"]
    assert state == "ready", state
    return time.perf_counter() - began


def slowest(page, path: str, panel: str) -> tuple[float, float]:
    """The slowest single answer while a panel is being worked on, and how long the work took."""
    began, worst = time.perf_counter(), 0.0
    while True:
        asked = time.perf_counter()
        told = page.facts(path)
        worst = max(worst, time.perf_counter() - asked)
        if told[panel]["state"] not in ("waiting", "running"):
            return worst, time.perf_counter() - began
        time.sleep(0.2)


def main() -> None:
    from serving import Served

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        adult = place / "adult.csv"
        shoal.samples.adult().write_csv(adult)
        page = Served(place / "private", adult)
        try:
            page.sign_in()
            waited(page, "/exposed.json", "exposure")  # warm
            page.session.open(adult)
            shown = waited(page, "/exposed.json", "columns")
            told = shown + waited(page, "/exposed.json", "exposure")
            print(f"Adult, first screen: columns after {shown:.2f} s, suggestions and the sentence after {told:.2f} s")
            times = []
            for column, role in ((2, "plain"), (4, "identifier"), (2, "quasi"), (10, "plain"), (10, "quasi")):
                began = time.perf_counter()
                page.post("/exposed/role", column=column, role=role)
                page.ask("/exposed")
                times.append(time.perf_counter() - began)
            print(f"Adult, a change of role: {1000 * median(times):.0f} ms (slowest {1000 * max(times):.0f})")
            large = place / "large.parquet"
            _large().write_parquet(large)
            page.session.open(large)
            worst, whole = slowest(page, "/exposed.json", "exposure")
            print(f"{ROWS:,} rows: suggestions after {whole:.1f} s, slowest answer meanwhile {1000 * worst:.0f} ms")
            began = time.perf_counter()
            page.post("/exposed/role", column=0, role="plain")
            page.ask("/exposed")
            answered = time.perf_counter() - began
            counted = waited(page, "/exposed.json", "exposure")
            print(f"{ROWS:,} rows: a change of role answers in {1000 * answered:.0f} ms, counted {counted:.2f} s later")
        finally:
            page.stop()


def _large() -> pl.DataFrame:
    """Adult, repeated with other ages, as large as it has to be."""
    one = shoal.samples.adult().drop("fnlwgt", "education-num")
    copies = -(-ROWS // len(one))
    return pl.concat([one] * copies).head(ROWS).sample(fraction=1.0, shuffle=True, seed=1)


if __name__ == "__main__":
    main()
