"""What all tests share: where the reference data lie."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "adult"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference copy of Adult with its hierarchies, which lies beside the repository and is not part of it."""
    if not REFERENCE.is_dir():
        pytest.skip("the reference data are not beside this checkout")
    return REFERENCE


@pytest.fixture(autouse=True)
def drawn_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds that nobody gives are drawn; here from a stream of the test, so that a failure can be repeated."""
    monkeypatch.setattr("shoal.api.secrets.randbits", random.Random(request.node.nodeid).getrandbits)
