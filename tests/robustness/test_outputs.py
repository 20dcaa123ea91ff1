"""Outputs that cannot be written, a full disk, an interrupt: what stood there stays, nothing is left beside it."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path

import pytest
from canary_table import ROLES
from command import Commands

import shoal as library
from shoal.errors import OutputError
from shoal.samples.sample import SampleTable
from shoal.storage import files

OLD, OLD_MANIFEST = "old release\n", "old manifest\n"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A release from before, with its manifest, in a folder of its own."""
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "out.csv").write_text(OLD)
    (folder / "out.csv.manifest.json").write_text(OLD_MANIFEST)
    return folder / "out.csv"


def assert_untouched(target: Path) -> None:
    assert sorted(path.name for path in target.parent.iterdir()) == ["out.csv", "out.csv.manifest.json"]
    assert target.read_text() == OLD
    assert target.with_name("out.csv.manifest.json").read_text() == OLD_MANIFEST


def test_places_where_nothing_can_be_written(table: Path, tmp_path: Path, shoal) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "taken.csv.manifest.json").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    before = sorted(tmp_path.iterdir())
    cases = {
        tmp_path / "nowhere" / "out.csv": "folder does not exist",
        table / "out.csv": "folder does not exist",
        tmp_path / "folder.csv": "this is a folder",
        tmp_path / "taken.csv": "this is a folder",
        tmp_path / "pipe.csv": "device or a pipe",
        tmp_path / "out.pdf": "not known by this ending",
        table: "would overwrite",
        tmp_path / ("x" * 260 + ".csv"): "",
    }
    for place, reason in cases.items():
        ran = shoal("anonymize", table, "-o", place, *ROLES, "--k", 2)
        assert ran.code == 2 and reason in ran.err, place
        assert sorted(tmp_path.iterdir()) == before
    assert shoal("anonymize", table, *ROLES, "--k", 2).code == 2
    saved = shoal("anonymize", table, "-o", tmp_path / "out.csv", *ROLES, "--k", 2, "--save-job", tmp_path / "no" / "j")
    assert saved.code == 2 and sorted(tmp_path.iterdir()) == before


MEETING = {
    "the job on the release": ("-o", "results/out.csv", "--save-job", "results/out.csv"),
    "the job on the manifest": ("-o", "results/out.csv", "--save-job", "results/out.csv.manifest.json"),
    "the job on the picture": ("-o", "results/out.csv", "--save-job", "p.svg", "--plot", "./p.svg"),
    "the job on the table": ("-o", "results/out.csv", "--save-job", "people.csv"),
    "the job on the key": ("-o", "results/out.csv", "--save-job", "secret.key"),
    "the job through a link": ("-o", "results/out.csv", "--save-job", "link.csv"),
    "the job in other case": ("-o", "results/new.csv", "--save-job", "results/NEW.csv"),
    "the picture on the manifest": ("-o", "results/out.csv", "--plot", "results/out.csv.manifest.json"),
    "the picture on a hierarchy": ("-o", "results/out.csv", "--plot", "age.json"),
    "the release on a hierarchy": ("-o", "sex.csv"),
    "the release on one of a folder": ("-o", "trees/zip.csv"),
    "the release on the key": ("-o", "key.csv", "--key-file", "key.csv"),
    "no picture by its ending": ("-o", "results/out.csv", "--plot", "p.bmp"),
}


