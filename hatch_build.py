"""A wheel brings its kernels compiled (`shoal.kernels.shipped`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface[Any]):
    """Compiles the kernels and puts them into the wheel, which is then one for this platform.

    Where they cannot be compiled, or are not wanted (`SHOAL_COMPILE=0`), the wheel is for every platform and the first
    run compiles. An editable installation has no wheel: `python -m shoal.kernels.ahead` does it there.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder: Path | None = None
        if version == "editable" or os.environ.get("SHOAL_COMPILE") == "0":
            return
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-build-"))
        compiled = self.folder / "compiled"
        found = [str(Path(self.root) / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-m", "shoal.kernels.ahead", str(compiled)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(found), "NUMBA_CACHE_DIR": str(self.folder / "cache")},
        )
        if done.returncode == 0 and compiled.is_dir():
            build_data["force_include"][str(compiled)] = "shoal/kernels/compiled"
            build_data.update(infer_tag=True, pure_python=False)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
