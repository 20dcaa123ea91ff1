"""People who have several records: what is refused, what a release and its manifest say, and what verifying finds."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal import api, job, registry
from shoal.api.asking import model_name, prototype
from shoal.errors import InputError, ParameterError, SchemaError, VerificationError

QUASI, SENSITIVE = ["age", "sex", "ward"], ["disease"]


def visits(records=240, people=40, seed=0):
    """Visits of people, each of a fixed age and sex."""
    draw = np.random.default_rng(seed)
    who = np.concatenate([np.arange(people), draw.integers(0, people, records - people)])
    return pl.DataFrame(
        {
            "patient": [f"person {each}" for each in who],
            "age": 20 + who * 7 % 30,
            "sex": np.where(who % 2 == 1, "f", "m"),
            "ward": draw.choice(list("abcd"), records),
            "disease": draw.choice(["flu", "gout", "cold", "angina"], records),
        }
    )


def read(table=None, **more):
    return shoal.read(visits() if table is None else table, quasi=QUASI, sensitive=SENSITIVE, person="patient", **more)


def written(release, folder, ending="csv"):
    path = folder / f"release.{ending}"
    release.write(path)
    return path, json.loads(path.with_name(path.name + ".manifest.json").read_text())


def heads(table, person="patient"):
    """How many people each class of a table has, by plain polars."""
    return table.group_by(QUASI).agg(pl.col(person).n_unique().alias("people"))["people"]


def test_a_class_of_k_records_may_be_one_person():
    """What counting rows lets through, and counting people does not."""
    table = visits()
    keyed = shoal.Pseudonyms()
    careless = shoal.anonymize(
        shoal.read(table, quasi=QUASI, identifiers=["patient"]), "k-anonymity:k=3", algorithm="mondrian", seed=1,
        pseudonyms=keyed, rows_are_people=True,
    )  # fmt: skip
    assert heads(careless.frame).min() < 3
    careful = shoal.anonymize(read(table), "k-anonymity:k=3", algorithm="mondrian", seed=1, pseudonyms=keyed)
    assert heads(careful.frame).min() >= 3
    assert careful.verify(careful.policy)["k"].value == heads(careful.frame).min()


def test_without_a_person_column_every_record_is_a_person():
    data = shoal.read(visits(), quasi=QUASI, sensitive=SENSITIVE)
    assert data.people is None and data.summary.people is None
    assert data.summary.headcounts is data.summary.sizes
    histogram = data.summary.histogram("disease")
    assert histogram.parts is histogram
    assert np.array_equal(histogram.distribution, histogram.priors)


def test_people_with_one_record_each_are_counted_as_records_are():
    """Everything that is published and found is the same when every record is somebody else's."""
    table = visits().with_columns(pl.int_range(pl.len()).cast(pl.String).alias("patient"))
    plain = shoal.read(table.drop("patient"), quasi=QUASI, sensitive=SENSITIVE)
    for algorithm in ("optimal", "samarati", "mondrian"):  # which part no equal records
        models = ("k-anonymity:k=3", "entropy-l-diversity:l=1.5")
        counted = shoal.anonymize(read(table), *models, algorithm=algorithm, seed=1)
        wanted = shoal.anonymize(plain, *models, algorithm=algorithm, seed=1)
        assert [finding.value for finding in counted.verify(counted.policy)] == pytest.approx(
            [finding.value for finding in wanted.verify(wanted.policy)]
        )
        assert counted.frame.equals(wanted.frame)


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_a_person_column_that_lacks_values_is_refused_with_their_number(engine):
    table = visits().with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("patient")).alias("patient")
    )
    with pytest.raises(InputError, match="'patient' lacks a value in 3 of 240 records"):
        read(table, engine=engine)


def test_a_person_column_has_no_other_role():
    with pytest.raises(SchemaError, match="'age' was given twice"):
        shoal.read(visits(), quasi=QUASI, person="age")
    with pytest.raises(SchemaError, match="no column named 'nobody'"):
        shoal.read(visits(), quasi=QUASI, person="nobody")
    with pytest.raises(SchemaError, match="no column has a role"):
        shoal.read(visits(), person="patient")


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_an_identifier_that_repeats_stops_with_advice(engine):
    data = shoal.read(visits(), quasi=QUASI, identifiers=["patient"], engine=engine)
    with pytest.raises(SchemaError, match=r"'patient' repeats in 200 of 240 records.*--person.*--rows-are-people"):
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian")
    assert shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", rows_are_people=True).suppressed == 0
    alone = visits().unique("patient")
    assert shoal.anonymize(
        shoal.read(alone, quasi=QUASI, identifiers=["patient"], engine=engine), "k-anonymity:k=3", algorithm="mondrian"
    )


