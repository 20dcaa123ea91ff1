"""How long the command takes, at its first run after an installation and warm: Adult, nine quasi-identifiers, k = 5.

`python -m benchmarks startup`; with `--record` it writes down which kernels the algorithms have compiled, for
`shoal.kernels.ahead`. Make the record anew when kernels change.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distribution import trial

from benchmarks.local_recoding import NINE

ALGORITHMS = ("mondrian", "k-member:refine=true")
RECORDED = ("auto", "mondrian", "mondrian:refine=true", "k-member:refine=true", "optimal")
DIVERSE = ["--sensitive", "occupation", "--model", "frequency-l-diversity:l=3", "--model", "t-closeness:t=0.3"]
"""What `auto` is also recorded with, since it then tries other algorithms. Then the tutorial's first commands are."""
COMMANDS = (["--version"], ["--help"])
WARM = 3

TRICKS = {
    "nothing": "",
    "Arrow without pandas": "from shoal.cli import fast_start; fast_start.without_pandas = lambda: None",
    "kernels without the compiler's modules": """
from shoal.kernels.caching import KernelCache
load = KernelCache.load_overload
KernelCache.load_overload = lambda cache, signature, context: context.refresh() or load(cache, signature, context)
""",
}
"""What is spared when the command starts (docs/internals.md), and how to do without it."""

RECORDING = """
import json, sys
from numba.core.event import Listener, register
from shoal.cli import main
from shoal.kernels import ahead

found = []

class Recorder(Listener):
    def on_start(self, event):
        pass

    def on_end(self, event):
        entry = ahead.entry(event.data["dispatcher"], event.data["args"])
        if entry is not None:
            found.append(entry)

register("numba:compile", Recorder())
try:
    main(sys.argv[2:])
finally:
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)
"""


def table(folder: Path) -> Path:
    """Adult as a CSV file, as somebody has it."""
    import shoal

    path = folder / "adult.csv"
    shoal.samples.adult().select(NINE).write_csv(path)
    return path


def anonymizing(source: Path, algorithm: str, folder: Path, quasi: Sequence[str] = NINE) -> list[str]:
    import shoal

    hierarchies = str(shoal.samples.hierarchies("adult"))
    return [
        "anonymize", str(source), "--quasi", ",".join(quasi), "--hierarchies", hierarchies, "--k", "5", "--seed", "1",
        "--algorithm", algorithm, "-o", str(folder / "release.csv"), "--overwrite",
    ]  # fmt: skip


def installed() -> dict[str, str]:
    """The environment of somebody who has installed Shoal, whose modules Python has compiled and kept."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def timed(arguments: list[str], kernels: Path, before_it: str = "") -> tuple[float, float]:
    """Seconds and processor seconds of a run of the command, after some Python."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", f"{before_it}\nfrom shoal.cli import main; main()", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        env={**installed(), "NUMBA_CACHE_DIR": str(kernels)},
    )  # fmt: skip
    seconds, after = time.perf_counter() - began, os.times()
    return seconds, (after.children_user - before.children_user) + (after.children_system - before.children_system)


def measured() -> None:
    print(f"{'run':84} {'seconds':>8} {'processor':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = table(folder)
        kernels = folder / "kernels"
        subprocess.run(
            [sys.executable, "-m", "shoal.kernels.ahead"], stdout=subprocess.DEVNULL, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(kernels)},
        )  # fmt: skip
        runs = [(algorithm, anonymizing(source, algorithm, folder)) for algorithm in ALGORITHMS]
        for algorithm, arguments in runs:
            shown(f"anonymize, {algorithm}, first run, compiling", *timed(arguments, folder / algorithm))
        for algorithm, arguments in runs:
            shown(f"anonymize, {algorithm}, first run, compiled ahead", *timed(arguments, kernels))
            shown(f"anonymize, {algorithm}, warm", *min(timed(arguments, kernels) for _ in range(WARM)))
        for trick, plainly in TRICKS.items():
            seconds = min(timed(runs[0][1], kernels, plainly) for _ in range(WARM))
            shown(f"anonymize, {ALGORITHMS[0]}, warm, all tricks but: {trick}", *seconds)
        for arguments in COMMANDS:
            shown(" ".join(arguments), *min(timed(arguments, kernels) for _ in range(WARM)))


def shown(run: str, seconds: float, processor: float) -> None:
    print(f"{run:84} {seconds:8.2f} {processor:10.2f}", flush=True)


def record() -> None:
    from shoal.kernels import ahead

    kept: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = table(folder)
        runs = [(algorithm, anonymizing(source, algorithm, folder)) for algorithm in RECORDED]
        quasi = [name for name in NINE if name != "occupation"]
        runs.append(("auto", [*anonymizing(source, "auto", folder, quasi), *DIVERSE]))
        runs += [("tutorial", shlex.split(command)[1:]) for command in (*trial.tutorial_commands(), *trial.RELEASE)]
        for algorithm, arguments in runs:
            listed, place = folder / "kernels.json", folder / f"{algorithm} files"
            place.mkdir(exist_ok=True)
            done = subprocess.run(
                [sys.executable, "-c", RECORDING, str(listed), *arguments], stdout=subprocess.DEVNULL, cwd=place,
                env={**os.environ, "NUMBA_CACHE_DIR": str(folder / algorithm)},
            )  # fmt: skip
            if done.returncode not in (0, trial.ANSWERS_NO):
                sys.exit(f"shoal {' '.join(arguments)} failed")
            for kernel, types in json.loads(listed.read_text()):
                entry = kept.setdefault(f"{kernel} {types}", [kernel, types, []])
                entry[2] = list(dict.fromkeys((*entry[2], algorithm)))
    rows = ",\n".join(json.dumps(entry) for entry in kept.values())
    ahead.RECORDED.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    record() if "--record" in sys.argv else measured()
