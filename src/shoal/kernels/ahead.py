"""Compiles ahead of the runs that need it: at installation, or beside the first run.

`python -m shoal.kernels.ahead` compiles every kernel that `ahead.json` lists, so that no run has to wait for it.

Where that was not done, the first run has helpers. The compiler works on one kernel at a time in a process, so helpers
are processes of their own: they compile what the algorithm needs, the longest first, into the same folder; the run
loads what they have done and waits for what they are doing. They compile what the run would have compiled, so nothing
but the time depends on them, and they end with the run. `SHOAL_COMPILE_AHEAD=0` leaves them out.

`python -m benchmarks.startup --record` writes `ahead.json`. A record that is out of date costs time and nothing else.
"""

import atexit
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
from numba import types

from shoal.kernels import claims
from shoal.kernels.caching import claimed_at

RECORDED = Path(__file__).with_name("ahead.json")
HELPERS = 2
WORTH = 2.0
"""Seconds of compiling below which helpers, who take a moment to start, are left out."""


def needed(names=None) -> list:
    """The kernels that algorithms need (all that are recorded, unless some are named) and that are not kept yet, with
    their types; those that take longest first."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    kept = {path.name.partition("-")[0] for path in Path(numba.config.CACHE_DIR).rglob("*.nbi")}
    wanted = [entry for entry in recorded if names is None or set(names) & set(entry[3])]
    return sorted((entry for entry in wanted if entry[0] not in kept), key=lambda entry: -entry[2])


def start(names) -> None:
    """Starts helpers for algorithms, where there is much to compile and a processor that has nothing else to do."""
    if os.environ.get("SHOAL_COMPILE_AHEAD") == "0" or claims.fcntl is None or os.getloadavg()[0] > _processors() - 1:
        return
    if sum(entry[2] for entry in needed(names)) < WORTH:
        return
    for helper in range(HELPERS):
        _ended_with_us(
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(os.getpid()), str(helper), *names],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "NUMBA_CACHE_DIR": str(Path(numba.config.CACHE_DIR).parent)},
            )
        )  # fmt: skip


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ended_with_us(process: subprocess.Popen) -> None:
    def end() -> None:
        process.kill()
        process.wait()

    atexit.register(end)


def type_of(spelled):
    """A type as `ahead.json` spells it: `int64`, `int32 2C` for an array of two dimensions, `int32 2C r` for one that
    is only read, or a list of a named tuple's class and parts."""
    if isinstance(spelled, list):
        module, _, name = spelled[0].rpartition(".")
        parts = [type_of(part) for part in spelled[1:]]
        return types.BaseTuple.from_types(parts, getattr(import_module(module), name) if module else None)
    number, *shape = spelled.split()
    kind = types.boolean if number == "bool" else getattr(types, number)
    return types.Array(kind, int(shape[0][:-1]), shape[0][-1], readonly=len(shape) > 1) if shape else kind


def spelled(kind):
    """The other way round; None for what has no spelling."""
    if isinstance(kind, types.Array) and kind.aligned:
        return f"{kind.dtype} {kind.ndim}{kind.layout}{'' if kind.mutable else ' r'}"
    if isinstance(kind, types.BaseTuple):
        made = getattr(kind, "instance_class", None)
        parts = [spelled(part) for part in kind.types]
        return None if None in parts else ["" if made is None else f"{made.__module__}.{made.__name__}", *parts]
    plain = isinstance(kind, (types.Integer, types.Float, types.Boolean)) and not isinstance(kind, types.Literal)
    return str(kind) if plain else None


def compile_all(entries, parent: int | None = None) -> int:
    """Compiles kernels that no other process is compiling, one after the other, and as long as a parent lives, where
    one is named; how many it compiled or found."""
    done = 0
    for kernel, given, *_ in entries:
        if parent is not None and os.getppid() != parent:
            break
        module, _, name = kernel.partition(".")
        try:
            dispatcher = getattr(import_module(f"{__package__}.{module}"), name)
            if claims.is_free(claimed_at(dispatcher.py_func)):
                dispatcher.compile(tuple(type_of(each) for each in given))
                done += 1
        except Exception:  # the record is of another version: whoever needs the kernel compiles it
            claims.release_all()
    return done


def main(arguments) -> None:
    if not arguments:
        wanted = needed()
        print(f"{compile_all(wanted)} of {len(wanted)} kernels compiled")
        return
    parent, helper, *names = arguments
    wanted = needed(names)
    compile_all(wanted[int(helper) :] + wanted[: int(helper)], int(parent))


if __name__ == "__main__":
    main(sys.argv[1:])
