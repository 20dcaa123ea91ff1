"""Every privacy model through anonymize, write and verify: the file and its manifest are enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import shoal
from shoal.errors import InfeasibleError, ParameterError, SchemaError

DISEASES = ["gastritis", "ulcer", "flu", "asthma", "hiv"]
TREE = shoal.Hierarchy.from_paths(
    "disease",
    [
        (name, parent, "*")
        for name, parent in zip(DISEASES, ["stomach", "stomach", "lung", "lung", "blood"], strict=True)
    ],
)


@pytest.fixture(scope="module")
def table() -> polars.DataFrame:
    """400 people; some diseases are not known, income is a number that some do not state."""
    generator = np.random.default_rng(5)
    disease = generator.choice(DISEASES, 400, p=[0.3, 0.2, 0.25, 0.15, 0.1]).tolist()
    income = generator.integers(1, 8, 400).tolist()
    return polars.DataFrame(
        {
            "age": generator.integers(18, 80, 400),
            "sex": generator.choice(["f", "m"], 400),
            "zip": generator.choice(["10", "11", "20", "21"], 400),
            "disease": [None if place % 40 == 0 else name for place, name in enumerate(disease)],
            "income": [None if place % 25 == 0 else 1000 * step for place, step in enumerate(income)],
        }
    )


def opened(table: polars.DataFrame, *sensitive: str, strict: bool = False) -> shoal.Dataset:
    trees = {"disease": TREE} if "disease" in sensitive else None
    return shoal.read(
        table, quasi=["age", "sex", "zip"], sensitive=sensitive, hierarchies=trees, protect_jointly=strict
    )


MODELS = [
    shoal.DistinctLDiversity(l=3),
    shoal.EntropyLDiversity(l=3),
    shoal.FrequencyLDiversity(l=2),
    shoal.models.RecursiveLDiversity(c=2, l=2),
    shoal.TCloseness(t=0.2),
    shoal.TCloseness(t=0.2, distance="ordered"),
    shoal.TCloseness(t=0.15, distance="hierarchical"),
    shoal.models.AlphaKAnonymity(alpha=0.5, k=4),
    shoal.models.AlphaKAnonymity(alpha=0.2, k=4, values=("hiv", "asthma")),
    shoal.models.PSensitiveKAnonymity(p=2, k=5),
    shoal.models.BetaLikeness(beta=1.5),
    shoal.models.BetaLikeness(beta=1.5, enhanced=True),
    shoal.models.DeltaDisclosure(delta=1.5),
    shoal.models.DeltaDisclosure(delta=1.5, strict=False),
    shoal.models.DeltaPresence(delta_min=0.01, delta_max=0.3, values=("hiv",)),
    shoal.models.KMap(k=4, values=("hiv",)),
    shoal.models.RhoPrivacy(rho1=0.12, rho2=0.3),
    shoal.models.RhoPrivacy(rho1=0.12, rho2=0.3, values=("hiv",)),
    shoal.models.DisclosureBounds(delta=0.5, epsilon=0.01),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model}{len(getattr(model, 'values', ()))}")
@pytest.mark.smoke
def test_release_is_verified_from_its_manifest_alone(table: polars.DataFrame, tmp_path: Path, model: Any) -> None:
    data = opened(table, "disease")
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), model, algorithm="mondrian")
    assert len(release.classes) > 1
    path = tmp_path / "release.csv"
    release.write(path)
    found = shoal.verify(path)
    assert found.holds
    assert found[model.level].value == release.verify(release.policy)[model.level].value


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model}{len(getattr(model, 'values', ()))}")
def test_k_anonymity_alone_would_not_do(table: polars.DataFrame, model: Any) -> None:
    """The model is what changes the release: without it some class breaks it."""
    release = shoal.anonymize(opened(table, "disease"), shoal.KAnonymity(k=2), algorithm="mondrian")
    assert not model.measure(release.classes).holds


def test_tampering_is_found_by_the_model(table: polars.DataFrame, tmp_path: Path) -> None:
    """A release whose sensitive values were all made one is no longer diverse, whatever the manifest says."""
    path = tmp_path / "release.csv"
    shoal.anonymize(opened(table, "disease"), shoal.EntropyLDiversity(l=2), algorithm="mondrian").write(path)
    polars.read_csv(path).with_columns(disease=polars.lit("flu")).write_csv(path)
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    manifest["sensitive"]["disease"]["leaves"] = [2]
    (tmp_path / "release.csv.manifest.json").write_text(json.dumps(manifest))
    found = shoal.verify(path)
    assert found["entropy-l"].value == 1 and not found["entropy-l"].holds


@pytest.mark.parametrize("strict", [False, True])
def test_several_sensitive_attributes(table: polars.DataFrame, tmp_path: Path, strict: bool) -> None:
    data = opened(table, "disease", "income", strict=strict)
    release = shoal.anonymize(
        data, shoal.DistinctLDiversity(l=2), shoal.TCloseness(t=0.8, distance="ordered"), algorithm="mondrian"
    )
    path = tmp_path / "release.parquet"
    release.write(path)
    found = shoal.verify(path)
    assert found.holds and set(found["distinct-l"].detail) == {"disease", "income"}
    grouped = release.frame.group_by("age", "sex", "zip")
    assert grouped.agg(polars.col("disease", "income").n_unique())[:, 3:].min().min_horizontal()[0] >= 2
    known = release.frame.group_by("age", "sex", "zip", "income").agg(polars.col("disease").n_unique())
    assert (known["disease"].min() >= 2) == strict


def test_verification_is_as_strict_as_the_schema(table: polars.DataFrame, tmp_path: Path) -> None:
    """A release that protects each attribute on its own breaks the strict promise, and the manifest alone shows it."""
    path = tmp_path / "release.csv"
    shoal.anonymize(opened(table, "disease", "income"), shoal.DistinctLDiversity(l=2), algorithm="mondrian").write(path)
    assert shoal.verify(path)["distinct-l"].holds
    manifest = tmp_path / "release.csv.manifest.json"
    assert '"strict": false' in manifest.read_text()
    manifest.write_text(manifest.read_text().replace('"strict": false', '"strict": true', 1))
    found = shoal.verify(path)["distinct-l"]
    assert found.value == 1 and not found.holds


@pytest.mark.parametrize("strict", [True, False])
def test_relaxed_mondrian_with_several_sensitive_attributes(table: polars.DataFrame, strict: bool) -> None:
    """Relaxed cuts part equal records, so that the sides are grouped from rows and not from the summary."""
    data = opened(table, "disease", "income", strict=strict)
    release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm="mondrian:strict=false")
    assert len(release.classes) > 1 and release.verify(release.policy).holds


def test_a_column_is_named(table: polars.DataFrame) -> None:
    data = opened(table, "disease", "income")
    release = shoal.anonymize(data, shoal.DistinctLDiversity(l=4, column="disease"), algorithm="mondrian")
    assert release.verify(release.policy)["distinct-l"].detail == {}
    assert shoal.DistinctLDiversity(l=4, column="disease").measure(release.classes).holds
    with pytest.raises(SchemaError, match="'disease', 'income'"):
        shoal.anonymize(data, shoal.DistinctLDiversity(l=4, column="age"), algorithm="mondrian")


def test_no_sensitive_attribute(table: polars.DataFrame) -> None:
    with pytest.raises(SchemaError, match="sensitive attribute"):
        shoal.anonymize(opened(table), shoal.DistinctLDiversity(l=2), algorithm="mondrian")


@pytest.mark.parametrize(
    "model",
    [
        shoal.DistinctLDiversity(l=7),
        shoal.EntropyLDiversity(l=6),
        shoal.FrequencyLDiversity(l=4),
        shoal.models.RecursiveLDiversity(c=0.2, l=3),
        shoal.models.AlphaKAnonymity(alpha=0.05, k=1, values=("hiv",)),
        shoal.models.PSensitiveKAnonymity(p=2, k=401),
        shoal.models.KMap(k=401, values=("hiv",)),
        shoal.models.DeltaPresence(delta_min=0.5, delta_max=1, values=("hiv",)),
        shoal.models.DisclosureBounds(delta=0.9),
        shoal.models.InferenceL(l=2),
    ],
    ids=str,
)
def test_what_the_whole_table_breaks_has_no_release(table: polars.DataFrame, model: Any) -> None:
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(opened(table, "disease"), model, algorithm="mondrian")
    assert not any(name in str(caught.value) for name in DISEASES)


@pytest.mark.parametrize(
    "model",
    [
        shoal.TCloseness(t=0),
        shoal.TCloseness(t=0, distance="hierarchical"),
        shoal.models.BetaLikeness(beta=1e-9, enhanced=True),
        shoal.models.DeltaDisclosure(delta=1e-9),
    ],
    ids=str,
)
def test_the_whole_table_is_like_itself(table: polars.DataFrame, model: Any) -> None:
    assert len(shoal.anonymize(opened(table, "disease"), model, algorithm="mondrian").classes) >= 1


def test_chosen_values_are_nowhere_in_the_manifest(table: polars.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    models = [
        shoal.models.AlphaKAnonymity(alpha=0.3, k=2, values=("hiv", "ulcer")),
        shoal.models.RhoPrivacy(rho1=0.12, rho2=0.5, values=("hiv",)),
        shoal.models.KMap(k=2, values=("asthma",)),
    ]
    shoal.anonymize(opened(table, "disease"), *models, algorithm="mondrian").write(path)
    text = (tmp_path / "release.csv.manifest.json").read_text()
    assert not any(name in text for name in (*DISEASES, "stomach", "lung", "blood"))
    stated = json.loads(text)["policy"]["models"]
    assert [model["leaves"] for model in stated] == [[2, 5], [5], [4]]
    assert {model["column"] for model in stated} == {"disease"}
    assert shoal.verify(path).holds
    assert not any("hiv" in str(finding.as_dict()) + finding.how for finding in shoal.verify(path))


def test_chosen_values_of_a_numeric_column(table: polars.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    release = shoal.anonymize(
        opened(table, "income"), "alpha-k-anonymity:alpha=0.3,k=2,values=1000|7000", algorithm="mondrian"
    )
    release.write(path)
    assert shoal.verify(path).holds
    shares = release.frame.group_by("age", "sex", "zip").agg(
        low=(polars.col("income") == 1000).fill_null(False).mean(),
        high=(polars.col("income") == 7000).fill_null(False).mean(),
    )
    assert shares["low"].max() <= 0.3 and shares["high"].max() <= 0.3
    assert shares["low"].max() > 0


@pytest.mark.parametrize("values", [("typhus",), ("hiv", "stomach"), ("typhus", "cholera")])
def test_chosen_values_that_there_are_not(table: polars.DataFrame, values: tuple[str, ...]) -> None:
    """The message counts them and does not spell them."""
    model = shoal.models.AlphaKAnonymity(alpha=0.5, k=2, values=values)
    with pytest.raises(ParameterError, match="'disease'") as caught:
        shoal.anonymize(opened(table, "disease"), model, algorithm="mondrian")
    assert not any(value in str(caught.value) or value in repr(model) for value in values)


def test_chosen_values_of_one_of_several_columns(table: polars.DataFrame) -> None:
    with pytest.raises(SchemaError, match="column"):
        shoal.anonymize(
            opened(table, "disease", "income"),
            shoal.models.AlphaKAnonymity(alpha=0.5, k=2, values=("hiv",)),
            algorithm="mondrian",
        )


def test_one_chosen_value_on_the_command_line_is_a_list_of_one() -> None:
    from shoal.job import plugin, spelled

    model = plugin("models", "k-map:k=3,values=yes")
    assert model.values == ("yes",)
    assert plugin("models", spelled(model)) == model


def test_job_keeps_protect_jointly(tmp_path: Path) -> None:
    from shoal import job

    (tmp_path / "table.csv").write_text("zip,ill,paid\n1,a,b\n")
    columns = "".join(f"[columns.{name}]\nrole = 'sensitive'\n" for name in ("ill", "paid"))
    policy = "[policy]\nprotect_jointly = true\nmodels = ['distinct-l-diversity:l=2']\n"
    (tmp_path / "job.toml").write_text("[input]\npath = 'table.csv'\n" + columns + policy)
    loaded = job.load(tmp_path / "job.toml")
    assert loaded.protect_jointly and shoal.api.read_job(loaded).schema.strict
    (tmp_path / "again.toml").write_text(job.toml(loaded))
    assert job.load(tmp_path / "again.toml").protect_jointly
