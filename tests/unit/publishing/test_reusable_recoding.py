"""Recoding new records as those of a release were: where each goes, what stops, and that the policy is checked anew."""

from __future__ import annotations

import json
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import HierarchyError, InputError, NotDefined, SchemaError, VerificationError
from shoal.hierarchies.intervals import Intervals
from shoal.publishing.reusable_recoding import ReusableRecoding, widened

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": ["disease"], "kinds": {"zip": "categorical"}}


def people(count: int, seed: int, **columns: list) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    drawn = {
        "name": [f"p{row}" for row in range(count)],
        "age": draw.integers(20, 60, count).tolist(),
        "sex": draw.choice(["F", "M"], count).tolist(),
        "zip": draw.choice(["53715", "53710", "53706", "53703"], count).tolist(),
        "disease": draw.choice(["flu", "cold", "gout"], count).tolist(),
    }
    return pl.DataFrame({**drawn, **columns})


def released(table: pl.DataFrame, algorithm: str, k: int = 5, suppression: float = 0.0, **more) -> shoal.Release:
    data = shoal.read(table, **ROLES, identifiers=["name"], **more)
    return shoal.anonymize(data, f"k-anonymity:k={k}", algorithm=algorithm, suppression=suppression, seed=3)


def covers(label: str, value: object) -> bool:
    """What a reader takes a label to say, written apart from the code."""
    if label in ("*", str(value)):
        return True
    if label.startswith("["):
        low, high = label[1:-1].split("-")
        return int(low) <= int(value) <= int(high)
    return label.endswith("*") and str(value).startswith(label.rstrip("*"))


@pytest.mark.parametrize("algorithm", ["optimal", "datafly", "mondrian", "mondrian:numeric=hierarchy", "k-member"])
def test_new_records_are_in_classes_of_the_release(algorithm: str, tmp_path: Path) -> None:
    table, new = people(1500, 1), people(4000, 2)
    release = released(table, algorithm, k=4, suppression=0.05)
    made = shoal.apply(release, new)
    shown, given = made.frame, new.drop("name")
    assert made.records == 4000 and 0 <= made.suppressed <= 200
    known = set(release.frame.select("age", "sex", "zip").rows())
    full_domain = algorithm in ("optimal", "datafly")
    assert full_domain or set(shown.select("age", "sex", "zip").rows()) <= known
    assert min(Counter(shown.select("age", "sex", "zip").rows()).values()) >= 4
    people_like = set(given.rows())
    for *labels, disease in set(shown.rows()):
        assert any(row[3] == disease and all(map(covers, labels, row)) for row in people_like)
    made.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv").holds


def test_values_between_known_ones_join_the_range_that_holds_them() -> None:
    ages = [20, 22, 24, 30, 32, 34] * 3
    table = pl.DataFrame({"age": ages, "sex": ["F"] * 18})
    data = shoal.read(table, quasi=["age", "sex"])
    release = shoal.anonymize(data, "k-anonymity:k=9", algorithm="mondrian", seed=1)
    assert set(release.frame["age"]) == {"[20-24]", "[30-34]"}
    made = shoal.apply(release, pl.DataFrame({"age": [21, 23] * 5 + [33] * 9, "sex": ["F"] * 19}))
    assert Counter(made.frame["age"]) == {"[20-24]": 10, "[30-34]": 9}
    with pytest.raises(VerificationError, match="break the policy") as refused:  # 27 lies in no class
        shoal.apply(release, pl.DataFrame({"age": [21] * 9 + [27], "sex": ["F"] * 10}))
    assert "27" not in str(refused.value)


def test_a_record_that_no_class_holds_is_withheld_within_the_budget() -> None:
    table = pl.DataFrame({"age": [20, 22, 24, 30, 32, 34] * 3})
    data = shoal.read(table, quasi=["age"])
    release = shoal.anonymize(data, "k-anonymity:k=9", algorithm="mondrian", suppression=0.2, seed=1)
    made = shoal.apply(release, pl.DataFrame({"age": [21] * 12 + [27] + [34] * 2}))
    assert made.frame["age"].to_list() == ["[20-24]"] * 12 and made.suppressed == 3
    with pytest.raises(VerificationError, match="suppressed"):
        shoal.apply(release, pl.DataFrame({"age": [21] * 9 + [27] * 4}))


def test_unseen_values_stop() -> None:
    release = released(people(200, 1), "optimal", k=4)
    with pytest.raises(
        HierarchyError, match=r"'zip' lacks 1 of the column's 5 distinct values \(1 records\)"
    ) as refused:
        shoal.apply(release, people(200, 2, zip=["53715", "53710", "53706", "53703"] * 49 + ["53715"] * 3 + ["99999"]))
    assert "99999" not in str(refused.value)
    data = shoal.read(people(200, 1), quasi=["age"], hierarchies={"age": "intervals:width=10,levels=1"})
    levels = shoal.anonymize(data, "k-anonymity:k=20", algorithm="optimal", seed=1, allow_plain=["name"])
    assert levels.recoding.levels == (1,)
    assert shoal.apply(levels, people(200, 2)).records == 200
    with pytest.raises(HierarchyError, match="'age': 1 distinct values lie in no range"):
        shoal.apply(levels, people(200, 2, age=[21] * 199 + [95]))


