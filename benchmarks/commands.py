"""Every command of `shoal` on Adult and on a million census rows, each in a process of its own: the time on the clock,
the processor time of all cores together, and the peak memory.

`python -m benchmarks.commands` for all, `python -m benchmarks.commands attack report` for those whose titles begin so;
`--table adult` for one table; `--limit SECONDS` for the processor time after which a command is told to stop (the
table says how long that took); `--folder FOLDER` to keep the files and what was printed. A command, an algorithm or an
attack that no line runs is an error. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._command_lines import WORDS, Line, lines
from benchmarks.startup import installed

LIMIT = 120.0
OVER = 30.0
"""Seconds of processor time that are marked."""
FINE = (0, 1)
"""Exit codes: done, and done with the answer no."""


class Taken(NamedTuple):
    """What a command took; `stopping` is how long it took to end after it was interrupted."""

    wall: float
    processor: float
    peak: float
    code: int
    stopping: float | None = None

    def __add__(self, other: Taken) -> Taken:  # type: ignore[override]
        return Taken(
            self.wall + other.wall, self.processor + other.processor, max(self.peak, other.peak),
            self.code if self.code not in FINE else other.code, self.stopping or other.stopping,
        )  # fmt: skip


def commands() -> Iterator[str]:
    """Every command and subcommand, from the parser itself."""
    from typer.main import get_command

    from shoal.cli import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        below: Mapping[str, Any] = getattr(command, "commands", {})
        if not below:
            yield " ".join(path)
        for name, each in below.items():
            yield from walk(each, (*path, name))

    yield from walk(get_command(app), ())


def check() -> None:
    """Raises where a command, an algorithm or an attack is not run."""
    from shoal import registry

    run = [command.split() for line in lines() for command in line.commands if line.kind != "python"]
    run_names = {" ".join(words[:length]) for words in run for length in (1, 2)}
    options = [(first, second) for words in run for first, second in pairwise(words)]
    algorithms = {second.partition(":")[0] for first, second in options if first == "--algorithm"}
    attacks = {second.partition(":")[0] for first, second in options if first == "--attack"}
    attacks |= {line.commands[0].split()[0].partition(":")[0] for line in lines() if line.kind == "python"}
    forgotten = [name for name in commands() if name not in run_names]
    forgotten += [name for name in registry.names("algorithms") if name not in algorithms]
    forgotten += [name for name in registry.names("attacks") if name not in attacks]
    if forgotten:
        raise SystemExit(f"no line of benchmarks/_command_lines.py runs {', '.join(forgotten)}")


def measured(words: list[str], folder: Path, limit: float, kept: Path | None = None) -> Taken:
    """Runs a command to its end, or interrupts it when its processor time is over a limit."""
    began = time.perf_counter()
    with (kept or Path(os.devnull)).open("ab") as out, Path(f"{kept}.errors" if kept else os.devnull).open("ab") as err:
        process = subprocess.Popen(
            words, cwd=folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=_environment()
        )
    return _waited(process, began, limit)


def _environment() -> dict[str, str]:
    """What a command needs that is run in another folder."""
    path = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**installed(), "PYTHONPATH": os.pathsep.join(path)}


def _waited(process: subprocess.Popen[bytes], began: float, limit: float) -> Taken:
    stopped: float | None = None
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if stopped is None and _processor(process.pid) > limit:
            stopped = time.perf_counter()
            process.send_signal(signal.SIGTERM)
        elif stopped is not None and time.perf_counter() - stopped > 20:
            process.kill()
        time.sleep(0.02)
    ended = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    return Taken(
        ended - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, process.returncode,
        None if stopped is None else ended - stopped,
    )  # fmt: skip


def _processor(pid: int) -> float:
    """The processor time of a process and of the processes that it started."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        below = [
            int(text) for path in Path(f"/proc/{pid}/task").glob("*/children") for text in path.read_text().split()
        ]
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(_processor, below))


