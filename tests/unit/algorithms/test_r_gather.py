"""r-gather: never twice as wide as the best clustering, which is found by trying all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal.algorithms._records import Records
from shoal.algorithms.r_gather import RGather, gathered
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.kernels.cost import pair
from shoal.kernels.radius import centres_of


def partitions(items: list[int], least: int) -> Iterator[list[list[int]]]:
    """All ways to divide things into parts of at least so many."""

    def divided(rest: list[int]) -> Iterator[list[list[int]]]:
        if not rest:
            yield []
            return
        for parts in divided(rest[1:]):
            for at in range(len(parts)):
                yield [*parts[:at], [rest[0], *parts[at]], *parts[at + 1 :]]
            yield [[rest[0]], *parts]

    return (parts for parts in divided(items) if min(map(len, parts)) >= least)


def records_of(table: pl.DataFrame, k: int) -> Records:
    data = shoal.read(table, quasi=table.columns)
    outputs = tuple("interval" if tree.ordered else "hierarchy" for tree in data.hierarchies)
    return Records.of(data, Policy(models=(shoal.KAnonymity(k=k),), seed=1), outputs)


def distances(records: Records) -> np.ndarray:
    points = records.points[records.tuples]
    return np.array([[pair(records.costs, left, right) for right in points] for left in points])


@pytest.mark.parametrize("k", [2, 3])
def test_at_most_twice_the_best_radius(k: int) -> None:
    for seed in range(count(5, 40)):
        generator = np.random.default_rng(seed)
        size = count(7, 8)
        table = pl.DataFrame({"x": generator.random(size), "y": generator.choice(list("abc"), size)})
        if seed % 2:
            table = pl.DataFrame({"x": generator.integers(0, 4, size), "y": generator.integers(0, 3, size)})
        records = records_of(table, k)
        apart = distances(records)

        def radius(parts: list[list[int]], apart: np.ndarray = apart) -> float:
            return max(apart[np.ix_(part, part)].max(axis=1).min() for part in parts)

        best = min(map(radius, partitions(list(range(size)), k)))
        owners, facts = RGather().cluster(records, generator, Run())
        assert np.bincount(owners).min() >= k
        shown = [np.flatnonzero(owners == cluster).tolist() for cluster in range(int(owners.max()) + 1)]
        assert radius(shown) <= facts["radius"] + 1e-12, "the centre of a cluster is one of its records"
        assert facts["radius"] <= 2 * best + 1e-5
        assert facts["least_radius"] <= best + 1e-12, "what it says that nobody goes below"


def test_records_are_dealt_wherever_there_is_a_way() -> None:
    """Whether so many records can be dealt to every centre, beside Hall's condition tried on every set of centres."""
    answers = set()
    for seed in range(count(30, 400)):
        generator = np.random.default_rng(seed)
        table = pl.DataFrame({"x": generator.integers(0, 12, 16), "y": generator.integers(0, 6, 16)})
        k = int(generator.integers(2, 6))
        records = records_of(table, k)
        radius = float(generator.uniform(0.1, 0.7))
        order = np.arange(len(records.points))
        centres = centres_of(records.points, records.costs, radius, order, Run().flag)
        near = distances(records) <= radius
        first = records.starts[:-1][centres]
        possible = all(
            near[first[list(some)]].any(axis=0).sum() >= k * size
            for size in range(1, len(centres) + 1)
            for some in combinations(range(len(centres)), size)
        )
        clusters = gathered(records, radius, order, Run())
        assert (clusters is not None) == possible
        answers.add(possible)
        if clusters is not None:
            assert np.bincount(clusters.owners, minlength=len(centres)).min() >= k and clusters.radius <= radius
    assert answers == {True, False}


def test_a_table_with_all_models_and_missing_values() -> None:
    table = shoal.samples.adult().head(500).select("age", "sex", "education", "occupation")
    table = table.with_columns(age=pl.when(pl.int_range(500) % 50 == 0).then(None).otherwise("age"))
    data = shoal.read(table, quasi=["age", "sex", "education"], sensitive=["occupation"])
    release = shoal.anonymize(data, "k-anonymity:k=5", "distinct-l-diversity:l=3", algorithm="r-gather")
    assert release.verify(release.policy).holds
    facts = shoal.anonymize(data, "k-anonymity:k=5", algorithm="r-gather").recoding.facts
    assert 0 < facts["least_radius"] <= facts["radius"] <= 2 * facts["least_radius"] + 1e-5