def test_blanks_around_an_identifier_and_missing_ones_are_no_people():
    table = pl.DataFrame({"age": [1, 1, 1, 1], "name": ["Ann", "Ann ", None, None]})
    for engine in ("embedded", "duckdb"):
        data = shoal.read(table, quasi=["age"], identifiers=["name"], engine=engine)
        assert data.table.count_repeats("name") == 1


def test_saying_both_is_refused():
    with pytest.raises(SchemaError, match="rows_are_people"):
        shoal.anonymize(read(), "k-anonymity:k=3", algorithm="mondrian", rows_are_people=True)


def test_what_does_not_count_people_says_so():
    data = read()
    with pytest.raises(ParameterError, match="anatomy cannot count people, only records; use mondrian"):
        shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy")
    for model in ("inference-l:l=2", shoal.models.DeltaPresence(delta_max=0.9, values=("flu",))):
        with pytest.raises(ParameterError, match="does not count people"):
            shoal.anonymize(data, model, algorithm="mondrian")
        with pytest.raises(ParameterError, match="does not count people"):
            shoal.ask(data, notion=model, question=2, attributes=QUASI)


@pytest.mark.parametrize("name", registry.names("models"))
def test_every_model_takes_people_with_one_record_each_for_records(name):
    draw = np.random.default_rng(5)
    columns = {"sex": list("fm"), "town": list("abcde"), "disease": ["cancer", "flu", "hiv"], "job": list("xy")}
    table = pl.DataFrame({column: draw.choice(values, 80) for column, values in columns.items()})
    table = table.with_columns(pl.int_range(pl.len()).alias("who"))
    for strict in (False, True):
        roles = {"quasi": ["sex", "town"], "sensitive": ["disease", "job"][: 1 + strict], "protect_jointly": strict}
        plain, counted = shoal.read(table, **roles).summary, shoal.read(table, **roles, person="who").summary
        kind = registry.find("models", name)
        for example in kind.examples:
            model = registry.make(
                "models", name, {**example, **({"column": "disease"} if strict and kind.needs_sensitive else {})}
            )
            if not model.counts_people:
                with pytest.raises(ParameterError, match="does not count people"):
                    model.check_people()
                continue
            for index in (None, [0, 0, 1, 1, 1, 2, 2, 2, 0, -1]):
                some = [each if index is None else each.rolled(np.array(index, np.int32), np.zeros((0, 3), np.int32))
                        for each in (plain, counted)]  # fmt: skip
                assert model.levels(some[1]).tolist() == pytest.approx(model.levels(some[0]).tolist())
                assert model.measure(some[1]).value == pytest.approx(model.measure(some[0]).value)


def test_every_algorithm_counts_people_or_refuses():
    """Whatever is in the registry: a release that it makes has k people in every class."""
    data = read(visits(120, 30))
    for name in registry.names("algorithms"):
        made = registry.make("algorithms", name, {}) if registry.complete("algorithms", name) else None
        if made is None or not made.claims or not made.counts_people:
            continue
        models = ["k-anonymity:k=4"] + ["distinct-l-diversity:l=2"] * (name in ("bucket-clustering", "l-member"))
        release = shoal.anonymize(data, *models, algorithm=made, seed=2, pseudonyms=shoal.Pseudonyms())
        assert heads(release.frame).min() >= 4, name


ENGINES, ENDINGS = ("embedded", "duckdb"), ("csv", "parquet")


@pytest.mark.parametrize(
    ("engine", "ending"), list(product(ENGINES, ENDINGS)) if LONG else list(zip(ENGINES, ENDINGS, strict=True))
)
def test_a_file_without_the_person_column_says_what_it_cannot_tell(tmp_path, engine, ending):
    release = shoal.anonymize(read(engine=engine), "k-anonymity:k=3", "t-closeness:t=0.6", algorithm="mondrian", seed=1)
    path, manifest = written(release, tmp_path, ending)
    assert "patient" not in release.frame.columns
    smallest = release.verify(release.policy)["k"].value
    assert manifest["people"] == {"column": "patient", "published": 40, "smallest_class": smallest}
    found = shoal.verify(path, engine=engine)
    assert found.holds
    assert found["k"].value >= smallest and "counted in records" in found["k"].how
    assert found["t"].value is None and found["t"].holds is None and "'patient'" in found["t"].how
    assert found["people"].value is None and "40 people" in found["people"].how


