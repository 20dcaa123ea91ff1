"""A small table with a canary in its cells, and a way to run commands that watches for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from canary_table import BODY, CANARY, HEADER, NUMERIC_CANARY
from command import Ended


def with_algorithm(arguments: tuple[object, ...]) -> list[str]:
    """The arguments with the fastest algorithm where they name none: what is tried here is not the default's choice."""
    spelled = [str(argument) for argument in arguments]
    plain = spelled[:1] == ["anonymize"] and not {"--algorithm", "--job", "--help"} & set(spelled)
    return [*spelled, "--algorithm", "mondrian"] if plain else spelled


def checked(code: int, out: str, err: str) -> Ended:
    for text in (out, err):
        assert CANARY not in text and NUMERIC_CANARY not in text, "a cell's value was printed"
    assert "Traceback" not in err
    return Ended(code, out, err)


@pytest.fixture
def shoal(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs the command in this process."""

    def run(*arguments: object) -> Ended:
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
def process(commands: Any) -> Callable[..., Ended]:
    """Runs the command in a process of its own."""

    def run(*arguments: object, **more: Any) -> Ended:
        done = commands.run(*with_algorithm(arguments), **more)
        return checked(done.code, done.out, done.err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Sixty people: name, age, sex, zip, disease."""
    path = tmp_path / "people.csv"
    path.write_text(HEADER + BODY, encoding="utf-8")
    return path
