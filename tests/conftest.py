"""What all tests share: where the reference data lie."""

from __future__ import annotations

from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "adult"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference copy of Adult with its hierarchies, which lies beside the repository and is not part of it."""
    if not REFERENCE.is_dir():
        pytest.skip("the reference data are not beside this checkout")
    return REFERENCE
