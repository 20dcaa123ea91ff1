"""Attackers who know the algorithm, on random small tables, against worlds that are written out one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, permutations, product
from math import prod

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.adversary.locating import groups_of_records
from shoal.attacks._grouped_people import GroupedPeople
from shoal.attacks.definetti import Definetti, by_bayes, pair_chances
from shoal.core.run import Run
from shoal.errors import InfeasibleError

SLOWLY = settings(
    deadline=None, max_examples=count(5, 12), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
AGES = shoal.Hierarchy.from_paths("age", [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")])
ILLS = shoal.Hierarchy.from_paths("ill", [("a", "*"), ("b", "*")])


def released(rows, algorithm, models):
    table = pl.DataFrame(rows, schema=["age", "ill"], orient="row")
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], hierarchies={"age": AGES, "ill": ILLS})
    return data, shoal.anonymize(data, *models, algorithm=algorithm, seed=5)


def content(rows, algorithm, models):
    """What would be published of a table; nothing where there is no release."""
    try:
        return Counter(released(rows, algorithm, models)[1].frame.rows())
    except InfeasibleError:
        return None


tables = st.lists(st.tuples(st.sampled_from(["1", "2", "3", "4"]), st.sampled_from(["a", "b"])), min_size=4, max_size=6)
policies = st.sampled_from([("distinct-l-diversity:l=2",), ("k-anonymity:k=2", "frequency-l-diversity:l=1.5")])


@SLOWLY
@given(tables, st.sampled_from(["optimal", "mondrian"]), policies)
def test_minimality_is_an_enumeration_of_worlds(rows, algorithm, models):
    try:
        data, release = released(rows, algorithm, models)
    except InfeasibleError:
        return
    wanted = Counter(release.frame.rows())
    labels = {}  # each record's class, by its published value
    groups = groups_of_records(data, release)
    published = release.published.labels("age")
    order = np.repeat(data.summary.keys[0], data.summary.sizes)
    for leaf, home in zip(order.tolist(), groups.tolist(), strict=True):
        labels[AGES.labels[0][leaf]] = published[release.view.groups().keys[0, home]]
    ages = [age for age, _ in rows]
    homes = [labels[age] for age in ages]
    worlds = {
        values
        for values in set(permutations([ill for _, ill in rows]))
        if Counter(zip(homes, values, strict=True)) == wanted
    }
    fitting = [
        values for values in worlds if content(list(zip(ages, values, strict=True)), algorithm, models) == wanted
    ]
    attempt = shoal.attack(data, release, "minimality")[0]
    assert attempt.detail["exact"] and (attempt.detail["worlds"], attempt.detail["left"]) == (len(worlds), len(fitting))
    chances = [max(Counter(column).values()) / len(fitting) for column in zip(*fitting, strict=True)]
    assert attempt.success == pytest.approx(np.mean(chances)) and attempt.worst == pytest.approx(max(chances))


@SLOWLY
@given(
    tables.filter(lambda rows: len(rows) < count(5, 6)),
    st.sampled_from(["optimal", "mondrian", "mondrian:numeric=interval"]),
)
def test_downcoding_is_an_enumeration_of_tables(rows, algorithm):
    models = ("k-anonymity:k=2",)
    data, release = released(rows, algorithm, models)
    wanted = Counter(release.frame.rows())
    held = {}  # the ages that each published value stands for
    for label in set(release.frame["age"]):
        low, high = AGES.parse(label)
        held[label] = AGES.labels[0][low : high + 1].tolist()
    choices = [
        [[(age, ill, label) for age in ages] for ages in combinations_with_replacement(held[label], count)]
        for (label, ill), count in sorted(wanted.items())
    ]
    fitting = []
    for chosen in product(*choices):
        world = [row for part in chosen for row in part]
        if content([row[:2] for row in world], algorithm, models) == wanted:
            fitting.append(world)
    coarse = sum(count for (label, _), count in wanted.items() if len(held[label]) > 1)
    if not coarse:
        return
    known = 0
    for label in [each for each in held if len(held[each]) > 1]:
        counts = [Counter(age for age, _, home in world if home == label) for world in fitting]
        known += sum(min(each[age] for each in counts) for age in held[label])
    attempt = shoal.attack(data, release, "downcoding:tables=5000")[0]
    assert (
        attempt.detail["exact"] and attempt.detail["left"] == len(fitting) and attempt.detail["less_precise"] == coarse
    )
    assert attempt.success == pytest.approx(known / coarse)
    assert attempt.success >= attempt.detail["by_ends"] - 1e-12, "the ends of ranges never say what is not so"


def by_permutations(weights):
    """How likely a row goes with a column, every permutation on its own."""
    size = len(weights)
    chances, total = np.zeros((size, size)), 0.0
    for order in permutations(range(size)):
        weight = prod(weights[row, column] for row, column in enumerate(order))
        total += weight
        for row, column in enumerate(order):
            chances[row, column] += weight
    return chances / total


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=count(10, 40))
def test_permutations_are_weighed_one_by_one(size, seed):
    weights = np.random.default_rng(seed).random((3, size, size)) + 0.01
    assert np.allclose(pair_chances(weights), [by_permutations(each) for each in weights])


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=count(8, 15))
def test_definetti_is_em_over_permutations(seed):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 5, 6)
    homes = np.repeat(np.arange(6), sizes)
    columns = generator.integers(0, 3, (2, len(homes)))
    values = generator.integers(0, 3, len(homes))
    steps = 7
    made = GroupedPeople(homes.astype(np.int32), columns.astype(np.int32), homes, values, 3)
    found, _ = by_bayes(made, Definetti(steps=steps, tolerance=1e-300), generator, Run())
    beliefs = np.zeros((len(homes), 3))
    for person, home in enumerate(homes):
        inside = values[homes == home]
        beliefs[person] = np.bincount(inside, minlength=3) / len(inside)
    for _ in range(steps):
        likelihoods = []
        for column in columns:
            levels = np.unique(column)
            counted = {level: beliefs[column == level].sum(axis=0) + 1 for level in levels}
            likelihoods.append(
                {level: counts / (beliefs.sum(axis=0) + len(levels)) for level, counts in counted.items()}
            )
        for home in range(6):
            people = np.flatnonzero(homes == home)
            inside = values[people]
            weights = np.array([
                [prod(table[column[person]][value] for table, column in zip(likelihoods, columns, strict=True))
                 for value in inside] for person in people
            ])  # fmt: skip
            chances = by_permutations(weights)
            for at, person in enumerate(people):
                beliefs[person] = [chances[at, inside == value].sum() for value in range(3)]
    assert np.allclose(found, beliefs)
