"""Slicing, multisets and bucketization on small tables that were worked through by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms._columns import associations, chosen_columns, medoids
from shoal.api import publish
from shoal.core.recoding import Plan, Recoding
from shoal.errors import InfeasibleError
from shoal.publishing.slices import joined_back

EIGHT = pl.DataFrame(
    {
        "age": [22, 22, 33, 52, 54, 60, 60, 64],
        "sex": list("MFFFMMMF"),
        "zip": ["47906", "47906", "47905", "47905", "47302", "47302", "47304", "47304"],
        "disease": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)
PATIENTS = pl.DataFrame(
    {
        "age": [20, 24, 23, 27, 35, 34, 31, 38],
        "gender": list("FMFMMMMM"),
        "zip": ["12345", "12342", "12344", "12344", "12412", "12433", "12453", "12455"],
        "disease": ["AIDS", "Flu", "Flu", "AIDS", "Flu", "Cancer", "Flu", "AIDS"],
    }
)
COLUMNS = (("age", "sex"), ("zip", "disease"))


def read(table: pl.DataFrame) -> shoal.Dataset:
    return shoal.read(table, quasi=table.columns[:-1], sensitive=[table.columns[-1]])


def parted(table: pl.DataFrame, groups: list[int], form: str, **options: object) -> shoal.Release:
    """A release in which the rows of a table are in given groups."""
    data = read(table)
    waiting: dict[tuple[int, ...], list[int]] = {}
    rows = zip(*(data.table.codes(name).tolist() for name in table.columns), strict=True)
    for key, group in zip(rows, groups, strict=True):
        waiting.setdefault(key, []).append(group)
    listed = zip(*(codes.tolist() for codes in data.table.listing(data.schema.quasi, table.columns, 0)), strict=True)
    owners = np.array([waiting[key].pop() for key in listed], np.int32)
    plan = Plan(data.summary.keys, owners, owners < 0, np.zeros((0, max(groups) + 1), np.int32), (), by_record=True)
    recoding = Recoding(plan, form=form, options=options)
    release = publish(data, recoding)
    release.view.check(data, recoding)
    return release


def sliced(table: pl.DataFrame, buckets: list[int], columns: tuple[tuple[str, ...], ...]) -> shoal.Release:
    return parted(table, buckets, "sliced", columns=columns)


def believed(release: shoal.Release, table: pl.DataFrame) -> list[dict[str, float]]:
    """What somebody believes about each person who knows that person's quasi-identifiers alone."""
    data, groups = read(table), release.view.groups().histogram()
    people = np.stack([data.table.codes(name) for name in data.schema.quasi])
    found, labels = release.view.candidates(people), data.schema[table.columns[-1]].hierarchy.labels[0]
    beliefs = []
    for person in range(table.height):
        belief: Counter[str] = Counter()
        for at in range(found.starts[person], found.starts[person + 1]):
            group = found.classes[at]
            for entry in range(groups.starts[group], groups.starts[group + 1]):
                belief[labels[groups.values[entry]]] += found.chances[at] * groups.shares[entry]
        beliefs.append(dict(belief))
    return beliefs


def test_every_value_has_one_half() -> None:
    release = sliced(EIGHT, [0] * 4 + [1] * 4, COLUMNS)
    pairs = [("dyspepsia", "flu")] * 2 + [("flu", "bronchitis")] * 2 + [("flu", "dyspepsia")] * 2
    pairs += [("dyspepsia", "gastritis")] * 2
    assert believed(release, EIGHT) == [{value: pytest.approx(0.5) for value in pair} for pair in pairs]
    assert release.verify(shoal.Policy(models=(shoal.FrequencyLDiversity(l=2),), suppression=0)).holds


def test_the_search_cuts_them_further() -> None:
    """The four pairs of neighbours by zip are as safe, and keep more."""
    method = shoal.algorithms.Slicing(columns=COLUMNS)
    release = shoal.anonymize(read(EIGHT), shoal.FrequencyLDiversity(l=2), algorithm=method, seed=1)
    ages = release.frame.group_by("bucket").agg("age")["age"]
    assert sorted(sorted(some) for some in ages) == [[22, 22], [33, 52], [54, 60], [60, 64]]
    assert all(max(belief.values()) <= 0.5 + 1e-9 for belief in believed(release, EIGHT))


def test_contingencies() -> None:
    names, found = associations(read(EIGHT), 10)
    expected = {
        ("age", "sex"): Fraction(3, 4), ("age", "zip"): Fraction(5, 6), ("age", "disease"): Fraction(8, 9),
        ("sex", "zip"): Fraction(1, 2), ("sex", "disease"): Fraction(2, 3), ("zip", "disease"): Fraction(1, 3),
    }  # fmt: skip
    for (left, right), phi in expected.items():
        assert found[names.index(left), names.index(right)] == pytest.approx(float(phi))


