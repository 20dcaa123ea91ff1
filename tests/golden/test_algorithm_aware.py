"""Published figures of attackers who know the algorithm, or learn from groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.adversary.locating import groups_of_records
from shoal.attacks._grouped_people import GroupedPeople
from shoal.attacks.definetti import Definetti, by_bayes, hand_out
from shoal.core.run import Run

HIV = shoal.models.AlphaKAnonymity(alpha=0.5, k=1, values=("hiv",))


def together(others: int, algorithm: str):
    """Two people of q1 and some of q2; two have HIV, both of q1 where nothing else fits."""
    table = pl.DataFrame({"q": ["q1"] * 2 + ["q2"] * others, "ill": ["hiv"] * 2 + ["no"] * others})
    data = shoal.read(table, quasi=["q"], sensitive=["ill"])
    release = shoal.anonymize(data, HIV, algorithm=algorithm, seed=1)
    assert set(release.frame["q"]) == {"*"}, "published together"
    return data, release


def beliefs(data, release):
    attack = shoal.attacks.Minimality()
    groups = release.view.groups()
    people, found, possible, left = attack.beliefs(data, release, groups, groups_of_records(data, release), Run())
    hiv = data.schema["ill"].hierarchy.leaf("hiv")
    return dict(zip(people.tuples.tolist(), found[:, hiv].tolist(), strict=True)), possible, left


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "k-member", "samarati"])
def test_minimality_one_of_fifteen_worlds(algorithm):
    data, release = together(4, algorithm)
    found, possible, left = beliefs(data, release)
    assert (possible, left) == (15, 1) and found == {0: 1.0, 1: 0.0}
    attempt = shoal.attack(data, release, "minimality")[0]
    assert attempt.worst == attempt.success == 1 and attempt.detail["naive"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "k-member", "samarati"])
def test_minimality_four_worlds(algorithm):
    data, release = together(3, algorithm)
    found, possible, left = beliefs(data, release)
    assert (possible, left) == (10, 4) and found == {0: 0.25, 1: 0.5}


def test_downcoding_of_001():
    table = pl.DataFrame({
        "age": [21, 22, 23, 24], "gender": ["Female", "Male", "Male", "Male"], 
        "zip": ["17651", "17652", "17661", "17662"],
        "disease": ["Cancer", "Flu", "HIV", "HIV"],
    })  # fmt: skip
    # Ten codes under each mask: two of them say nothing about which two.
    codes = [(f"17{a}{b}{c}", f"17{a}{b}*", f"17{a}**", "*") for a in "6" for b in "56" for c in "0123456789"]
    zips = shoal.Hierarchy.from_paths("zip", codes)
    data = shoal.read(table, quasi=["age", "gender", "zip"], sensitive=["disease"], hierarchies={"zip": zips})
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    assert sorted(set(release.frame.select("age", "gender", "zip").rows())) == [
        ("[21-22]", "*", "1765*"), ("[23-24]", "Male", "1766*"),
    ]  # fmt: skip
    found = shoal.attack(data, release, "downcoding:tables=0")[0]
    # Less precise: age twice, gender once, zip twice, of two records each; ages and genders are pinned, zips are not.
    assert found.detail["less_precise"] == 10 and found.success == pytest.approx(6 / 10)
    assert found.worst == pytest.approx(4 / 6)


def buckets():
    """Three of smokers with cancer and flu, three of others with flu and a cold, one of both."""
    people, held = [], []
    for home, (smokes, ill) in enumerate([("yy", "cf")] * 3 + [("nn", "fo")] * 3 + [("yn", "cf")]):
        people += [(home, "yn".index(each)) for each in smokes]
        held += [(home, "cfo".index(each)) for each in ill]
    homes, smoking = np.array(people).T
    owners, values = np.array(held).T
    return GroupedPeople(homes.astype(np.int32), smoking[None].astype(np.int32), owners, values, 3)


def test_definetti():
    made, attack = buckets(), Definetti(steps=1000, tolerance=1e-12)
    assert made.alone[12, 0] == 0.5, "random worlds"
    after_one = made.likelihoods(made.alone)
    assert after_one[0][0, 0] == pytest.approx(3 / 4)
    generator = np.random.default_rng(0)
    assert hand_out(made, after_one, attack, None, generator)[12, 0] == pytest.approx(3 / 4)
    assert by_bayes(made, attack, generator, Run())[0][12, 0] == pytest.approx(0.826221, abs=1e-6)


def test_definetti_by_the_sampler():
    sampled = Definetti(steps=400, sweeps=100, exact=1)
    assert by_bayes(buckets(), sampled, np.random.default_rng(0), Run())[0][12, 0] == pytest.approx(0.826221, abs=0.02)
