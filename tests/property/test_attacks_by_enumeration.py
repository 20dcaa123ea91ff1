"""Attacks on random small tables against plain counting: every record, every person of a register, one by one."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError

DISEASES = ["flu", "hiv", "cold", "gout"]
TREE = shoal.Hierarchy.from_paths(
    "disease", [("flu", "lungs", "*"), ("cold", "lungs", "*"), ("hiv", "blood", "*"), ("gout", "joints", "*")]
)
ORGAN = {"flu": "lungs", "cold": "lungs", "hiv": "blood", "gout": "joints"}


def drawn(generator: np.random.Generator, rows: int, missing: float = 0.0) -> pl.DataFrame:
    """People of few ages, so that many are alike; some sexes are missing."""
    sexes = generator.choice(["f", "m"], rows).astype(object)
    sexes[generator.random(rows) < missing] = None
    return pl.DataFrame(
        {
            "age": generator.integers(20, 30, rows),
            "sex": sexes.tolist(),
            "disease": generator.choice(DISEASES, rows, p=[0.4, 0.3, 0.2, 0.1]),
            "pay": generator.integers(1, 9, rows),
        },
        schema_overrides={"sex": pl.String},
    )


def released(table: pl.DataFrame, algorithm: str, seed: int) -> tuple[shoal.Dataset, shoal.Release] | None:
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"], column_hierarchies={"disease": TREE})
    model = shoal.FrequencyLDiversity(l=2) if algorithm == "anatomy" else shoal.KAnonymity(k=2)
    try:
        return data, shoal.anonymize(
            data, model, algorithm=algorithm, suppression=0.3, seed=seed, allow_plain=["pay"]
        )  # fmt: skip
    except InfeasibleError:
        return None


def holds(label: Any, value: Any) -> bool:
    """Whether a published label can be a value; missing on either side says nothing."""
    if label is None or value is None or label == "*":
        return True
    interval = re.fullmatch(r"\[(\d+)-(\d+)([\])])", str(label))
    if interval:
        low, high = int(interval[1]), int(interval[2])
        return low <= value <= high if interval[3] == "]" else low <= value < high
    return str(label) == str(value)


def groups_of(release: shoal.Release) -> list[Counter[str]]:
    """The sensitive values of each group, as anybody reads them."""
    if "sensitive" in release.frames:
        found: dict[Any, Counter[str]] = {}
        for group, value, count in release.frames["sensitive"].select("group", "disease", "count").iter_rows():
            found.setdefault(group, Counter())[value] += count
        return list(found.values())
    found = {}
    for age, sex, value in release.frame.select("age", "sex", "disease").iter_rows():
        found.setdefault((age, sex), Counter())[value] += 1
    return list(found.values())


def figures(risks: list[float], threshold: float) -> tuple[Any, Any, Any]:
    above = sum(risk > threshold + 1e-9 for risk in risks) / len(risks)
    return pytest.approx(sum(risks) / len(risks)), pytest.approx(max(risks)), pytest.approx(above)


seeds, sizes = st.integers(0, 9999), st.integers(6, 30)
algorithms = st.sampled_from(["mondrian", "optimal", "anatomy", "k-member"])
tables = st.sampled_from(["mondrian", "optimal", "k-member"])


@given(seeds, sizes, algorithms, st.integers(0, 3))
@settings(max_examples=count(9, 60), deadline=None)
def test_background_knowledge(seed: int, rows: int, algorithm: str, ruled_out: int) -> None:
    """For each record, every choice of values to rule out is tried."""
    from itertools import combinations

    table = drawn(np.random.default_rng(seed), rows)
    made = released(table, algorithm, seed)
    if made is None:
        return

    def best(values: Counter[str], true: str) -> float:
        others = [value for value in values if value != true]
        count = min(ruled_out, len(others))
        return max(
            values[true] / (values.total() - sum(values[other] for other in gone))
            for gone in combinations(others, count)
        )

    (found,) = shoal.attack(*made, shoal.attacks.BackgroundKnowledge(values=ruled_out, threshold=0.7))
    risks = [best(values, value) for values in groups_of(made[1]) for value in values.elements()]
    assert (found.success, found.worst, found.above) == figures(risks, 0.7)
    whole = Counter(table["disease"])
    assert found.baseline == pytest.approx(sum(best(whole, value) for value in whole.elements()) / rows)


@given(seeds, sizes, tables, st.integers(0, 1))
@settings(max_examples=count(9, 60), deadline=None)
def test_rules_about_people(seed: int, rows: int, algorithm: str, ruled_out: int) -> None:
    """Who meets a rule's conditions is any record of the class but those with the value; each person on its own."""
    table = drawn(np.random.default_rng(seed), rows).with_row_index("row")
    made = released(table, algorithm, seed)
    if made is None:
        return
    rules = ("sex = m => hiv", "age <= 23 and sex = f => flu")
    (found,) = shoal.attack(*made, shoal.attacks.BackgroundKnowledge(values=ruled_out, rules=rules, threshold=0.6))
    truth = {row: (age, sex) for row, age, sex in table.select("row", "age", "sex").iter_rows()}
    classes: dict[Any, Counter[str]] = {}
    for age, sex, value in made[1].frame.select("age", "sex", "disease").iter_rows():
        classes.setdefault((age, sex), Counter())[value] += 1
    risks = []
    for row, age, sex, value in made[1].frame.select("row", "age", "sex", "disease").iter_rows():
        values = Counter(classes[age, sex])
        if truth[row][1] == "m":
            del values["hiv"]
        if truth[row][1] == "f" and truth[row][0] <= 23:
            del values["flu"]
        others = sorted((values[other] for other in values if other != value), reverse=True)
        total = values.total() - sum(others[:ruled_out])
        risks.append(values[value] / total if values[value] else 0.0)
    assert (found.success, found.worst, found.above) == figures(risks, 0.6)


