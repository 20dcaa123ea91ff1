"""Linkage where people have several records: it finds and counts people."""

import polars as pl

import shoal


def test_people_are_counted_and_not_their_records() -> None:
    table = pl.DataFrame({"patient": list("aaabcde"), "age": [1, 1, 1, 1, 2, 2, 2]})
    data = shoal.read(table, quasi=["age"], person="patient")
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1)
    listed = shoal.read(pl.DataFrame({"age": [1, 2]}), quasi=["age"])
    (found,) = shoal.attack(data, release, "linkage:threshold=0.4", external=listed)
    # One of two is a, who has three records, or b; one of three is c, d or e.
    assert (found.success, found.baseline, found.worst, found.above) == (2 / 5, 1 / 5, 1 / 2, 2 / 5)