def test_columns_are_bounded_beside_the_sensitive_one() -> None:
    """Two columns by PAM are {sex} and all others, which fails the check for every bucketing."""
    names, found = associations(read(EIGHT), 10)
    owners = medoids(1 - found, 2)
    assert {tuple(name for name, own in zip(names, owners, strict=True) if own == each) for each in set(owners)} == {
        ("sex",), ("age", "zip", "disease"),
    }  # fmt: skip
    assert chosen_columns(read(EIGHT), 2, 9, 10) == (("sex",), ("age", "zip", "disease"))
    assert chosen_columns(read(EIGHT), 2, 1, 10) == (("sex", "zip"), ("age", "disease"))
    assert chosen_columns(read(EIGHT), 2, 0, 10) == (("age", "sex", "zip"), ("disease",))
    half, given = shoal.FrequencyLDiversity(l=2), "slicing:columns=sex|age+zip+disease"
    with pytest.raises(InfeasibleError, match="fewer quasi-identifiers beside"):
        shoal.anonymize(read(EIGHT), half, algorithm=given, seed=1)
    release = shoal.anonymize(read(EIGHT), half, algorithm="slicing:beside=9", seed=1)
    assert release.recoding.facts["columns"] == [["age", "sex", "zip"], ["disease"]]


TWO_BUCKETS = pl.DataFrame(
    {"one": list("abacad"), "two": list("xyyxxy"), "value": ["s1", "s2", "s3", "s4", "s5", "s1"]}
)


def test_two_buckets_match() -> None:
    release = sliced(TWO_BUCKETS, [0, 0, 0, 1, 1, 1], (("one",), ("two", "value")))
    beliefs = believed(release, TWO_BUCKETS)
    assert beliefs[2] == pytest.approx({"s1": 1 / 5, "s2": 2 / 5, "s3": 2 / 5})
    assert beliefs[5] == {"s1": pytest.approx(1)}


KNOWING_ALL = pl.DataFrame(
    {"one": list("bcbacc"), "two": list("yxyxyx"), "value": ["s3", "s4", "s2", "s3", "s1", "s1"]}
)


def test_the_check_of_one_target_is_weaker() -> None:
    """Nobody is found with more than one half by who knows one person; who knows all is certain of (c, y)."""
    columns = (("one",), ("two", "value"))
    release = sliced(KNOWING_ALL, [0, 0, 0, 1, 1, 1], columns)
    assert max(max(belief.values()) for belief in believed(release, KNOWING_ALL)) == pytest.approx(0.5)
    assert not shoal.FrequencyLDiversity(l=2).holds(release.view.groups()).all()
    strong = shoal.anonymize(
        read(KNOWING_ALL), shoal.FrequencyLDiversity(l=2), algorithm=shoal.algorithms.Slicing(columns=columns), seed=1
    )
    assert strong.view.groups().histogram().shares.max() == pytest.approx(1 / 3)
    held = Counter(release.frame.select("bucket", "one").rows())
    worlds = [
        order
        for order in permutations(release.frames["sensitive"].select("two", "value", "bucket").rows())
        if all(row[0] == two for row, two in zip(order, KNOWING_ALL["two"], strict=True))
        and Counter((row[2], one) for row, one in zip(order, KNOWING_ALL["one"], strict=True)) == held
    ]
    assert worlds and all(world[4][1] == "s1" for world in worlds), "whoever knows everybody is certain of (c, y)"
    weak = shoal.algorithms.Slicing(columns=columns, attacker="target", l=2)
    made = shoal.anonymize(read(KNOWING_ALL), algorithm=weak, seed=1)
    assert not made.claims and max(max(belief.values()) for belief in believed(made, KNOWING_ALL)) <= 0.5 + 1e-9


def test_a_truthful_overlap_gives_everybody_away() -> None:
    data = read(PATIENTS)
    for half in (slice(0, 4), slice(4, 8)):
        ages, zips, ills = (
            np.unique(PATIENTS[name].to_numpy()[half], return_inverse=True)[1].astype(np.int32)
            for name in ("age", "zip", "disease")
        )
        people, chances = joined_back([ages, zips], ills, np.ones(4, np.int64))
        for age, zip_code, ill in zip(ages, zips, ills, strict=True):
            at = people.T.tolist().index([age, zip_code])
            assert chances[at, ill] == pytest.approx(1)
    columns = "overlapping-slicing:columns=age+gender+disease|zip+disease"
    with pytest.raises(InfeasibleError, match="of 8 of 8 people; take slicing") as refused:
        shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=columns, seed=1)
    assert refused.value.attempt["certain"] == 8


def test_the_printed_table_is_a_bucketization() -> None:
    release = parted(PATIENTS, [0] * 4 + [1] * 4, "two-table")
    made = shoal.anonymize(read(PATIENTS), shoal.FrequencyLDiversity(l=2), algorithm="bucketization", seed=1)
    assert type(made.form) is type(release.form) and made.frame.drop("group").columns == PATIENTS.columns[:-1]
    shares = {}
    for (group,), rows in release.frames["sensitive"].group_by("group"):
        ages = frozenset(release.frame.filter(pl.col("group") == group)["age"])
        shares[ages] = dict(zip(rows["disease"], rows["count"] / rows["count"].sum(), strict=True))
    assert shares == {
        frozenset({20, 23, 24, 27}): {"AIDS": 0.5, "Flu": 0.5},
        frozenset({31, 34, 35, 38}): {"Flu": 0.5, "Cancer": 0.25, "AIDS": 0.25},
    }


def test_multisets_of_the_patients() -> None:
    release = shoal.anonymize(read(PATIENTS), shoal.KAnonymity(k=4), algorithm="multiset", seed=1)
    rows = set(release.frame.select("age", "gender", "zip").rows())
    assert ("{20:1,23:1,24:1,27:1}", "{F:2,M:2}", "{12342:1,12344:2,12345:1}") in rows and len(rows) == 2
    assert sorted(release.frame["disease"]) == sorted(PATIENTS["disease"])
