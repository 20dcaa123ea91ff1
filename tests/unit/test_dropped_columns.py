"""Columns that are left out of a release without anybody saying that they name people."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.core.schema import Role
from shoal.errors import SchemaError, ShoalError
from shoal.job import spelling

ROLES = {"quasi": ["age", "sex"], "sensitive": ["illness"]}
SECRET = "memo 17"


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Sixty people; what is to be left out repeats, as an identifier must not where rows are people."""
    return pl.DataFrame(
        {
            "age": [20 + place % 12 for place in range(120)],
            "sex": ["f", "m"] * 60,
            "illness": ["flu", "cold", "none"] * 40,
            "memo": [f"memo {place // 2}" for place in range(120)],
        }
    )


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize("algorithm", ["mondrian", "anatomy", "slicing", "rank-swapping:share=0.2"])
def test_no_form_publishes_it(table: pl.DataFrame, engine: str, algorithm: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    table.write_csv(source)
    data = shoal.read(source, **ROLES, drop=["memo"], engine=engine)
    models = [] if algorithm.startswith("rank") else [shoal.FrequencyLDiversity(l=2)]
    release = shoal.anonymize(data, *models, algorithm=algorithm, pseudonyms=shoal.Pseudonyms(), seed=1)
    release.write(tmp_path / "out.csv")
    written = [path for path in tmp_path.iterdir() if path.name.startswith("out") and path.suffix == ".csv"]
    assert written and all(SECRET not in path.read_text(encoding="utf-8") for path in written)
    assert not any("memo" in path.read_text(encoding="utf-8").partition("\n")[0] for path in written)
    assert shoal.verify(tmp_path / "out.csv").holds
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))
    assert {"name": "memo", "role": "drop"}.items() <= next(
        column for column in stated["columns"] if column["name"] == "memo"
    ).items()


def test_it_names_nobody(table: pl.DataFrame) -> None:
    """An identifier that repeats says that people have several rows; what is left out says nothing."""
    named = shoal.read(table, **ROLES, identifiers=["memo"])
    with pytest.raises(SchemaError, match="repeats"):
        shoal.anonymize(named, shoal.KAnonymity(k=4), algorithm="mondrian")
    data = shoal.read(table, **ROLES, drop=["memo"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian")
    assert release.frame.columns == ["age", "sex", "illness"]
    shown = {column.name: column.words for column in shoal.api.columns(data, release)}
    assert shown["memo"] == "not published"


def test_it_has_one_role_and_is_a_column(table: pl.DataFrame) -> None:
    with pytest.raises(SchemaError, match="given twice: as sensitive and as drop"):
        shoal.read(table, **ROLES, drop=["illness"])
    with pytest.raises(ShoalError, match="nowhere"):
        shoal.read(table, **ROLES, drop=["nowhere"])


def test_a_plain_column_may_tell_it(table: pl.DataFrame) -> None:
    """Unlike what identifies people, which a column that is published must not tell."""
    doubled = table.with_columns(twin=pl.col("memo").str.replace("memo", "note"))
    data = shoal.read(doubled, **ROLES, drop=["memo"])
    shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian", allow_plain=[], rows_are_people=True)


def test_a_release_that_has_it_after_all_does_not_verify(table: pl.DataFrame, tmp_path: Path) -> None:
    data = shoal.read(table, **ROLES, drop=["memo"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian")
    path = tmp_path / "out.csv"
    release.write(path)
    pl.read_csv(path).with_columns(memo=pl.lit("x")).write_csv(path)
    assert not shoal.verify(path)["columns-agree"].holds


def test_the_command_the_job_and_the_recoding_know_it(table: pl.DataFrame, tmp_path: Path, commands) -> None:
    table.write_csv(tmp_path / "table.csv")
    job, again = tmp_path / "job.toml", tmp_path / "again.csv"
    roles = ("--quasi", "age,sex", "--sensitive", "illness", "--drop", "memo", "--k", "4", "--algorithm", "mondrian")
    ran = commands.run(
        "anonymize", tmp_path / "table.csv", "-o", tmp_path / "out.csv", *roles, "--save-job", job,
        "--save-recoding", tmp_path / "recoding.json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert shoal.job.load(job).named(Role.DROP) == ["memo"]
    assert commands.run("anonymize", "--job", job, "-o", again, "--overwrite").code == 0
    assert again.read_bytes() == (tmp_path / "out.csv").read_bytes()
    table.drop("memo").write_csv(tmp_path / "new.csv")
    applied = commands.run("apply", tmp_path / "recoding.json", tmp_path / "new.csv", "-o", tmp_path / "applied.csv")
    assert applied.code == 0, applied.err
    assert "--drop memo" in spelling.command(shoal.job.load(job))
