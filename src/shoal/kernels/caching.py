"""Where compiled kernels are kept.

The compiler tells by a kernel's own file whether what it kept is still valid, but a kernel has others compiled into it,
and their constants: so each version of all kernels together has a folder of its own.
"""

import atexit
import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys
from numba.misc.appdirs import AppDirs

from shoal import __version__
from shoal.kernels import claims

OTHERS = 0o022
"""Permissions to write for anybody else, who could then choose what code we run."""


def version(sources: Path) -> str:
    """What the folder of these kernels is called: another name as soon as any of them changes."""
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(sources.glob("*.py")):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def kept(home: Path, name: str) -> Path:
    """A folder in which kernels can be kept: at home, or where nothing can be written there, a private one for as long
    as the process lives, with what home has."""
    folder = home / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=folder).close()
        if _is_safe(folder):
            return folder
    except OSError:
        pass
    private = Path(tempfile.mkdtemp(prefix="shoal-"))
    atexit.register(_remove, private, os.getpid())
    if folder.is_dir() and _is_safe(folder):
        shutil.copytree(folder, private / name)
    logging.getLogger("shoal").warning(
        "note: compiled code cannot be kept here, so each run that needs it compiles it anew; set NUMBA_CACHE_DIR to a "
        "folder that only you can write to"
    )
    return private / name


def _is_safe(folder: Path) -> bool:
    """Whether nobody else can have put code into it: it is ours or the system's, and closed to others."""
    status = folder.stat()
    return not hasattr(os, "getuid") or (status.st_uid in (0, os.getuid()) and not status.st_mode & OTHERS)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # and not one that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


_load_anything, _save_anything = FunctionCache.load_overload, FunctionCache.save_overload


def _load(cache, signature, context):
    """Loads a kernel without the declarations of everything that can be compiled.

    The compiler imports a hundred modules before it looks into its cache. Machine code needs none of them, only the
    memory management that goes with it; as soon as anything is compiled after all, the compiler has them imported.
    What is not there is claimed by whoever compiles it, and the others wait for that.
    """
    if not _is_ours(cache):
        return _load_anything(cache, signature, context)
    rtsys.initialize(context)
    found = _looked_up(cache, signature, context)
    if found is None and claims.claim(claimed_at(cache._py_func)):
        found = _looked_up(cache, signature, context)
        if found is not None:
            claims.release(claimed_at(cache._py_func))
    return found


def _save(cache, signature, compiled):
    _save_anything(cache, signature, compiled)
    if _is_ours(cache):
        claims.release(claimed_at(cache._py_func))


def _looked_up(cache, signature, context):
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


def _is_ours(cache) -> bool:
    return cache._py_func.__module__.startswith(f"{__package__}.")


def claimed_at(kernel) -> Path:
    """The file that whoever compiles a kernel claims."""
    return Path(numba.config.CACHE_DIR) / f"{kernel.__module__}.{kernel.__name__}.lock"


FunctionCache.load_overload, FunctionCache.save_overload = _load, _save

home = Path(numba.config.CACHE_DIR or AppDirs(appname="shoal", appauthor=False).user_cache_dir)
numba.config.CACHE_DIR = str(kept(home, version(Path(__file__).parent)))
