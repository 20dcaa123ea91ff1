"""The same run without the page: the command and the Python give the same release, to the byte."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import shoal
from shoal.core.schema import Role
from shoal.job import ColumnJob, Job, builder, plugin
from shoal.web import spelling


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job with a bit of everything, and names that a shell and a list would take apart."""
    frame = shoal.samples.adult().select("age", "sex", "race", "occupation", "hours-per-week")[:2000]
    frame = frame.rename({"sex": "sex, stated", "race": "ra'ce $HOME"})
    frame.write_csv(tmp_path / "a table.csv")
    shoal.samples.adult().select("sex").unique().write_csv(tmp_path / "unused.csv")
    quasi = ColumnJob(role=Role.QUASI)
    return Job(
        input=tmp_path / "a table.csv", output=tmp_path / "one.csv", seed=7, suppression=0.02,
        columns={
            "age": replace(quasi, hierarchy=builder("intervals:width=5,factor=2")), "sex, stated": quasi,
            "ra'ce $HOME": quasi, "occupation": ColumnJob(role=Role.SENSITIVE),
            "hours-per-week": ColumnJob(role=Role.IDENTIFIER),
        },
        models=(plugin("models", "k-anonymity:k=4"), plugin("models", "entropy-l-diversity:l=1.5")),
        algorithm=plugin("algorithms", "mondrian"), rows_are_people=True,
    )  # fmt: skip


def test_the_command_is_the_run(job: Job, tmp_path: Path) -> None:
    job.run()
    text = spelling.command(replace(job, output=tmp_path / "two.csv"))
    words = shlex.split(text.replace("\\\n", " "))
    assert words[0] == "shoal"
    subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_the_python_is_the_run(job: Job, tmp_path: Path) -> None:
    job.run()
    text = spelling.python(replace(job, output=tmp_path / "three.csv"))
    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
    assert (tmp_path / "three.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
