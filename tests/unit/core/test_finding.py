"""Findings as JSON: a number, or the reason why there is none."""

import json

import polars as pl

import shoal
from shoal.core.finding import Finding


def test_a_number_that_there_is_not_has_its_reason():
    assert "reason" not in Finding(name="k", value=3, how="the smallest class").as_dict()
    data = shoal.read(pl.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
    swapped = shoal.anonymize(data, algorithm="rank-swapping:share=0.5")
    found = json.loads(json.dumps(shoal.evaluate(data, swapped, "gcp").as_dict()))
    assert found["gcp"]["value"] is None and "perturbed" in found["gcp"]["reason"]
