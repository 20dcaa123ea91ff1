"""Kills at random moments, a full disk, a read-only one: old or new, whole and verified, and nothing left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from canary_table import ROLES
from command import Commands, Running
from counts import LONG, count

import shoal as library
from shoal import job
from shoal.errors import InputError
from shoal.notices import tell
from shoal.storage import files

KILLS = count(9, 60)
QUICK = () if LONG else ("--algorithm", "mondrian")


def whole(target: Path, file: Path) -> int:
    """The k of a release that verifies, once a writer put it right, and whose manifest and job belong to it. Whoever
    reads before that is told so."""
    try:
        assert library.verify(target).holds
    except InputError as error:
        assert "shoal recover" in str(error)
    files.recover(target.parent)
    assert library.verify(target).holds
    for folder in (target.parent, file.parent):
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    assert {path.name for path in target.parent.iterdir()} == {"out.csv", "out.csv.manifest.json"}
    (model,) = json.loads(target.with_name("out.csv.manifest.json").read_text())["policy"]["models"]
    assert [model["k"]] == [made.parameters()["k"] for made in job.load(file).models]
    return int(model["k"])


def test_kills_at_random_moments(table: Path, tmp_path: Path, commands: Commands) -> None:
    chance = random.Random(7319)
    target, file = tmp_path / "results" / "out.csv", tmp_path / "jobs" / "job.toml"
    target.parent.mkdir()
    file.parent.mkdir()

    def begin(k: int) -> Running:
        return commands.start(
            "anonymize", table, "-o", target, "--overwrite", *ROLES, "--k", k, "--save-job", file, *QUICK
        )

    assert begin(2).ended().code == 0
    started = time.monotonic()
    assert begin(3).ended().code == 0
    took = time.monotonic() - started
    k, seen = whole(target, file), Counter[str]()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    for number in range(KILLS + len(signals)):
        sent, wanted = signals[number % 3], 5 - k
        running = begin(wanted)
        if number >= KILLS:  # at once: whatever the machine does, some of each come before anything is written
            pass
        elif number % 2:
            time.sleep(chance.random() * took)
        else:  # while files are written
            while running.alive and not any(target.parent.glob(".shoal-*")):
                time.sleep(0.0005)
            time.sleep(chance.random() * 0.01)
        if running.alive:
            running.send(sent)
        ended = running.ended()
        assert ended.code in (0, 130, -sent) and "Traceback" not in ended.err, ended
        before, k = k, whole(target, file)
        assert k == wanted or (k == before and ended.code != 0)
        seen[f"{sent.name} {'new' if k == wanted else 'old'}"] += 1
    assert {"SIGINT old", "SIGTERM old", "SIGKILL old"} <= seen.keys(), seen


BETWEEN = """
import os, sys
from pathlib import Path
from shoal.cli import main

placed = 0

def die(event, arguments):
    global placed
    if event == "os.rename" and Path(arguments[0]).parent.name == "new":
        placed += 1
        if placed == 2:
            os._exit(9)

sys.addaudithook(die)
main()
"""


def test_a_reader_after_a_kill_says_which_command_puts_it_right(table: Path, tmp_path: Path, process, shoal) -> None:
    target = tmp_path / "results" / "out.csv"
    target.parent.mkdir()
    run = ("anonymize", table, "-o", target, "--overwrite", *ROLES, "--seed", "1")

    def lying() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in target.parent.rglob("*") if path.is_file()}

    assert shoal(*run, "--k", 2).code == 0
    before = lying()
    for put_right in (("recover", target.parent), (*run, "--k", 2)):
        assert process(*run, "--k", 3, script=BETWEEN).code == 9
        half = lying()
        assert half[str(target)] != before[str(target)]
        for reader in (("verify", target), ("query", target), ("evaluate", table, target)):
            told = shoal(*reader)
            assert told.code == 2 and f"shoal recover {target.parent}" in told.err
        assert lying() == half
        assert shoal(*put_right).code == 0
        assert lying() == before and shoal("verify", target).code == 0
    assert "None of your runs was stopped" in shoal("recover", target.parent).out


def test_what_came_from_the_standard_input_does_not_outlive_a_kill_for_long(
    table: Path, tmp_path: Path, commands: Commands
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    out = tmp_path / "out.csv"
    running = commands.start("anonymize", "-", "-o", out, *ROLES, "--k", 2, given=None, TMPDIR=str(temporary))
    running.stdin.write(table.read_bytes().ljust(4 << 20))
    (copy,) = running.until(lambda: [path for path in temporary.glob("*/stdin") if path.stat().st_size])
    assert copy.parent.stat().st_mode & 0o077 == 0
    running.send(signal.SIGKILL)
    assert running.ended().code == -signal.SIGKILL
    assert copy.exists()
    assert commands.run("recover", TMPDIR=str(temporary)).code == 0
    assert list(temporary.iterdir()) == []


def test_a_full_disk_for_what_shoal_notes(
    table: Path, small_disk: Path, tmp_path: Path, shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.csv"
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    assert shoal("anonymize", table, "-o", target, *ROLES, "--k", 2).code == 0
    with pytest.raises(OSError, match="No space"), (small_disk / "full").open("ab", buffering=0) as filling:
        while True:
            filling.write(b"x")
    tell.cache_clear()
    ran = shoal("anonymize", table, "-o", target, "--overwrite", *ROLES, "--k", 3)
    assert ran.code == 0 and "own folder cannot be used" in ran.err and "No space left" in ran.err
    assert shoal("verify", target).code == 0
    assert not list(small_disk.glob("shoal/writes/*")) and not list(tmp_path.glob(".shoal-*"))


def test_a_full_disk_and_a_read_only_one(table: Path, small_disk: Path, shoal) -> None:
    target, file = small_disk / "out.csv", small_disk / "job.toml"
    common = ("anonymize", table, "-o", target, "--overwrite", *ROLES, "--save-job", file)
    assert shoal(*common, "--k", 2).code == 0
    full = small_disk / "full"
    for size in (4096, 1):
        with pytest.raises(OSError, match="No space"), full.open("ab", buffering=0) as filling:
            while True:
                filling.write(b"x" * size)
    before = {path.name: path.read_bytes() for path in small_disk.iterdir()}
    for free in (0, 4096, 8192):
        os.truncate(full, len(before["full"]) - free)
        ran = shoal(*common, "--k", 3)
        assert ran.code == 2 and "No space left" in ran.err
        os.truncate(full, 0)
        now = {path.name: path.read_bytes() for path in small_disk.iterdir()}
        assert now == {**before, "full": b""}
        full.write_bytes(before["full"])
    full.unlink()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert "no permission" in shoal(*common, "--k", 3).err
    assert shoal("verify", target).code == 0
