"""Makes the tables of this folder, and the benchmarks, importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]


@pytest.fixture
def server(commands: Any, tmp_path: Path) -> Iterator[Any]:
    from served import Server

    started: list[Server] = []

    def start(file: Path | None = None) -> Server:
        started.append(Server(commands, tmp_path, file))
        return started[-1]

    yield start
    for each in started:
        each.stop()
