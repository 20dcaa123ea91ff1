"""Other tools' figures on the same data."""

import pytest

import shoal

QI5 = ["age", "workclass", "education", "sex", "race"]
QI8 = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]


@pytest.fixture(scope="module")
def tables(reference):
    def read(quasi):
        return shoal.read(
            reference / "adult.csv", quasi=quasi, sensitive=["occupation"], hierarchies=reference / "hierarchies"
        )

    return {"QI5": read(QI5), "QI8": read(QI8)}


def in_order(data, names, levels):
    wanted = dict(zip(names, levels, strict=True))
    return [wanted[name] for name in data.schema.quasi]


@pytest.mark.parametrize(
    ("name", "levels", "k"),
    [
        ("QI5", [0, 0, 0, 0, 0], 1),
        ("QI5", [2, 1, 2, 0, 1], 1),
        ("QI5", [4, 2, 2, 0, 1], 126),
        ("QI8", [3, 1, 2, 1, 1, 0, 2, 0], 1),
        ("QI8", [4, 2, 3, 1, 1, 0, 2, 0], 406),
    ],
)
def test_k_at_levels(tables, name, levels, k):
    data = tables[name]
    classes = data.summary.generalize(in_order(data, {"QI5": QI5, "QI8": QI8}[name], levels))
    assert shoal.KAnonymity(k=2).measure(classes).value == k


@pytest.mark.parametrize(
    ("name", "classes", "unique", "below"),
    [("QI5", 6211, 3109, {3: 5175, 5: 8094, 10: 12297}), ("QI8", 12458, 8841, {3: 11971, 5: 15353, 10: 19100})],
)
def test_raw_exposure(tables, name, classes, unique, below):
    for k, records in below.items():
        found = shoal.diagnose(tables[name], k=k)
        assert found["records-below-k"].value == records
    assert found["classes"].value == classes
    assert found["unique-records"].value == unique


@pytest.mark.parametrize(("name", "k", "peer"), [("QI5", 5, 0.0383), ("QI8", 5, 0.1085), ("QI8", 10, 0.1124)])
def test_mondrian_loses_less_than_other_mondrians(tables, name, k, peer):
    data = tables[name]
    release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian:numeric=interval")
    assert shoal.evaluate(data, release, "gcp")["gcp"].value < peer
