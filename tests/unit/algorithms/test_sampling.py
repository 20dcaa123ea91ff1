"""Sampling: everybody has the same chance, whole people go together, and what it leaves of the risk."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal.algorithms.sampling import Sampling
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import ParameterError


def sampled(data: shoal.Dataset, suppression: float, seed: int | None = None) -> shoal.Release:
    more = {} if seed is None else {"seed": seed, "repeatable": True}
    return shoal.anonymize(data, algorithm="sampling", suppression=suppression, **more)


@pytest.fixture(scope="module")
def census() -> shoal.Dataset:
    columns = ["age", "sex", "race", "education"]
    return shoal.read(shoal.samples.adult().head(1000).select(columns), quasi=columns)


def test_every_set_of_so_many_people_is_equally_likely() -> None:
    """Two of five: ten sets, each with a chance of a tenth. Everybody is in with 2/5, as the facts say."""
    data = shoal.read(pl.DataFrame({"age": [20, 30, 40, 50, 50]}), quasi=["age"])
    draws, sets = count(300, 4000), Counter[tuple[int, ...]]()
    for seed in range(draws):
        recoding = Sampling().search(data, Policy(models=(), suppression=0.6, seed=seed), Run())
        sets[tuple(np.flatnonzero(~recoding.planned.withheld))] += 1
        assert recoding.facts == {"units": 5, "sampled": 2, "inclusion": 0.4}
    assert set(sets) == set(combinations(range(5), 2))
    expected = draws / 10
    chi = sum((seen - expected) ** 2 / expected for seen in sets.values())
    assert chi < 27.9, "nine degrees of freedom: above this once in a thousand"


def test_people_and_households_stay_whole() -> None:
    """All records of somebody or none; and never more records out than may be, however many the unlucky ones have."""
    table = pl.DataFrame(
        {"who": [1, 1, 1, 2, 3, 3, 4, 5, 6, 7], "home": [1, 1, 1, 1, 2, 2, 2, 3, 4, 5], "age": range(10)}
    )
    whole = table.group_by("who").len().sort("who")
    for seed in range(2**41, 2**41 + count(6, 20)):
        release = sampled(shoal.read(table, quasi=["age"], person="who", drop=["home"]), 0.5, seed)
        who = table.filter(pl.col("age").is_in(release.frame["age"].cast(pl.Int64).implode())).group_by("who").len()
        assert who.sort("who").equals(whole.filter(pl.col("who").is_in(who["who"].implode())))
        # The two with most records have five, which is what may be left out; a third one might be too much.
        assert release.recoding.facts == {"units": 7, "sampled": 5, "inclusion": 5 / 7} and release.suppressed <= 5
        release = sampled(shoal.read(table, quasi=["age"], household="home", drop=["who"]), 0.7, seed)
        homes = table.filter(pl.col("age").is_in(release.frame["age"].cast(pl.Int64).implode()))["home"].value_counts()
        sizes = dict(table["home"].value_counts().iter_rows())
        assert all(sizes[home] == records for home, records in homes.iter_rows())
        assert release.recoding.facts["units"] == 5 and release.suppressed <= 7


def test_what_is_published_is_true_and_the_rest_is_left_out(census: shoal.Dataset) -> None:
    release = sampled(census, 0.9)
    assert len(release.frame) == 100 and not release.claims and release.view.truthful
    rows = Counter(shoal.samples.adult().head(1000).select(census.schema.quasi).cast(pl.String).rows())
    assert not Counter(release.frame.cast(pl.String).rows()) - rows
    assert sampled(census, 0.9).policy.seed != release.policy.seed, "the operating system decides who is in"


def test_the_risk_that_it_leaves(census: shoal.Dataset) -> None:
    """Whoever is known to be in the sample is found more easily than in the whole table, because others who are alike
    are gone. Whoever is not is hidden by everybody who is alike: the mean of 1/F over the sample, F counted here."""
    release = sampled(census, 0.9, 2**41)
    prosecutor, journalist = shoal.attack(census, release, "prosecutor", "journalist", external=census)
    table = shoal.samples.adult().head(1000).select(census.schema.quasi).cast(pl.String)
    everybody, shown = Counter(table.rows()), Counter(release.frame.cast(pl.String).rows())
    assert prosecutor.success == pytest.approx(len(shown) / 100)
    assert journalist.success == pytest.approx(sum(number / everybody[row] for row, number in shown.items()) / 100)
    whole = shoal.anonymize(census, "k-anonymity:k=1", algorithm="mondrian")
    assert prosecutor.success > shoal.attack(census, whole, "prosecutor")[0].success > 0.3
    assert any(everybody[row] == 1 for row in shown) and journalist.worst == 1.0, "who is unique is found for sure"


@pytest.mark.parametrize(("suppression", "reason"), [(0.0, "nobody"), (0.0005, "nobody"), (1.0, "everybody")])
def test_a_budget_that_leaves_nobody_out_or_nobody_in_is_refused(
    census: shoal.Dataset, suppression: float, reason: str
) -> None:
    with pytest.raises(ParameterError, match=reason):
        sampled(census, suppression)
    with pytest.raises(ParameterError, match="cannot promise a model"):
        shoal.anonymize(census, "k-anonymity:k=2", algorithm="sampling", suppression=0.5)
