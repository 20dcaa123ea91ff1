"""What is verified is the file as a recipient reads it."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal

FORMATS = ("csv", "parquet", "arrow", "csv.gz")


def written(data: shoal.Dataset, path: Path, *models: Any, **options: Any) -> shoal.Release:
    release = shoal.anonymize(data, *models, **options)
    release.write(path)
    return release


@pytest.mark.parametrize("ending", FORMATS)
def test_withheld_values_do_not_shift_the_others(ending: str, tmp_path: Path) -> None:
    """A withheld value that is no number made labels of the rest sort as texts in memory and as numbers in the file."""
    values = ["9", "9", "9", "10", "10"] * 8 + ["unknown"]
    frame = pl.DataFrame({"zip": ["a"] * 40 + ["b"], "stage": values})
    data = shoal.read(frame, quasi=["zip"], sensitive=["stage"])
    path = tmp_path / f"release.{ending}"
    model = shoal.models.AlphaKAnonymity(alpha=0.6, k=3, values=("9",))
    written(data, path, model, suppression=0.1, algorithm="optimal", seed=1)
    found = shoal.verify(path)
    assert found.holds and found["alpha"].value == pytest.approx(0.6)


@pytest.mark.parametrize("ending", FORMATS)
def test_closeness_is_that_of_the_table(ending: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    stages = [str(stage) for stage in generator.choice([7, 8, 9, 10, 11], 600, p=[0.1, 0.2, 0.4, 0.2, 0.1])]
    frame = pl.DataFrame({"zip": ["a", "b"] * 300 + ["c"], "stage": [*stages, "none"]})
    data = shoal.read(frame, quasi=["zip"], sensitive=["stage"])
    path = tmp_path / f"release.{ending}"
    release = written(data, path, "k-anonymity:k=2", "t-closeness:t=0.2", suppression=0.1, algorithm="optimal", seed=1)
    truth = Counter(frame["stage"])
    worst = 0.0
    for _, group in release.frame.group_by("zip"):
        share = Counter(group["stage"])
        worst = max(worst, sum(max(0, share[v] / len(group) - truth[v] / 601) for v in truth))
    assert shoal.verify(path)["t"].value == pytest.approx(worst)


@pytest.mark.parametrize("ending", FORMATS)
def test_the_text_nan_is_not_a_missing_value(ending: str, tmp_path: Path) -> None:
    """As classes: two people whose town is called nan and two without a town are no class of four."""
    frame = pl.DataFrame({"town": ["nan", "nan", None, None, "Ulm", "Ulm"], "note": list("abcdef")})
    data = shoal.read(frame, quasi=["town"])
    path = tmp_path / f"release.{ending}"
    written(data, path, "k-anonymity:k=2", seed=1)
    assert shoal.verify(path)["k"].value == 2
    with path.open("rb") as file:
        assert len(file.read()) > 0


ODD = ("nan", "inf", "-Infinity", "NULL", "1e5", "007", " x ", "1_000")
TURNS = {(odd, FORMATS[(place + more) % len(FORMATS)]) for place, odd in enumerate(ODD) for more in (0, 1)}


@pytest.mark.parametrize(("odd", "ending"), list(product(ODD, FORMATS)) if LONG else sorted(TURNS))
def test_odd_sensitive_texts_are_read_back(odd: str, ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"town": ["Ulm", "Bonn"] * 6, "kind": [odd, odd, "flu"] * 4})
    data = shoal.read(frame, quasi=["town"], sensitive=["kind"])
    path = tmp_path / f"release.{ending}"
    written(data, path, "distinct-l-diversity:l=2", algorithm="mondrian", seed=1)
    assert shoal.verify(path).holds


@pytest.mark.parametrize("ending", FORMATS)
def test_means_of_numbers_that_are_spelled_with_idle_zeros(ending: str, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("dose\n" + "1.10\n1.10\n2.50\n9.00\n9.50\n9.50\n")
    data = shoal.read(source, quasi=["dose"])
    path = tmp_path / f"release.{ending}"
    release = written(data, path, "k-anonymity:k=2", algorithm="mondrian:numeric=mean", seed=1)
    assert shoal.verify(path).holds
    assert shoal.evaluate(data, release)["gcp"].value > 0


def test_a_register_does_not_bring_plain_values_back(tmp_path: Path) -> None:
    """The attack that worked: whoever has the quasi-identifiers in the table's order computes the order of the rows."""
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": generator.integers(20, 70, 500),
            "zip": generator.integers(1, 40, 500),
            "diagnosis": [f"d{number}" for number in range(500)],
        }
    )
    data = shoal.read(frame, quasi=["age", "zip"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=0)
    recovered = 0
    for seed in (0, 1):
        register = shoal.read(frame.drop("diagnosis"), quasi=["age", "zip"])
        again = shoal.anonymize(register, "k-anonymity:k=5", algorithm="mondrian", seed=seed)
        # The attacker's release has the same classes; does its order say which row is whose?
        places = defaultdict(list)
        for place, row in enumerate(release.frame.select("age", "zip").rows()):
            places[row].append(place)
        mine = defaultdict(list)
        marked = shoal.read(frame.drop("diagnosis").with_row_index("who"), quasi=["age", "zip"])
        known = shoal.anonymize(marked, "k-anonymity:k=5", algorithm="mondrian", seed=seed)
        for row in known.frame.select("age", "zip", "who").rows():
            mine[row[:2]].append(row[2])
        assert again.frame.height == 500
        for key, rows in places.items():
            for place, who in zip(rows, mine[key], strict=True):
                recovered += release.frame["diagnosis"][place] == f"d{who}"
    assert recovered < 2 * 500 * 0.35, "no better than a guess inside classes of five and more"


def test_two_releases_of_one_table_do_not_join_by_row_number() -> None:
    frame = shoal.samples.adult().select("age", "sex", "race", "education").head(2000).with_row_index("who")
    data = shoal.read(frame, quasi=["age", "sex", "race", "education"])
    five, many = (shoal.anonymize(data, f"k-anonymity:k={k}", algorithm="mondrian", seed=0).frame for k in (5, 34))
    same = (five["who"] == many["who"]).sum()
    assert same < 20


def test_a_release_without_any_record_is_no_release(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3]})
    data = shoal.read(frame, quasi=["age"], hierarchies={"age": shoal.Hierarchy.flat("age", ["1", "2", "3"])})
    with pytest.raises(shoal.errors.ShoalError):
        shoal.anonymize(data, "k-anonymity:k=4", suppression=1.0, algorithm="optimal").write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_the_manifest_tells_no_seed_and_every_hash(tmp_path: Path) -> None:
    data = shoal.read(shoal.samples.adult().head(500), quasi=["age", "sex"], sensitive=["occupation"])
    release = shoal.anonymize(data, "frequency-l-diversity:l=3", algorithm="anatomy", seed=123456789)
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert "123456789" not in text
    stated = {entry["part"]: entry["sha256"] for entry in json.loads(text)["tables"]}
    files = {"": "out.csv", "sensitive": "out.sensitive.csv"}
    assert stated == {part: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for part, name in files.items()}
    with (tmp_path / "out.sensitive.csv").open(newline="") as file:
        counted = sum(int(row["count"]) for row in csv.DictReader(file))
    assert counted == 500 and shoal.verify(tmp_path / "out.csv").holds
    lines = (tmp_path / "out.sensitive.csv").read_text().splitlines(keepends=True)
    (tmp_path / "out.sensitive.csv").write_text("".join(lines[:-1]))
    assert not shoal.verify(tmp_path / "out.csv").holds


def test_a_drawn_seed_is_told_and_repeats_the_release() -> None:
    data = shoal.read(shoal.samples.adult().head(300), quasi=["age", "sex"])
    first = shoal.anonymize(data, "k-anonymity:k=4", algorithm="oka")
    assert first.policy is not None and first.policy.seed > 2**32
    second = shoal.anonymize(data, "k-anonymity:k=4", algorithm="oka", seed=first.policy.seed)
    assert second.frame.equals(first.frame)
    assert shoal.anonymize(data, "k-anonymity:k=4", algorithm="oka").policy.seed != first.policy.seed


@pytest.mark.parametrize(
    "wrong", [{"seed": 1.5}, {"seed": "1"}, {"seed": True}, {"seed": -1}, {"suppression": "0.1"}, {"suppression": 1.1}]
)
def test_seeds_and_shares_that_are_none(wrong: dict[str, Any]) -> None:
    data = shoal.read(pl.DataFrame({"age": [1, 1]}), quasi=["age"])
    with pytest.raises(shoal.errors.ParameterError):
        shoal.anonymize(data, "k-anonymity:k=2", **wrong)
