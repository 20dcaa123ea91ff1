"""An interrupt while a kernel is compiled or loaded is neither lost nor leaves a kernel without code."""

from __future__ import annotations

from pathlib import Path

from command import Commands

SCRIPT = """
import signal, sys
import numba
import numpy as np
from numba.core.registry import cpu_target
from shoal.kernels import grouping
from shoal.kernels.compilation import kernel

numba.config.CACHE_DIR, called_back = sys.argv[1:]
grouping._bits(np.array([5, 0, 9]))
engine = cpu_target.target_context.codegen()._engine._ee
usual, interrupted = getattr(engine, called_back), []

def interrupting(*given):
    if not interrupted:
        interrupted.append(signal.raise_signal(signal.SIGINT))
    return usual(*given)

setattr(engine, called_back, interrupting)
fresh = kernel(grouping._bits.py_func)
numbers = np.array([5, 0, 9], np.uint16)
try:
    fresh(numbers)
except KeyboardInterrupt:
    print("interrupted", len(interrupted), fresh(numbers))
"""


def test_an_interrupt_in_a_callback_of_the_compiler_comes_after_it(commands: Commands, tmp_path: Path) -> None:
    for called_back in ("_object_cache_notify", "_object_cache_getbuffer"):  # it is compiled and kept, then loaded
        done = commands.run(tmp_path, called_back, script=SCRIPT)
        assert (done.code, done.out, done.err) == (0, "interrupted 1 2\n", "")
