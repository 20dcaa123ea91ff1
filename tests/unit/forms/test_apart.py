"""Forms that publish columns apart: what their views say, and what a changed file is caught at."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.adversary import matching
from shoal.errors import InfeasibleError, NotDefined, ShoalError
from shoal.publishing.writable_release import part_path
from shoal.storage.files import sha256

METHODS = ["multiset", "slicing:columns=age|sex|disease", "slicing:columns=age|sex+disease", "bucketization"]


def table(seed: int, rows: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": generator.integers(20, 26, rows),
            "sex": generator.choice(["f", "m", None], rows).tolist(),
            "disease": generator.choice(list("abcd"), rows),
        }
    )


def read(frame: pl.DataFrame) -> shoal.Dataset:
    return shoal.read(frame, quasi=["age", "sex"], sensitive=["disease"])


@settings(max_examples=count(12, 30), deadline=None)
@given(st.integers(0, 999), st.integers(8, 40), st.sampled_from(METHODS[:3]))
def test_where_people_can_be(seed: int, rows: int, method: str) -> None:
    """By the definition: the records of a group, times the shares of each of the person's values."""
    data = read(table(seed, rows))
    try:
        release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=method, seed=seed)
    except InfeasibleError:
        return
    columns = [each for each in release.view.distributions() if set(each.columns) & {"age", "sex"}]
    people, found = data.summary.keys, release.view.candidates(data.summary.keys)
    parts = int(max(each.groups.max() for each in columns)) + 1
    sizes = np.bincount(columns[0].groups, weights=columns[0].counts, minlength=parts)
    for person in range(people.shape[1]):
        weights = sizes.copy()
        for each in columns:
            hit = np.ones(len(each.counts), dtype=np.bool_)
            for name, leaves in zip(each.columns, each.leaves, strict=True):
                if name in ("age", "sex"):
                    hit &= leaves == people[["age", "sex"].index(name), person]
            weights *= np.bincount(each.groups[hit], weights=each.counts[hit], minlength=parts) / sizes
        chances = found.chances[found.starts[person] : found.starts[person + 1]]
        assert sorted(chances) == pytest.approx(sorted(weights[weights > 0] / weights.sum()))


def test_columns_are_distributions() -> None:
    frame = table(1, 30)
    for method in METHODS:
        release = shoal.anonymize(read(frame), shoal.DistinctLDiversity(l=2), algorithm=method, seed=1)
        held = release.view.distributions()
        assert sorted(name for each in held for name in each.columns) == ["age", "disease", "sex"]
        assert all(
            each.counts.sum() == 30 and each.leaves.shape == (len(each.columns), len(each.counts)) for each in held
        )
    with pytest.raises(NotDefined, match="ranges of values"):
        shoal.anonymize(read(frame), shoal.KAnonymity(k=2), algorithm="mondrian", seed=1).view.distributions()


def test_nobodys_record_can_be_found_where_quasi_identifiers_stand_apart() -> None:
    data = read(table(1, 30))
    apart = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=METHODS[1], seed=1)
    with pytest.raises(NotDefined, match="nobody's record"):
        apart.view.people()
    together = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm="slicing:columns=age+sex|disease", seed=1)
    assert sorted(together.view.people().sizes) == sorted(data.summary.sizes)
    assert shoal.attack(data, together, "prosecutor")[0].success == len(data.summary) / 30


def test_rows_cannot_be_put_side_by_side_again() -> None:
    """The rows of two tables of a bucket stand in orders that have nothing to do with each other."""
    frame = pl.DataFrame({"age": range(400), "sex": ["f"] * 400, "disease": [f"d{row}" for row in range(400)]})
    release = shoal.anonymize(
        read(frame), shoal.DistinctLDiversity(l=200), algorithm="slicing:columns=age+sex|disease", seed=1
    )
    pairs = zip(release.frame["age"], release.frames["sensitive"]["disease"], strict=True)
    assert sum(f"d{age}" == disease for age, disease in pairs) <= 8


