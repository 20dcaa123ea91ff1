"""Attacks move in the right direction: less detail, more people or less knowledge never helps the attacker."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from counts import LONG, count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import api
from shoal.core.contracts.attack import Attempt
from shoal.core.recoding import Recoding

SLACK = 1e-9
TREE = shoal.Hierarchy.from_paths(
    "disease", [("flu", "lungs", "*"), ("cold", "lungs", "*"), ("hiv", "blood", "*"), ("gout", "joints", "*")]
)


def table(seed: int, rows: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": generator.integers(20, 40, rows),
            "sex": generator.choice(["f", "m"], rows),
            "disease": generator.choice(["flu", "cold", "hiv", "gout"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def read(frame: pl.DataFrame) -> shoal.Dataset:
    ages = {"disease": TREE, "age": "intervals:width=2,factor=2"}
    return shoal.read(frame, quasi=["age", "sex"], sensitive=["disease"], column_hierarchies=ages)


def at(data: shoal.Dataset, levels: tuple[int, int]) -> shoal.Release:
    reached = tuple(min(level, tree.height) for level, tree in zip(levels, data.hierarchies, strict=True))
    return api.publish(data, Recoding.at_levels(data.summary, reached, np.zeros(len(data.summary), np.bool_)))


def one(data: shoal.Dataset, release: shoal.Release, attack: str, **more: object) -> Attempt:
    return shoal.attack(data, release, attack, **more)[0]


seeds, rows = st.integers(0, 9999), st.integers(5, 40)
levels = st.tuples(st.integers(0, 2), st.integers(0, 1))


@given(seeds, rows, levels)
@settings(max_examples=count(6, 40), deadline=None)
def test_merging_classes_never_helps(seed: int, rows: int, low: tuple[int, int]) -> None:
    frame = table(seed, rows)
    data, town = read(frame), read(pl.concat([frame, table(seed + 1, 20)]))
    fine, coarse = at(data, low), at(data, (low[0] + 1, 1))
    for attack in ("prosecutor", "marketer", "homogeneity", "similarity", "skewness", "background-knowledge:values=0"):
        before, after = one(data, fine, attack), one(data, coarse, attack)
        assert after.success <= before.success + SLACK, attack
        if attack != "marketer":
            assert after.worst <= before.worst + SLACK, attack
    for attack in ("journalist", "linkage", "membership"):
        before, after = (one(data, each, attack, external=town) for each in (fine, coarse))
        assert after.worst <= before.worst + SLACK and after.success <= before.success + SLACK, attack


@given(seeds, rows, levels)
@settings(max_examples=count(5, 30), deadline=None)
def test_more_knowledge_never_hurts(seed: int, rows: int, where: tuple[int, int]) -> None:
    data = read(table(seed, rows))
    release = at(data, where)
    risks = [one(data, release, f"background-knowledge:values={count}") for count in range(4)]
    for less, more in pairwise(risks):
        assert more.success >= less.success - SLACK and more.worst >= less.worst - SLACK
    assert one(data, release, "similarity").success >= one(data, release, "homogeneity").success - SLACK


@given(seeds, rows, levels, st.integers(1, 30))
@settings(max_examples=count(5, 30), deadline=None)
def test_more_people_hide_better(seed: int, rows: int, where: tuple[int, int], more: int) -> None:
    frame = table(seed, rows)
    data, release = read(frame), at(read(frame), where)
    small = read(frame)
    large = read(pl.concat([frame, table(seed + 7, more)]))
    for attack in ("journalist", "marketer", "membership"):
        less, better = one(data, release, attack, external=small), one(data, release, attack, external=large)
        assert better.success <= less.success + SLACK and better.worst <= less.worst + SLACK, attack
    stated = [one(data, release, f"journalist:population={rows * times}").success for times in (1, 2, 10)]
    assert stated == sorted(stated, reverse=True)
    assert stated[0] == pytest.approx(one(data, release, "prosecutor").success)


@given(seeds, rows, levels)
@settings(max_examples=count(5, 20), deadline=None)
def test_a_person_counts_once(seed: int, rows: int, where: tuple[int, int]) -> None:
    """Every record three times, and a column that says whose it is: the figures of one record a person."""
    frame = table(seed, rows).with_row_index("who")
    plain, repeated = frame.drop("who"), pl.concat([frame] * 3)
    ages = {"disease": TREE, "age": "intervals:width=2,factor=2"}
    once = read(plain)
    often = shoal.read(
        repeated, quasi=["age", "sex"], sensitive=["disease"], person="who", column_hierarchies=ages
    )  # fmt: skip
    town = read(pl.concat([plain, table(seed + 1, 10)]))
    for attack in (
        "prosecutor", "marketer", "homogeneity", "skewness", "similarity", "disclosure", "background-knowledge",
        "background-knowledge:rules=sex = m => hiv", "journalist", "linkage", "membership",
        "population-uniqueness:fraction=0.5,model=zayatz",
    ):  # fmt: skip
        found = [one(data, at(data, where), attack, external=town) for data in (once, often)]
        for figure in ("success", "baseline", "worst", "above"):
            assert getattr(found[0], figure) == pytest.approx(getattr(found[1], figure)), (attack, figure)


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "anatomy"] if LONG else ["mondrian", "anatomy"])
def test_engines_agree(algorithm: str) -> None:
    frame = table(5, 200)
    model = "frequency-l-diversity:l=2" if algorithm == "anatomy" else "k-anonymity:k=4"
    found = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(
            frame, quasi=["age", "sex"], sensitive=["disease"], column_hierarchies={"disease": TREE}, engine=engine
        )
        release = shoal.anonymize(data, model, algorithm=algorithm, seed=1)
        others = table(6, 50)
        town = shoal.read(pl.concat([frame, others]), quasi=["age", "sex"], engine=engine)
        held_out = shoal.read(others, quasi=["age", "sex"], sensitive=["disease"], engine=engine)
        found.append({each.name: each for each in shoal.attack(data, release, external=town, held_out=held_out)})
    assert set(found[0]) == set(found[1]) and len(found[0]) > 8
    for name in found[0]:
        for figure in ("success", "baseline", "worst", "above", "control"):
            assert getattr(found[0][name], figure) == pytest.approx(getattr(found[1][name], figure)), (name, figure)
