"""A small table with a canary in its cells, and a way to run commands that watches for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from canary_table import BODY, CANARY, HEADER, NUMERIC_CANARY


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    code: int
    out: str
    err: str


def with_algorithm(arguments: tuple[object, ...]) -> list[str]:
    """The arguments with the fastest algorithm where they name none: what is tried here is not the default's choice."""
    spelled = [str(argument) for argument in arguments]
    plain = spelled[:1] == ["anonymize"] and not {"--algorithm", "--job", "--help"} & set(spelled)
    return [*spelled, "--algorithm", "mondrian"] if plain else spelled


def checked(code: int, out: str, err: str) -> Ran:
    for text in (out, err):
        assert CANARY not in text and NUMERIC_CANARY not in text, "a cell's value was printed"
    assert "Traceback" not in err
    return Ran(code, out, err)


@pytest.fixture
def shoal(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the command in this process."""

    def run(*arguments: object) -> Ran:
        from shoal.cli import main

        capsys.readouterr()
        code = 0
        try:
            main(with_algorithm(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return checked(code, captured.out, captured.err)

    return run


@pytest.fixture
def process() -> Callable[..., Ran]:
    """Runs the command in a process of its own."""

    def run(*arguments: object, script: str = "from shoal.cli import main; main()", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-c", script, *with_algorithm(arguments)],
            capture_output=True, text=True, timeout=120, env={**os.environ, **environment},
        )  # fmt: skip
        return checked(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Sixty people: name, age, sex, zip, disease."""
    path = tmp_path / "people.csv"
    path.write_text(HEADER + BODY, encoding="utf-8")
    return path
