"""Runs every benchmark of this folder: `make bench`, or `python -m benchmarks NAME` for one."""

import runpy
import sys
from pathlib import Path

folder = Path(__file__).parent
wanted = sys.argv[1:] or sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
for name in [name for name in wanted if name not in ("cores", "measuring")]:
    print(f"\n== {name} ==", flush=True)
    sys.argv[1:] = []  # the names are not arguments of what is run
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
