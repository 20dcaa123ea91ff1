"""The page for recipients agrees with `shoal verify` on the fuzzer's releases, honest and tampered with."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from counts import count
from recipient import Recipient
from tests.fuzz import case as cases
from tests.fuzz.case import Case
from tests.fuzz.checking import manifest_of
from tests.fuzz.drawing import drawn
from tests.fuzz.running import Trial

from shoal.reports.verifier import page

RELEASES = count(6, 100)
"""Each is dropped as it is, and once more when somebody changed it."""


def released(folder: Path) -> Iterator[tuple[Case, Path]]:
    """Releases of the fuzzer's cases, as CSV."""
    for number in range(10 * RELEASES):
        drawn_case = drawn(number)
        ending = drawn_case.ending if drawn_case.ending.startswith(("csv", "tsv")) else "csv"
        case = replace(
            drawn_case, engine="embedded", command=False, repeated=False, steps=(), questions=0, ending=ending
        )
        inside = folder / str(number)
        inside.mkdir()
        trial = Trial(case, inside, Counter())
        source = cases.put(case, trial.given)
        if trial.published(case, source, cases.hierarchies(case, trial.given), trial.target) == "published":
            yield case, trial.target


def tampered(path: Path, chance: Random, target: Path) -> Path:
    """A copy of a release in which somebody changed the table, or what the manifest says of it."""
    for file in path.parent.iterdir():
        shutil.copyfile(file, target / file.name)
    copy, manifest = target / path.name, manifest_of(target / path.name)
    stated: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
    how = chance.choice(["row", "cell", "swap", "bound", "rows", "model", "hash"])
    if how in ("row", "cell", "swap"):
        packed = copy.suffix == ".gz"
        data = gzip.decompress(copy.read_bytes()) if packed else copy.read_bytes()
        head, *lines = data.decode("utf-8").splitlines(keepends=True)
        if how == "row" or len(lines) < 2:
            lines.pop(chance.randrange(len(lines)))
        elif how == "swap":
            lines[chance.randrange(len(lines))] = lines[chance.randrange(len(lines))]
        else:
            at = chance.randrange(len(lines))
            lines[at] = lines[at].replace("1", "2", 1).replace("a", "b", 1)
        changed = "".join([head, *lines]).encode()
        copy.write_bytes(gzip.compress(changed, mtime=0) if packed else changed)
    elif how == "bound" and stated["policy"]["models"]:
        model = chance.choice(stated["policy"]["models"])
        for name, value in model.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                model[name] = value + 1 if isinstance(value, int) else min(value * 1.5, 1) if value < 1 else value * 1.5
    elif how == "rows":
        stated["records"] += 1
    elif how == "model":
        stated["policy"]["models"] = []
    else:
        stated["tables"][0]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(stated), encoding="utf-8")
    return copy


@pytest.fixture
def recipient(looking: Any, tmp_path: Path) -> Recipient:
    (tmp_path / "verify.html").write_text(page(), encoding="utf-8")
    return Recipient(looking.open(tmp_path / "verify.html"))


def test_the_page_agrees_with_the_command(recipient: Recipient, looking: Any, tmp_path: Path) -> None:
    seen, whole, chance, releases = Counter[str](), 0, Random(5), 0
    for _, path in released(tmp_path):
        honest = recipient.agree(path)
        assert honest.verdict in ("unsigned", "partly"), honest
        whole += honest.verdict == "unsigned"
        other = path.parent.with_name("tampered")
        other.mkdir()
        seen[recipient.agree(tampered(path, chance, other)).verdict] += 1
        releases += 1
        if releases == RELEASES:
            break
    assert releases == RELEASES
    assert whole >= RELEASES / 2, "most releases are checked as a whole"
    assert seen["no"] + seen["error"] >= RELEASES / 3, "many changes show; some change nothing that is promised"
    assert looking.quiet and not looking.elsewhere
