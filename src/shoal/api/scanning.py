"""Scanning files before they are shared or committed: which of them expose people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from shoal.api.asking import detect, diagnose
from shoal.api.reading import read
from shoal.api.verifying import verify
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.diagnosis.detection import Detection
from shoal.diagnosis.scanning import Scan, Verdict, about_people
from shoal.errors import ParameterError, ShoalError
from shoal.publishing.writable_release import manifest_path


def scan(files: Iterable[str | Path], *, k: int = 5, allow: Sequence[str] = (), run: Run | None = None) -> list[Scan]:
    """What each of some files would give away if it were shared as it is.

    Roles are detected. A table about people exposes somebody where a column names people, or where fewer than `k`
    share all quasi-identifiers. A release that keeps its manifest with at least that k is fine, whatever it holds.

    Args:
        files: tables of any format that `read` takes.
        k: how many people have to look alike.
        allow: columns that may be there, such as a study number that outsiders cannot know.
        run: receives progress, and can stop the scan.

    Example:
        >>> import tempfile, pathlib, shoal.api
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = pathlib.Path(folder) / "patients.csv"
        ...     _ = table.write_text("age,sex\\n" + "41,f\\n" * 6 + "50,m\\n")
        ...     [found] = shoal.api.scan([table])
        >>> found.verdict, found.quasi, found.below
        ('exposed', ('age', 'sex'), 1)
    """
    if k < 2:
        raise ParameterError("k must be at least 2: one person alone is always found")
    watch = run or Run()
    paths = [Path(file) for file in files]
    scans = []
    for place, path in enumerate(paths):
        watch.report(place / len(paths), "scanning")
        scans.append(_scan(path, k, allow, watch))
    return scans


def _scan(path: Path, k: int, allow: Sequence[str], run: Run) -> Scan:
    name = str(path)
    if _released(path, k):
        return Scan(file=name, verdict="release", k=k)
    detection = detect(path, run=run)
    if not about_people(detection):
        return Scan(file=name, verdict="not people", k=k)
    columns = {role: [each for each in names if each not in allow] for role, names in detection.roles().items()}
    identifiers, quasi = tuple(columns["identifiers"]), tuple(columns["quasi"])
    people, below = _below(path, quasi, detection, k)
    verdict: Verdict = "exposed" if identifiers or below else "safe"
    return Scan(file=name, verdict=verdict, k=k, people=people, below=below, identifiers=identifiers, quasi=quasi)


def _released(path: Path, k: int) -> bool:
    """Whether a file is a release that keeps what its manifest promises, which is at least this k."""
    if not manifest_path(path).is_file():
        return False
    try:
        findings = verify(path)
    except ShoalError:  # not such a manifest, or not of this file: the file is looked at as any other
        return False
    reached = next((each.value for each in findings if each.name == "k"), None)
    return findings.holds and isinstance(reached, int) and reached >= k


def _below(path: Path, quasi: Sequence[str], detection: Detection, k: int) -> tuple[int, int]:
    """How many people there are, and how many share the quasi-identifiers with fewer than k - 1 others."""
    if not quasi:
        return detection.people or detection.records, 0
    person = next((name for name, role in detection.job_roles().items() if role is Role.ENTITY), None)
    data = read(path, quasi=quasi, person=person)
    below = diagnose(data, k=k)["records-below-k" if person is None else "people-below-k"].value
    return data.people or data.records, int(below or 0)
