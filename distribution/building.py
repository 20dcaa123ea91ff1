"""The sdist and the wheels."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
"""That kernels are compiled for."""
NOBODY = "OWNER"
"""Stands in addresses until the project has a home."""


def check_final(root: Path) -> None:
    """Refuses to build for an upload what has no home, no date in the changelog, or another version than its tag."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = version_of(root)
    homeless = [name for name, address in project["urls"].items() if NOBODY in address]
    if homeless:
        sys.exit(f"pyproject.toml: {', '.join(homeless)} still say {NOBODY}; put the project's address there")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", (root / "CHANGELOG.md").read_text(), re.M):
        sys.exit(f"CHANGELOG.md has no heading '## {version} (YYYY-MM-DD)'")
    tag = os.environ.get("GITHUB_REF_NAME", f"v{version}")
    if tag != f"v{version}":
        sys.exit(f"the tag is {tag}, and src/shoal/version.py says {version}")


def version_of(root: Path) -> str:
    (version,) = re.findall(r'^__version__ = "(.+)"$', (root / "src/shoal/version.py").read_text(), re.M)
    return str(version)


def interpreters(versions: Iterable[str]) -> dict[str, str]:
    """The Pythons that are there, by version."""
    there: dict[str, str] = {}
    for version in versions:
        own = version == f"{sys.version_info.major}.{sys.version_info.minor}"
        for python in (sys.executable if own else None, shutil.which(f"python{version}"), *_of_pyenv(version)):
            if python is not None and _starts(python):
                there[version] = python
                break
    return there


def _of_pyenv(version: str) -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [str(path) for path in root.glob(f"versions/{version}.*/bin/python")]


def _starts(python: str) -> bool:
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0


def build_sdist(root: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (sdist,) = folder.glob("*.tar.gz")
    return sdist


def write_recipe(root: Path, sdist: Path, folder: Path) -> None:
    """The recipe for conda, with the hash of the sdist."""
    recipe = (root / "distribution" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    text = recipe.replace("0" * 64, hashlib.sha256(sdist.read_bytes()).hexdigest())
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")


def build_wheel(sdist: Path, folder: Path, python: str, machine: str) -> Path:
    """A wheel from an sdist, in an environment of its own; `machine` is one of `MACHINES`, or 0 for all platforms."""
    before = set(folder.glob("*.whl"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [*_builder(python), str(sdist)],
        cwd=folder, check=True, env={**environment, "SHOAL_COMPILE": machine}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (wheel,) = set(folder.glob("*.whl")) - before
    if ("-none-any" in wheel.name) != (machine == "0"):
        sys.exit(f"kernels could not be compiled for {machine}")
    return wheel


def _builder(python: str) -> list[str]:
    uv = shutil.which("uv", path=Path(sys.executable).parent)
    if uv is None:
        return [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "."]
    return [uv, "build", "--quiet", "--wheel", "--no-create-gitignore", "--python", python, "--out-dir", "."]


def chosen(folder: Path, version: tuple[int, ...], machine: str) -> Path:
    """The wheel that an installer takes."""
    own = [*folder.glob(f"*-cp{version[0]}{version[1]}-*_{machine}.whl"), *folder.glob("*-none-any.whl")]
    return own[0]
