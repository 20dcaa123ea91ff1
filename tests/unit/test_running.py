"""Job.run: what both front ends stand on."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from shoal import api, job
from shoal.api import running
from shoal.core.run import Run
from shoal.errors import CancelledError, OutputError


@pytest.fixture
def made(tmp_path: Path) -> job.Job:
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,F\n31,M\n" * 40, encoding="utf-8")
    tables = {
        "input": {"path": "people.csv"}, "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "policy": {"models": ["k-anonymity:k=5"]}, "output": {"path": "out.csv", "plot": "out.svg"},
    }  # fmt: skip
    return job.parse(tables, tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_file_is_there_and_the_outcome_names_them(made: job.Job, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    found = api.run(made, save=tmp_path / "job.toml")
    names = ["out.csv", "out.csv.manifest.json", "job.toml", "out.svg"]
    assert [path.name for path in found.files] == names
    assert set(contents(tmp_path)) == {*names, "people.csv"}
    assert found.findings["k"].value >= 5 and found.figures["records"] == 80
    again = job.load(tmp_path / "job.toml")
    assert again.seed == found.figures["seed"] == found.release.policy.seed
    before = contents(tmp_path)
    assert not again.overwrite  # which is about the files that lie there today
    api.run(replace(again, overwrite=True))
    assert contents(tmp_path) == before


class Cancelling(Run):
    """Cancels itself at one of its reports."""

    def __init__(self, moment: int) -> None:
        super().__init__(self.notice)
        self.moment = moment
        self.reports: list[str] = []

    def notice(self, _share: float, doing: str) -> None:
        self.reports.append(doing)
        if len(self.reports) == self.moment:
            self.cancel()


def test_a_cancel_at_any_report_changes_nothing(made: job.Job, tmp_path: Path) -> None:
    plain, made = Cancelling(0), replace(made, overwrite=True)
    api.run(made, run=plain, save=tmp_path / "job.toml")
    assert plain.reports[-3:] == ["writing", "reading back", "reading back"] and "measuring" in plain.reports
    before = contents(tmp_path)
    for moment in range(1, len(plain.reports) + 1):
        with pytest.raises(CancelledError):
            api.run(made, run=Cancelling(moment), save=tmp_path / "job.toml")
        assert contents(tmp_path) == before


def test_a_cancel_while_files_are_written(made: job.Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, run = contents(tmp_path), Run()

    def picture(*_arguments: object) -> None:
        threading.Thread(target=run.cancel).start()
        while not run.cancelled:
            pass

    monkeypatch.setattr(running, "picture", picture)
    with pytest.raises(CancelledError):
        api.run(made, run=run)
    assert contents(tmp_path) == before


def test_work_begins_only_when_every_output_is_fine(made: job.Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "read_job", lambda *_arguments, **_named: pytest.fail("work was begun"))
    with pytest.raises(OutputError, match="same file"):
        api.run(made, save=made.output)
    with pytest.raises(OutputError, match="-o"):
        api.run(job.Job())
