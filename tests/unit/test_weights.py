"""Survey weights: the role, what is refused, and that they are not published."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.schema import Role
from shoal.errors import InputError, SchemaError
from shoal.job.file import load

WEIGHTS = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0]
EIGHT = pl.DataFrame(
    {"A": [2, 3, 2, 2, 3, 3, 1, 2], "B": [3, 3, 3, 3, 3, 3, 4, 3], "C": [1, 3, 1, 2, 1, 1, 1, 1], "w": WEIGHTS}
)


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_classes_have_sample_and_population_frequencies(engine: str) -> None:
    classes = shoal.read(EIGHT, quasi=["A", "B", "C"], weight="w", engine=engine).summary
    assert classes.sizes.tolist() == [1, 3, 1, 2, 1]
    assert classes.population is not None and classes.population.tolist() == [123.5, 108, 17, 100, 45.5]
    coarser = classes.select(["A"])
    assert coarser.population is not None and coarser.population.tolist() == [123.5, 125, 145.5]


def test_people_weigh_once_however_many_records_they_have() -> None:
    table = pl.DataFrame({"sex": list("ffmmm"), "who": list("aabcc"), "w": [3.0, 3, 5, 7, 7]})
    classes = shoal.read(table, quasi=["sex"], person="who", weight="w").summary
    assert classes.headcounts.tolist() == [1, 2]
    assert classes.population is not None and classes.population.tolist() == [3, 12]
    differing = table.with_columns(pl.Series("w", [3.0, 4, 5, 7, 7]))
    with pytest.raises(InputError, match=r"the records of 1 person differ in the weight column 'w'"):
        shoal.read(differing, quasi=["sex"], person="who", weight="w")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([None, None, 1.0, 1.0], "'w' lacks a value in 2 of 4 records"),
        ([0.0, -1.0, 2.0, 2.0], "'w' is not above 0 in 2 of 4 records"),
        (["heavy", "1", "2", "3"], "'w' is said to be numeric and 1 of its 4 distinct values are not numbers"),
        ([float("inf"), 1.0, 1.0, 1.0], "'w' holds infinite numbers"),
        ([float("nan"), 1.0, 1.0, 1.0], "'w' lacks a value in 1 of 4 records"),
    ],
)
def test_a_column_that_cannot_weigh_is_refused(weights: list[object], message: str) -> None:
    table = pl.DataFrame({"sex": list("ffmm"), "w": weights})
    with pytest.raises((InputError, SchemaError), match=message) as caught:
        shoal.read(table, quasi=["sex"], weight="w")
    assert "heavy" not in str(caught.value)
    with pytest.raises(SchemaError, match="weights are numbers"):
        shoal.read(table, quasi=["sex"], weight="w", kinds={"w": "categorical"})


def test_weights_are_in_no_release_and_the_manifest_says_so(tmp_path: Path, commands) -> None:
    source, out, job = tmp_path / "survey.csv", tmp_path / "out.csv", tmp_path / "job.toml"
    EIGHT.write_csv(source)
    options = ["--quasi", "A,B,C", "--k", "2", "--seed", "1", "--algorithm", "optimal"]
    recoding = tmp_path / "recoding.json"
    ran = commands.run(
        "anonymize", source, "-o", out, *options, "--weight", "w", "--save-job", job, "--save-recoding", recoding
    )
    assert ran.code == 0 and "Not published: w (weight)" in ran.out and "note:" not in ran.err, ran.err
    assert "w" not in pl.read_csv(out).columns
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert {"name": "w", "role": "weight"}.items() <= next(
        each for each in stated["columns"] if each["name"] == "w"
    ).items()
    assert load(job).named(Role.WEIGHT) == ["w"] and load(job).roles.weight == "w"
    assert all(finding.holds is not False for finding in shoal.verify(out))
    EIGHT.drop("w").write_csv(tmp_path / "new.csv")
    assert commands.run("apply", recoding, tmp_path / "new.csv", "-o", tmp_path / "applied.csv").code == 0
    assert commands.run("anonymize", source, "-o", tmp_path / "no.csv", *options, "--weight", "A").code == 2
    EIGHT.with_columns(w=-pl.col("w")).write_csv(source)
    assert commands.run("anonymize", source, "-o", tmp_path / "no.csv", *options, "--weight", "w").code == 2
    assert not (tmp_path / "no.csv").exists()
    pl.read_csv(out).with_columns(w=pl.lit(3.0)).write_csv(out)
    assert not shoal.verify(out)["columns-agree"].holds


@pytest.mark.parametrize("algorithm", ["mondrian", "anatomy", "slicing", "rank-swapping"])
def test_no_form_publishes_them(algorithm: str) -> None:
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 60),
            "zip": rng.integers(0, 9, 60),
            "ill": rng.integers(0, 6, 60).astype(str),
            "w": rng.uniform(1, 9, 60),
        }
    )
    data = shoal.read(table, quasi=["age", "zip"], sensitive=["ill"], weight="w", kinds={"zip": "numeric"})
    models = [] if algorithm == "rank-swapping" else ["distinct-l-diversity:l=2"]
    release = shoal.anonymize(data, *models, algorithm=algorithm, seed=1)
    assert all("w" not in frame.columns for frame in release.frames.values())


def test_weights_that_are_no_more_than_the_records_are_noted() -> None:
    table = pl.DataFrame({"sex": list("ffmm"), "w": [0.5, 1.5, 0.7, 1.3]})
    (note,) = shoal.read(table, quasi=["sex"], weight="w").notes
    assert "add up to 4, no more than the 4 records" in note
    assert not shoal.read(table.with_columns(w=2 * pl.col("w")), quasi=["sex"], weight="w").notes


def test_only_one_column_weighs() -> None:
    with pytest.raises(SchemaError, match="given twice"):
        shoal.read(EIGHT, quasi=["A", "w"], weight="w")
