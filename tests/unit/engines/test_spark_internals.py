"""Private names of PySpark that may go: without them nothing is said that should not be, and everything works. And what
the driver does with what comes in several batches."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark import SparkContext

from shoal.engines.spark import session
from shoal.engines.spark.encoding import encoded_places


@pytest.mark.parametrize("lacking", ["_gateway", "_ensure_initialized"])
def test_a_spark_without_private_names_is_started_plainly(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", lambda settings, options: None)
    monkeypatch.delattr(SparkContext, lacking)
    assert not session._start_java({})


def test_what_a_program_says_when_it_starts_is_seen_by_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    with session._silent():
        subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('a cell')"], check=True)
    os.write(2, b"after")
    assert capfd.readouterr().err == "after"


def test_progress_needs_no_private_name() -> None:
    context: Any = SimpleNamespace(statusTracker=lambda: None)
    assert session._share_done(context, "tag") == 0.0


@pytest.mark.parametrize("chunks", [[["b", None], ["a", None, "b"], [], [None, "c"]], [[None]], [[]], []])
def test_distinct_rows_come_in_several_batches_that_lack_values(chunks: list[list[str | None]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    encoded = encoded_places(column)
    assert encoded.dictionary.take(encoded.indices).to_pylist() == column.to_pylist()
    assert len(encoded.dictionary) == len(encoded.dictionary.unique()) and not encoded.indices.null_count
