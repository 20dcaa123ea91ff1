"""The worked examples of the source papers, as far as the foundation goes."""

import numpy as np
import polars as pl

import shoal
from shoal.api import publish
from shoal.core.recoding import Recoding


def published(data, classes, intervals):
    """The release of a given partition of rows that all differ."""
    tuples = np.lexsort([data.codes(name) for name in reversed(data.schema.quasi)])
    outputs = ["interval" if interval else "hierarchy" for interval in intervals]
    return publish(data, Recoding.of_partition(data.summary, np.array(classes, np.int32)[tuples], outputs))


def test_four_patients_two_anonymous():
    table = shoal.samples.patients_four()
    quasi = ["age", "gender", "zip"]
    data = shoal.read(
        table,
        quasi=quasi,
        sensitive=["disease"],
        kinds={"zip": "categorical"},
        hierarchies={"zip": "masking", "age": "automatic"},
    )
    assert shoal.diagnose(data)["k"].value == 1
    release = published(data, [0, 0, 1, 1], [True, False, False])
    rows = set(release.frame.select(quasi).rows())
    assert rows == {("[21-22]", "*", "1765*"), ("[23-24]", "Male", "1766*")}
    assert shoal.KAnonymity(k=2).measure(release.classes).holds
    homogeneous = release.classes.histogram().distinct.tolist()
    assert sorted(homogeneous) == [1, 2]
    diverse = published(data, [0, 1, 0, 1], [True, False, False])
    assert set(diverse.frame.select(quasi).rows()) == {("[21-23]", "*", "176**"), ("[22-24]", "Male", "176**")}
    assert diverse.classes.histogram().distinct.tolist() == [2, 2]


def test_mondrian_finds_the_two_anonymous_classes_of_the_four_patients():
    table = shoal.samples.patients_four()
    data = shoal.read(
        table, quasi=["age", "gender", "zip"], kinds={"zip": "categorical"}, column_hierarchies={"zip": "masking"}
    )
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian")
    assert set(release.frame["age"]) == {"[21-22]", "[23-24]"}


def test_ten_patients_published_as_the_paper_does():
    table = shoal.samples.patients_mst().drop("id")
    data = shoal.read(
        table,
        quasi=["gender", "age", "zip"],
        sensitive=["disease"],
        hierarchies=shoal.samples.hierarchies("patients-mst"),
    )
    release = published(data, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2], [False, False, False])
    assert release.frame.group_by("gender", "age", "zip").len().sort("len", "gender", "age").rows() == [
        ("Male", "[20-25]", "535280", 3),
        ("Male", "[36-40]", "53529*", 3),
        ("Female", "[20-40]", "5352**", 4),
    ]


def test_eight_patients_in_two_classes_of_four():
    table = shoal.samples.patients_eight()
    data = shoal.read(table, quasi=["age", "gender", "zip"], sensitive=["disease"], kinds={"zip": "categorical"})
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian")
    classes = release.frame.group_by("age", "gender", "zip").agg(pl.col("disease").sort()).sort("age")
    assert classes["disease"].to_list() == [["AIDS", "AIDS", "Flu", "Flu"], ["AIDS", "Cancer", "Flu", "Flu"]]
