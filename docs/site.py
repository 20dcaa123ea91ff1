"""Builds the site of this version into `site/VERSION`, beside those of other versions that are there already.

Pages can be opened from the disk, search included. Where they are served, a menu leads to the other versions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from shoal.version import __version__

ROOT = Path(__file__).parents[1]
LATEST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Shoal</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><p><a href="{version}/index.html">The documentation of Shoal {version}</a></p></body></html>
"""


def build(site: Path = ROOT / "site") -> Path:
    """The folder of this version, when its pages are there."""
    folder = site / __version__
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    # the theme's maker says in every run that there will be another theme
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    versions = sorted((path.parent.name for path in site.glob("*/index.html")), key=_parts, reverse=True)
    entries = [
        {"version": version, "title": version, "aliases": ["latest"] if version == versions[0] else []}
        for version in versions
    ]
    (site / "versions.json").write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    (site / "index.html").write_text(LATEST.format(version=versions[0]), encoding="utf-8")
    return folder


def _parts(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


if __name__ == "__main__":
    print(build())
