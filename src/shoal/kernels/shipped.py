"""Kernels that a wheel brings compiled, so that the first run compiles nothing.

Building the wheel compiles them (`hatch_build.py`) for a processor that nearly every machine of the platform
understands, rather than for the one it is built on. They are used where Python, numba and the kernels' sources are
those of the build and the processor can do what they ask of it. Everywhere else a run compiles what it needs.
"""

import platform
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba

FOLDER = Path(__file__).parent / "compiled"

_INTEL = ("x86-64-v3", frozenset({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
_ARM = ("generic", frozenset())
PROCESSORS = {"x86_64": _INTEL, "AMD64": _INTEL, "aarch64": _ARM, "arm64": _ARM}
"""The processor that is compiled for, by the machine, and what it must be able to do."""


def for_any_processor() -> bool:
    """Lets this process compile for other machines of its kind; whether there is a processor that stands for them."""
    chosen, _ = PROCESSORS.get(platform.machine(), (None, None))
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = chosen, ""
    return chosen is not None


@cache
def processor() -> str | None:
    """The processor that a wheel's kernels are compiled for, if this one can do what it can."""
    chosen, abilities = PROCESSORS.get(platform.machine(), (None, frozenset()))
    features = llvm.get_host_cpu_features()
    return chosen if all(features.get(ability) for ability in abilities) else None
