"""How many threads kernels run on."""

from numba import config, get_num_threads, set_num_threads
from numba.np.ufunc import parallel


def count() -> int:
    """What `numba.set_num_threads` or NUMBA_NUM_THREADS says; asking starts no thread, as asking the compiler does."""
    started = getattr(parallel, "_is_initialized", True)
    return get_num_threads() if started else config.NUMBA_NUM_THREADS


def at_most(threads: int) -> None:
    """From now on, kernels of this thread run on no more threads."""
    set_num_threads(max(1, min(threads, config.NUMBA_NUM_THREADS)))
