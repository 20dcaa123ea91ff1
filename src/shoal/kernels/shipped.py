"""Kernels that a wheel brings compiled, so that the first run compiles nothing.

Building the wheel compiles them (`hatch_build.py`) for a processor that nearly every machine of the platform
understands, rather than for the one it is built on. They are used where Python, numba and the kernels' sources are
those of the build and the processor can do what they ask of it. Everywhere else a run compiles what it needs.
"""

import platform
from functools import cache as once
from pathlib import Path

import llvmlite.binding as llvm
import numba
from numba.core.caching import IndexDataCacheFile

_INTEL = ("x86-64-v3", frozenset({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
_ARM = ("generic", frozenset())
PROCESSORS = {"x86_64": _INTEL, "AMD64": _INTEL, "aarch64": _ARM, "arm64": _ARM}
"""The processor that is compiled for, by the machine, and what it must be able to do."""


def for_any_processor() -> bool:
    """Lets this process compile for other machines of its kind; whether there is a processor that stands for them."""
    processor, _ = PROCESSORS.get(platform.machine(), (None, None))
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = processor, ""
    return processor is not None


def load(cache, signature, context, folder: Path):
    """A kernel that the wheel brought, ready to run; None where it has none for this machine."""
    processor = _understood()
    if processor is None or not folder.is_dir():
        return None
    _, (triple, *_), sources = cache._index_key(signature, context.codegen())
    file = IndexDataCacheFile(str(folder), cache._impl.filename_base, cache._cache_file._source_stamp)
    found = file.load((signature, (triple, processor, ""), sources))
    return None if found is None else cache._impl.rebuild(context, found)


@once
def _understood() -> str | None:
    """The processor that kernels were compiled for, if this one can do what it can."""
    processor, abilities = PROCESSORS.get(platform.machine(), (None, frozenset()))
    features = llvm.get_host_cpu_features()
    return processor if all(features.get(ability) for ability in abilities) else None
