"""Leaves scipy alone until linear algebra is compiled.

Before the compiler compiles anything it imports scipy's linear algebra, only to know that it is there, which takes a
third of a second. No kernel here needs it, and one of somebody else's that does imports it then.
"""

import sys
from importlib.util import find_spec


def deferred() -> None:
    """Lets the compiler take it that a scipy that is installed can be imported; when it is needed, that is checked."""
    if "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules or find_spec("scipy") is None:
        return
    from numba.np import linalg

    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = check
    arraymath.ensure_blas = check
