"""Handing over: what is made, saved and downloaded, what stays secret, and what cannot be done."""

from __future__ import annotations

import errno
import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.reports import verifier


def test_the_report_is_written_beside_the_release(served: Any, tmp_path: Path) -> None:
    served.post("/hand-over/report", recipient="nobody")
    assert "report" not in served.facts("/hand-over.json")
    served.post("/hand-over/make", name="release.csv", sign="")
    served.facts("/hand-over.json", panel="package")
    served.post("/hand-over/report", recipient="The registry <b>", purpose="research", author="A. Officer")
    told = served.facts("/hand-over.json", panel="report")
    assert told["report"]["state"] == "ready" and told["report"]["holds"]
    assert "report.html" in served.facts("/hand-over.json")["package"]["given"]
    text = served.ask("/hand-over/file?name=report.html")[2]
    assert "The registry &lt;b&gt;" in text and "A. Officer" in text
    out = tmp_path / "out"
    out.mkdir()
    served.post("/hand-over/save", folder=out)
    assert (out / "for-recipient" / "report.html").read_text(encoding="utf-8") == text


def test_what_follows_a_release_comes_with_it_and_needs_no_reload(served: Any) -> None:
    served.post("/hand-over/make", name="release.csv", sign="")
    served.facts("/hand-over.json", panel="package")
    part = {"HX-Request": "true", "HX-Target": "package"}
    assert 'action="/hand-over/report"' in served.ask("/hand-over", headers=part)[2]
    served.post("/hand-over/report", recipient="The registry")
    before = served.ask("/hand-over", headers=part)[2]
    assert 'id="busy"' in before or "report.html" in before  # it asks again until the report is among the files
    served.facts("/hand-over.json", panel="report")
    assert "report.html" in served.ask("/hand-over", headers=part)[2]
    released = served.ask("/before-after", headers={"HX-Request": "true", "HX-Target": "release"})[2]
    assert "/before-after/classes.svg" in released


def test_a_full_disk_is_said_and_nothing_is_lost(served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served.post("/hand-over/make", name="release.csv", sign="")
    served.facts("/hand-over.json", panel="package")
    out = tmp_path / "out"
    out.mkdir()

    def full(*given: Any, **named: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", full)
        served.post("/hand-over/save", folder=out)
    assert "No space left on device" in served.ask("/hand-over")[2] and list(out.iterdir()) == []
    served.post("/hand-over/save", folder=out)
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.*")) == [
        "for-recipient/release.csv", "for-recipient/release.csv.manifest.json", "for-recipient/verify.html",
        "private/job.toml",
    ]  # fmt: skip


def test_what_is_handed_over_lies_apart_from_what_is_secret(served: Any, tmp_path: Path) -> None:
    place = next(row["place"] for row in served.facts("/exposed.json")["columns"]["rows"] if row["name"] == "race")
    served.facts(f"/give-up.json?column={place}", panel="editor")
    served.post("/give-up/edit", column=place, level=0, action="group", name="Some", **{"node-0": "on", "node-1": "on"})
    served.post("/hand-over/make", name="release.csv", sign="")
    told = served.facts("/hand-over.json", panel="package")["package"]
    packed = {name: zipped(served, name) for name in ("recipient", "own")}
    given = ["release.csv", "release.csv.manifest.json", "verify.html"]
    assert sorted(packed["recipient"]) == sorted(told["given"]) == given
    assert packed["recipient"]["verify.html"].decode() == verifier.page()
    assert sorted(packed["own"]) == sorted(told["own"]) == ["hierarchies/race.csv", "job.toml"]
    seed = str(served.session.job.seed).encode()
    assert seed in packed["own"]["job.toml"] and not any(seed in each for each in packed["recipient"].values())
    out = tmp_path / "out"
    out.mkdir()
    (out / "private").mkdir(mode=0o755)
    (out / "private" / "job.toml").touch(mode=0o644)
    served.post("/hand-over/save", folder=out)
    assert "this is there already: job.toml." in served.ask("/hand-over")[2] and not (out / "for-recipient").exists()
    served.post("/hand-over/save", folder=out, overwrite="1")
    secrets = [path for path in (out / "private").rglob("*") if path.is_file()]
    assert sorted(path.name for path in secrets) == ["job.toml", "race.csv"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in secrets)
    job = shoal.job.load(out / "private" / "job.toml")
    shoal.api.run(replace(job, output=out / "again.csv"))
    assert (out / "for-recipient" / "release.csv").read_bytes() == (out / "again.csv").read_bytes()


def zipped(page: Any, name: str) -> dict[str, bytes]:
    """The files of a download."""
    answer = page.raw(f"/hand-over/{name}.zip")
    with zipfile.ZipFile(io.BytesIO(answer)) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def test_what_cannot_be_saved_or_signed_is_said(served: Any, tmp_path: Path) -> None:
    served.post("/hand-over/make", name="../release.csv", sign="")
    assert served.session.order is None and "name of a file" in served.ask("/hand-over")[2]
    served.post("/hand-over/make", name="release.csv", sign=tmp_path / "no.key")
    assert served.session.order is None and "no.key" in served.ask("/hand-over")[2]
    served.post("/hand-over/make", name="release.csv", sign="")
    served.facts("/hand-over.json", panel="package")
    served.post("/hand-over/save", folder=tmp_path / "nowhere")
    assert "there is no folder" in served.ask("/hand-over")[2]
