"""Slicing and its kin: what they refuse and why, how they are spelled, and where columns end up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import job
from shoal.algorithms import _bucketing
from shoal.errors import InfeasibleError, NotDefined, ParameterError, SchemaError, ShoalError

TABLE = pl.DataFrame(
    {
        "name": list("abcdefgh"),
        "age": [22, 22, 33, 52, 54, 60, 60, 64],
        "sex": list("MFFFMMMF"),
        "zip": ["06", "06", "05", "05", "02", "02", "04", "04"],
        "hours": range(8),
        "disease": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)
HALF = shoal.FrequencyLDiversity(l=2)


def read(table: pl.DataFrame = TABLE, **more: Any) -> shoal.Dataset:
    roles = {"quasi": ["age", "sex", "zip"], "sensitive": ["disease"], "identifiers": ["name"], **more}
    return shoal.read(table, **roles)


@pytest.mark.parametrize(
    ("columns", "kind", "words"),
    [
        ("age+sex|zip", ParameterError, "the sensitive attribute 'disease' is left out"),
        ("age|zip+disease", ParameterError, "the quasi-identifier 'sex' is left out"),
        ("age+sex|sex+zip|disease", ParameterError, "overlap in 'sex', by which they can be joined"),
        ("age+sex|zip|disease+sex", ParameterError, "overlap in 'sex'"),
        ("age+disease|sex+zip+disease", ParameterError, "'disease' stands in 2 of them; overlapping-slicing"),
        ("age+age|sex+zip|disease", ParameterError, "names it once"),
        ("age+sex|zip|name|disease", ParameterError, "'name' is not published as it is"),
        ("age+sex|zap|disease", SchemaError, "no column named 'zap'"),
        ("hours+age+sex|zip+hours|disease", ParameterError, "overlap in 'hours'"),
    ],
)
def test_columns_that_make_no_sense(columns: str, kind: type[ShoalError], words: str) -> None:
    with pytest.raises(kind, match=words):
        shoal.anonymize(read(), HALF, algorithm=f"slicing:columns={columns}", seed=1)


def test_an_overlap_of_a_quasi_identifier_is_refused_by_the_overlapping_one_too() -> None:
    with pytest.raises(ParameterError, match="only the sensitive attribute may stand in several"):
        shoal.anonymize(read(), HALF, algorithm="overlapping-slicing:columns=age+sex|sex+zip|disease", seed=1)


@pytest.mark.parametrize("algorithm", ["slicing", "slicing:columns=age+sex+zip|disease", "bucketization"])
def test_more_values_than_there_are(algorithm: str) -> None:
    with pytest.raises(InfeasibleError) as refused:
        shoal.anonymize(read(), shoal.FrequencyLDiversity(l=5), algorithm=algorithm, seed=1)
    assert not any(value in str(refused.value) for value in TABLE["disease"])
    if algorithm != "bucketization":
        assert "5 different sensitive values are wanted together and the table has 4" in str(refused.value)


@pytest.mark.parametrize("algorithm", ["slicing", "slicing:beside=0", "bucketization"])
def test_one_sensitive_value(algorithm: str) -> None:
    data = read(TABLE.with_columns(disease=pl.lit("flu")))
    with pytest.raises(InfeasibleError):
        shoal.anonymize(data, HALF, algorithm=algorithm, seed=1)


@pytest.mark.parametrize("algorithm", ["slicing", "slicing:attacker=target", "bucketization"])
@pytest.mark.parametrize("sensitive", [[], ["disease", "hours"]])
def test_other_than_one_sensitive_attribute(algorithm: str, sensitive: list[str]) -> None:
    models = () if "target" in algorithm else ("t-closeness:t=0.9,column=disease",)
    with pytest.raises(SchemaError, match=f"one sensitive attribute.*names {len(sensitive)}"):
        shoal.anonymize(read(sensitive=sensitive), *models, algorithm=algorithm, seed=1)


@pytest.mark.parametrize("algorithm", ["slicing", "overlapping-slicing:columns=age+sex+zip|disease", "bucketization"])
def test_nobody_is_hidden(algorithm: str) -> None:
    with pytest.raises(ParameterError, match="as they are, so KAnonymity cannot hold"):
        shoal.anonymize(read(), shoal.KAnonymity(k=2), HALF, algorithm=algorithm, seed=1)


def test_models_of_the_whole_table_cannot_be_judged_bucket_by_bucket() -> None:
    with pytest.raises(ParameterError, match="InferenceL judges all classes"):
        shoal.anonymize(read(), shoal.models.InferenceL(l=2), algorithm="slicing", seed=1)


def test_one_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot promise a model"):
        shoal.anonymize(read(), HALF, algorithm="slicing:attacker=target", seed=1)
    with pytest.raises(InfeasibleError, match="found with 100%"):
        shoal.anonymize(read(), algorithm="slicing:attacker=target,columns=age|sex+zip+disease", seed=1)
    release = shoal.anonymize(read(), algorithm="slicing:attacker=target,columns=age+sex|zip+disease", seed=1)
    stated = json.loads(release.write(tmp_path / "release.csv").read_text())
    assert stated["policy"]["models"] == [] and shoal.verify(tmp_path / "release.csv").holds
    stated["algorithm"]["attacker"] = "all"
    (tmp_path / "release.csv.manifest.json").write_text(json.dumps(stated))
    with pytest.raises(ShoalError, match="states no model"):
        shoal.verify(tmp_path / "release.csv")
    monkeypatch.setattr(_bucketing, "WIDEST", 10)
    with pytest.raises(ParameterError, match="take attacker=all"):
        shoal.anonymize(read(), algorithm="slicing:attacker=target,columns=age+sex|zip+disease", seed=1)


def test_one_target_finds_finer_buckets_than_all_do() -> None:
    """The weaker check refuses nothing that the stronger one allows on this table."""
    columns = "columns=age+sex|zip+disease"
    weak = shoal.anonymize(read(), algorithm=f"slicing:attacker=target,{columns}", seed=1)
    strong = shoal.anonymize(read(), HALF, algorithm=f"slicing:{columns}", seed=1)
    assert weak.recoding.facts["buckets"] >= strong.recoding.facts["buckets"] == 4


def test_where_columns_stand() -> None:
    method = shoal.algorithms.Slicing(columns=(("disease",), ("zip",), ("age", "hours"), ("sex",)))
    keyed = shoal.Pseudonyms(key=b"a key of at least sixteen bytes")
    release = shoal.anonymize(read(), HALF, algorithm=method, seed=1, pseudonyms=keyed)
    assert {part: frame.columns for part, frame in release.frames.items()} == {
        "": ["name", "zip", "bucket"], "sensitive": ["disease", "bucket"], "column-3": ["age", "hours", "bucket"],
        "column-4": ["sex", "bucket"],
    }  # fmt: skip
    assert all(frame.height == 8 for frame in release.frames.values())


def test_the_name_of_the_added_column_is_taken() -> None:
    with pytest.raises(SchemaError, match="'bucket'"):
        shoal.anonymize(read(TABLE.rename({"hours": "bucket"})), HALF, algorithm="slicing:beside=0", seed=1)


@pytest.mark.parametrize(
    "spelling",
    [
        "slicing:columns=age+sex|zip+disease,attacker=target,l=3",
        "overlapping-slicing:columns=age+disease|zip+sex+disease",
        "multiset:base=k-member:refine=true;numeric=mean",
        "bucketization:base=anatomy",
    ],
)
def test_spelled_in_a_job_file_they_are_the_same(spelling: str, tmp_path: Path) -> None:
    made = job.plugin("algorithms", spelling)
    assert job.plugin("algorithms", job.spelled(made)) == made
    text = job.toml(job.Job(algorithm=made))
    (tmp_path / "job.toml").write_text(text)
    assert job.load(tmp_path / "job.toml").algorithm == made


def test_what_makes_no_classes_is_no_base() -> None:
    with pytest.raises(ParameterError, match="base: RankSwapping makes no classes"):
        shoal.anonymize(read(), HALF, algorithm="multiset:base=rank-swapping", seed=1)


@pytest.mark.parametrize("base", ["mondrian", "optimal", "anatomy", "k-member", "mondrian:strict=false"])
def test_multisets_of_any_partition(base: str) -> None:
    table = pl.concat([TABLE] * 3)
    method = f"multiset:base={base}"
    allowed = {"rows_are_people": True, "allow_plain": ["hours"]}
    release = shoal.anonymize(read(table), HALF, algorithm=method, suppression=0.3, seed=1, **allowed)
    assert release.verify(release.policy).holds
    counted = sum(held.counts.sum() for held in release.view.distributions()) // 4
    assert counted == release.published.records == release.view.groups().sizes.sum()


def test_overlapping_columns_whose_values_can_be_exchanged() -> None:
    table = pl.DataFrame({"age": [1, 1, 2, 2] * 2, "sex": list("FMFMFMFM"), "ill": ["a"] * 4 + ["b"] * 4})
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["ill"])
    method = "overlapping-slicing:columns=age+ill|sex+ill"
    release = shoal.anonymize(data, HALF, algorithm=method, seed=1)
    assert release.view.groups().histogram().shares.tolist() == [0.5] * len(release.view.groups().histogram().values)
    with pytest.raises(NotDefined, match="stands in several tables"):
        release.view.candidates(data.summary.keys)
    with pytest.raises(InfeasibleError, match="knows its value of 0 of 9 people"):
        shoal.anonymize(
            shoal.read(pl.concat([table, table.head(1)]), quasi=["age", "sex"], sensitive=["ill"]), HALF,
            algorithm=method, seed=1,
        )  # fmt: skip
