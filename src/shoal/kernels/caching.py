"""Where compiled kernels are kept, one file for each kernel and its types.

The file is named by everything that its code depends on: the sources of the kernel's module and of the modules it
imports, the types, the processor, Python and numba. So a file never goes stale, every checkout and installation can use
it, and two processes that compile the same kernel at once write the same file. A checksum comes first in it: a damaged
file counts as none.

This replaces numba's own cache, which has one index for all types of a kernel: two processes that write to it at once
can take each other's code for their own, and a damaged file ends the run. Where numba lacks one of the private names
that are used here, its own cache is used (`docs/internals.md`).
"""

import hashlib
import inspect
import logging
import os
import pickle
import re
import secrets
import sys
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from shoal.kernels import shipped
from shoal.kernels.interrupts import wait_for_code

OTHERS = 0o022
"""Permissions to write for anybody else, who could then choose what code we run."""
SOURCES = Path(__file__).parent
_IMPORTED = re.compile(r"^from shoal\.kernels(?:\.(\w+))? import (\([^)]*\)|.*)$", re.MULTILINE)


def folder() -> Path:
    """The folder that kernels are kept in: `NUMBA_CACHE_DIR`, or that of the user."""
    return Path(numba.config.CACHE_DIR or AppDirs(appname="shoal", appauthor=False).user_cache_dir) / "kernels"


def imports(source: str) -> set[str]:
    """The modules of kernels that the source of another one imports."""
    names = set()
    for module, listed in _IMPORTED.findall(source):
        names |= {module} if module else set(re.findall(r"(\w+)(?: as \w+)?", listed))
    return names


@cache
def version(module: str, sources: Path = SOURCES) -> str:
    """The hash of a module's source and of those of the modules that it imports: they are compiled into its kernels."""
    texts, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        path = sources / f"{name}.py"
        if name not in texts and path.is_file():
            texts[name] = path.read_bytes()
            waiting += imports(texts[name].decode())
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()


class KernelCache:
    """What the compiler asks about one kernel: whether its code is kept for some types, and to keep it."""

    def __init__(self, function):
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self.module = Path(inspect.getfile(function)).stem

    def path(self, folder, signature, target):
        """The file of the kernel for some types and a target: a machine, a processor and what it can do."""
        depends = (version(self.module), str(signature), target, sys.implementation.cache_tag, numba.__version__)
        return folder / f"{self.name}-{hashlib.sha256(repr((self.name, *depends)).encode()).hexdigest()[:24]}.kernel"

    def load_overload(self, signature, context):
        """The kernel for some types, ready to run, kept here or brought by the wheel; None where there is none.

        The compiler imports a hundred modules before it looks into its own cache. Machine code needs none of them, only
        the memory management that goes with it; as soon as anything is compiled after all, the compiler imports them.
        """
        rtsys.initialize(context)
        wait_for_code(context.codegen())
        target = context.codegen().magic_tuple()
        here = folder()
        places = [self.path(here, signature, target)] if is_safe(here) else []
        processor = shipped.processor()
        if processor is not None and shipped.FOLDER.is_dir():
            places.append(self.path(shipped.FOLDER, signature, (target[0], processor, "")))
        for place in places:
            payload = _read(place, signature)
            if payload is not None:
                return CompileResult._rebuild(context, *payload)
        return None

    def save_overload(self, signature, result):
        """Keeps a kernel that was compiled, where that can be done and nobody else could change it."""
        if result.library.has_dynamic_globals or any(not each.can_cache for each in result.lifted):
            return
        here = folder()
        try:
            here.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not is_safe(here):
                raise PermissionError
            data = dumps((signature, result._reduce()))
            place = self.path(here, signature, result.target_context.codegen().magic_tuple())
            beside = place.with_suffix(f".{secrets.token_hex(8)}")
            beside.write_bytes(hashlib.sha256(data).digest() + data)
            beside.replace(place)
        except OSError:
            _not_kept()

    @property
    def cache_path(self):
        return str(folder())

    def enable(self):
        pass

    def disable(self):
        pass

    def flush(self):
        pass


def _read(place, signature):
    """What a file keeps; None where it is missing, damaged, or of other types that are spelled the same."""
    try:
        stored = place.read_bytes()
        if hashlib.sha256(stored[32:]).digest() != stored[:32]:
            return None
        kept_for, payload = pickle.loads(stored[32:])
        return payload if kept_for == signature else None
    except Exception:  # whatever is wrong with it, the kernel can be compiled
        return None


def is_safe(folder: Path) -> bool:
    """Whether nobody else can have put code into a folder: it is ours or the system's, and closed to others."""
    try:
        status = folder.stat()
    except OSError:
        return False
    return not hasattr(os, "getuid") or (status.st_uid in (0, os.getuid()) and not status.st_mode & OTHERS)


@cache
def _not_kept():
    logging.getLogger("shoal").warning(
        "note: compiled code cannot be kept here, so each run that needs it compiles it again; set NUMBA_CACHE_DIR "
        "to a folder that only you can write to"
    )


def attach(dispatcher):
    """Gives a kernel this cache; where numba is not as expected, its own, in a folder of all kernels' versions."""
    private = (CompileResult, "_reduce"), (CompileResult, "_rebuild"), (rtsys, "initialize")
    if isinstance(getattr(dispatcher, "_cache", None), NullCache) and all(hasattr(*each) for each in private):
        dispatcher._cache = KernelCache(dispatcher.py_func)
        return
    try:
        everything = sorted((path.name, path.read_bytes()) for path in SOURCES.glob("*.py"))
        here = folder().with_name(hashlib.sha256(repr(everything).encode()).hexdigest()[:16])
        here.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_safe(here):
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(here)
            try:
                dispatcher.enable_caching()
            finally:
                numba.config.CACHE_DIR = before
    except (OSError, RuntimeError):
        _not_kept()
