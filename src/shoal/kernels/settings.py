"""How numba is set: by the environment, and by no file that happens to lie in the current folder.

numba takes settings from `.numba_config.yaml` there, when it is imported and again before it compiles: also which
folder compiled code is loaded from. Whoever sent a folder could have put both into it.
"""

import sys
import warnings
from importlib import import_module
from pathlib import Path

FILE = ".numba_config.yaml"


def ignore_file() -> None:
    """Imports numba, unless somebody did, so that it never reads that file."""
    with warnings.catch_warnings():
        if "numba" not in sys.modules and Path(FILE).exists():
            warnings.simplefilter("ignore")
            config = _without_yaml("numba.core.config")
        else:
            config = import_module("numba.core.config")
    if hasattr(config, "_config_fname"):
        config._config_fname = ""  # no file has that name


def _without_yaml(name: str):
    """Imports a module for which there is no YAML; numba then leaves the file alone, and warns."""
    yaml = sys.modules.pop("yaml", None)
    sys.modules["yaml"] = None
    try:
        return import_module(name)
    finally:
        del sys.modules["yaml"]
        if yaml is not None:
            sys.modules["yaml"] = yaml
