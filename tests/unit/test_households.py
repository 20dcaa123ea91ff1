"""Households: the role, what is refused, the risk, and k counted in households."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import polars
import pytest

import shoal
from shoal import api, job
from shoal.adversary.households import household_risks
from shoal.adversary.individual_risk import individual_risk
from shoal.api import anonymizing
from shoal.cli import main
from shoal.core.schema import Role
from shoal.errors import InputError, ParameterError, SchemaError, VerificationError

QUASI = ["age", "sex", "region"]


def people(count: int = 240) -> polars.DataFrame:
    """People of about 80 households, some of whom have two records; the region is the household's."""
    generator = np.random.default_rng(5)
    homes = generator.integers(0, count // 3, count)
    table = polars.DataFrame(
        {
            "who": [f"p{number}" for number in range(count)],
            "home": [f"h{home}" for home in homes],
            "age": generator.integers(20, 60, count),
            "sex": generator.choice(["f", "m"], count),
            "region": [f"r{home % 4}" for home in homes],
            "disease": generator.choice(["flu", "hiv", "cancer"], count),
        }
    )
    return polars.concat([table, table.head(20).with_columns(age=polars.col("age") + 1)])


@pytest.fixture(scope="module")
def table() -> polars.DataFrame:
    return people()


def read(table: polars.DataFrame, **more: object) -> shoal.Dataset:
    given = {"quasi": QUASI, "sensitive": ["disease"], "person": "who", "household": "home", **more}
    return shoal.read(table, **given)


def test_the_role_is_a_household_and_the_column_is_not_published(table):
    data = read(table)
    assert data.schema.household == "home" and data.schema["home"].role is Role.HOUSEHOLD
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal")
    assert release.frame.columns == ["age", "sex", "region", "disease"]
    keyed = shoal.anonymize(
        data, "k-anonymity:k=3", algorithm="optimal", pseudonyms=shoal.Pseudonyms(key=b"k" * 32)
    ).frame
    assert not set(keyed["home"]) & set(table["home"]) and keyed["home"].n_unique() == table["home"].n_unique()


def test_household_risk_is_that_of_finding_one_of_its_members():
    risks = household_risks(np.array([0.02, 0.03, 0.5, 0.03]), np.array([0, 0, 1, 0]))
    assert risks == pytest.approx([0.077918, 0.5], abs=1e-12)
    assert household_risks(np.array([1.0, 0.5]), np.zeros(2, int)).tolist() == [1.0]


def test_the_diagnosis_shows_expected_reidentifications_with_and_without_households():
    rows = {"sex": list("fmfmff"), "home": [1, 1, 2, 2, 3, 3]}
    findings = shoal.diagnose(shoal.read(polars.DataFrame(rows), quasi=["sex"], household="home"))
    assert findings["households"].value == 3 and findings["k-households"].value == 2
    assert findings["unique-households"].value == 1  # two women live together; the others are a woman and a man
    mixed, women = 1 - 0.75 * 0.5, 1 - 0.75**2
    assert findings["expected-reidentifications"].value == pytest.approx(4 * 0.25 + 2 * 0.5)
    assert findings["household-reidentifications"].value == pytest.approx(4 * mixed + 2 * women)
    assert findings["average-household-risk"].value == pytest.approx((2 * mixed + women) / 3)


def test_somebody_with_several_records_counts_once_by_the_smallest_class():
    rows = {"who": [1, 1, 2, 3, 4], "home": [1, 1, 1, 2, 2], "sex": list("fmfff")}
    findings = shoal.diagnose(shoal.read(polars.DataFrame(rows), quasi=["sex"], person="who", household="home"))
    assert findings["expected-reidentifications"].value == pytest.approx(1 + 3 / 4)
    assert findings["household-reidentifications"].value == pytest.approx(2 * 1 + 2 * (1 - (3 / 4) ** 2))


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "k-member"])
@pytest.mark.parametrize("person", ["who", None])
def test_every_class_has_k_households(table, algorithm, person):
    rows = table if person else table.drop("who")
    data = read(rows, person=person)
    release = shoal.anonymize(data, "k-households:k=4", algorithm=algorithm, seed=1)
    assert release.verify(release.policy)["k-households"].holds
    assert release.frame.group_by(QUASI).len()["len"].min() >= 4


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_households_are_counted_alike_on_every_engine(table, engine):
    data = read(table, engine=engine)
    figures = {finding.name: finding.value for finding in shoal.diagnose(data, k=2)}
    oracle = shoal.diagnose(read(table), k=2)
    assert figures == {finding.name: finding.value for finding in oracle}
    assert data.household_variables == ("region",)
    counts = table.group_by(QUASI).agg(polars.col("home").n_unique())["home"]
    assert figures["k-households"] == counts.min()


