"""People counted by the table that a release was made from, whose person column the release has dropped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import api
from shoal.cli import main

QUASI = ["Geburtsdatum", "Geschlecht", "PLZ"]
ROLES = {"quasi": QUASI, "sensitive": ["Diagnose"], "person": "Patientennummer"}


def stays(rows: int = 360, people: int = 60, *, telling: bool = True) -> pl.DataFrame:
    """Stays in a hospital, several a person; laboratory values and days of admission tell most of them apart."""
    draw = np.random.default_rng(5)
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    day, month, year = draw.integers(1, 29, people), draw.integers(1, 13, people), draw.integers(1935, 2005, people)
    table = pl.DataFrame(
        {
            "Patientennummer": [f"P{1000 + each}" for each in who],
            "Geburtsdatum": [f"{day[each]:02}.{month[each]:02}.{year[each]}" for each in who],
            "Geschlecht": [("m", "w")[each % 2] for each in who],
            "PLZ": [("8010", "8020", "8041", "1010", "4020")[each % 5] for each in who],
            "Diagnose": draw.choice(["I10", "E11", "J45", "C50"], rows),
            "Laborwert": [f"{value:.2f}".replace(".", ",") for value in draw.uniform(3, 12, rows)],
            "Aufnahme": [f"{at:02}.03.2023" for at in draw.integers(1, 29, rows)],
        }
    )
    return table if telling else table.drop("Laborwert", "Aufnahme")


def published(folder: Path, algorithm: str, **options: Any) -> tuple[shoal.Dataset, Any, Path]:
    """A table in a file, a release of it, and the release's file."""
    source, path = folder / "stays.csv", folder / "release.csv"
    stays(**options).write_csv(source, separator=";")
    data = shoal.read(source, **ROLES)
    release = shoal.anonymize(data, shoal.KAnonymity(k=11), algorithm=algorithm, seed=1)
    release.write(path)
    assert "Patientennummer" not in path.read_text().splitlines()[0]
    return data, release, path


def people_of(release: Any) -> list[int]:
    return sorted(release.in_people(release.view.people()).headcounts.tolist())


@pytest.mark.parametrize("algorithm", ["k-member", "oka", "mdav"])
def test_overlapping_classes_and_means_are_counted_in_people(algorithm: str, tmp_path: Path) -> None:
    data, release, path = published(tmp_path, algorithm)
    opened = api.open_release(path, data)
    assert people_of(opened) == people_of(release) and people_of(opened)[0] >= 11
    prosecutor, wanted = shoal.attack(data, path, "prosecutor")[0], shoal.attack(data, release, "prosecutor")[0]
    assert (prosecutor.worst, prosecutor.success) == pytest.approx((wanted.worst, wanted.success))
    found = shoal.evaluate(data, path, "gcp")
    assert found["k"].claim == "11-anonymous" and found["k"].unit == "people"


def test_what_the_files_leave_open_has_no_more_people_than_they_may_have(tmp_path: Path) -> None:
    """Without a telling column many placements are possible: one that has the people of the manifest is taken."""
    data, release, path = published(tmp_path, "oka", telling=False)
    opened = api.open_release(path, data)
    stated = json.loads((tmp_path / "release.csv.manifest.json").read_text())["people"]
    assert people_of(opened)[0] == stated["smallest_class"] == people_of(release)[0]
    assert shoal.evaluate(data, path, "gcp")["people"].value == stated["published"]


def test_a_release_of_other_people_is_not_counted(tmp_path: Path) -> None:
    data, _, path = published(tmp_path, "k-member")
    other = stays().with_columns(pl.col("Laborwert").reverse())
    opened = api.open_release(path, shoal.read(other, **ROLES))
    assert opened.members is None
    with pytest.raises(shoal.errors.NotDefined, match="people cannot be counted"):
        shoal.attack(data, opened, "prosecutor")


@pytest.mark.parametrize("given", [False, True])
def test_the_report_counts_people(given: bool, tmp_path: Path) -> None:
    data, release, path = published(tmp_path, "k-member")
    report = shoal.report(data, path, quick=True, made=release if given else None)
    page, text = report.html(), report.json()
    assert "counted in records" not in report.summary + report.verified and "no figure" not in page
    assert "11-anonymous" in report.sentences[1] and report.risk.counted == "people" and report.complete
    assert report.risk.highest == pytest.approx(1 / people_of(release)[0])
    made = {attempt.name for attempt in shoal.attack(data, release)}
    assert {"prosecutor", "marketer", "homogeneity"} <= {attempt.name for attempt in report.attempts} <= made
    assert not given or {attempt.name for attempt in report.attempts} == made
    assert json.loads(text)["verification"]["summary"] == report.verified


def test_a_report_of_another_release_than_was_made_is_refused(tmp_path: Path) -> None:
    data, _, path = published(tmp_path, "k-member")
    other = shoal.anonymize(data, shoal.KAnonymity(k=11), algorithm="mondrian", seed=1)
    with pytest.raises(shoal.errors.InputError, match=r"release\.csv: this is not the file of the release that was"):
        shoal.report(data, path, quick=True, made=other)


def test_a_report_says_what_was_counted_when_it_cannot_be_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.adversary.record_matching.MOST_PAIRS", 0)
    data, release, path = published(tmp_path, "k-member")
    report = shoal.report(data, path, quick=True)
    smallest = people_of(release)[0]
    assert f"People were counted when it was made: 60 of them, and {smallest} in the smallest" in report.sentences[1]
    assert "11-anonymous by " in report.sentences[1] and "(counted in" not in report.sentences[1]
    assert not report.complete and "the risk has no figure" in report.html()


def test_an_attack_with_nothing_to_try_ends_with_2_and_a_short_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shoal.adversary.record_matching.MOST_PAIRS", 0)
    published(tmp_path, "k-member")
    for more in ((), ("--json",), ("--all",)):
        with pytest.raises(SystemExit) as end:
            main(["attack", str(tmp_path / "stays.csv"), str(tmp_path / "release.csv"), *more])
        told = capsys.readouterr()
        assert end.value.code == 2
        assert told.err.startswith("error: No attack can be made on this release: people cannot be counted without")
        assert len(told.err) < 250 and (more == ("--all",)) == ("linkage was not made: " in told.out)
