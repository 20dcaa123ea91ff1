"""SimpleKMeans: the clusters of WEKA itself, where it is installed, and of a plain twin."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.algorithms.simple_k_means import _drawn, _filled, simple_k_means
from shoal.core.run import Run

JAR = Path("/usr/share/java/weka.jar")
NUMBERS, NAMES = ("age", "hours-per-week", "education-num"), ("sex", "race", "workclass", "occupation")


def adult(records: int):
    """Rows with missing values, whose names stand for places in alphabetical order."""
    table = shoal.samples.adult(complete=False).head(records)
    columns, values = [], []
    for name in (*NUMBERS, *NAMES):
        series = table[name]
        if name in NUMBERS:
            columns.append(series.cast(float).to_numpy())
            values.append(0)
        else:
            known = sorted(series.drop_nulls().unique().to_list())
            places = {text: float(place) for place, text in enumerate(known)}
            columns.append(np.array([places.get(text, np.nan) for text in series.to_list()]))
            values.append(len(known))
    nominal = np.array([name in NAMES for name in (*NUMBERS, *NAMES)])
    return np.stack(columns, axis=1), nominal, np.array(values, np.int32)


def arff(rows, nominal, values) -> str:
    kinds = [
        "{" + ",".join(f"v{at}" for at in range(count)) + "}" if named else "numeric"
        for named, count in zip(nominal, values, strict=True)
    ]
    lines = ["@relation t", *(f"@attribute a{place} {kind}" for place, kind in enumerate(kinds)), "@data"]
    for row in rows:
        cells = ["?" if np.isnan(cell) else f"v{int(cell)}" if named else repr(float(cell))
                 for cell, named in zip(row, nominal, strict=True)]  # fmt: skip
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


@pytest.mark.skipif(not JAR.exists() or shutil.which("java") is None, reason="they need WEKA and Java")
@pytest.mark.parametrize(("clusters", "seed"), [(2, 10), (20, 10), (100, 3)])
def test_the_clusters_are_those_of_weka(clusters: int, seed: int, tmp_path: Path) -> None:
    rows, nominal, values = adult(300)
    path = tmp_path / "t.arff"
    path.write_text(arff(rows, nominal, values), encoding="utf-8")
    command = [
        "java", "-cp", str(JAR), "weka.filters.unsupervised.attribute.AddCluster", "-W",
        f"weka.clusterers.SimpleKMeans -N {clusters} -S {seed} -I 500 -O", "-i", str(path),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.partition("@data")[2].strip().splitlines()
    theirs = [int(line.rpartition(",")[2].removeprefix("cluster")) for line in lines]
    ours, _ = simple_k_means(rows, nominal, values, clusters, seed, 500, Run())
    assert len(theirs) == 300 and len(set(theirs)) > 1
    assert same_partition(ours.tolist(), theirs)


def same_partition(one: list[int], other: list[int]) -> bool:
    return len(set(one)) == len(set(other)) == len(set(zip(one, other, strict=True)))


def plain(rows, nominal, values, clusters, seed, iterations):
    """The same in plain Python: the clusters, the rounds, and how many clusters vanished."""
    rows = _filled(rows, nominal, values)
    low, width = rows.min(axis=0), rows.max(axis=0) - rows.min(axis=0)

    def norm(row):
        return [
            cell if named else (cell - start) / span if span > 0 else 0.0
            for cell, named, start, span in zip(row, nominal, low, width, strict=True)
        ]

    def apart(one, other):
        total = 0.0
        for a, b, named in zip(norm(one), norm(other), nominal, strict=True):
            total += (float(a != b) if named else a - b) ** 2
        return total**0.5

    centres, owners = rows[_drawn([tuple(row) for row in rows.tolist()], clusters, seed)].tolist(), None
    for rounds in range(1, iterations + 1):  # noqa: B007
        found = [min(range(len(centres)), key=lambda at, row=row: apart(row, centres[at])) for row in rows]
        if found == owners:
            break
        owners, moved = found, []
        for cluster in range(len(centres)):
            members = [row for row, owner in zip(rows, owners, strict=True) if owner == cluster]
            if members:
                moved.append([
                    float(np.argmax(np.bincount([int(row[at]) for row in members], minlength=int(values[at]))))
                    if nominal[at] else sum(row[at] for row in members) / len(members)
                    for at in range(len(nominal))
                ])  # fmt: skip
        centres = moved
    return owners, rounds, clusters - len(centres)


@pytest.mark.parametrize("clusters", [1, 7, 80])
def test_the_kernel_does_what_its_plain_twin_does(clusters: int) -> None:
    rows, nominal, values = adult(240)
    ours, rounds = simple_k_means(rows, nominal, values, clusters, 5, 500, Run())
    theirs, their_rounds, _ = plain(rows, nominal, values, clusters, 5, 500)
    assert (ours.tolist(), rounds) == (theirs, their_rounds)


@pytest.mark.parametrize("iterations", [1, 2, 3, 500])
@pytest.mark.parametrize(("seed", "vanished"), [(1, 0), (36, 0), (146, 0), (10, 1), (31, 1), (63, 1)])
def test_centres_as_near_as_others_and_clusters_that_vanish(seed: int, vanished: int, iterations: int) -> None:
    rows = np.minimum(np.random.default_rng(seed).geometric(0.4, (40, 3)) - 1, 19).astype(float)
    nominal, values = np.array([False, False, True]), np.array([20, 20, 20], np.int32)
    ours, rounds = simple_k_means(rows, nominal, values, 10, seed, iterations, Run())
    theirs, their_rounds, fewer = plain(rows, nominal, values, 10, seed, iterations)
    assert (ours.tolist(), rounds) == (theirs, their_rounds)
    assert fewer == vanished or iterations < 500


@pytest.mark.parametrize("names", [0, 20])
def test_many_attributes_of_which_a_tree_spares_nothing(names: int) -> None:
    generator = np.random.default_rng(names)
    nominal = np.arange(40) < names
    rows = np.where(nominal, generator.integers(0, 5, (300, 40)), generator.random((300, 40)))
    values = np.where(nominal, 5, 0).astype(np.int32)
    ours, rounds = simple_k_means(rows, nominal, values, 60, 1, 3, Run())
    theirs, their_rounds, _ = plain(rows, nominal, values, 60, 1, 3)
    assert (ours.tolist(), rounds) == (theirs, their_rounds)


def test_a_stopped_run_ends() -> None:
    rows, nominal, values = adult(120)
    run = Run()
    run.cancel()
    with pytest.raises(shoal.errors.CancelledError):
        simple_k_means(rows, nominal, values, 7, 5, 500, run)


def test_clusters_on_every_published_column_unless_told_otherwise() -> None:
    import polars as pl

    table = pl.DataFrame(
        {"age": [20, 21, 22, 23] * 5, "disease": ["flu", "cold"] * 10, "name": [f"n{i}" for i in range(20)]}
    )
    data = shoal.read(table, quasi=["age"], sensitive=["disease"], identifiers=["name"])
    by_all, by_age = (
        shoal.anonymize(data, "k-anonymity:k=10", algorithm=f"simple-k-means:columns={columns}", seed=1)
        for columns in ("all", "quasi")
    )
    # the ages of one disease are those of every second year
    assert {tuple(sorted(set(group["disease"]))) for _, group in by_all.frame.group_by("age")} == {("flu",), ("cold",)}
    assert {len(set(group["disease"])) for _, group in by_age.frame.group_by("age")} == {2}
