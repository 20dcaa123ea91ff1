"""Runs every experiment of this folder: `make experiments`, or `python -m experiments NAME` for one."""

import runpy
import sys
from pathlib import Path

wanted = sys.argv[1:] or sorted(path.stem for path in Path(__file__).parent.glob("x*.py"))
for name in wanted:
    print(f"\n== {name} ==", flush=True)
    runpy.run_module(f"experiments.{name}", run_name="__main__")