def test_pseudonyms_let_people_be_counted_again(tmp_path):
    data = read()
    models = ("k-anonymity:k=3", "frequency-l-diversity:l=1.1", "t-closeness:t=0.6")
    release = shoal.anonymize(data, *models, algorithm="mondrian", seed=1, pseudonyms=shoal.Pseudonyms())
    path, manifest = written(release, tmp_path)
    found = shoal.verify(path)
    assert found.holds and found["people"].value == 40
    for name in ("k", "frequency-l", "t"):
        assert found[name].value == pytest.approx(release.verify(release.policy)[name].value)
    assert found["k"].value == heads(pl.read_csv(path)).min() == manifest["people"]["smallest_class"]
    assert manifest["people"]["populations"]["disease"] == data.summary.histogram("disease").parts.population.tolist()


def test_a_manifest_that_tells_something_else_about_people_is_found_out(tmp_path):
    release = shoal.anonymize(
        read(), "k-anonymity:k=3", "t-closeness:t=0.6", algorithm="mondrian", seed=1, pseudonyms=shoal.Pseudonyms()
    )
    path, manifest = written(release, tmp_path)
    beside = path.with_name(path.name + ".manifest.json")
    few = {"populations": {"disease": [1] * 4}}
    for lie in ({"published": 41}, {"count": 30}, few):
        beside.write_text(json.dumps({**manifest, "people": {**manifest["people"], **lie}}))
        assert shoal.verify(path)["people"].holds is False, lie
    for changed in (
        {key: value for key, value in manifest.items() if key != "people"},
        {**manifest, "people": {**manifest["people"], "column": "age"}},
        {**manifest, "people": {**manifest["people"], "populations": {"disease": [1]}}},
        {**manifest, "people": {**manifest["people"], "populations": {"nothing": [1]}}},
    ):
        beside.write_text(json.dumps(changed))
        with pytest.raises(InputError, match="this manifest is broken"):
            shoal.verify(path)


def test_the_same_person_has_one_pseudonym_and_no_name_is_left():
    release = shoal.anonymize(
        read(),
        "k-anonymity:k=3",
        algorithm="mondrian",
        seed=1,
        pseudonyms=shoal.Pseudonyms(key=b"sixteen bytes or more"),
    )
    tokens = release.frame["patient"]
    assert tokens.n_unique() == 40 and not tokens.str.contains("person").any()


def _careless(data):
    """A recoding whose classes have three records each, whoever they are of."""
    rows = shoal.read(visits(), quasi=QUASI, sensitive=SENSITIVE, engine=data.engine)
    return shoal.anonymize(rows, "k-anonymity:k=3", algorithm="mondrian", seed=1, allow_plain=["patient"]).recoding


PSEUDONYMS = (None, shoal.Pseudonyms())


@pytest.mark.parametrize(
    ("engine", "pseudonyms"),
    list(product(ENGINES, PSEUDONYMS)) if LONG else list(zip(ENGINES[::-1], PSEUDONYMS, strict=True)),
)
def test_verification_finds_classes_of_k_records_and_fewer_people(engine, pseudonyms, monkeypatch):
    data = read(engine=engine)
    policy = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1).policy
    release = api.publish(data, _careless(data), policy, pseudonyms=pseudonyms)
    assert release.view.people().sizes.min() >= 3
    found = release.verify(policy)["k"]
    assert found.value < 3 and found.holds is False
    monkeypatch.setattr(shoal.algorithms.Mondrian, "search", lambda self, *_: release.recoding)
    with pytest.raises(VerificationError, match=r"breaks its policy \(k\)"):
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1, pseudonyms=pseudonyms)


def test_people_are_counted_only_in_the_classes_that_were_decided_on():
    """People are counted in the classes that were decided on: the file must have those."""
    release = shoal.anonymize(read(), "k-anonymity:k=3", algorithm="mondrian", seed=1)
    other = shoal.anonymize(read(), "k-anonymity:k=20", algorithm="mondrian", seed=1)
    with pytest.raises(VerificationError, match="classes"):
        replace(release, tables=other.tables).verify(release.policy)


