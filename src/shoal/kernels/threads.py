"""How many threads kernels run on."""

from numba import config, get_num_threads
from numba.np.ufunc import parallel


def count() -> int:
    """What `numba.set_num_threads` or NUMBA_NUM_THREADS says; asking starts no thread, as asking the compiler does."""
    started = getattr(parallel, "_is_initialized", True)
    return get_num_threads() if started else config.NUMBA_NUM_THREADS
