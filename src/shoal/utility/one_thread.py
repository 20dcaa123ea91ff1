"""Linear algebra on one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _numeric_libraries(with_scikit_learn: bool) -> Any:
    """The libraries whose threads can be limited. Looking for them takes long; scikit-learn brings more of them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Meanwhile, sums do not depend on the number of processors; and threads that wait for work in small matrices keep
    no processor busy."""
    with _numeric_libraries("sklearn" in sys.modules).limit(limits=1):
        yield
