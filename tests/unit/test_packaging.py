"""Packaging: what is built has all it needs and nothing else, brings compiled kernels, and works where it is installed.

`make test-long` also installs the wheel with each Python that is found here, and uses it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from counts import LONG
from distribution import building, notes, provenance, trial

import shoal

ROOT = Path(__file__).parents[2]
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
LARGEST = 480
"""Megabytes of the default installation."""
ARM = 183
"""The number of the machine in an ELF file."""
RUNNING = """
import sys
from types import SimpleNamespace
from numba.core.event import Listener, register
from shoal.kernels import shipped
if "old" in sys.argv:
    shipped.llvm = SimpleNamespace(get_host_cpu_features=dict)
import numpy as np
from shoal.kernels import grouping
compiled = []

class Count(Listener):
    def on_start(self, event):
        compiled.append(1)

    def on_end(self, event):
        pass

register("numba:compile", Count())
print(grouping._bits(np.array([5, 0, 9])), len(compiled))
"""


def test_the_lowest_versions_are_those_of_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    bounds = dict(each.split(">=") for each in listed if ">=" in each)
    pinned = dict(line.split("==") for line in (ROOT / "constraints-lowest.txt").read_text().split())
    assert len(bounds) > 20
    for name, bound in bounds.items():
        name = name.partition("[")[0]
        assert f"{pinned[name]}.".startswith(f"{bound}."), f"{name}: {bound} is allowed and {pinned[name]} is tried"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is built, with a short record of what is compiled ahead."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    kernels = copy / "src" / "shoal" / "kernels"
    shutil.copytree(ROOT / "src" / "shoal" / "kernels", kernels, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "version.py"):
        shutil.copy(ROOT / "src" / "shoal" / name, kernels.parent)
    record = json.loads((kernels / "ahead.json").read_text(encoding="utf-8"))
    short = [entry for entry in record if entry[:2] == ["grouping._bits", ["int64 1C"]]]
    assert len(short) == 1
    (kernels / "ahead.json").write_text(json.dumps(short), encoding="utf-8")
    return copy


def built(sources: Path, folder: Path, **environment: str) -> Path:
    """A wheel, and what lies where it is installed."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=sources, check=True, capture_output=True, env={**os.environ, **environment},
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    return wheel


def ran(installed: Path, kernels: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUNNING, *arguments], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(kernels)},
    )  # fmt: skip
    return done.stdout.strip()


