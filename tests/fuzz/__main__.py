"""Runs cases of the fuzzer: `python -m tests.fuzz 17` one, `--cases 5000 --seed 1` many. A failing one is shrunk."""

import sys

from tests.fuzz.batch import main

if __name__ == "__main__":
    sys.exit(main(__doc__))