def test_a_file_may_spell_numbers_otherwise(tmp_path):
    """And people are still found in their classes: a CSV file has 1e-7 for what Python spells 1e-07."""
    draw = np.random.default_rng(0)
    doses, codes = draw.choice([1e-7, 2.5, 1e20, 3.0], 200), draw.choice(["007", "7", "x"], 200)
    table = pl.DataFrame({"who": draw.integers(0, 20, 200), "dose": doses, "code": codes})
    data = shoal.read(table, quasi=["dose", "code"], person="who")
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1)
    assert release.recoding.levels == (0, 0)
    path, manifest = written(release, tmp_path)
    assert "1e-7" in path.read_text() and manifest["people"]["smallest_class"] == shoal.diagnose(data)["k"].value >= 2


def test_a_release_beside_its_table_is_counted_in_people_where_nothing_is_in_doubt(tmp_path):
    data = read()
    release = shoal.anonymize(data, "k-anonymity:k=3", "t-closeness:t=0.6", algorithm="optimal", seed=1)
    path, _ = written(release, tmp_path)
    opened = api.open_release(path, data)
    for name in ("k", "t"):
        assert opened.verify(release.policy)[name].value == pytest.approx(release.verify(release.policy)[name].value)
    assert shoal.evaluate(data, path)["people"].value == 40


def test_a_release_beside_its_table_that_leaves_doubts_has_the_people_of_its_manifest(tmp_path):
    data = read()
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="k-member", seed=1)
    path, manifest = written(release, tmp_path)
    found = shoal.evaluate(data, path)
    assert found["gcp"].value == pytest.approx(shoal.evaluate(data, release)["gcp"].value)
    assert found["k"].value == manifest["people"]["smallest_class"] and found["people"].value == 40
    assert shoal.attack(data, path, "prosecutor")[0].worst == pytest.approx(1 / found["k"].value)


def test_exposure_and_attacks_count_people():
    table = pl.DataFrame(
        {
            "patient": ["a", "a", "a", "b", "c", "b"],
            "age": [1, 1, 1, 1, 2, 2],
            "sex": ["f"] * 6,
            "ward": ["x"] * 6,
            "disease": ["flu", "flu", "gout", "flu", "gout", "cold"],
        }
    )
    found = shoal.diagnose(read(table), k=3)
    assert {each.name: each.value for each in found} == {
        "k": 2, "people": 3, "records": 6, "classes": 2, "unique-people": 0, "highest-risk": 0.5, "average-risk": 0.5,
        "dominance": 0.75, "people-below-k": 3,
    }  # fmt: skip
    release = shoal.anonymize(read(table), "k-anonymity:k=2", algorithm="optimal", seed=1)
    prosecutor, homogeneity = shoal.attack(read(table), release, "prosecutor", "homogeneity")
    assert (prosecutor.success, prosecutor.baseline, prosecutor.worst) == (0.5, 1 / 3, 0.5)
    # both a and b have had flu at age 1; of those at age 2 one has gout and one a cold
    assert (homogeneity.success, homogeneity.baseline, homogeneity.worst) == (0.75, 2 / 3, 1.0)


def test_pseudonyms_show_who_is_alone_by_all_records():
    data = read()
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1, pseudonyms=shoal.Pseudonyms())
    classes = release.frame.group_by("patient", *QUASI).len().sort("patient", *QUASI)
    whole = classes.group_by("patient").agg(pl.struct(*QUASI, "len").alias("all"))["all"].to_list()
    alone = sum(whole.count(each) == 1 for each in whole)
    assert 0 < alone == shoal.evaluate(data, release)["unique-by-all-records"].value
    hidden = shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1))
    assert "unique-by-all-records" not in {finding.name for finding in hidden}


def test_the_job_file_and_the_command_line_say_the_same(tmp_path):
    visits().write_csv(tmp_path / "visits.csv")
    text = {
        "input": {"path": "visits.csv"},
        "columns": {
            "age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ward": {"role": "quasi"},
            "disease": {"role": "sensitive"}, "patient": {"role": "entity"},
        },
        "policy": {"models": ["k-anonymity:k=3"], "seed": 1},
        "output": {"path": "release.csv"},
    }  # fmt: skip
    made = job.parse(text, tmp_path)
    assert made.person == "patient" and job.parse(_toml(made, tmp_path), tmp_path) == made
    outcome = api.run(made)
    assert outcome.release.verify(outcome.release.policy)["k"].value >= 3
    assert outcome.findings["people"].value == 40
    twice = {**text, "columns": {**text["columns"], "sex": {"role": "entity"}}}
    with pytest.raises(ParameterError, match="2 columns have the role entity"):
        api.read_job(job.parse(twice, tmp_path))


