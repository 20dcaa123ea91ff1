"""Runs cases of the fuzzer: `python -m tests.fuzz 17` one, `--cases 5000 --seed 1` many. A failing one is shrunk."""

import os
import sys

THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What libraries ask when they are imported; on small tables their threads wait for one another."""

if __name__ == "__main__":
    os.environ |= dict.fromkeys(THREADS, "1")
    from tests.fuzz.batch import main

    sys.exit(main(__doc__))
