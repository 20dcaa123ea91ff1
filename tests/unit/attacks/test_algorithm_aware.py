"""Where attackers who know the algorithm cannot try every table, and where there is nothing to attack."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks import _grouped_people
from shoal.attacks._grouped_people import GroupedPeople
from shoal.attacks.definetti import Definetti, by_bayes
from shoal.core.run import Run
from shoal.errors import NotDefined


@pytest.fixture(scope="module")
def data():
    table = shoal.samples.adult().head(600).select("age", "sex", "race", "occupation")
    return shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])


def test_large_tables_are_counted_and_say_why(data):
    release = shoal.anonymize(data, "k-anonymity:k=3", "distinct-l-diversity:l=3", algorithm="mondrian", seed=1)
    found = shoal.attack(data, release, "minimality")[0]
    assert found.detail["exact"] is False and "more than 64 records" in found.detail["why"]
    assert found.success == pytest.approx(found.detail["naive"])
    # Without the model of values nothing else keeps a class whole that is large enough.
    assert found.detail["would_be_split"] > 0 and 0 < found.detail["people_in_those"] < 1
    plain = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)
    assert shoal.attack(data, plain, "minimality")[0].detail["would_be_split"] == 0


def test_would_be_split_by_hand():
    # Four of one age each, two and two alike: both halves have one value only, so the class stays whole.
    table = pl.DataFrame({"age": [1, 2, 3, 4, 11, 12, 13, 14], "ill": list("aabbabab")})
    data = shoal.read(table, quasi=["age"], sensitive=["ill"])
    release = shoal.anonymize(data, "k-anonymity:k=2", "distinct-l-diversity:l=2", algorithm="mondrian", seed=1)
    assert sorted(set(release.frame["age"])) == ["[1-4]", "[11-12]", "[13-14]"]
    detail = shoal.attack(data, release, "minimality:worlds=0")[0].detail
    assert (detail["groups"], detail["would_be_split"], detail["people_in_those"]) == (3, 1, 0.5)


def test_a_file_tells_the_algorithm(tmp_path):
    table = pl.DataFrame({"q": list("aabbbb"), "ill": ["hiv", "hiv", "no", "no", "no", "no"]})
    data = shoal.read(table, quasi=["q"], sensitive=["ill"])
    model = shoal.models.AlphaKAnonymity(alpha=0.5, k=1, values=("hiv",))
    shoal.anonymize(data, model, algorithm="optimal", seed=9).write(tmp_path / "out.csv")
    found = shoal.attack(data, tmp_path / "out.csv", "minimality")[0]
    assert (found.worst, found.detail["worlds"], found.detail["left"]) == (1.0, 15, 1)
    (tmp_path / "out.csv.manifest.json").unlink()
    with pytest.raises(NotDefined, match="no manifest"):
        shoal.attack(data, tmp_path / "out.csv", "minimality")


def test_hulls_are_stated_in_the_manifest(data, tmp_path):
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)
    release.write(tmp_path / "out.csv")
    here, there = (shoal.attack(data, each, "downcoding")[0] for each in (release, tmp_path / "out.csv"))
    assert here.success == there.success > 0.2 and here.detail["by_ends"] == there.detail["by_ends"]
    levels = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", suppression=0.05, seed=1)
    assert shoal.attack(data, levels, "downcoding")[0].success == 0, "the ends of a level tell nothing"


def test_where_there_is_nothing_to_attack(data):
    two_tables = shoal.anonymize(data, "frequency-l-diversity:l=3", algorithm="anatomy", seed=1)
    with pytest.raises(NotDefined, match="no cell was made less precise"):
        shoal.attack(data, two_tables, "downcoding")
    swapped = shoal.anonymize(data, algorithm="rank-swapping", seed=1)
    for attack in ("minimality", "downcoding", "definetti"):
        with pytest.raises(NotDefined):
            shoal.attack(data, swapped, attack)
    several = pl.DataFrame({"who": [1, 1, 2, 2], "age": [1, 1, 2, 2], "ill": list("abab")})
    people = shoal.read(several, quasi=["age"], sensitive=["ill"], person="who")
    release = shoal.anonymize(people, "k-anonymity:k=2", algorithm="mondrian", seed=1)
    with pytest.raises(NotDefined, match="several records"):
        shoal.attack(people, release, "definetti")


def test_definetti_draws_the_same_in_any_portions(monkeypatch):
    generator = np.random.default_rng(4)
    homes = np.repeat(np.arange(12), generator.integers(3, 9, 12))
    columns, values = generator.integers(0, 3, (2, len(homes))), generator.integers(0, 4, len(homes))
    made = GroupedPeople(homes.astype(np.int32), columns.astype(np.int32), homes, values, 4)
    effort, found = Definetti(steps=3, sweeps=7, exact=4), []
    for portion in (1, 100, _grouped_people.DRAWN):
        monkeypatch.setattr(_grouped_people, "DRAWN", portion)
        found.append(by_bayes(made, effort, np.random.default_rng(5), Run())[0].tolist())
    assert found[0] == found[1] == found[2] and np.allclose(np.sum(found[0], axis=1), 1)


def test_definetti_learns_and_samples(data):
    release = shoal.anonymize(data, "frequency-l-diversity:l=3", algorithm="anatomy", seed=1)
    found = shoal.attack(data, release, "definetti")[0]
    assert found.success > found.detail["naive"] and found.detail["belief"] > found.detail["naive_belief"]
    assert found.success == max(found.detail["bayes"], found.detail["regression"]) and found.lower_bound
    assert found.interval is None and found.detail["people"] == 600
    some = shoal.attack(data, release, "definetti:people=200")[0]
    assert some.detail["people"] <= 200 and some.interval[0] < some.success < some.interval[1]
    sampled = shoal.attack(data, release, "definetti:exact=1,sweeps=60,learner=bayes")[0]
    assert sampled.interval is not None and sampled.success == pytest.approx(found.detail["bayes"], abs=0.03)
