"""The attack by a functional dependency: which columns it takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined, ParameterError, SchemaError


@pytest.fixture
def table() -> pl.DataFrame:
    """Two classes of three; the illness determines the city but for one record, and with the sex it does."""
    return pl.DataFrame(
        {
            "age": [1, 1, 1, 2, 2, 2],
            "sex": list("fmfmff"),
            "city": list("ABCADB"),
            "ill": ["flu", "cold", "gout", "flu", "hiv", "flu"],
            "number": range(6),
        }
    )


def made(table: pl.DataFrame, *plain: str, algorithm: str = "mondrian") -> tuple[shoal.Dataset, shoal.Release]:
    drop = [name for name in table.columns if name not in ("age", "ill", *plain)]
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=drop)
    model = shoal.KAnonymity(k=3) if algorithm == "mondrian" else shoal.FrequencyLDiversity(l=2)
    return data, shoal.anonymize(data, model, algorithm=algorithm, seed=1)


def spelled(**given: object) -> shoal.attacks.FunctionalDependency:
    return shoal.attacks.FunctionalDependency(**{"determinant": ("ill",), "dependent": "city", **given})


def test_a_dependency_that_does_not_hold_is_refused_with_the_count(table: pl.DataFrame) -> None:
    data, release = made(table)
    with pytest.raises(ParameterError, match="does not hold: 1 of 6 records break it") as caught:
        shoal.attack(data, release, spelled())
    assert not any(value in str(caught.value) for value in table["ill"])
    (found,) = shoal.attack(data, release, spelled(tolerance=0.2))
    assert found.detail["violations"] == 1 and found.success >= found.baseline


def test_another_column_beside_the_sensitive_one(table: pl.DataFrame) -> None:
    data, release = made(table)
    moved = table.with_columns(pl.when(pl.col("number") == 5).then(pl.lit("m")).otherwise("sex").alias("sex"))
    data, release = made(moved.with_columns(city=pl.Series(list("ABCBDB"))))
    with pytest.raises(ParameterError, match="does not hold"):
        shoal.attack(data, release, spelled())
    (found,) = shoal.attack(data, release, spelled(determinant=("sex", "ill")))
    assert found.detail["exact"] and found.detail["violations"] == 0


def test_a_condition(table: pl.DataFrame) -> None:
    data, release = made(table)
    (found,) = shoal.attack(data, release, spelled(condition="sex", value="m"))
    assert found.detail["violations"] == 0
    with pytest.raises(ParameterError, match="1 of 4"):
        shoal.attack(data, release, spelled(condition="sex", value="f"))
    (named,) = shoal.attack(data, release, spelled(condition="ill", value="cold"))
    assert named.detail["exact"]
    with pytest.raises(ParameterError, match="no such value") as caught:
        shoal.attack(data, release, spelled(condition="sex", value="secret"))
    assert "secret" not in str(caught.value) and "secret" not in repr(spelled(condition="sex", value="secret"))


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"dependent": "town"}, SchemaError, "no column named 'town'"),
        ({"determinant": ("ills",)}, SchemaError, "no column named 'ills'"),
        ({"condition": "sort"}, SchemaError, "no column named 'sort'"),
        ({"determinant": ("ill",), "dependent": "ill"}, ParameterError, "determines itself"),
        ({"determinant": ()}, ParameterError, "at least one column"),
        ({"determinant": ("ill", "ill")}, ParameterError, "each once"),
        ({"determinant": ("age",)}, NotDefined, "0 sensitive attributes"),
    ],
)
def test_dependencies_that_make_no_sense(
    given: dict[str, object], kind: type[Exception], words: str, table: pl.DataFrame
) -> None:  # fmt: skip
    data, release = made(table)
    with pytest.raises(kind, match=words):
        shoal.attack(data, release, spelled(**given))


def test_a_determinant_that_is_unique_per_record(table: pl.DataFrame) -> None:
    """Values of one class are twins then; knowing who has which number tells nothing."""
    data, release = made(table.with_columns(ill=pl.Series(list("uvwxyz"))))
    (found,) = shoal.attack(data, release, spelled())
    assert found.worst == pytest.approx(1 / 3) and found.success == pytest.approx(1 / 3)


def test_columns_that_determine_each_other(table: pl.DataFrame) -> None:
    """Either way round the attacker knows the same."""
    data, release = made(table.with_columns(city="city of " + pl.col("ill")))
    (one,) = shoal.attack(data, release, spelled())
    (other,) = shoal.attack(data, release, spelled(determinant=("city",), dependent="ill"))
    assert one.success == pytest.approx(other.success) and one.worst == other.worst == 1.0


def test_records_that_were_left_out_are_in_no_class() -> None:
    table = pl.DataFrame({"age": [1, 1, 1, 9], "city": list("ABCD"), "ill": list("xyzw")})
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["city"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="optimal", suppression=0.25, seed=1)
    assert release.suppressed == 1
    (found,) = shoal.attack(data, release, spelled())
    assert found.worst == pytest.approx(1 / 3)


def test_a_file_is_attacked_where_it_tells_who_is_where(table: pl.DataFrame, tmp_path: Path) -> None:
    table = table.with_columns(city=pl.Series(list("ABCADA")))
    data, release = made(table)
    release.write(tmp_path / "release.csv")
    assert shoal.attack(data, tmp_path / "release.csv", spelled()) == shoal.attack(data, release, spelled())


@pytest.mark.parametrize(("algorithm", "read"), [("mondrian", ["city"]), ("anatomy", [])])
def test_a_column_that_is_published_beside_the_value_is_read(
    table: pl.DataFrame, algorithm: str, read: list[str]
) -> None:
    """In one table the row tells; two tables keep the value apart, and the attacker has to reason."""
    table = table.with_columns(
        city=pl.Series(list("ABCADE")), ill=pl.Series(["flu", "cold", "gout", "flu", "hiv", "cough"])
    )
    data, release = made(table, "city", algorithm=algorithm)
    (found,) = shoal.attack(data, release, spelled())
    (blind,) = shoal.attack(*made(table, algorithm=algorithm), spelled())
    assert found.detail["read"] == read and blind.detail["read"] == []
    if read:
        # By hand: every group has each city once, so the row of a person's city is the person's.
        assert found.success == found.worst == found.baseline == 1.0 > blind.success
    else:
        assert (found.success, found.baseline) == (blind.success, blind.baseline)


def test_a_column_that_is_read_is_one_of_several(table: pl.DataFrame) -> None:
    """By hand: of the groups of three, knowing the sex leaves f: gout or flu; m: cold | m: flu; f: hiv or flu."""
    table = table.with_columns(city=pl.Series(list("ABCBDB")))
    table = table.with_columns(pl.when(pl.col("number") == 5).then(pl.lit("m")).otherwise("sex").alias("sex"))
    (found,) = shoal.attack(*made(table, "sex"), spelled(determinant=("sex", "ill")))
    assert found.detail["read"] == ["sex"] and found.baseline == pytest.approx((0.5 + 0.5 + 1 + 1 + 1 + 1) / 6)


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_how_a_column_is_spelled_does_not_matter(engine: str) -> None:
    """Dates are understood for the attack; records stay in the order in which the release has them."""
    days = [f"{1 + at % 9:02}.03.2024" for at in range(60)]
    table = pl.DataFrame({"age": [at // 10 for at in range(60)], "day": days, "ill": [day[1] for day in days]})
    found = []
    for spelling in (pl.col("day"), pl.col("day").str.to_date("%d.%m.%Y")):
        data = shoal.read(table.with_columns(spelling), quasi=["age"], sensitive=["ill"], drop=["day"], engine=engine)
        release = shoal.anonymize(data, shoal.KAnonymity(k=10), algorithm="mondrian", seed=1)
        found += shoal.attack(data, release, spelled(dependent="day"))
    assert found[0] == found[1]


def test_a_perturbation_has_no_groups(table: pl.DataFrame) -> None:
    data, _ = made(table)
    release = shoal.anonymize(data, algorithm="rank-swapping", seed=1)
    with pytest.raises(NotDefined):
        shoal.attack(data, release, spelled(tolerance=0.4))


def test_many_people_and_many_values() -> None:
    """A hundred values that a hundred others determine are counted; with a column beside there is an answer, too."""
    generator = np.random.default_rng(5)
    values = generator.integers(0, 100, 1500)
    table = pl.DataFrame(
        {
            "age": generator.integers(0, 400, 1500),
            "sex": generator.choice(["f", "m"], 1500),
            "city": [f"c{value}" for value in values],
            "ill": [f"i{value}" for value in values],
        }
    )
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["city", "sex"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, spelled())
    assert found.detail["exact"] and found.success > 0.9 > found.baseline
    (beside,) = shoal.attack(data, release, spelled(determinant=("ill", "sex"), sweeps=8))
    assert not beside.detail["exact"] and beside.detail["low"] <= beside.success <= beside.detail["high"] + 1e-12


@pytest.mark.parametrize("column", ["ward", "bed"])
def test_engines_agree(column: str) -> None:
    """Also about a column that is not published, which is encoded for the attack alone."""
    table = shoal.samples.patients_wards().with_columns(bed="bed of " + pl.col("ward"))
    attack = shoal.attacks.FunctionalDependency(determinant=("disease",), dependent=column)
    found = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(table, quasi=["sex", "age", "ward"], sensitive=["disease"], drop=["bed"], engine=engine)
        release = shoal.anonymize(
            data,
            shoal.models.InferenceL(l=2),
            algorithm="dependency-safe",
            suppression=0.2,
            seed=3,
        )
        found += shoal.attack(data, release, attack)
    assert found[0] == found[1] and found[0].worst == 0.5