def test_sql_and_verify_count_households_where_pseudonyms_show_them(table, tmp_path: Path):
    release = shoal.anonymize(
        read(table), "k-households:k=3", algorithm="mondrian", seed=2, pseudonyms=shoal.Pseudonyms(key=b"k" * 32)
    )
    path = tmp_path / "out.csv"
    release.write(path)
    verified = shoal.verify(path)
    assert verified.holds and verified["k-households"].value >= 3
    (query,) = shoal.verification_sql(path, "duckdb")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE release AS SELECT * FROM read_csv('{path}', all_varchar = true)")
        assert connection.execute(query.sql).fetchone() == (verified["k-households"].value, 3, 1)
        connection.execute("UPDATE release SET home = 'one'")
        assert connection.execute(query.sql).fetchone() == (1, 3, 0)


def test_without_pseudonyms_a_recipient_is_told_that_households_cannot_be_counted(table, tmp_path: Path):
    path = tmp_path / "out.csv"
    shoal.anonymize(read(table), "k-households:k=3", algorithm="optimal").write(path)
    finding = shoal.verify(path)["k-households"]
    assert "'home', which the release lacks" in finding.how or "'who', which the release lacks" in finding.how
    assert finding.unit == "records"  # which is what was counted
    (query,) = shoal.verification_sql(path, "duckdb")
    assert query.sql is None and "which the release lacks" in query.reason


def test_k_households_without_a_household_column_is_refused(table):
    data = read(table.drop("home"), household=None)
    with pytest.raises(ParameterError, match="--household"):
        shoal.anonymize(data, "k-households:k=3")
    with pytest.raises(ParameterError, match="cannot count people"):
        shoal.anonymize(read(table.drop("who"), person=None), "k-households:k=3", algorithm="anatomy")


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_bad_households_are_refused_by_count_and_column(table, engine):
    moved = table.with_columns(
        home=polars.when(polars.int_range(polars.len()) < 2).then(polars.lit("secret")).otherwise("home")
    )
    with pytest.raises(InputError, match="'who' and 'home', 2 people are in more than one household") as caught:
        read(moved, engine=engine)
    assert "secret" not in str(caught.value)
    empty = table.with_columns(home=polars.when(polars.int_range(polars.len()) < 3).then(None).otherwise("home"))
    with pytest.raises(InputError, match=r"'home' lacks a value in 3 of 260 records.*household"):
        read(empty, engine=engine)


def test_declared_household_variables_must_not_differ_inside_a_household(table):
    assert read(table, household_variables=["region"]).household_variables == ("region",)
    homes = table.group_by("home").agg(polars.col("sex").n_unique())["sex"]
    differing = int((homes > 1).sum())
    with pytest.raises(InputError, match=f"'sex' .* differs inside {differing} of {len(homes)} households"):
        read(table, household_variables=["sex"])
    with pytest.raises(SchemaError, match="--household"):
        read(table.drop("home"), household=None, household_variables=["region"])
    with pytest.raises(SchemaError, match="'who' is entity"):
        read(table, household_variables=["who"])


def test_the_command_takes_households_and_writes_nothing_when_they_are_bad(table, tmp_path: Path, capsys):
    source, out = tmp_path / "people.csv", tmp_path / "out.csv"
    table.write_csv(source)
    roles = ["--quasi", "age,sex,region", "--sensitive", "disease", "--person", "who", "--household", "home"]

    def run(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *roles])
        assert ended.value.code == code
        return "".join(capsys.readouterr())

    findings = json.loads(run("diagnose", str(source), "--json"))["findings"]
    assert findings["households"]["value"] == table["home"].n_unique()
    target = ["-o", str(out), "--algorithm", "optimal"]
    assert "by households" in run("anonymize", str(source), *target, "--model", "k-households:k=3")
    out.unlink()
    polars.concat([table, table.head(1).with_columns(home=polars.lit("h999"))]).write_csv(source)
    said = run("anonymize", str(source), *target, "--k", "3", "--overwrite", code=2)
    assert "1 person is in more than one household" in said and not out.exists()


def test_a_job_file_has_households(table, tmp_path: Path):
    table.write_csv(tmp_path / "people.csv")
    text = {
        "input": {"path": "people.csv", "household_variables": ["region"]},
        "columns": {
            "age": {"role": "quasi"}, "sex": {"role": "quasi"}, "region": {"role": "quasi"},
            "who": {"role": "entity"}, "home": {"role": "household"}, "disease": {"role": "sensitive"},
        },
    }  # fmt: skip
    made = job.parse(text, tmp_path)
    assert made.roles.household == "home" and made.household_variables == ("region",)
    assert api.read_job(made).schema.household_variables == ("region",)
    twice = {**text, "columns": {**text["columns"], "sex": {"role": "household"}}}
    with pytest.raises(ParameterError, match="2 columns have the role household"):
        api.read_job(job.parse(twice, tmp_path))