@given(seeds, sizes, algorithms)
@settings(max_examples=count(8, 40), deadline=None)
def test_skewness_and_disclosure(seed: int, rows: int, algorithm: str) -> None:
    table = drawn(np.random.default_rng(seed), rows)
    made = released(table, algorithm, seed)
    if made is None:
        return
    whole = Counter(table["disease"])
    prior = {value: whole[value] / rows for value in whole}
    gains, ratios, breached = [], [], []
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in ("positive", "upward", "downward", "negative")}
    for values in groups_of(made[1]):
        size = values.total()
        after = {value: values[value] / size for value in prior}
        gains += [max(after[value] - prior[value] for value in prior)] * size
        ratios += [max(after[value] / prior[value] for value in prior)]
        here = {
            "positive": sum(after[value] > 0.7 + 1e-9 and prior[value] <= 0.7 + 1e-9 for value in prior),
            "upward": sum(prior[value] <= 0.3 + 1e-9 and after[value] > 0.45 + 1e-9 for value in prior),
            "downward": sum(prior[value] >= 0.7 - 1e-9 and after[value] < 0.55 - 1e-9 for value in prior),
            "negative": sum(prior[value] >= 0.2 - 1e-9 and after[value] < 0.2 - 1e-9 for value in prior),
        }
        breached += [float(any(here[kind] for kind in ("positive", "upward", "downward")))] * size
        for kind, values in here.items():
            kinds[kind]["values"] += values
            kinds[kind]["people"] += size if values else 0
    (skewed,) = shoal.attack(*made, "skewness:threshold=0.15")
    assert (skewed.success, skewed.worst, skewed.above) == figures(gains, 0.15)
    assert skewed.detail["ratio"] == pytest.approx(max(ratios))
    (told,) = shoal.attack(*made, "disclosure:rho1=0.3,rho2=0.45,delta=0.3,epsilon=0.2")
    assert (told.success, told.worst, told.above) == figures(breached, 0.5)
    assert {kind: dict(counts) for kind, counts in told.detail.items()} == {
        kind: {"people": counts["people"], "values": counts["values"]} for kind, counts in kinds.items()
    }


@given(seeds, sizes, algorithms)
@settings(max_examples=count(8, 40), deadline=None)
def test_a_breach_is_what_the_models_forbid(seed: int, rows: int, algorithm: str) -> None:
    made = released(drawn(np.random.default_rng(seed), rows), algorithm, seed)
    if made is None:
        return
    (told,) = shoal.attack(*made, "disclosure:rho1=0.3,rho2=0.45")
    groups = made[1].view.groups()
    kept = bool(shoal.models.RhoPrivacy(rho1=0.3, rho2=0.45).holds(groups).all())
    assert kept == (told.detail["upward"]["values"] + told.detail["downward"]["values"] == 0)


@given(seeds, sizes, algorithms)
@settings(max_examples=count(8, 40), deadline=None)
def test_similarity_by_level(seed: int, rows: int, algorithm: str) -> None:
    table = drawn(np.random.default_rng(seed), rows)
    made = released(table, algorithm, seed)
    if made is None:
        return

    def most(values: Counter[str]) -> int:
        return max(Counter(ORGAN[value] for value in values.elements()).values())

    (found,) = shoal.attack(*made, "similarity:threshold=0.6")
    risks = [most(values) / values.total() for values in groups_of(made[1]) for _ in range(values.total())]
    assert (found.success, found.worst, found.above) == figures(risks, 0.6)
    assert found.baseline == pytest.approx(most(Counter(table["disease"])) / rows)


@given(seeds, sizes, tables, st.sampled_from([0.0, 0.5, 1.0, 1.7, 3.0]))
@settings(max_examples=count(8, 40), deadline=None)
def test_similarity_by_distance(seed: int, rows: int, algorithm: str, within: float) -> None:
    """Every guess on a fine grid is tried."""
    table = drawn(np.random.default_rng(seed), rows).select("age", "sex", "pay")
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["pay"])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm=algorithm, seed=seed)

    def most(values: list[int]) -> int:
        return max(sum(abs(value - guess / 20) <= within + 1e-9 for value in values) for guess in range(200))

    classes: dict[Any, list[int]] = {}
    for age, sex, value in release.frame.iter_rows():
        classes.setdefault((age, sex), []).append(value)
    (found,) = shoal.attack(data, release, f"similarity:within={within},threshold=0.6")
    risks = [most(values) / len(values) for values in classes.values() for _ in values]
    assert (found.success, found.worst, found.above) == figures(risks, 0.6)
    assert found.baseline == pytest.approx(most(table["pay"].to_list()) / rows)


