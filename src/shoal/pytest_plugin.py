"""What pytest has wherever Shoal is installed: a marker that says what a table must satisfy, and a fixture that checks.

```python
@pytest.mark.privacy("k-anonymity:k=5", quasi=["age", "sex", "zip"])
def test_the_export(assert_private):
    assert_private(export())
```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MARKER = "privacy(*models, quasi, sensitive=(), person=None): what tables must satisfy that `assert_private` is given"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Fails unless a table satisfies the models of the marker `privacy`, or those that it is given beside the table."""

    def check(table: Any, *models: Any, **asked: Any) -> None:
        from shoal.testing import assert_satisfies

        marker = request.node.get_closest_marker("privacy")
        stated = (marker.args, marker.kwargs) if marker is not None else ((), {})
        assert_satisfies(table, *(models or stated[0]), **{**stated[1], **asked})

    return check