def test_with_weights_household_risk_is_made_of_individual_risks(table):
    weights = polars.Series([5.0 + int(name[1:]) % 9 for name in table["who"]])
    data = read(table.with_columns(weight=weights), weight="weight")
    findings = {finding.name: finding.value for finding in shoal.diagnose(data)}
    # Oracle: the exact individual risk of each class, the greatest of each person, 1 - product by household.
    people = table.with_columns(weight=weights).select(*QUASI, "who", "home", "weight").unique()
    classes = people.group_by(QUASI).agg(f=polars.len(), population=polars.col("weight").sum())
    risk = individual_risk(classes["f"].to_numpy(), classes["population"].to_numpy())
    joined = people.join(classes.with_columns(risk=risk), on=QUASI)
    persons = joined.group_by("who").agg(polars.col("home").first(), polars.col("risk").max())
    homes = persons.group_by("home").agg(spared=(1 - polars.col("risk")).product(), members=polars.len())
    assert findings["household-reidentifications"] == pytest.approx(((1 - homes["spared"]) * homes["members"]).sum())
    assert findings["household-reidentifications"] > findings["expected-reidentifications"]
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal")
    after = shoal.evaluate(data, release, "gcp")
    assert 0 < after["household-reidentifications"].value < findings["household-reidentifications"]
    assert [finding.name for finding in after].count("expected-reidentifications") == 1


def with_rooms() -> shoal.Dataset:
    table = people(200).with_columns(rooms=polars.col("home").str.slice(1).cast(int) % 12).head(200)
    return shoal.read(
        table, quasi=["age", "rooms"], household="home", household_variables=["rooms"], identifiers=["who"],
        drop=["sex", "region", "disease"], kinds={"rooms": "numeric"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "coarser"),
    [("mondrian", True), ("k-member", True), ("mdav:numeric=mean", True), ("optimal", False)],
)
def test_household_variables_are_published_alike_for_all_members(algorithm, coarser):
    data = with_rooms()
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm=algorithm, seed=3)
    agreed = release.verify(release.policy)
    assert agreed["household-variables"].value == 0 and agreed.holds
    assert any("household variable 'rooms'" in note for note in release.notes) == coarser
    # Oracle: the cells of the plan, record by record.
    plan, shown = release.recoding.plan, {}
    order = data.table.listing(("age", "rooms"), ("home",), release.seed)[0].tolist()
    owners = plan.owners if plan.by_record else np.repeat(plan.owners, data.summary.sizes)
    for home, owner in zip(order, owners.tolist(), strict=True):
        if owner >= 0:
            shown.setdefault(home, set()).add(str(plan.codebooks[1].labels[plan.cells[1, owner]]))
    assert {len(values) for values in shown.values()} == {1}
    assert len({value for values in shown.values() for value in values}) > 1 or algorithm != "optimal"


def test_members_that_would_show_different_things_are_refused():
    with pytest.raises(ParameterError, match=r"'rooms' would be hidden of some members of \d+ households"):
        shoal.anonymize(with_rooms(), "k-anonymity:k=3", algorithm="cell-suppression:importance=age=9")
    with pytest.raises(ParameterError, match=r"'rooms' would differ inside \d+ households"):
        shoal.anonymize(with_rooms(), algorithm="rank-swapping:columns=rooms", seed=1)
    kept = shoal.anonymize(with_rooms(), algorithm="rank-swapping:columns=age", seed=1)
    assert kept.frame.columns == ["age", "rooms"]
    with pytest.raises(ParameterError, match=r"'rooms' would differ inside \d+ households, because multisets count"):
        shoal.anonymize(with_rooms(), "k-anonymity:k=3", algorithm="multiset", seed=1)
    alike = shoal.anonymize(with_rooms(), "k-anonymity:k=101", algorithm="multiset", seed=1)
    assert alike.verify(alike.policy)["household-variables"].holds


def test_a_release_whose_members_show_different_things_is_withheld(monkeypatch):
    monkeypatch.setattr(anonymizing, "with_consistent_households", lambda data, recoding, seed: recoding)
    with pytest.raises(VerificationError, match="household-variables"):
        shoal.anonymize(with_rooms(), "k-anonymity:k=3", algorithm="mondrian", seed=3)


def test_the_figures_of_a_survey_are_those_of_brute_force(reference: Path):
    """The table of sdcMicro's tests: 4,580 people of 1,000 households."""
    names = ["urbrur", "roof", "sex", "age"]
    table = polars.read_csv(reference.parent / "survey" / "testdata.csv", infer_schema_length=None)
    data = shoal.read(table, quasi=names, household="ori_hid", drop=[*set(table.columns) - {*names, "ori_hid"}])
    findings = shoal.diagnose(data)
    people = table.select(
        "ori_hid", risk=1 / polars.len().over(names), kind=polars.concat_str(names, separator="|", ignore_nulls=False)
    )
    homes = people.group_by("ori_hid").agg(
        risk=1 - (1 - polars.col("risk")).product(), members=polars.len(), kinds=polars.col("kind").sort()
    )
    assert findings["households"].value == len(homes) == 1000
    assert findings["expected-reidentifications"].value == pytest.approx(people["risk"].sum())
    assert findings["household-reidentifications"].value == pytest.approx((homes["risk"] * homes["members"]).sum())
    assert findings["unique-households"].value == (homes.group_by("kinds").len()["len"] == 1).sum()
