"""The defence against dependencies: what it takes and refuses, repairs, and Adult."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError, ParameterError, SchemaError

TWINS = shoal.models.InferenceL(l=2)


@pytest.fixture
def wards() -> shoal.Dataset:
    return shoal.read(shoal.samples.patients_wards(), quasi=["age", "sex", "ward"], sensitive=["disease"])


def test_more_suppression_than_is_allowed(wards: shoal.Dataset) -> None:
    with pytest.raises(InfeasibleError, match="take 8 of the 40 records, and 4 may be left out") as caught:
        shoal.anonymize(wards, TWINS, algorithm="dependency-safe", suppression=0.1)
    assert caught.value.attempt == {"least": 2, "lacking": 8, "budget": 4}


def test_a_bound_that_no_release_can_meet(wards: shoal.Dataset) -> None:
    with pytest.raises(InfeasibleError, match=r"5 values .* the table has 4"):
        shoal.anonymize(wards, shoal.models.InferenceL(l=5), algorithm="dependency-safe", suppression=1.0)


@pytest.mark.parametrize(
    ("models", "algorithm", "kind", "words"),
    [
        ((shoal.KAnonymity(k=2),), "dependency-safe", ParameterError, "must be told how many values"),
        ((TWINS,), "dependency-safe:repair=ward", ParameterError, "leaves values without twins"),
        ((shoal.KAnonymity(k=2),), "dependency-safe:l=2,repair=bed", SchemaError, "no column named 'bed'"),
        ((shoal.KAnonymity(k=2),), "dependency-safe:l=2,repair=age", ParameterError, "does not determine column 'age'"),
        ((TWINS, shoal.KAnonymity(k=2)), "dependency-safe:form=two-table", ParameterError, "as they are"),
    ],
)
def test_what_does_not_fit(
    models: tuple[shoal.KAnonymity, ...], algorithm: str, kind: type[Exception], words: str, wards: shoal.Dataset
) -> None:  # fmt: skip
    with pytest.raises(kind, match=words):
        shoal.anonymize(wards, *models, algorithm=algorithm, suppression=0.5)


def test_one_sensitive_attribute() -> None:
    table = pl.DataFrame({"age": [1, 2], "a": ["x", "y"], "b": ["p", "q"]})
    data = shoal.read(table, quasi=["age"], sensitive=["a", "b"])
    with pytest.raises(SchemaError, match="the schema names 2"):
        shoal.anonymize(data, TWINS, algorithm="dependency-safe")


def test_a_repair_removes_fewer_where_the_other_column_is_coarse() -> None:
    """All illnesses go with one ward, so that knowing the ward tells nothing, and nobody has to go."""
    table = pl.DataFrame({"age": range(12), "ward": ["w"] * 12, "ill": list("aaaaabbbbccd")})
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["ward"])
    algorithm = shoal.algorithms.DependencySafe(l=2, repair="ward")
    release = shoal.anonymize(data, shoal.KAnonymity(k=12), algorithm=algorithm, suppression=0.9, seed=1)
    assert release.recoding is not None and release.recoding.facts["repaired"]
    cut = shoal.anonymize(data, TWINS, algorithm="dependency-safe", suppression=0.9, seed=1)
    assert release.suppressed == 0 and cut.suppressed == 2
    attack = shoal.attacks.FunctionalDependency(determinant=("ill",), dependent="ward")
    assert shoal.attack(data, release, attack)[0].worst <= 0.5


def test_a_repair_does_not_publish_the_other_column_beside_the_value() -> None:
    """Whoever knows it would read the row; in two tables it stands apart."""
    table = pl.DataFrame({"age": range(12), "ward": list("vw") * 6, "ill": list("abababcdcdcd")})
    data = shoal.read(table, quasi=["age"], sensitive=["ill"])
    with pytest.raises(ParameterError, match="column 'ward' would be published beside the sensitive value"):
        shoal.anonymize(data, "k-anonymity:k=4", algorithm="dependency-safe:l=2,repair=ward", suppression=0.9)
    algorithm = "dependency-safe:l=2,repair=ward,form=two-table"
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=algorithm, suppression=0.9, seed=1)
    attack = shoal.attacks.FunctionalDependency(determinant=("ill",), dependent="ward")
    assert shoal.attack(data, release, attack)[0].worst <= 0.5


def test_a_repair_that_is_given_up_leaves_the_cut(wards: shoal.Dataset) -> None:
    """It never hands out the classes of a repair that did not end."""
    algorithm = shoal.algorithms.DependencySafe(l=2, repair="ward", time_limit=1e-9)
    release = shoal.anonymize(wards, shoal.KAnonymity(k=4), algorithm=algorithm, suppression=0.2, seed=1)
    assert release.recoding is not None and not release.recoding.facts["repaired"]
    assert release.suppressed == 8
    attack = shoal.attacks.FunctionalDependency(determinant=("disease",), dependent="ward")
    assert shoal.attack(wards, release, attack)[0].worst == 0.5


def test_removal_counts_per_value_are_not_published(wards: shoal.Dataset, tmp_path: Path) -> None:
    release = shoal.anonymize(wards, TWINS, algorithm="dependency-safe", suppression=0.2, seed=1)
    release.write(tmp_path / "release.csv")
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert sorted(manifest["sensitive"]["disease"]["population"]) == [4, 4, 12, 12], "as published, not as they were"
    assert shoal.verify(tmp_path / "release.csv").holds


def test_adult_with_a_region_that_the_occupation_determines() -> None:
    """By counting where that is possible, and by the bounds of twins for a dependency with a further column."""
    adult = shoal.samples.adult().drop("education-num").head(6000)
    regions = {name: f"r{at % 5}" for at, name in enumerate(sorted(adult["occupation"].unique()))}
    table = adult.with_columns(region=pl.col("occupation").replace(regions))
    # The order of roles is not that of the table.
    roles = {"quasi": ["age", "sex", "education"], "sensitive": ["occupation"], "drop": ["region"]}
    data = shoal.read(table, **roles)
    plain = shoal.attacks.FunctionalDependency(determinant=("occupation",), dependent="region")
    bounded = shoal.attacks.FunctionalDependency(
        determinant=("occupation", "sex"), dependent="region", nodes=1000, sweeps=8
    )
    usual = shoal.anonymize(data, shoal.KAnonymity(k=10), shoal.EntropyLDiversity(l=3), algorithm="mondrian", seed=1)
    (before,) = shoal.attack(data, usual, plain)
    assert before.success > 2 * before.baseline and before.worst == 1.0
    release = shoal.anonymize(
        data, shoal.KAnonymity(k=4), TWINS, algorithm="dependency-safe", suppression=0.3, seed=1
    )  # fmt: skip
    for found in shoal.attack(data, release, plain, bounded):
        assert found.worst <= 0.5


def test_classes_that_look_alike_keep_the_policy_together():
    """Two classes with the same labels are one to whoever reads the release, and it may break what each keeps."""
    days = ["1984-05-17", "2000-02-29", *["1999-12-31"] * 3, None, None, "2000-02-29", "2000-02-29", None]
    table = pl.DataFrame(
        {"born": [*days, "1984-05-17", "1999-12-31", "2000-02-29", "1999-12-31"], "ill": [*"dabccdcbadacad"]}
    )
    data = shoal.read(table, quasi=["born"], sensitive=["ill"])
    release = shoal.anonymize(
        data, "inference-l:l=2", "delta-disclosure:delta=0.7,strict=false", algorithm="dependency-safe",
        suppression=0.5, seed=1, rows_are_people=True,
    )  # fmt: skip
    assert release.suppressed == 2 and release.verify(release.policy).holds
