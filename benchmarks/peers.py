"""pycanon, anjana and anonypy beside Shoal, on Adult with eight quasi-identifiers, in one run.

The others live in an environment of their own, whose Python is named on the command line:
`python -m benchmarks.peers /path/to/python`, after `pip install pycanon anjana anonypy` there. Times are of the
processor, of the work alone: reading the file is left out everywhere. What is made is measured by Shoal, as a file.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shoal

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
SENSITIVE = "occupation"
K = 5
MEASURES = (
    "k_anonymity",
    "l_diversity",
    "entropy_l_diversity",
    "t_closeness",
    "alpha_k_anonymity",
    "basic_beta_likeness",
)
"""What pycanon measures, and Shoal, in the same order."""
OURS = ("k-anonymity:k=1", "distinct-l-diversity:l=1", "entropy-l-diversity:l=1", "t-closeness:t=1",
        "alpha-k-anonymity:alpha=1,k=1", "beta-likeness:beta=1e9")  # fmt: skip

THEIRS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
folder, quasi, sensitive, k, measures = json.loads(sys.argv[1])
table = pd.read_csv(folder + "/adult.csv", dtype=str)[[*quasi, sensitive]]
found = {}
def timed(name, work):
    began = time.process_time()
    outcome = work()
    found[name] = [time.process_time() - began, outcome if isinstance(outcome, (int, float)) else None]
    return outcome
import pycanon.anonymity as measuring
numbers = table.assign(age=table["age"].astype(int))
for name in measures:
    given = (quasi,) if name == "k_anonymity" else (quasi, [sensitive])
    def work(name=name, given=given):
        outcome = getattr(measuring, name)(numbers.copy(), *given)
        return float(outcome[0] if isinstance(outcome, tuple) else outcome)
    timed("pycanon " + name, work)
from anjana.anonymity import k_anonymity
trees = {name: dict(pd.read_csv(folder + "/" + name + ".csv", header=None, sep=";", dtype=str)) for name in quasi}
made = timed("anjana", lambda: k_anonymity(table.copy(), [], quasi, k, 0, trees))
made.to_csv(folder + "/anjana.csv", index=False)
import anonypy
frame = numbers.copy()
for name in [*quasi[1:], sensitive]:
    frame[name] = frame[name].astype("category")
rows = timed("anonypy", lambda: anonypy.Preserver(frame, quasi, sensitive).anonymize_k_anonymity(k=k))
print(json.dumps(found))
"""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    outcome = work()
    return time.process_time() - began, outcome


def main(python: str | None = None) -> None:
    if python is None:
        print("name the Python of an environment with pycanon, anjana and anonypy: python -m benchmarks.peers PYTHON")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(python, Path(folder))


def compare(python: str, folder: Path) -> None:
    trees = shoal.samples.hierarchies("adult")
    table = shoal.samples.adult().select([*QUASI, SENSITIVE])
    table.write_csv(folder / "adult.csv")
    for name in QUASI:
        shutil.copyfile(trees / f"{name}.csv", folder / f"{name}.csv")
    told = json.dumps([str(folder), QUASI, SENSITIVE, K, MEASURES])
    done = subprocess.run([python, "-c", THEIRS, told], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    data = shoal.read(table, quasi=QUASI, sensitive=[SENSITIVE], hierarchies=trees)
    shoal.ask(data, k=2)  # kernels are loaded
    encoding, _ = timed(lambda: shoal.read(table, quasi=QUASI, sensitive=[SENSITIVE], hierarchies=trees).summary)
    print(f"Shoal reads the table and groups it once, for all measures: {encoding:.2f} s\n")
    print(f"{'measure':24} {'pycanon':>10} {'s':>8} {'Shoal':>10} {'s':>8}")
    for name, own in zip(MEASURES, OURS, strict=True):
        seconds, value = theirs[f"pycanon {name}"]
        model = shoal.job.plugin("models", own)
        ours, finding = timed(lambda model=model: model.measure(data.summary))
        print(f"{name:24} {value:10.4g} {seconds:8.2f} {finding.value:10.4g} {ours:8.4f}", flush=True)
    print(f"\n{'k-anonymity, k = 5':24} {'s':>8} {'gcp':>8} {'k':>6}")
    print(f"{'anonypy (mondrian)':24} {theirs['anonypy'][0]:8.2f}")
    foreign = shoal.evaluate(data, folder / "anjana.csv", "gcp", baselines=False)
    print(f"{'anjana':24} {theirs['anjana'][0]:8.2f} {foreign['gcp'].value:8.4f} {foreign['k'].value:6}")
    for algorithm in ("optimal", "mondrian", "auto"):
        shoal.anonymize(data, shoal.KAnonymity(k=K), algorithm=algorithm, seed=1, repeatable=True)  # compiled by now
        ours, release = timed(
            lambda algorithm=algorithm: shoal.anonymize(
                data, shoal.KAnonymity(k=K), algorithm=algorithm, seed=1, repeatable=True
            )
        )
        found = shoal.evaluate(data, release, "gcp", baselines=False)
        print(f"{f'Shoal, {algorithm}':24} {ours:8.2f} {found['gcp'].value:8.4f} {found['k'].value:6}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
