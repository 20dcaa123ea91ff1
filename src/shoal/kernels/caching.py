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
from shoal.kernels import shipped

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


_load_anything = FunctionCache.load_overload


def _load(cache, signature, context):
    """Loads a kernel without the declarations of everything that can be compiled: kept here, or brought by the wheel.

    The compiler imports a hundred modules before it looks into its cache. Machine code needs none of them, only the
    memory management that goes with it; as soon as anything is compiled after all, the compiler has them imported.
    """
    if not cache._py_func.__module__.startswith(f"{__package__}."):
        return _load_anything(cache, signature, context)
    rtsys.initialize(context)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context) or shipped.load(cache, signature, context, SHIPPED)


FunctionCache.load_overload = _load

VERSION = version(Path(__file__).parent)
SHIPPED = Path(__file__).parent / "compiled" / VERSION
home = Path(numba.config.CACHE_DIR or AppDirs(appname="shoal", appauthor=False).user_cache_dir)
numba.config.CACHE_DIR = str(kept(home, VERSION))