def _run(line: Line, folder: Path, words: Mapping[str, str], limit: float, kept: Path | None) -> Taken:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shoal = [sys.executable, "-m", "shoal"]
    spelled = [_spelled(text.format(**words, port=port)) for text in line.commands]
    if line.kind == "python":
        module = [sys.executable, "-m", "benchmarks._attack_as_made"]
        return measured([*module, *spelled[0], words["quasi"], words["numbers"]], folder, limit, kept)
    if line.kind == "serve":
        return _served([*shoal, *spelled[0]], folder, port)
    if line.kind == "together":
        first = subprocess.Popen(
            [*shoal, *spelled[0]], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        began = time.perf_counter()
        time.sleep(2)
        asked = measured([*shoal, *spelled[1]], folder, limit, kept)
        if asked.code:
            first.kill()
        answered = _waited(first, began, limit)
        return Taken(
            max(asked.wall, answered.wall),
            asked.processor + answered.processor,
            asked.peak + answered.peak,
            asked.code,
            asked.stopping,
        )
    total = Taken(0.0, 0.0, 0.0, 0)
    for each in spelled:
        total += measured([*shoal, *each], folder, limit, kept)
        if total.code not in FINE:
            break
    return total


def _spelled(text: str) -> list[str]:
    """The words of a command, which may replace what an earlier run wrote into the same folder."""
    words = shlex.split(text)
    return [*words, "--overwrite"] if {"-o", "--plot", "--page"} & set(words) else words


def _served(words: list[str], folder: Path, port: int) -> Taken:
    """The page server, until the page answers; then it is told to stop."""
    began = time.perf_counter()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while time.perf_counter() - began < LIMIT:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1)
        except urllib.error.HTTPError:
            break
        except OSError:
            time.sleep(0.05)
        else:
            break
    answered = time.perf_counter() - began
    process.send_signal(signal.SIGTERM)
    taken = _waited(process, began, LIMIT)
    return taken._replace(wall=answered, code=0 if taken.code in (*FINE, 130, -signal.SIGTERM) else taken.code)


def _shown(title: str, taken: Taken) -> str:
    over = " **over**" if taken.processor > OVER else ""
    note = f"interrupted; stopped within {taken.stopping:.1f} s" if taken.stopping is not None else ""
    if taken.code not in FINE and taken.stopping is None:
        note = f"exit code {taken.code}"
    return f"| {title} | {taken.wall:.1f} | {taken.processor:.1f}{over} | {taken.peak:.2f} | {note} |"


def _together(found: Mapping[str, Mapping[str, Taken]]) -> Iterator[str]:
    """All tables as one: processor time, the clock and memory of each line; what was interrupted took longer."""
    yield "\n| command |" + "".join(f" {name}: processor, s | clock, s | peak, GB |" for name in WORDS)
    yield "|---|" + "---:|" * 3 * len(WORDS)
    for title, tables in found.items():
        cells = []
        for name in WORDS:
            taken = tables.get(name)
            if taken is None or (taken.stopping is None and taken.code not in FINE):  # it needs what was interrupted
                cells += [""] * 3
                continue
            stopped = "" if taken.stopping is None else "over "
            seconds = f"{stopped}{taken.processor:.1f}"
            bold = "**" if taken.processor > OVER else ""
            cells += [f"{bold}{seconds}{bold}", f"{stopped}{taken.wall:.1f}", f"{taken.peak:.2f}"]
        yield f"| {title} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("titles", nargs="*")
    parser.add_argument("--table", choices=list(WORDS))
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    check()
    found: dict[str, dict[str, Taken]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in [asked.table] if asked.table else list(WORDS):
            folder = (asked.folder or Path(temporary)) / name
            if not (folder / "three.csv").exists():
                folder.mkdir(parents=True, exist_ok=True)
                prepare = [sys.executable, "-m", "benchmarks._command_tables", str(folder), name]
                subprocess.run(prepare, check=True)
            (folder / "outputs").mkdir(exist_ok=True)
            print(f"\n| {name} | clock, s | processor, s | peak, GB | |\n|---|---|---|---|---|", flush=True)
            words = {**WORDS[name]}
            for number, line in enumerate(lines()):
                if name not in line.tables or (asked.titles and not line.title.startswith(tuple(asked.titles))):
                    continue
                kept = folder / "outputs" / f"{number:03}"
                kept.unlink(missing_ok=True)
                taken = found.setdefault(line.title, {})[name] = _run(line, folder, words, asked.limit, kept)
                print(_shown(line.title, taken), flush=True)
    if not asked.table:
        print("\n".join(_together(found)))


if __name__ == "__main__":
    main()
