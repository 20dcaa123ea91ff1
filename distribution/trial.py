"""A wheel tried as its users would: installed in an environment of its own and used, far from this repository.

`python -m distribution.trial dist` tries the wheel that an installer takes here from a folder.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from distribution.building import chosen

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"
FIRST = 3
RELEASE = (
    "shoal anonymize admissions.csv -o release.csv --quasi birth_date,sex,zip,admitted --sensitive diagnosis "
    "--identifiers first_name,last_name --person patient_id --k 5",
    "shoal verify release.csv",
)
"""What follows the tutorial's first commands: a release, and its verification."""
ANSWERS_NO = 1


@dataclass(frozen=True)
class Trial:
    """What an installation weighs, and how long it takes until the first release is verified."""

    wheel: str
    megabytes: float
    installing: float
    using: float
    printed: str

    def __str__(self) -> str:
        return (
            f"{self.wheel}: {self.megabytes:.0f} MB, installed in {self.installing:.0f} s, the tutorial's first "
            f"{FIRST} commands and a verified release in {self.using:.0f} s"
        )


def run(wheel: Path, folder: Path, python: str = sys.executable) -> Trial:
    """Installs a wheel into an environment in a folder and goes from a raw file to a verified release."""
    began = time.perf_counter()
    install(wheel, folder, python)
    installed = time.perf_counter()
    printed = [use(command, folder) for command in (*tutorial_commands(), *RELEASE)]
    used = time.perf_counter()
    return Trial(wheel.name, megabytes(folder), installed - began, used - installed, "\n".join(printed))


def python_of(folder: Path) -> Path:
    return folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(wheel: Path, folder: Path, python: str) -> None:
    """A wheel and what it needs, into a new environment."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder / "environment")], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python_of(folder))]
    subprocess.run([*pip, "install", "--quiet", "--only-binary", ":all:", str(wheel)], check=True, cwd=folder)


def use(command: str, folder: Path) -> str:
    """What a command of the environment prints, with nothing of this repository and no compiler in reach."""
    done = subprocess.run(
        [str(python_of(folder).with_name("shoal")), *shlex.split(command)[1:]],
        cwd=folder, env=_outside(folder), capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, ANSWERS_NO):
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def tutorial_commands() -> list[str]:
    """The first commands that the tutorial shows."""
    text = TUTORIAL.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (shoal (?:.*\\\n)*.*)$", text, re.MULTILINE)
    return [command.replace("\\\n", " ") for command in commands[:FIRST]]


def megabytes(folder: Path) -> float:
    """What an environment weighs on the disk, as it was installed."""
    files = [path for path in (folder / "environment").rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6


def _outside(folder: Path) -> dict[str, str]:
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "SHOAL"))}
    return {**keep, "HOME": str(folder), "PATH": str(python_of(folder).parent), "NO_COLOR": "1", "CC": "false"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(run(chosen(Path(sys.argv[1]), sys.version_info, platform.machine()), Path(scratch)))
