"""Clusters that are published alike are one class to a reader, and must keep the policy as that class."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest

import shoal

VISITS = pl.DataFrame(
    {
        "town": ["1", "1", "5", "1", "1", "5"],
        "disease": ["flu", "cough", "hiv", "hiv", "cough", "cold"],
        "patient": ["a", "b", "d", "d", "d", "c"],
    }
)


@pytest.mark.parametrize("algorithm", ["oka", "bucket-clustering", "k-member", "l-member"])
def test_people_of_clusters_that_are_published_alike_are_counted_together(algorithm: str) -> None:
    """Somebody may have a record in each of two clusters, and a share that both keep is too much in their union."""
    data = shoal.read(VISITS, quasi=["town"], sensitive=["disease"], person="patient")
    release = shoal.anonymize(
        data, "frequency-l-diversity:l=2", algorithm=algorithm, seed=1, pseudonyms=shoal.Pseudonyms()
    )
    people, having = defaultdict(set), defaultdict(set)
    for town, disease, patient in release.frame.select("town", "disease", "patient").rows():
        people[town].add(patient)
        having[town, disease].add(patient)
    assert people
    for (town, _), some in having.items():
        assert 2 * len(some) <= len(people[town])


def test_parts_that_mondrian_publishes_alike_are_judged_together() -> None:
    """Relaxed cuts part equal records, and parts may have the same mean."""
    table = pl.DataFrame(
        {
            "patient": list("0967475442886841"),
            "dose": [float(dose) for dose in "2220201000120121"],
            "town": list("wvvwvuvwwwvuvvww"),
            "disease": list("baabbbacbcbabbbb"),
        }
    )
    data = shoal.read(table, quasi=["dose", "town"], sensitive=["disease"], person="patient")
    for seed in range(10):  # each parts equal records in another way
        release = shoal.anonymize(
            data, "rho-privacy:rho1=0.35,rho2=0.5", algorithm="mondrian:strict=no,numeric=mean", seed=seed
        )
        assert len(release.frame) == len(table)