@given(seeds, sizes, algorithms, st.booleans())
@settings(max_examples=count(9, 60), deadline=None)
def test_a_register_of_people(seed: int, rows: int, algorithm: str, partial: bool) -> None:
    """Journalist, marketer, membership and linkage: everybody of a register is held against every record."""
    generator = np.random.default_rng(seed)
    table = drawn(generator, rows, missing=0.1)
    made = released(table, algorithm, seed)
    if made is None:
        return
    others = drawn(generator, 20, missing=0.1).with_columns(pl.col("age") + generator.integers(-3, 4))
    columns = ["age"] if partial else ["age", "sex"]
    town = pl.concat([table, others]).select(columns)
    external = shoal.read(town, quasi=columns)
    published = list(made[1].frame.select("age", "sex").iter_rows())
    people = [(row[0], None if partial else row[1]) for row in town.iter_rows()]
    mine = [(row[0], None if partial else row[1]) for row in table.select("age", "sex").iter_rows()]

    def fit(record: tuple[Any, Any], person: tuple[Any, Any]) -> bool:
        return holds(record[0], person[0]) and holds(record[1], person[1])

    alike = Counter(published)
    there = {record: sum(fit(record, person) for person in people) for record in alike}
    assert all(there[record] >= alike[record] for record in alike)
    risks = [1 / there[record] for record in published]
    (found,) = shoal.attack(*made, "journalist:threshold=0.1", external=external)
    assert (found.success, found.worst, found.above) == figures(risks, 0.1)
    assert found.baseline == pytest.approx(1 / len(people))
    (found,) = shoal.attack(*made, "marketer", external=external)
    assert found.success == pytest.approx(sum(risks) / len(risks)) == found.worst

    def chance(person: tuple[Any, Any]) -> float:
        return min(1.0, sum(alike[record] / there[record] for record in alike if fit(record, person)))

    (found,) = shoal.attack(*made, "membership:threshold=0.6", external=external)
    inside = [chance(person) for person in mine if chance(person) > 0]
    assert (found.success, found.worst, found.above) == figures(inside, 0.6)
    assert found.baseline == pytest.approx(len(published) / len(people))
    assert found.detail["ruled_out"] == pytest.approx(sum(chance(each) == 0 for each in people) / len(people))
    fitting = {person: sum(fit(record, person) for record in published) for person in {*people, *mine}}
    (found,) = shoal.attack(*made, "linkage:threshold=0.3", external=external)
    linked = [1 / fitting[person] for person in mine if person in people and fitting[person]]
    assert (found.success, found.worst, found.above) == figures(linked, 0.3)
    single = [person for person in people if fitting[person] == 1]
    certain = [
        person
        for person in single
        if sum(fit(next(each for each in published if fit(each, person)), rival) for rival in people) == 1
    ]
    assert found.detail["fitting"] == sum(fitting[person] > 0 for person in people)
    assert (found.detail["single"], found.detail["certain"]) == (len(single), len(certain))
    assert found.detail["in_table"] == sum(person in mine for person in people)
    assert found.detail["mistaken"] == sum(person not in mine and fitting[person] > 0 for person in people)
    if algorithm != "anatomy":
        records = list(made[1].frame.select("age", "sex", "disease").iter_rows())
        seen = [{value for *record, value in records if fit((record[0], record[1]), person)} for person in people]
        assert found.detail["disclosed"] == sum(len(values) == 1 for values in seen)


@given(seeds, sizes, tables)
@settings(max_examples=count(8, 40), deadline=None)
def test_people_who_were_held_out(seed: int, rows: int, algorithm: str) -> None:
    """The control is the same guess about others: a mixture of the classes that can hold them, or the whole table."""
    generator = np.random.default_rng(seed)
    table, others = drawn(generator, rows), drawn(generator, 15).with_columns(pl.col("age") + 2)
    made = released(table, algorithm, seed)
    if made is None:
        return
    held_out = shoal.read(others, quasi=["age", "sex"], sensitive=["disease"])
    (found,) = shoal.attack(*made, "homogeneity", held_out=held_out)
    classes: dict[Any, Counter[str]] = {}
    for age, sex, value in made[1].frame.select("age", "sex", "disease").iter_rows():
        classes.setdefault((age, sex), Counter())[value] += 1
    hits = 0.0
    for age, sex, true in others.select("age", "sex", "disease").iter_rows():
        belief: Counter[str] = Counter()
        for record, values in classes.items():
            if holds(record[0], age) and holds(record[1], sex):
                belief += values
        belief = belief or Counter(table["disease"])
        best = [value for value in belief if belief[value] == max(belief.values())]
        hits += (true in best) / len(best)
    assert found.control == pytest.approx(hits / 15)
    low, high = found.detail["control_interval"]
    assert low <= found.control <= high and found.detail["held_out"] == 15