def test_a_wheel_brings_its_kernels_compiled(sources: Path, tmp_path: Path) -> None:
    wheel = built(sources, tmp_path)
    assert not wheel.name.endswith("-any.whl")
    installed = tmp_path / "installed"
    assert ran(installed, tmp_path / "first") == "2 0", "it compiled what the wheel brings"
    assert ran(installed, tmp_path / "second", "old") == "2 1", "this processor cannot run what the wheel brings"
    (path,) = installed.glob("shoal/kernels/grouping.py")
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert ran(installed, tmp_path / "third") == "2 1", "sources that were changed are compiled"


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")
def test_kernels_are_compiled_for_another_machine(sources: Path, tmp_path: Path) -> None:
    wheel = built(sources, tmp_path, SHOAL_COMPILE="aarch64")
    assert wheel.name.endswith("-manylinux_2_17_aarch64.whl")
    (kernel,) = tmp_path.glob("installed/shoal/kernels/compiled/*.kernel")
    content = kernel.read_bytes()
    machines = [struct.unpack_from("<H", content, match.start() + 18)[0] for match in re.finditer(b"\x7fELF", content)]
    assert machines and set(machines) == {ARM}
    assert ran(tmp_path / "installed", tmp_path / "kept") == "2 1", "this machine does not run what is for another"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist and the wheel for every platform, as they go out."""
    folder = tmp_path_factory.mktemp("dist")
    for target in ("sdist", "wheel"):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
            cwd=ROOT, check=True, capture_output=True, env={**os.environ, "SHOAL_COMPILE": "0"},
        )  # fmt: skip
    return folder


def test_a_wheel_without_compiled_kernels_is_for_every_platform(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".kernel")]


def test_what_goes_out_is_whole_and_passes_the_index(dist: Path) -> None:
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    listing = subprocess.run(
        ["git", "ls-files", "src/shoal"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    packed = zipfile.ZipFile(wheel).namelist()
    own = {path.removeprefix("src/") for path in listing if (ROOT / path).exists()}
    assert own <= set(packed)
    assert {name.split("/")[0] for name in packed} == {"shoal", f"shoal-{shoal.__version__}.dist-info"}
    assert not [name for name in packed if "__pycache__" in name or name.endswith(".kernel")]
    with tarfile.open(sdist) as file:
        unpacked = {name.partition("/")[2] for name in file.getnames()}
    assert {f"src/{name}" for name in own} <= unpacked and not [name for name in unpacked if name.startswith("tests")]
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True, capture_output=True
    )


def test_the_metadata_say_what_an_index_shows(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    (name,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    metadata = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode())
    assert metadata["Version"] == shoal.__version__ and metadata["License-Expression"] == "Apache-2.0"
    classifiers = metadata.get_all("Classifier") or []
    pythons = [each.rpartition(" ")[2] for each in classifiers if re.search(r"Python :: 3\.\d+$", each)]
    assert tuple(pythons) == building.PYTHONS
    assert {"Source", "Issues", "Changelog", "Documentation"} <= {
        each.partition(",")[0] for each in metadata.get_all("Project-URL") or []
    }
    text = metadata.get_payload()
    assert isinstance(text, str) and "# Shoal" in text
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links and [link for link in links if not link.startswith("https://")] == [], "links that break elsewhere"
    needed = [each for each in metadata.get_all("Requires-Dist") or [] if "extra ==" not in each]
    assert not [each for each in needed if each.startswith(("polars", "pandas", "duckdb", "altair"))]


def test_where_it_came_from_is_said_of_every_file(dist: Path) -> None:
    artifacts = sorted(dist.iterdir())
    said = provenance.statement(ROOT, artifacts)
    assert {each["name"]: each["digest"]["sha256"] for each in said["subject"]} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in artifacts
    }
    commit = said["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["gitCommit"]
    assert re.fullmatch(r"[0-9a-f]{40}", commit)


def test_notes_of_a_version_come_from_the_changelog() -> None:
    assert notes.notes("0.2.0", "# C\n\n## 0.2.0 (2027-01-01)\n\n- new\n\n## 0.1.0 (x)\n\n- old\n") == "- new"
    with pytest.raises(SystemExit, match="0 parts for version 9"):
        notes.notes("9", "## 0.1.0\n")
    assert notes.notes(shoal.__version__, notes.CHANGELOG.read_text(encoding="utf-8"))


def test_what_has_no_home_is_not_uploaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src/shoal").mkdir(parents=True)
    (tmp_path / "src/shoal/version.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## 1.2.0 (not yet released)\n")
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.urls]\nSource = "https://example.org/OWNER"\n')
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.3.0")
    with pytest.raises(SystemExit, match="Source still say OWNER"):
        building.check_final(tmp_path)
    project.write_text('[project.urls]\nSource = "https://example.org/shoal"\n')
    with pytest.raises(SystemExit, match="no heading"):
        building.check_final(tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("## 1.2.0 (2027-01-31)\n")
    with pytest.raises(SystemExit, match=r"the tag is v1.3.0, and .* says 1.2.0"):
        building.check_final(tmp_path)
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.2.0")
    building.check_final(tmp_path)


@pytest.fixture(scope="module")
def pythons() -> dict[str, str]:
    """The Pythons that are there, by version."""
    return building.interpreters(building.PYTHONS)


LOWEST_AND_NEWEST = (building.PYTHONS[0], building.PYTHONS[-1])
"""What neither of them refuses, none in between does."""


@pytest.mark.parametrize("version", [each for each in (building.PYTHONS if LONG else LOWEST_AND_NEWEST) if each != OWN])
def test_other_pythons_read_the_sources(version: str, pythons: dict[str, str]) -> None:
    if version not in pythons:
        pytest.skip(f"there is no Python {version} here")
    reading = (  # to compile them takes half the time of parsing them into a tree, and refuses more
        "import pathlib, sys; [compile(p.read_bytes(), p, 'exec') for p in pathlib.Path(sys.argv[1]).rglob('*.py')]"
    )
    subprocess.run([pythons[version], "-W", "error", "-c", reading, str(ROOT / "src")], check=True)


@pytest.mark.skipif(not LONG, reason="it installs everything anew; make test-long does")
@pytest.mark.parametrize("version", building.PYTHONS)
def test_the_wheel_works_where_it_is_installed(
    version: str, dist: Path, tmp_path: Path, pythons: dict[str, str]
) -> None:
    if version not in pythons:
        pytest.skip(f"there is no Python {version} here")
    (wheel,) = dist.glob("*.whl")
    tried = trial.run(wheel, tmp_path, pythons[version])
    assert "The release is what its manifest says" in tried.printed and "3 columns naming people" in tried.printed
    assert tried.megabytes < LARGEST, str(tried)
    if not provenance.LISTING.exists():
        pytest.skip("the bill of materials needs the environment of make dist")
    provenance.write_bill(trial.python_of(tmp_path), tmp_path / "bill.json")
    bill = json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    assert {"shoal", "numba", "pyarrow"} <= {each["name"] for each in bill["components"]}
    assert "polars" not in {each["name"] for each in bill["components"]}


def test_every_target_of_make_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    explained = re.findall(r"^  make (\S+) +\S", shown, re.MULTILINE)
    assert sorted(explained) == sorted(set(phony.split()) - {"packages"})
