"""The same input, policy and seed give the same bytes; the order of rows and columns changes no finding."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from canary_table import BODY, HEADER, ROLES


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
def test_same_seed_same_bytes(ending: str, table: Path, tmp_path: Path, shoal) -> None:
    before = digest(table)
    hashes = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        target = tmp_path / f"{name}.{ending}"
        options = ("--k", 4, "--seed", seed, "--algorithm", "oka")
        assert shoal("anonymize", table, "-o", target, *ROLES, *options).code == 0
        hashes.append(digest(target))
    assert hashes[0] == hashes[1] != hashes[2]
    assert digest(table) == before


def test_same_bytes_in_two_processes(table: Path, tmp_path: Path, shoal) -> None:
    """The other process is started anew: what its settings say is read at the start."""
    common = ("anonymize", table, *ROLES, "--k", 4, "--seed", 3, "--algorithm", "oka", "-o")
    assert shoal(*common, tmp_path / "here.csv").code == 0
    subprocess.run(
        [sys.executable, "-m", "shoal", *map(str, common), tmp_path / "there.csv"], check=True, capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "77", "NUMBA_NUM_THREADS": "1"},
    )  # fmt: skip
    assert digest(tmp_path / "here.csv") == digest(tmp_path / "there.csv")


def test_the_order_of_the_rows_is_none_of_the_table(tmp_path: Path, shoal) -> None:
    """Sorted, reversed or shuffled: the release is the same, and its order is not the table's."""
    orders = []
    for name, places in (
        ("up", range(500)),
        ("down", range(499, -1, -1)),
        ("mixed", random.Random(2).sample(range(500), 500)),
    ):
        source, target = tmp_path / f"{name}.csv", tmp_path / f"{name}-out.csv"
        source.write_text("age,place\n" + "".join(f"30,{place}\n" for place in places))
        assert shoal("anonymize", source, "-o", target, "--quasi", "age", "--k", 5, "--seed", 3).code == 0
        with target.open(newline="") as file:
            orders.append([int(record["place"]) for record in csv.DictReader(file)])
    assert orders[0] == orders[1] == orders[2]
    assert sorted(orders[0]) == list(range(500))
    assert sum(place == position for position, place in enumerate(orders[0])) < 25


def measured(source: Path, shoal, *options: object) -> dict:
    exposure = shoal("diagnose", source, *ROLES, "--json")
    target = source.with_name("measured.csv")
    release = shoal("anonymize", source, "-o", target, "--overwrite", *ROLES, "--k", 4, "--json", *options)
    assert release.code == 0
    told = json.loads(release.out)
    return {"diagnosis": json.loads(exposure.out), **{name: told[name] for name in ("findings", "classes", "records")}}


@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian:strict=false", "mondrian:numeric=hierarchy"])
def test_orders_of_the_input_change_no_finding(algorithm: str, tmp_path: Path, shoal) -> None:
    records = [line.split(",") for line in BODY.splitlines()]
    names = HEADER.strip().split(",")
    shuffler = random.Random(5)
    found = []
    for _ in range(4):
        source = tmp_path / "people.csv"
        with source.open("w", newline="") as file:
            csv.writer(file).writerows([names, *records])
        found.append(measured(source, shoal, "--algorithm", algorithm))
        columns = shuffler.sample(range(len(names)), len(names))
        names = [names[column] for column in columns]
        records = [[record[column] for column in columns] for record in shuffler.sample(records, len(records))]
    for other in found[1:]:
        assert other == found[0]


def test_a_verified_release_has_the_same_findings(table: Path, tmp_path: Path, shoal) -> None:
    target = tmp_path / "out.parquet"
    made = shoal("anonymize", table, "-o", target, *ROLES, "--k", 4, "--json")
    evaluated = shoal("evaluate", table, target, *ROLES[:4], "--json")
    found = json.loads(evaluated.out)["findings"]
    for name, finding in json.loads(made.out)["findings"].items():
        assert {key: value for key, value in found[name].items() if key != "baselines"} == finding
