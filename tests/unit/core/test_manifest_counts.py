"""What a manifest tells of sensitive values: nothing about withheld records, unless a model needs the whole table."""

import polars as pl
import pytest

import shoal


@pytest.mark.parametrize(("model", "told"), [("distinct-l-diversity:l=2", False), ("t-closeness:t=0.9", True)])
def test_counts_of_withheld_records(model, told, tmp_path):
    table = pl.DataFrame({"a": [1] * 5 + [2] * 5 + [99], "s": [*"xyxyx", *"xyyyx", "z"]})
    data = shoal.read(table, quasi=["a"], sensitive=["s"], hierarchies={"a": "ordering"})
    release = shoal.anonymize(data, "k-anonymity:k=5", model, algorithm="optimal", suppression=0.1)
    assert release.suppressed == 1
    stated = release.manifest([""])["sensitive"]["s"]["population"]
    assert sum(stated) == (11 if told else 10)
    path = tmp_path / "out.csv"
    release.write(path)
    assert shoal.verify(path).holds