@pytest.mark.parametrize("case", MEETING)
def test_outputs_that_meet_are_refused_before_any_work(
    case: str, table: Path, target: Path, shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = table.parent
    monkeypatch.chdir(folder)
    (folder / "trees").mkdir()
    for name, text in {"sex.csv": "F;*\nM;*\n", "age.json": "{}", "secret.key": "k" * 20, "key.csv": "k" * 20,
                       "trees/zip.csv": "0;*\n"}.items():  # fmt: skip
        (folder / name).write_text(text)
    (folder / "link.csv").symlink_to("results/out.csv")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setattr("shoal.api.reading.read", lambda *_arguments, **_named: pytest.fail("work was begun"))
    ran = shoal("anonymize", table.name, *ROLES, "--k", 2, "--hierarchies", "trees", "--hierarchy", "sex=sex.csv",
                "--hierarchy", "age=age.json", "--key-file", "secret.key", *MEETING[case])  # fmt: skip
    assert ran.code == 2, ran
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_job_file_is_not_overwritten(table: Path, tmp_path: Path, shoal) -> None:
    file = tmp_path / "job.csv"
    assert shoal("anonymize", table, *ROLES, "--k", 2, "-o", tmp_path / "out.csv", "--save-job", file).code == 0
    before = file.read_bytes()
    for more in (("-o", file), ("--save-job", file)):
        assert "would overwrite" in shoal("anonymize", "--job", file, *more).err
    assert file.read_bytes() == before


def test_a_picture_that_needs_what_is_not_installed(
    table: Path, target: Path, shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    ran = shoal("anonymize", table, *ROLES, "--k", 2, "-o", target, "--plot", target.with_name("p.svg"))
    assert ran.code == 2 and "shoal[plots]" in ran.err
    assert_untouched(target)


@pytest.mark.parametrize("failing", ["columns", "picture"])
def test_what_fails_after_anonymizing_writes_nothing(
    failing: str, table: Path, target: Path, shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.api import running

    def broken(*_arguments: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(running, failing, broken)
    ran = shoal("anonymize", table, *ROLES, "--k", 2, "-o", target, "--overwrite", "--plot", target.with_name("p.svg"),
                "--save-job", target.with_name("job.toml"))  # fmt: skip
    assert ran.code == 70
    assert_untouched(target)


def test_a_device_is_not_replaced(table: Path, shoal) -> None:
    ran = shoal("hierarchy", table, "--column", "age", "-o", "/dev/null")
    assert ran.code == 2 and "device" in ran.err
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_no_permission(table: Path, target: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.os, "access", lambda path, mode: Path(path) != target.parent)
    ran = shoal("anonymize", table, "-o", target, "--overwrite", *ROLES, "--k", 2)
    assert ran.code == 2 and "no permission" in ran.err
    assert_untouched(target)


LIMITED = """
import resource, signal, sys
sys.dont_write_bytecode = True  # the limit would cut that off as well, and nobody could import it any more
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import shoal.engines.embedded, shoal.kernels.grouping, shoal.kernels.mondrian
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from shoal.cli import main
main()
"""


@pytest.mark.parametrize(("name", "limit"), [("out.csv", 1000), ("out.parquet", 200)])
def test_a_full_disk(name: str, limit: int, table: Path, target: Path, process) -> None:
    if name != target.name:
        target.rename(target.with_name(name))
        target.with_name("out.csv.manifest.json").rename(target.with_name(f"{name}.manifest.json"))
    place = target.with_name(name)
    script = LIMITED.format(limit=limit)
    ran = process("anonymize", table, "-o", place, "--overwrite", *ROLES, "--k", "2", script=script)
    assert ran.code == 2 and "could not be written" in ran.err, ran
    assert sorted(path.name for path in place.parent.iterdir()) == [name, f"{name}.manifest.json"]
    assert place.read_text() == OLD
    assert place.with_name(f"{name}.manifest.json").read_text() == OLD_MANIFEST


WAITING = """
import sys, time
from shoal.engines.embedded import Embedded
def slowly(self, path, kinds=None):
    print("writing", flush=True)
    time.sleep(300)
Embedded.open_published = slowly
from shoal.cli import main
main()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_half_way(sent: signal.Signals, table: Path, target: Path, commands: Commands) -> None:
    running = commands.start(
        "anonymize", table, "-o", target, "--overwrite", *ROLES, "--k", 2, "--algorithm", "mondrian", script=WAITING
    )
    running.until(lambda: running.out == "writing\n")
    assert len(list(target.parent.iterdir())) > 2, "it was not writing yet"
    running.send(sent)
    ended = running.ended()
    assert (ended.code, ended.out, ended.err) == (130, "writing\n", "interrupted; no file is half-written\n")
    assert_untouched(target)


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("moment", range(2))
@pytest.mark.parametrize("error", [OSError, Interrupted])
def test_release_and_manifest_change_places_together(
    fresh: bool, moment: int, error: type[BaseException], target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fresh:
        for path in list(target.parent.iterdir()):
            path.unlink()
    done, replace = [], Path.replace

    def failing(self: Path, place: Path) -> Path:
        if self.parent.name == "new":
            if len(done) == moment:
                raise error()
            done.append(place)
        return replace(self, place)

    manifest = target.with_name("out.csv.manifest.json")
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises((OutputError, Interrupted)), files.replacing_all(target, manifest) as besides:
        for beside in besides:
            beside.write_text("new")
    monkeypatch.undo()
    if fresh:
        assert list(target.parent.iterdir()) == []
    else:
        assert_untouched(target)


def test_who_may_read_a_release_does_not_change(table: Path, target: Path, shoal) -> None:
    target.chmod(0o600)
    assert shoal("anonymize", table, "-o", target, "--overwrite", *ROLES, "--k", 2).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text() != OLD
    assert shoal("verify", target).code == 0
    assert sorted(path.name for path in target.parent.iterdir()) == ["out.csv", "out.csv.manifest.json"]


def test_only_its_owner_can_read_a_saved_job_or_recoding(table: Path, target: Path, shoal) -> None:
    """Whoever could read the file before."""
    folder = target.parent
    job, recoding, draft = (folder / name for name in ("job.toml", "recoding.json", "draft.toml"))
    for path in (job, recoding, draft):
        path.touch()
        path.chmod(0o644)
    run = ("anonymize", table, "-o", target, *ROLES, "--k", 2, "--algorithm", "mondrian")
    assert shoal(*run, "--save-job", job, "--save-recoding", recoding, "--overwrite").code == 0
    assert shoal("diagnose", table, "--detect", "--save-job", draft, "--overwrite").code == 0
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (job, recoding, draft)} == {
        "job.toml": 0o600, "recoding.json": 0o600, "draft.toml": 0o600,
    }  # fmt: skip


def test_a_release_of_the_library_that_cannot_be_written(table: Path, target: Path) -> None:
    data = library.read(table, quasi=["age", "sex", "zip"], sensitive=["disease"], identifiers=["name"])
    release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian")
    with pytest.raises(OutputError, match="ending"):
        release.write(target.with_name("out.pdf"))
    with pytest.raises(OutputError, match="folder"):
        release.write(target.parent / "none" / "out.csv")
    assert_untouched(target)


@pytest.mark.parametrize("command", ["diagnose", "anonymize", "evaluate", "verify", "hierarchy", "demo"])
def test_a_bug_prints_no_value(command: str, table: Path, target: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    from canary_table import CANARY

    from shoal import api, samples

    def broken(*_arguments: object, **_named: object) -> None:
        raise ValueError(CANARY)

    class Panic(BaseException):
        pass

    def panicking(*_arguments: object, **_named: object) -> None:
        raise Panic(CANARY)

    options = {
        "diagnose": (table, *ROLES), "anonymize": (table, *ROLES, "--k", 2, "-o", target, "--overwrite"),
        "evaluate": (table, target, "--quasi", "age"), "verify": (target,),
        "hierarchy": (table, "--column", "age"), "demo": ("-o", target.parent.parent / "demo"),
    }[command]  # fmt: skip
    for failure in (broken, panicking):
        monkeypatch.setattr("shoal.api.reading.read", failure)
        monkeypatch.setattr(api, "verify", failure)
        monkeypatch.setattr(samples, "adult", SampleTable(failure))
        ran = shoal(command, *options)
        assert ran.code == 70 and "withheld" in ran.err
        assert_untouched(target)
