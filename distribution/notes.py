"""`python -m distribution.notes 0.1.0`: what the changelog says of a version, for the page of its release."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def notes(version: str, changelog: str) -> str:
    """The part of a changelog below the heading of a version."""
    parts = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    own = [part.partition("\n")[2].strip() for part in parts if part.split()[0] == version]
    if len(own) != 1:
        sys.exit(f"the changelog has {len(own)} parts for version {version}")
    return own[0]


if __name__ == "__main__":
    print(notes(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")))
