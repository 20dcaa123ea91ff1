"""Compiles kernels ahead of the runs that need them.

`python -m shoal.kernels.ahead` compiles every kernel that `ahead.json` lists for this machine, so that no run has to
wait for it; with a folder, for any processor of its kind (or of a kind that is named, such as `aarch64`), into that
folder, as a wheel brings them.

`python -m benchmarks.startup --record` writes `ahead.json`. A record that is out of date costs time and nothing else.
"""

import json
import platform
import shutil
import sys
from importlib import import_module
from pathlib import Path

import llvmlite.binding as llvm
from numba import types

from shoal.kernels import caching, shipped

RECORDED = Path(__file__).with_name("ahead.json")


def needed(names=None) -> list:
    """The kernels that algorithms need (all that are recorded, unless some are named), with their types."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    return [entry for entry in recorded if names is None or set(names) & set(entry[2])]


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


def entry(dispatcher, arguments):
    """A kernel with its types as `ahead.json` lists it; None for what is none, or has types without a spelling."""
    function = dispatcher.py_func
    given = [spelled(kind) for kind in arguments]
    if not function.__module__.startswith(f"{__package__}.") or None in given:
        return None
    return [f"{function.__module__.removeprefix(f'{__package__}.')}.{function.__name__}", given]


def compile_all(entries) -> int:
    """Compiles kernels, and those that they call; how many of them it compiled or found."""
    done = 0
    for kernel, given, *_ in entries:
        module, _, name = kernel.partition(".")
        try:
            dispatcher = getattr(import_module(f"{__package__}.{module}"), name)
            dispatcher.compile(tuple(type_of(each) for each in given))
            done += 1
        except Exception:  # the record is of another version: whoever needs the kernel compiles it
            continue
    return done


def compile_into(folder: str, machine: str = platform.machine()) -> int:
    """Compiles all kernels for any processor of a kind, this machine's by default, and moves them into a folder; how
    many."""
    if machine != platform.machine():
        _take_for(machine)
    if not shipped.for_any_processor():
        return 0
    done = compile_all(needed())
    Path(folder).mkdir(parents=True)
    for path in caching.folder().glob("*.kernel"):
        shutil.move(path, folder)
    return done


def _take_for(machine: str) -> None:
    """Has everything in this process take another machine, which runs Linux, for the one it runs on. What is then
    compiled can be kept, and must not be called."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = f"{machine}-unknown-linux-gnu"
    target = llvm.Target.from_triple(triple)
    llvm.get_process_triple = lambda: triple
    llvm.Target.from_default_triple = lambda: target
    platform.machine = lambda: machine


def main(arguments) -> None:
    done = compile_into(*arguments) if arguments else compile_all(needed())
    print(f"{done} of {len(needed())} kernels compiled")


if __name__ == "__main__":
    main(sys.argv[1:])
