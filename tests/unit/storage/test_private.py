"""Folders that are the user's alone, and what killed processes leave in the temporary folder."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from command import Commands

from shoal.storage.private import PREFIX, PrivateFolder, state_folder, wipe_left_behind
from shoal.storage.write_marks import Mark, left_behind

HOLDING = """
import sys, time
from shoal.storage.private import PrivateFolder
folder = PrivateFolder()
(folder.path / "table.csv").write_text("secret")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_private_folder_is_private_and_wiped(temporary: Path) -> None:
    folder = PrivateFolder()
    assert folder.path.parent == temporary and folder.path.stat().st_mode & 0o077 == 0
    folder.wipe()
    folder.wipe()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_wiped_whatever_number_it_had(temporary: Path, commands: Commands) -> None:
    left = temporary / f"{PREFIX}left"
    left.mkdir()
    (left / "process").write_text(str(os.getpid()))  # a number that is in use again
    (left / "table.csv").write_text("secret")
    victim, link = temporary / "victim", temporary / f"{PREFIX}link"
    victim.mkdir()
    link.symlink_to(victim)
    holding = commands.start(script=HOLDING, given=None)
    alive = Path(holding.until(lambda: holding.out.endswith("\n") and holding.out.strip()))
    assert not left.exists() and (alive / "table.csv").exists()
    wipe_left_behind()
    assert (alive / "table.csv").exists() and victim.is_dir() and link.is_symlink()
    holding.send(signal.SIGKILL)
    assert holding.ended().code == -signal.SIGKILL
    assert (alive / "table.csv").exists()
    PrivateFolder().wipe()
    assert not alive.exists() and victim.is_dir()


def test_a_forked_process_does_not_wipe_what_its_parent_uses(temporary: Path) -> None:
    folder = PrivateFolder()
    child = os.fork()
    if not child:
        folder.wipe()
        wipe_left_behind()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()
    wipe_left_behind()
    assert folder.path.is_dir()
    folder.wipe()


@pytest.mark.parametrize("moment", ["before it is opened", "before it is locked"])
def test_a_folder_that_another_process_wipes_at_once_is_made_again(
    moment: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiped: list[Path] = []

    def wipe(path: Path) -> None:
        if path.parent == temporary and not wiped:
            path.rmdir()
            wiped.append(path)

    make, opened = tempfile.mkdtemp, os.open

    def making(*arguments: Any, **more: Any) -> str:
        made = make(*arguments, **more)
        if moment == "before it is opened":
            wipe(Path(made))
        return made

    def opening(path: Any, *arguments: Any, **more: Any) -> int:
        handle = opened(path, *arguments, **more)
        wipe(Path(path))
        return handle

    monkeypatch.setattr(tempfile, "mkdtemp", making)
    monkeypatch.setattr(os, "open", opening)
    folder = PrivateFolder()
    assert len(wiped) == 1 and folder.path.is_dir() and folder.path != wiped[0]
    wipe_left_behind()
    assert folder.path.is_dir()
    folder.wipe()
    assert list(temporary.iterdir()) == []


def test_the_mark_of_a_write_that_another_process_removes_at_once_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    closed, removed = os.close, []

    def closing(handle: int) -> None:
        closed(handle)
        for path in (tmp_path / "shoal").rglob("*.lock"):
            if not removed:
                path.unlink()
                removed.append(path)

    monkeypatch.setattr(os, "close", closing)
    mark = Mark.create("a write", [tmp_path / "out.csv"])
    assert removed == [mark.lock_path] and mark.lock is not None and mark.lock_path.exists()
    assert not list(left_behind())
    mark.remove()


@pytest.mark.parametrize("given", ["relative/folder", ""])
def test_the_state_folder_is_at_home_unless_another_place_is_named(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", given)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError):
        state_folder(make=False)
    assert state_folder() == tmp_path / ".local" / "state" / "shoal"
    assert state_folder(make=False).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of somebody else")
def test_no_state_is_kept_in_the_home_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(tmp_path, 65534, 65534)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(PermissionError):
        state_folder()
    assert list(tmp_path.iterdir()) == []
