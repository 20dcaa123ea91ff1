"""What a distribution consists of (CycloneDX) and where it came from (SLSA, as an in-toto statement).

The statement here is not signed. The workflow of a release has its own signed, by the service that builds it.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

TYPE = "https://github.com/OWNER/shoal/blob/main/distribution/__main__.py"
TOOLS = ("hatchling", "numba", "llvmlite", "numpy")
ROOT = Path(__file__).parents[1]
LISTING = ROOT / ".venv-dist" / "bin" / "python"
"""The Python whose environment has the program that lists others: what it brings makes every import of Altair slow."""


def write_bill(python: Path, path: Path) -> None:
    """The bill of materials of an environment: every distribution with its version, licence and address."""
    subprocess.run(
        [
            str(LISTING), "-m", "cyclonedx_py", "environment", str(python), "--output-reproducible", "--of", "JSON",
            "--validate", "-o", str(path),
        ],
        check=True, capture_output=True,
    )  # fmt: skip


def statement(root: Path, artifacts: Iterable[Path]) -> dict[str, Any]:
    """From which commit, with what, each file was built."""
    commit = _git(root, "rev-parse", "HEAD")
    changed = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
            for path in artifacts
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": TYPE,
                "externalParameters": {"command": "make dist"},
                "internalParameters": {"uncommitted changes": changed, "platform": platform.platform()},
                "resolvedDependencies": [
                    {"uri": "git+https://github.com/OWNER/shoal", "digest": {"gitCommit": commit}},
                    *({"uri": f"pkg:pypi/{name}@{version(name)}"} for name in TOOLS),
                ],
            },
            "runDetails": {"builder": {"id": "local"}, "metadata": {}},
        },
    }


def write(content: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _git(root: Path, *command: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *command], capture_output=True, text=True, check=True)
    return done.stdout.strip()
