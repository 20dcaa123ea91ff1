"""Compiles what the tests need, once, on all cores, before any of them starts: `python -m tests.kernels`.

Kernels first, and beside them, in a new environment, the Python of the tests and of all that they import, which every
process of the tests would compile for itself.

`kernels.json` lists the kernels. A list that is out of date costs time and nothing else: a test compiles what it needs.
To make it anew, run `SHOAL_KERNELS=FOLDER NUMBA_CACHE_DIR=EMPTY make test` and then
`python -m tests.kernels --from FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests import bytecode

LISTED = Path(__file__).with_name("kernels.json")


def record(folder: Path) -> None:
    """Writes every kernel that this process compiles, with its types, to a file in a folder."""
    from numba.core.event import Listener, register

    from shoal.kernels import ahead

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{os.getpid()}.jsonl"

    class Recorder(Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:
            entry = ahead.entry(event.data["dispatcher"], event.data["args"])
            if entry is not None:
                with path.open("a") as file:
                    file.write(json.dumps(entry) + "\n")

    register("numba:compile", Recorder())


def merged(folder: Path) -> list[Any]:
    """What the processes of a run compiled, each kernel with its types once."""
    lines = {line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()}
    return [json.loads(line) for line in sorted(lines)]


def by_module(entries: list[Any]) -> list[list[Any]]:
    """The kernels of each module, which call one another and are compiled in one process. Modules that others import
    come first, so that no process compiles for itself what another one compiles too; then those with most kernels."""
    from shoal.kernels.caching import SOURCES, imports

    modules: dict[str, list[Any]] = {}
    for entry in entries:
        modules.setdefault(entry[0].partition(".")[0], []).append(entry)
    imported = {name: imports((SOURCES / f"{name}.py").read_text(encoding="utf-8")) & {*modules} for name in modules}

    def turn(name: str) -> tuple[int, int]:
        return -sum(name in each for each in imported.values()), -len(modules[name])

    return [modules[name] for name in sorted(modules, key=turn)]


def compile_all(entries: list[Any]) -> int:
    from shoal.kernels import ahead

    return ahead.compile_all(entries)


def collect() -> None:
    """Has the tests imported, once in an environment."""
    done = Path(sys.prefix) / "collected"
    if not done.exists():
        collecting = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        subprocess.run(collecting, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done.touch()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kernels", description=__doc__)
    parser.add_argument("--from", dest="folder", type=Path, help="make the list from what was recorded in this folder")
    folder = parser.parse_args().folder
    if folder is not None:
        rows = ",\n".join(json.dumps(entry) for entry in merged(folder))
        LISTED.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
        return
    began = time.perf_counter()
    bytecode.keep()
    # Where kernels are recorded, the tests compile them all themselves.
    entries = [] if os.environ.get("SHOAL_KERNELS") else json.loads(LISTED.read_text(encoding="utf-8"))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        compiled = pool.map(compile_all, by_module(entries))
        collect()
        done = sum(compiled)
    print(f"{done} of {len(entries)} kernels compiled or found in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