@pytest.mark.parametrize("method", METHODS)
def test_tables_that_do_not_fit_together_are_noticed(method: str, tmp_path: Path) -> None:
    """Whoever changes a count or a bucket, and the hash with it, is caught by the counts of the others."""
    release = shoal.anonymize(read(table(1, 30)), shoal.DistinctLDiversity(l=2), algorithm=method, seed=1)
    path = tmp_path / "release.csv"
    manifest = release.write(path)
    last = list(release.tables)[-1]
    place = part_path(path, last)
    lines = place.read_text().splitlines()
    if method == "multiset":
        lines[1] = re.sub(r":\d+", ":9", lines[1], count=1)
    else:
        fields = lines[1].split(",")
        at = release.frames[last].columns.index("group" if method == "bucketization" else "bucket")
        moved = next(row.split(",")[at] for row in lines[1:] if row.split(",")[at] != fields[at])
        lines[1] = ",".join([*fields[:at], moved, *fields[at + 1 :]])
    place.write_text("\n".join(lines) + "\n")
    stated = json.loads(manifest.read_text())
    for entry in stated["tables"]:
        entry["sha256"] = sha256(part_path(path, entry["part"]))
    manifest.write_text(json.dumps(stated))
    found = shoal.verify(path)
    assert found["unchanged"].holds and not found.holds


@pytest.mark.parametrize("method", METHODS[1:3])
def test_a_bucket_that_the_main_table_lacks(method: str, tmp_path: Path) -> None:
    release = shoal.anonymize(read(table(1, 30)), shoal.DistinctLDiversity(l=2), algorithm=method, seed=1)
    manifest = release.write(tmp_path / "release.csv")
    place = part_path(tmp_path / "release.csv", "sensitive")
    lines = place.read_text().splitlines()
    place.write_text("\n".join([*lines[:-1], lines[-1].rpartition(",")[0] + ",99"]) + "\n")
    stated = json.loads(manifest.read_text())
    for entry in stated["tables"]:
        entry["sha256"] = sha256(part_path(tmp_path / "release.csv", entry["part"]))
    manifest.write_text(json.dumps(stated))
    with pytest.raises(ShoalError, match="not in the main table"):
        shoal.verify(tmp_path / "release.csv")


def test_classes_with_the_same_multisets_are_one() -> None:
    """Two classes of one tuple each and two of two: a reader sees equal cells, and counts their rows."""
    frame = pl.DataFrame({"age": [1, 1, 1, 1], "sex": ["f"] * 4, "disease": list("abcd")})
    release = shoal.anonymize(read(frame), shoal.FrequencyLDiversity(l=2), algorithm="multiset:base=anatomy", seed=1)
    assert set(release.frame["age"]) == {"{1:2}"} and release.view.groups().sizes.tolist() == [4]
    assert release.view.distributions()[0].counts.tolist() == [4] and release.verify(release.policy).holds


@pytest.mark.parametrize("method", METHODS[:3])
def test_blocks_do_not_change_what_is_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = read(table(1, 60))
    release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=method, seed=1)
    whole = release.view.candidates(data.summary.keys)
    monkeypatch.setattr(matching, "BLOCK", 7)
    parts = release.view.candidates(data.summary.keys)
    assert parts.starts.tolist() == whole.starts.tolist() and parts.classes.tolist() == whole.classes.tolist()
    assert parts.chances.tolist() == whole.chances.tolist()


def test_the_attack_by_a_dependency_from_the_files(tmp_path: Path) -> None:
    """Where everybody fits into one group only, files say as much as the plan."""
    frame = pl.DataFrame(
        {"age": [1, 1, 1, 2, 2, 2], "sex": list("ffffff"), "city": list("ABCADE"), "disease": list("123145")}
    )
    data = read(frame)
    attack = shoal.attacks.FunctionalDependency(determinant=("disease",), dependent="city")
    for method in METHODS[:3]:
        release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=3), algorithm=method, seed=1)
        release.write(tmp_path / "release.csv")
        found = shoal.attack(data, tmp_path / "release.csv", attack)
        assert found == shoal.attack(data, release, attack) and found[0].worst == 1
