"""A wheel brings its kernels compiled (`shoal.kernels.shipped`), and a README whose links work everywhere."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LINUX = "manylinux_2_17"
"""Kernels are linked with no library: numba, which runs them, needs a newer Linux than they do."""


class ReadmeElsewhere(MetadataHookInterface):
    """The README as an index of packages shows it: links to files lead to the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata["urls"]["Source"]
        text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{source}/raw/main/", text)
        text = re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{source}/blob/main/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class CompiledKernels(BuildHookInterface[Any]):
    """Compiles the kernels and puts them into the wheel, which is then one for this platform and this Python.

    `SHOAL_COMPILE` names another machine that runs Linux (`x86_64` or `aarch64`), or is 0. Where kernels cannot be
    compiled, or are not wanted, the wheel is for every platform and the first run compiles. An editable installation
    has no wheel: `python -m shoal.kernels.ahead` does it there.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder: Path | None = None
        machine = os.environ.get("SHOAL_COMPILE") or platform.machine()
        if version == "editable" or machine == "0":
            return
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-build-"))
        compiled = self.folder / "compiled"
        sources = [str(Path(self.root) / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-m", "shoal.kernels.ahead", str(compiled), machine],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sources), "NUMBA_CACHE_DIR": str(self.folder / "cache")},
        )
        if done.returncode == 0 and compiled.is_dir():
            build_data["force_include"][str(compiled)] = "shoal/kernels/compiled"
            build_data["pure_python"] = False
            if sys.platform == "linux":
                python = f"cp{sys.version_info.major}{sys.version_info.minor}"
                build_data["tag"] = f"{python}-{python}-{LINUX}_{machine}"
            else:
                build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