def test_unseen_sensitive_values_are_fine_where_they_are_not_grouped() -> None:
    release = released(people(400, 1), "optimal", k=4)
    made = shoal.apply(release, people(400, 2, disease=["flu", "measles"] * 200))
    assert set(made.frame["disease"]) == {"flu", "measles"}


def test_columns_must_be_those_of_the_release() -> None:
    release = released(people(200, 1), "optimal", k=4)
    new = people(200, 2)
    assert "name" not in shoal.apply(release, new).frame.columns
    assert shoal.apply(release, new.drop("name")).records == 200
    with pytest.raises(SchemaError, match=r"1 columns are none of the release's.*'note'"):
        shoal.apply(release, new.with_columns(note=pl.lit("x")))
    with pytest.raises(SchemaError, match="columns of the release are lacking: 'zip'"):
        shoal.apply(release, new.drop("zip"))


def test_the_policy_is_that_of_the_release_and_holds_on_the_new_records_alone() -> None:
    data = shoal.read(people(400, 1), **ROLES, identifiers=["name"])
    release = shoal.anonymize(data, "k-anonymity:k=4", "distinct-l-diversity:l=2", algorithm="optimal", seed=1)
    assert shoal.apply(release, people(400, 2)).verify(release.policy).holds
    with pytest.raises(VerificationError, match=r"\(distinct-l\)"):
        shoal.apply(release, people(400, 2, disease=["flu"] * 400))
    with pytest.raises(VerificationError, match=r"\(k, distinct-l\)"):
        shoal.apply(release, people(3, 2))


def test_what_cannot_be_applied() -> None:
    data = shoal.read(people(200, 1), **ROLES, identifiers=["name"])
    two = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy")
    means = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mdav")
    for release, reason in ((two, "only a generalized release"), (means, "published as means")):
        with pytest.raises(NotDefined, match=reason):
            shoal.apply(release, people(200, 2))


def test_a_wider_hierarchy_has_the_numbers_in_between() -> None:
    tree = Intervals(width=5, levels=1).build(Values.of("age", Kind.NUMERIC, ["20", "23", "31"])).with_missing()
    wide = widened(tree, Values.of("age", Kind.NUMERIC, ["20", "22", "24", "27", "34", "99"]))
    rows = {row[0]: row[1] for row in wide.rows()}
    assert rows == {"20": "[20-24]", "22": "[20-24]", "23": "[20-24]", "24": "[20-24]", "27": "27", "31": "[30-34]",
                    "34": "[30-34]", "99": "99"}  # fmt: skip
    assert wide.ordered and wide.missing and wide.label(1, 4) == "[20-24]"
    assert widened(tree, Values.of("age", Kind.NUMERIC, ["20"])) is tree


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_a_saved_recoding_does_what_the_release_does(algorithm: str, engine: str, tmp_path: Path) -> None:
    table = people(1500, 1, age=[None if row % 50 == 0 else 20 + row % 40 for row in range(1500)])
    release = released(table, algorithm, k=3, suppression=0.05, hierarchies={"zip": "masking:step=2"})
    path = shoal.save_recoding(release, tmp_path / "recoding.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    new = people(4000, 2)
    one, other = shoal.apply(release, new), shoal.apply(path, new, engine=engine)
    assert sorted(pl.DataFrame(one.frame).rows()) == sorted(pl.DataFrame(other.frame).rows())
    assert one.policy.models == other.policy.models


def test_a_saved_recoding_that_was_damaged(tmp_path: Path) -> None:
    path = shoal.save_recoding(released(people(200, 1), "mondrian", k=4), tmp_path / "recoding.json")
    stated = json.loads(path.read_text())
    broken = [
        "", "[]", "{}", "{", json.dumps({**stated, "recoding": 99}),
        *(json.dumps({key: value for key, value in stated.items() if key != lacking}) for lacking in stated
          if lacking != "keep"),
        json.dumps({**stated, "cells": [[10**6] * 3] * 3}), json.dumps({**stated, "cells": []}),
        json.dumps({**stated, "codebooks": stated["codebooks"][:1]}), json.dumps({**stated, "models": []}),
        json.dumps({**stated, "levels": [1]}),
    ]  # fmt: skip
    for text in broken:
        path.write_text(text)
        with pytest.raises(InputError, match=r"recoding\.json: this is not a recoding"):
            shoal.apply(path, people(200, 2))
    with pytest.raises(InputError, match="cannot be read"):
        shoal.apply(tmp_path / "none.json", people(200, 2))
    assert ReusableRecoding.of(released(people(200, 1), "mondrian", k=4)).levels is None
