"""Where compiled Python is kept while tests run. Each process that is started would otherwise compile all that it
imports, for a second or more."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def keep() -> None:
    """Keeps it, also where nothing may be written beside the sources: then inside the environment."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(sys.prefix) / "bytecode"))
        sys.dont_write_bytecode, sys.pycache_prefix = False, os.environ["PYTHONPYCACHEPREFIX"]
