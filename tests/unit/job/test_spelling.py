"""The same run without the page: the command and the Python give the same release, to the byte."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import shoal
from shoal.cli import main
from shoal.core.schema import Role
from shoal.job import ColumnJob, Job, builder, plugin, spelling


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
    shoal.run(job)
    text = spelling.command(replace(job, output=tmp_path / "two.csv"))
    words = shlex.split(text.replace("\\\n", " "))
    assert words[0] == "shoal"
    with pytest.raises(SystemExit) as stop:
        main(words[1:])
    assert not stop.value.code
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_the_python_is_the_run(job: Job, tmp_path: Path) -> None:
    shoal.run(job)
    text = spelling.python(replace(job, output=tmp_path / "three.csv"))
    exec(compile(text, "spelled", "exec"), {})
    assert (tmp_path / "three.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
