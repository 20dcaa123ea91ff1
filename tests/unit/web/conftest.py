"""A page that is really served, for the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def serving(tmp_path: Path):
    """Starts pages: `serving(file)`; they are stopped at the end."""
    from serving import Served

    started: list[Served] = []

    def start(file: Path | None = None, **options: object) -> Served:
        started.append(Served(tmp_path / "private", file, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()
