"""`python -m distribution`: builds everything into `dist/`, checks it, and tries the wheel of this machine.

Wheels are built from the sdist: one for every platform, and for each Python that is found here one with kernels
compiled for each kind of machine. `--python 3.12` builds for that one only, `--machine aarch64` for that machine only.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from distribution import building, provenance, trial

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m distribution", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder, which is emptied")
    parser.add_argument("--python", action="append", help=f"one of {', '.join(building.PYTHONS)} (default: all there)")
    parser.add_argument("--machine", action="append", choices=building.MACHINES, help="(default: all on Linux)")
    parser.add_argument("--final", action="store_true", help="refuse what must not be uploaded")
    given = parser.parse_args()
    shutil.rmtree(given.output, ignore_errors=True)
    given.output.mkdir(parents=True)
    if given.final:
        building.check_final(ROOT)
    sdist = building.build_sdist(ROOT, given.output)
    building.build_wheel(sdist, given.output, sys.executable, "0")
    for version, python in building.interpreters(given.python or building.PYTHONS).items():
        for machine in given.machine or building.MACHINES:
            wheel = building.build_wheel(sdist, given.output, python, machine)
            print(f"Python {version}, {machine}: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    artifacts = sorted(given.output.iterdir())
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, artifacts)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        print(trial.run(building.chosen(given.output, sys.version_info, platform.machine()), Path(folder)))
        environment = trial.python_of(Path(folder))
        bill = given.output / f"{sdist.name.removesuffix('.tar.gz')}.cdx.json"
        provenance.write_bill(environment, bill)
    building.write_recipe(ROOT, sdist, given.output)
    statement = provenance.statement(ROOT, artifacts)
    provenance.write(statement, bill.with_suffix("").with_suffix(".provenance.json"))
    print(f"Written to {given.output}: {', '.join(sorted(path.name for path in given.output.iterdir()))}")


if __name__ == "__main__":
    main()
