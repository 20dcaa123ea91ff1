"""After a fork: what can work in the child does, and the rest says at once what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORKED = """
import json, os, sys, time
import polars, shoal

def anonymized(engine=None, algorithm="mondrian"):
    data = shoal.read(sys.argv[1], quasi=["age", "sex"], sensitive=["ill"], engine=engine)
    return data, shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=algorithm, seed=1)

def k_means():
    assert anonymized(algorithm="k-means")[1].published.records == release.published.records
    shoal.evaluate(data, release, "clustering:clusters=2")

def code_of(child):
    until = time.monotonic() + 200
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, 9)
    return "it hangs"

def code_forked(work):
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except shoal.errors.ForkError as error:
            code = error.exit_code if "spawn" in str(error) else 1
        finally:
            os._exit(code)
    return code_of(child)

codes = {"imported": code_forked(lambda: anonymized()[1].frame)}
polars.DataFrame({"a": [2, 1]}).lazy().sort("a").collect()
data, release = anonymized(algorithm="k-means")
elsewhere, _ = anonymized("duckdb")
release.frame
codes |= {name: code_forked(work) for name, work in {
    "k-means": k_means,
    "new session": lambda: anonymized("duckdb"),
    "frame": lambda: release.frame,
    "sample": shoal.samples.adult,
    "session": lambda: shoal.anonymize(elsewhere, shoal.KAnonymity(k=3), algorithm="mondrian"),
}.items()}
print(json.dumps(codes))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells the names of threads")
def test_a_forked_process_works_or_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("duckdb")
    table = tmp_path / "people.csv"
    rows = [f"{20 + number % 7},{'fm'[number % 2]},{number % 3}" for number in range(600)]
    table.write_text("\n".join(("age,sex,ill", *rows)) + "\n")
    several = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", FORKED, table], capture_output=True, text=True, timeout=1500, env=several
    )
    assert json.loads(done.stdout) == {
        "imported": 0, "k-means": 0, "new session": 0, "frame": 2, "sample": 2, "session": 2,
    }  # fmt: skip
