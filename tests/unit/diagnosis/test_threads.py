"""Everything on a dataset may be called from several threads at once."""

from __future__ import annotations

import subprocess
import sys

from counts import count

SCRIPT = """
import faulthandler, sys, threading
import shoal

faulthandler.enable()
frame = shoal.samples.adult().drop("education-num").head(RECORDS)
quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
data = shoal.read(frame, quasi=quasi, sensitive=["occupation"])

def verbs():
    yield lambda: [shoal.ask(data, k=k).negative_border for k in (2, 3, 5, 9)]
    yield lambda: [shoal.ask(data, k=k, delta=0.05).positive_border for k in (2, 4)]
    yield lambda: dict(shoal.ask(data, delta=0.1).answer)
    yield lambda: [shoal.ask(data, l=l, notion="entropy-l").positive_border for l in (1.5, 2.5)]
    yield lambda: dict(shoal.ask(data, notion="t", t=0.4, delta="ask").answer)
    yield lambda: shoal.ask(data, notion="beta-likeness", bound=5.0).positive_border
    yield lambda: shoal.detect(data).singling_out
    yield lambda: shoal.diagnose(data, k=3).as_dict()
    made = lambda: shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian:refine=true", seed=1)
    yield lambda: shoal.evaluate(data, made(), "gcp").as_dict()

alone = [verb() for verb in verbs()]
failed = []

start = threading.Barrier(4)

def work(first):
    every = list(verbs())
    for place in [2, 3] * ROUNDS + [0] * 4 + [(place + 2 * first) % len(every) for place in range(len(every))]:
        if place in (0, 2, 3):  # the same question everywhere at the same time
            start.wait()
        if every[place]() != alone[place]:
            failed.append(place)

threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(f"answers differ: {sorted(set(failed))}" if failed else 0)
"""


def test_verbs_in_several_threads_give_what_they_give_alone():
    """In a process of its own: kernels that share memory end it."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("ROUNDS", str(count(4, 40))).replace("RECORDS", str(count(300, 4000)))],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