def _toml(made, folder: Path):
    import tomllib

    return tomllib.loads(job.toml(made, folder))


def test_rows_are_people_in_a_job_file(tmp_path):
    made = job.parse({"policy": {"rows_are_people": True}}, tmp_path)
    assert made.rows_are_people and "rows_are_people = true" in job.toml(made)


MODELS = {
    "k": {"k": 3},
    "distinct-l": {"l": 2},
    "entropy-l": {"l": 1.5},
    "frequency-l": {"l": 1.3},
    "recursive-l": {"l": 2, "c": 2.0},
    "t": {"t": 0.3},
    "beta-likeness": {"bound": 0.5},
}


def levels_by_hand(data, table, notion, attributes, **given):
    """The level of the worst class, by the model on a grouping of the summary."""
    fixed = {key: value for key, value in given.items() if key != "bound"}
    model = prototype(model_name(notion), {key: value for key, value in fixed.items() if key == "c"})
    return model.worst(model.levels(data.group(tuple(attributes))))


@pytest.mark.parametrize("notion", MODELS)
def test_questions_and_their_sql_count_people(notion):
    table = visits(60, 15)
    data = read(table)
    given = MODELS[notion]
    fixed = {"c": given["c"]} if "c" in given else {}
    every = shoal.ask(data, notion=notion, question=4, **fixed)
    assert every.person == "patient"
    for names, level in every.answer.items():
        assert level == pytest.approx(levels_by_hand(data, table, notion, names, **given)), names
    borders = shoal.ask(data, notion=notion, **given)
    model = borders.model
    good = {frozenset(names) for names, level in every.answer.items() if model.keeps(np.array([level], float)).all()}
    assert {frozenset(names) for names in borders.positive_border} == {
        names for names in good if not any(names < other for other in good)
    }
    one = shoal.ask(data, notion=notion, question=2, attributes=QUASI, **fixed)
    with duckdb.connect() as database:
        database.register("visits", table)
        (found,) = database.execute(shoal.sql(one, "visits")).fetchone()
    assert found == pytest.approx(one.answer)
    share = shoal.ask(data, notion=notion, question=9, attributes=QUASI, **given)
    with duckdb.connect() as database:
        database.register("visits", table)
        (found,) = database.execute(shoal.sql(share, "visits")).fetchone()
    assert found == pytest.approx(share.answer)


def test_questions_under_a_strict_schema_count_people():
    table = visits(60, 15).with_columns(pl.Series("job", list("abc") * 20))
    data = shoal.read(table, quasi=QUASI, sensitive=["disease", "job"], person="patient", protect_jointly=True)
    for notion in ("frequency-l", "distinct-l", "entropy-l", "t"):
        for name in ("disease", "job"):
            one = shoal.ask(data, notion=notion, question=2, attributes=["sex"], sensitive=name)
            model = replace(prototype(model_name(notion), {}), column=name)
            assert one.answer == pytest.approx(model.worst(model.levels(data.group(("sex",)))))
            with duckdb.connect() as database:
                database.register("visits", table)
                (found,) = database.execute(shoal.sql(one, "visits")).fetchone()
            assert found == pytest.approx(one.answer), (notion, name)


@pytest.mark.parametrize(
    "columns, stops",
    [
        ({"ssn": range(200), "first": ["Ada", "Bob"] * 100}, False),  # each row has a number of its own
        ({"first": [f"n{row % 60}" for row in range(200)]}, True),
        ({"grade": [row % 9 for row in range(200)]}, False),  # dropped, and nobody's name
        ({"patient": [row // 2 for row in range(200)], "grade": [row % 9 for row in range(200)]}, True),
    ],
)
def test_a_repeating_identifier_stops_only_where_no_other_tells_people_apart(columns, stops):
    table = pl.DataFrame({"age": [row % 20 for row in range(200)], **columns})
    data = shoal.read(table, quasi=["age"], identifiers=list(columns))
    if stops:
        with pytest.raises(SchemaError, match="--person"):
            shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian")
    else:
        assert shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian").records == 200
