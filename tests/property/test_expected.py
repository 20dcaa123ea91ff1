"""What a recipient expects, against enumeration on small random tables: populations, marginals, supports."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.utility.expected import Expected, divergence, total_variation

TREE = {"a": [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")]}


def opened(records) -> shoal.Dataset:
    table = pl.DataFrame(records, schema=["a", "b", "s"], orient="row")
    tree = shoal.Hierarchy.from_paths("a", TREE["a"])
    return shoal.read(table, quasi=["a", "b"], sensitive=["s"], hierarchies={"a": tree}, kinds={"a": "categorical"})


def conditions(tree: shoal.Hierarchy) -> set[frozenset[str]]:
    """Every value and every node but the top, as the set of values under it."""
    found = set()
    for level in range(tree.height + 1):
        for node in range(len(tree.labels[level])):
            found.add(
                frozenset(leaf for leaf, code in zip(tree.labels[0], tree.codes[level], strict=True) if code == node)
            )
    return {each for each in found if len(each) < tree.size}


def meanings(release, data):
    """Each published record as what it may be: a list of (a, b, s) with chances, by plain reading of the cells."""
    trees = {name: data.schema[name].hierarchy for name in ("a", "b")}

    def under(name, label):
        first, last = trees[name].parse(label)
        return list(trees[name].labels[0][first : last + 1])

    for a, b, s in release.frame.select("a", "b", "s").rows():
        cells = [under("a", str(a)), under("b", str(b))]
        yield {(x, y, s): 1 / (len(cells[0]) * len(cells[1])) for x, y in product(*cells)}


records = st.lists(
    st.tuples(st.sampled_from(["1", "2", "3", "4"]), st.sampled_from("xyz"), st.sampled_from(["flu", "hiv", "cold"])),
    min_size=4, max_size=14,
)  # fmt: skip


@settings(max_examples=count(8, 25), deadline=None)
@given(records, st.sampled_from([0.1, 0.25, 0.5]), st.sampled_from(["mondrian", "optimal"]))
def test_utility_loss_by_enumeration(rows, minsup, algorithm):
    data = opened(rows)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=algorithm, seed=1)
    values = sorted({row[2] for row in rows})
    possible = [set(), set()]
    for place, name in enumerate(("a", "b")):
        possible[place] = {None} | conditions(data.schema[name].hierarchy)
    losses = []
    for first, second in product(*possible):
        if first is None and second is None:
            continue

        def meets(x, y, first=first, second=second):
            return (first is None or x in first) and (second is None or y in second)

        truth = [sum(meets(x, y) and s == value for x, y, s in rows) for value in values]
        if sum(truth) < minsup * len(rows) - 1e-9:
            continue
        told = list(meanings(release, data))
        guess = [
            sum(chance for each in told for (x, y, s), chance in each.items() if meets(x, y) and s == value)
            for value in values
        ]
        if not sum(guess):
            guess = [sum(s == value for each in told for (_, _, s) in list(each)[:1]) for value in values]
        losses.append(float(divergence(np.array(truth) / sum(truth), np.array(guess) / sum(guess))))
    found = shoal.metrics.UtilityLoss(minsup=minsup)
    if not losses:
        with pytest.raises(shoal.errors.NotDefined):
            found.score(data, release)
        return
    scored = found.score(data, release)
    assert scored.value == pytest.approx(np.mean(losses), abs=1e-12)
    assert f" {len(losses):,} populations" in scored.how


@settings(max_examples=count(8, 25), deadline=None)
@given(records, st.sampled_from(["mondrian", "optimal"]))
def test_marginals_by_enumeration(rows, algorithm):
    data = opened(rows)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=algorithm, seed=1)
    names = ("a", "b", "s")
    for pair in (("a", "b"), ("a", "s"), ("b", "s")):
        at = [names.index(name) for name in pair]
        before: dict = {}
        for row in rows:
            key = tuple(row[place] for place in at)
            before[key] = before.get(key, 0) + 1 / len(rows)
        after: dict = {}
        told = list(meanings(release, data))
        for each in told:
            for values, chance in each.items():
                key = tuple(values[place] for place in at)
                after[key] = after.get(key, 0) + chance / len(told)
        distance = sum(abs(before.get(key, 0) - after.get(key, 0)) for key in {*before, *after}) / 2
        assert shoal.metrics.TwoWayMarginals().score(data, release).detail[" and ".join(pair)] == pytest.approx(
            distance
        )
        for place, name in enumerate(pair):
            one, other = ({}, {})
            for source, target in ((before, one), (after, other)):
                for key, share in source.items():
                    target[key[place]] = target.get(key[place], 0) + share
            distance = sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}) / 2
            assert shoal.metrics.Marginals().score(data, release).detail[name] == pytest.approx(distance)


@pytest.mark.parametrize("algorithm", ["anatomy", "multiset", "slicing", "bucketization"])
def test_forms_with_parts_by_enumeration(algorithm):
    """Counts of a population agree with those that queries estimate, which have an oracle of their own."""
    rows = [("1", "x", "flu"), ("1", "y", "hiv"), ("2", "x", "cold"), ("3", "z", "flu"), ("3", "x", "hiv"),
            ("4", "y", "cold"), ("4", "z", "hiv"), ("2", "z", "flu"), ("1", "z", "cold"),
            ("3", "y", "hiv")]  # fmt: skip
    data = opened(rows)
    release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=algorithm, seed=3)
    from shoal.utility.frequent_conditions import populations

    truth, estimate = Expected.of_dataset(data, ("a", "b", "s")), Expected.of_release(release, ("a", "b", "s"))
    trees = {name: data.schema[name].hierarchy for name in ("a", "b", "s")}
    seen = 0
    for each in populations(truth, estimate, ("a", "b"), "s", 1.0):
        wanted = {name: list(trees[name].labels[0][low : high + 1]) for name, low, high in each.conditions}
        for leaf, value in enumerate(trees["s"].labels[0]):
            expected = shoal.query(release, where={**wanted, "s": [value]}).value
            assert each.estimate[leaf] == pytest.approx(expected, abs=1e-9)
            assert each.truth[leaf] == shoal.query(data, where={**wanted, "s": [value]}).value
        seen += 1
    assert seen > 10
    joint = estimate.joint(("a", "s"), (np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32)))
    for leaf, other in product(range(4), range(3)):
        wanted = {"a": [trees["a"].labels[0][leaf]], "s": [trees["s"].labels[0][other]]}
        assert joint[leaf, other] * len(rows) == pytest.approx(shoal.query(release, where=wanted).value, abs=1e-9)
    assert total_variation(joint, joint) == 0


def test_bins_have_about_equally_many_records():
    table = pl.DataFrame({"a": [str(value) for value in range(1000)]})
    data = shoal.read(table, quasi=["a"])
    found = Expected.of_dataset(data, ("a",))
    bins = found.bins("a", 10)
    assert len(bins) == 10 and found.marginal("a", bins) == pytest.approx(np.full(10, 0.1))
