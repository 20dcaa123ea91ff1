"""Files that take their places together: a kill at any moment, other processes, outputs that meet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Commands, Ended

from shoal.errors import InputError, OutputError
from shoal.notices import tell
from shoal.storage import files

KILLED = """
import os, sys
from pathlib import Path
from shoal.storage import files

step, *targets = sys.argv[1:]
step, targets = int(step), [Path(target) for target in targets]
seen = 0

def die(event, arguments):
    global seen
    if event == "open" or event.startswith(("os.", "shutil.", "tempfile.", "fcntl.")):
        seen += 1
        if seen > step:
            os._exit(9)

sys.addaudithook(die)
with files.replacing_all(*targets) as besides:
    for beside in besides:
        if not beside.suffix:
            beside.mkdir()
            beside = beside / "part-00000.parquet"
        beside.write_text("new")
os._exit(0)
"""


INTERRUPTED = KILLED.replace(
    'if event == "open" or event.startswith(("os.", "shutil.", "tempfile.", "fcntl.")):',
    'if event == "os.rename" and Path(arguments[0]).parent.name == "new":',
)


@pytest.fixture
def killed(commands: Commands) -> Callable[..., bool]:
    """Replaces files in a process that ends, without a chance to clean up, before its step-th touch of the disk."""
    return lambda step, *targets: died(commands.run(step, *targets, script=KILLED))


@pytest.fixture
def killed_after(commands: Commands) -> Callable[..., bool]:
    """Replaces files in a process that is killed when so many of them have taken their places."""
    return lambda placed, *targets: died(commands.run(placed, *targets, script=INTERRUPTED))


def died(ended: Ended) -> bool:
    assert ended.code in (0, 9), ended.err
    return ended.code == 9


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, with what is in it."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def listed(*folders: Path) -> set[str]:
    return {path.name for folder in folders for path in folder.iterdir()}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_kill_at_every_step_leaves_old_or_new(killed, fresh: bool, tmp_path: Path, own_state: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    seen = set()
    for step in range(0, 400, 3 if fresh else 2):
        targets = [one / "a.csv", one / "plan.json", other / "b.svg"]
        for folder in (one, other):
            folder.mkdir(exist_ok=True)
            for path in folder.iterdir():
                path.unlink()
        if not fresh:
            for target in targets:
                target.write_text("old")
        ended = not killed(step, *targets)
        for folder in (one, other) if step % 4 else (other, one):
            files.recover(folder)
        state = {target.read_text() if target.exists() else None for target in targets}
        assert state in ({"new"}, {None if fresh else "old"}), step
        assert listed(one, other) == ({target.name for target in targets} if state != {None} else set()), step
        assert not list(own_state.glob("shoal/writes/*")), step
        seen |= state
        if ended:
            break
    assert ended and seen == {"new", None if fresh else "old"}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_kill_at_every_step_leaves_an_old_folder_or_the_new_one(killed, fresh: bool, tmp_path: Path) -> None:
    target, beside = tmp_path / "release", tmp_path / "release.manifest.json"
    seen = set()
    for step in range(0, 400, 2):
        shutil.rmtree(target, ignore_errors=True)
        beside.unlink(missing_ok=True)
        if not fresh:
            target.mkdir()
            for name in ("part-00000.parquet", "part-00001.parquet"):
                (target / name).write_text("old")
            beside.write_text("old")
        ended = not killed(step, target, beside)
        files.recover(tmp_path)
        there = listed(target) if target.exists() else set()
        state = {
            path.read_text() for path in (*(target.iterdir() if there else ()), *([beside] if beside.exists() else ()))
        }
        assert (there, state) in (
            ({"part-00000.parquet"}, {"new"}),
            (set(), set()) if fresh else ({"part-00000.parquet", "part-00001.parquet"}, {"old"}),
        ), step
        assert listed(tmp_path) == ({"release", "release.manifest.json"} if there else set()), step
        seen |= {len(there)}
        if ended:
            break
    assert ended and seen == {1, 0 if fresh else 2}


def test_folders_that_are_no_releases_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    files.check_target(folder)
    (folder / "part-00000.parquet").write_text("old")
    files.check_target(folder)
    with pytest.raises(OutputError, match="would overwrite"):
        files.check_outputs([folder], [folder / "part-00000.parquet"])
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="other files"):
        files.check_target(folder)


def test_the_hash_of_a_folder_is_what_sha256sum_says(tmp_path: Path) -> None:
    for number in (1, 0):
        files.piece(tmp_path, number).write_text(str(number))
    said = "sha256sum part-*.parquet | sha256sum"
    done = subprocess.run(["sh", "-c", said], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == files.sha256(tmp_path)


def test_a_live_process_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    with files.replacing_all(target) as (beside,):
        beside.write_text("mine")
        files.recover(tmp_path)
        with files.replacing_all(target) as (another,):
            another.write_text("yours")
        assert target.read_text() == "yours" and beside.read_text() == "mine"
    assert target.read_text() == "mine" and listed(tmp_path) == {"a.csv"}


def test_a_folder_where_nothing_can_be_put_back_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, other = tmp_path / "a.csv", tmp_path / "b.csv"

    def interrupted(self: Path, place: Path) -> Path:
        if (self.parent.name, self.name) in (("new", "b.csv"), ("old", "a.csv")):
            raise PermissionError(13, "Permission denied")
        return replace(self, place)

    replace = Path.replace
    for path in (target, other):
        path.write_text("old")
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(OutputError, match="could not be written"), files.replacing_all(target, other) as besides:
        for beside in besides:
            beside.write_text("new")
    assert (target.read_text(), other.read_text()) == ("new", "old")
    with pytest.raises(OutputError, match="cannot be put back"):
        files.recover(tmp_path)
    with pytest.raises(InputError, match="of two runs"):
        files.check_whole(other, target)
    monkeypatch.undo()
    assert files.recover(tmp_path) == [target, other]
    files.check_whole(target, other)
    assert target.read_text() == other.read_text() == "old" and listed(tmp_path) == {"a.csv", "b.csv"}


def test_a_reader_says_that_a_write_was_interrupted_and_changes_nothing(killed_after, tmp_path: Path) -> None:
    targets = [tmp_path / "one" / "a.csv", tmp_path / "other" / "b.csv"]
    for target in targets:
        target.parent.mkdir()
        target.write_text("old")
    assert killed_after(1, *targets)
    before = contents(tmp_path)
    for target in targets:
        with pytest.raises(InputError, match=r"stopped while its files took their places.*shoal recover .*one"):
            files.check_whole(target)
    files.check_whole(tmp_path / "one" / "another.csv")
    assert contents(tmp_path) == before and [target.read_text() for target in targets] == ["new", "old"]
    assert files.recover(tmp_path / "other") == targets
    assert contents(tmp_path) == {"one/a.csv": "old", "other/b.csv": "old"}
    assert files.recover() == []


def test_what_others_wrote_since_is_not_put_back(killed_after, tmp_path: Path) -> None:
    kept, fresh, moved = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "moved" / "c.csv"
    moved.parent.mkdir()
    for path in (kept, moved):
        path.write_text("old")
    assert killed_after(3, kept, fresh, moved, tmp_path / "d.csv")
    for path in (kept, fresh):
        (tmp_path / "theirs").write_text("theirs")
        (tmp_path / "theirs").replace(path)
    (hidden,) = moved.parent.glob(".shoal-*")
    hidden.rename(tmp_path / "away")
    (tmp_path / "away" / "old").joinpath("c.csv").write_text("not ours")
    hidden.mkdir()
    (tmp_path / "away" / "old").rename(hidden / "old")
    files.recover(tmp_path)
    assert kept.read_text() == fresh.read_text() == "theirs" and moved.read_text() == "new"
    assert not list(tmp_path.glob(".shoal-*"))


def test_what_lies_in_a_folder_is_not_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "archive"
    victim.write_text("mine")
    (folder / "sub").mkdir(parents=True)
    for name in (".shoal-settings", ".shoal-0123456789abcdef"):
        for parent in (folder, folder / "sub"):
            (parent / name / "old").mkdir(parents=True)
            (parent / name / "old" / "victim").write_text("theirs")
            (parent / name / "plan.json").write_text(f'["sub/x", "../victim", "{victim}"]')
            (parent / name / "exchanging.json").write_text("[0, 1, 2]")
    monkeypatch.chdir(folder)
    before = contents(tmp_path)
    files.recover(folder)
    files.recover(Path())
    files.check_whole(folder / "release.csv")
    with files.replacing(folder / "mine.csv") as beside:
        beside.write_text("new")
    assert contents(tmp_path) == {**before, "archive/mine.csv": "new"}


def test_links_are_replaced_and_put_back_as_links(killed_after, tmp_path: Path) -> None:
    victim, link, dangling = tmp_path / "victim", tmp_path / "a.csv", tmp_path / "b.csv"
    victim.write_text("mine")
    link.symlink_to("victim")
    dangling.symlink_to("nowhere")
    assert killed_after(2, link, dangling, tmp_path / "c.csv")
    assert not link.is_symlink() and not dangling.is_symlink()
    files.recover(tmp_path)
    assert link.readlink() == Path("victim") and dangling.readlink() == Path("nowhere")
    assert victim.read_text() == "mine" and listed(tmp_path) == {"victim", "a.csv", "b.csv"}


@pytest.mark.parametrize("how", ["is a file", "open to others", "a link", "somebody else's"])
def test_without_a_private_folder_files_are_written_and_it_is_said_what_is_lost(
    killed_after, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "home" / "shoal"
    folder.mkdir(parents=True, mode=0o700)
    if how == "is a file":
        folder.rmdir()
        folder.write_text("")
    elif how == "open to others":
        folder.chmod(0o777)
    elif how == "a link":
        folder.rename(tmp_path / "real")
        folder.symlink_to(tmp_path / "real")
    elif os.geteuid() != 0:
        pytest.skip("only root can make a folder of somebody else")
    else:
        os.chown(folder, 65534, 65534)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    tell.cache_clear()
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for target in targets:
        target.write_text("old")
    with files.replacing_all(*targets) as besides:
        for beside in besides:
            beside.write_text("new")
    assert [target.read_text() for target in targets] == ["new", "new"]
    assert "killed in that moment" in caplog.text
    assert killed_after(1, *targets)
    before = contents(tmp_path)
    tell.cache_clear()
    files.check_whole(targets[0])
    assert "lies .shoal-" in caplog.text
    files.recover(tmp_path)
    assert contents(tmp_path) == before  # nobody can prove whose it is


def test_marks_that_cannot_be_believed_are_not(killed_after, tmp_path: Path, own_state: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "here"
    victim.write_text("mine")
    folder.mkdir()
    assert killed_after(1, folder / "a.csv", folder / "b.csv")
    (mark,) = (own_state / "shoal" / "writes").glob("*.json")
    told = json.loads(mark.read_text())
    told["targets"][0] = [str(folder), "../victim"]
    identity = victim.stat()
    told["placings"][0]["new"] = [identity.st_dev, identity.st_ino]
    mark.write_text(json.dumps(told))
    assert files.recover(folder) == [] and victim.read_text() == "mine"
    assert listed(own_state / "shoal" / "writes") == set()


def test_outputs_that_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("there.csv")
    (tmp_path / "dangling.csv").symlink_to("none.csv")
    (tmp_path / "folder").symlink_to(".")
    os.link("there.csv", "hard.csv")
    for one, other in [
        ("there.csv", "./there.csv"), ("there.csv", "link.csv"), ("there.csv", "hard.csv"), ("new.csv", "NEW.csv"),
        ("new.csv", "folder/new.csv"), ("new.csv", tmp_path / "new.csv"), ("none.csv", "dangling.csv"),
    ]:  # fmt: skip
        with pytest.raises(OutputError, match="same file"):
            files.check_outputs([Path(one), Path(other)])
    files.check_outputs([Path("new.csv"), Path("there.csv")], [Path("none.csv")])
    with pytest.raises(OutputError, match="would overwrite"):
        files.check_outputs([Path("hard.csv")], [Path("there.csv")])


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgres://clerk:secret@server:5432/base::people", "postgres://clerk@server:5432/base::people"),
        ("postgresql://:secret@server/base::people", "postgresql://@server/base::people"),
        ("postgres:/clerk:s@cret@server/base::people", "postgres:/clerk@server/base::people"),  # as a path has it
        ("postgres://clerk@server:5432/base::people", "postgres://clerk@server:5432/base::people"),
        ("folder/a:b@c.csv", "folder/a:b@c.csv"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, told: str) -> None:
    assert files.shown(Path(address) if ":/c" in address else address) == told


def test_the_log_of_a_run_has_no_password(tmp_path: Path) -> None:
    from shoal.cli import main

    log = tmp_path / "runs.log"
    with pytest.raises(SystemExit):
        main(["diagnose", "postgres://clerk:secret@127.0.0.1:1/base::people", "--quasi", "a", "--engine", "duckdb",
              "--log-file", str(log)])  # fmt: skip
    assert "clerk@127.0.0.1" in log.read_text() and "secret" not in log.read_text()
