"""Every question ends soon after its run is cancelled, and shows what it has when its time is up."""

from __future__ import annotations

import threading
import time

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.core.run import Run
from shoal.diagnosis.weighted_rows import Partitions, WeightedRows
from shoal.errors import CancelledError

SOON = 0.5
"""Seconds of this process, so that a busy machine does not count."""
QUESTIONS = {
    "borders": {"k": 5},
    "borders after a budget": {"k": 5, "delta": 0.05},
    "every set": {},
    "every set after a budget": {"delta": 0.05},
    "shares of every set": {"k": 5, "delta": "ask"},
    "curves of every set": {"delta": "ask"},
    "borders of diversity": {"l": 2},
    "borders of a distance": {"t": 0.5, "distance": "ordered"},
    "borders that are not monotone": {"notion": "entropy-l", "l": 2, "delta": 0.05},
    "a model without a kernel": {"notion": "beta-likeness", "bound": 3.0},
    "every set of a model without a kernel": {"notion": "beta-likeness"},
}


@pytest.fixture(scope="module")
def data():
    """300,000 records, 12 attributes, nearly all records different."""
    generator = np.random.default_rng(5)
    names = [f"q{place:02}" for place in range(12)]
    columns = {name: np.minimum(generator.geometric(0.25, 300_000), 12) for name in names}
    columns["disease"] = generator.integers(0, 9, 300_000)
    data = shoal.read(pl.DataFrame(columns), quasi=names, sensitive=["disease"])
    assert len(data.summary) > 200_000
    return data


def cancelled_after(seconds, work):
    """How long the work went on after it was cancelled."""
    run, moments = Run(), []

    def cancel():
        moments.append(time.process_time())
        run.cancel()

    timer = threading.Timer(seconds, cancel)
    timer.start()
    with pytest.raises(CancelledError):
        work(run)
    ended = time.process_time()
    timer.join()
    return ended - moments[0]


@pytest.mark.parametrize("place", range(len(QUESTIONS)), ids=QUESTIONS)
def test_a_cancelled_question_ends_soon(place, data):
    asked = [*QUESTIONS.values()][place]
    small = shoal.read(shoal.samples.adult().head(500), quasi=["age", "sex", "race"], sensitive=["occupation"])
    shoal.ask(small, **asked)  # compiles what the question needs
    for seconds in (0.05, 0.3) if LONG else ((0.05, 0.3)[place % 2],):
        assert cancelled_after(seconds, lambda run: shoal.ask(data, run=run, **asked)) < SOON


def test_no_partition_is_made_for_a_cancelled_question(data):
    """The longest step of most questions, which asks for itself whether anybody waits for it."""
    run = Run()
    partitions = Partitions(WeightedRows.of(data.summary, shoal.KAnonymity(k=5), data.schema.quasi), run)
    one = partitions.of(1)
    run.cancel()
    with pytest.raises(CancelledError):
        partitions.refined(one, 1)


def test_a_question_whose_time_is_up_shows_what_it_has(data):
    began = time.process_time()
    found = shoal.ask(data, time_limit=0.5, notion="distinct-l")
    assert not found.proven and len(found.answer) < 4095
    assert time.process_time() - began < 0.5 + SOON


def test_detection_is_cancelled_too(data):
    cancelled_after(0.5, lambda run: shoal.detect(data, run=run, time_limit=None))
