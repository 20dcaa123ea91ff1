"""Files that take their places together: a kill at any moment, other processes, outputs that meet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.core import files
from shoal.errors import OutputError

KILLED = """
import os, sys
from pathlib import Path
from shoal.core import files

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


def killed(step: int, *targets: Path) -> bool:
    """Replaces files in a process that ends, without a chance to clean up, before its step-th touch of the disk."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(step), *map(str, targets)], capture_output=True)
    assert done.returncode in (0, 9), done.stderr
    return done.returncode == 9


def listed(*folders: Path) -> set[str]:
    return {path.name for folder in folders for path in folder.iterdir()}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_kill_at_every_step_leaves_old_or_new(fresh: bool, tmp_path: Path) -> None:
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
        seen |= state
        if ended:
            break
    assert ended and seen == {"new", None if fresh else "old"}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_kill_at_every_step_leaves_an_old_folder_or_the_new_one(fresh: bool, tmp_path: Path) -> None:
    target, beside = tmp_path / "release", tmp_path / "release.manifest.json"
    seen = set()
    for step in range(0, 400, 2):
        for path in (target, beside):
            files._remove(path)
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
        if self.parent.name in ("new", "old") and self.name == "b.csv":
            raise PermissionError(13, "Permission denied")
        return replace(self, place)

    replace, exists = Path.replace, Path.exists
    for path in (target, other):
        path.write_text("old")
    monkeypatch.setattr(Path, "replace", interrupted)
    monkeypatch.setattr(Path, "exists", lambda self: exists(self) and (self.name, self.parent.name) != ("b.csv", "new"))
    with pytest.raises(OutputError, match="could not be written"), files.replacing_all(target, other) as besides:
        for beside in besides:
            beside.write_text("new")
    with pytest.raises(OutputError, match="cannot be put back"):
        files.recover(tmp_path)
    monkeypatch.undo()
    files.recover(tmp_path)
    assert target.read_text() == other.read_text() == "old" and listed(tmp_path) == {"a.csv", "b.csv"}


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    for name in (".shoal-settings", ".shoal-0123456789abcdef"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "plan.json").write_text(f'["{kept}"]')
        (folder / "exchanging.json").write_text("[0]")
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder of somebody else")
    os.chown(folder, 65534, 65534)
    files.recover(tmp_path)
    assert kept.read_text() == "mine" and len(list(tmp_path.iterdir())) == 3


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
