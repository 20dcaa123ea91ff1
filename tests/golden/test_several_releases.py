"""Attacks on several releases: the published examples, and those that were worked through by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api import publish
from shoal.core.contracts.attack import Attempt
from shoal.core.contracts.model import Model
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.run import Run
from shoal.ledger import Ledger

FOUR = pl.DataFrame(
    {
        "age": [21, 22, 23, 24],
        "gender": ["Female", "Male", "Male", "Male"],
        "zip": ["17651", "17652", "17661", "17662"],
        "disease": ["Cancer", "Flu", "HIV", "HIV"],
    }
)
SIX = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6], "disease": ["s1", "s2", "s3", "s4", "s1", "s2"]})
RACES = pl.DataFrame(
    [(race, zipcode) for race in ("Asian", "Black", "White") for zipcode in ("02138", "02139", "02141", "02142")],
    schema=["race", "zip"],
    orient="row",
)


def parted(data: shoal.Dataset, classes: list[int], models: tuple[Model, ...] = ()) -> shoal.Release:
    """A generalized release in which tuple `t` of a table without equal tuples is in a class."""
    kinds = ["interval" if tree.ordered else "hierarchy" for tree in data.summary.hierarchies]
    recoding = Recoding.of_partition(data.summary, np.array(classes, np.int32), kinds)
    release = publish(data, recoding, Policy(models=models))
    release.view.check(data, recoding)
    return release


def attacked(data: shoal.Dataset, name: str, earlier: list[shoal.Release], later: shoal.Release) -> Attempt:
    return shoal.attack(data, later, name, earlier=earlier)[0]


class TestFourPatients:
    @pytest.fixture(autouse=True)
    def releases(self) -> None:
        self.data = shoal.read(FOUR, quasi=["age", "gender", "zip"], sensitive=["disease"])
        self.anonymous, self.diverse = parted(self.data, [0, 0, 1, 1]), parted(self.data, [0, 1, 0, 1])

    def test_each_release_alone(self) -> None:
        alone = [shoal.attack(self.data, each, "homogeneity")[0] for each in (self.anonymous, self.diverse)]
        assert [each.worst for each in alone] == [1.0, 0.5] and [each.success for each in alone] == [0.75, 0.5]

    def test_together_every_disease_follows_with_certainty(self) -> None:
        found = attacked(self.data, "composition", [self.anonymous], self.diverse)
        assert (found.success, found.worst, found.baseline) == (1.0, 1.0, 0.75)
        assert found.detail["certain"] == 1.0 and found.detail["exact"] == 1.0 and found.detail["alone"] == [1.0, 0.5]
        assert found.detail["gained"] == 0.5, "two of four were certain before"

    def test_together_nobody_hides(self) -> None:
        found = attacked(self.data, "complementary-release", [self.anonymous], self.diverse)
        assert (found.success, found.baseline, found.detail["k"]) == (1.0, 0.5, 1)
        assert found.detail["alone"] == [2, 2] and found.detail["gained"] == 1.0


def test_six_people() -> None:
    data = shoal.read(SIX, quasi=["age"], sensitive=["disease"])
    first, second = parted(data, [0, 0, 0, 1, 1, 1]), parted(data, [0, 1, 2, 0, 1, 2])
    assert shoal.attack(data, first, "homogeneity")[0].worst == pytest.approx(1 / 3)
    assert shoal.attack(data, second, "homogeneity")[0].worst == 0.5
    found = attacked(data, "composition", [first], second)
    assert found.worst == found.success == 1.0 and found.detail["exact"] == 1.0


class TestRacesAndZips:
    def files(self, folder: Path, order: np.ndarray | None = None) -> tuple[shoal.Dataset, Path, Path]:
        first = RACES.with_columns(race=pl.lit("*"))
        second = RACES.with_columns(zip=pl.col("zip").str.head(4) + "*")
        first.write_csv(folder / "first.csv")
        (second if order is None else second[order]).write_csv(folder / "second.csv")
        data = shoal.read(RACES, quasi=["race", "zip"], column_hierarchies={"zip": "masking"}, kinds={"zip": "text"})
        return data, folder / "first.csv", folder / "second.csv"

    def test_unshuffled_releases_are_joined_by_row_number(self, tmp_path: Path) -> None:
        data, first, second = self.files(tmp_path)
        ks = [shoal.attack(data, each, "prosecutor")[0].worst for each in (first, second)]
        assert ks == [pytest.approx(1 / 3), pytest.approx(1 / 2)]
        found = shoal.attack(data, second, "unsorted-matching", earlier=[first])[0]
        assert (found.success, found.detail["k"], found.baseline) == (1.0, 1, pytest.approx(1 / 12))

    def test_shuffled_releases_are_not(self, tmp_path: Path) -> None:
        generator, kept, success = np.random.default_rng(1), [], []
        for _ in range(60):
            data, first, second = self.files(tmp_path, generator.permutation(12))
            found = shoal.attack(data, second, "unsorted-matching", earlier=[first])[0]
            kept.append(found.detail["kept"])
            success.append(found.success)
            low, high = found.detail["interval"]
            assert 0 <= low <= high <= 1 and (low == 0 or found.success > found.baseline)
        # The expected share of rows in order is none, so that a pair is right with 1/n; chance counts for no more.
        assert abs(np.mean(kept)) < 3 * np.std(kept) / np.sqrt(60)
        assert np.median(success) == pytest.approx(1 / 12) and np.mean(success) < 1 / 12 + 0.05

    def test_releases_of_shoal_are_in_no_order_that_joins_them(self) -> None:
        table = shoal.samples.adult().select("age", "sex", "race", "occupation").head(2000)
        data = shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])
        first, second = (shoal.anonymize(data, shoal.KAnonymity(k=k), seed=1) for k in (3, 5))
        found = shoal.attack(data, second, "unsorted-matching", earlier=[first])[0]
        assert abs(found.detail["kept"]) < 0.05


FIRST = {
    "Bob": "dyspepsia", "Alice": "bronchitis", "Andy": "flu", "David": "gastritis", "Gary": "flu",
    "Helen": "gastritis", "Jane": "dyspepsia", "Ken": "flu", "Linda": "gastritis", "Paul": "dyspepsia",
    "Steve": "gastritis",
}  # fmt: skip
LEFT = ("Alice", "Andy", "Helen", "Ken", "Paul")
CAME = {"Emily": "flu", "Mary": "gastritis", "Ray": "dyspepsia", "Tom": "gastritis", "Vince": "flu"}


def of(people: dict[str, str]) -> shoal.Dataset:
    """People in a table whose one quasi-identifier tells them apart."""
    everybody = sorted({**FIRST, **CAME})
    table = pl.DataFrame(
        {"name": list(people), "age": [20 + everybody.index(name) for name in people], "disease": list(people.values())}
    )
    return shoal.read(table, quasi=["age"], sensitive=["disease"], identifiers=["name"])


def in_classes(data: shoal.Dataset, classes: list[str]) -> shoal.Release:
    """A release with these people, by the names that they begin with, in its classes."""
    everybody = sorted({**FIRST, **CAME})
    ages = [int(label) for label in data.summary.hierarchies[0].labels[0]]
    names = [everybody[age - 20] for age in ages]
    return parted(data, [next(at for at, each in enumerate(classes) if name in each.split()) for name in names])


def test_naive_release_of_a_table_that_grew_gives_bob_away() -> None:
    then, now = of(FIRST), of({name: what for name, what in {**FIRST, **CAME}.items() if name not in LEFT})
    first = in_classes(then, ["Bob Alice", "Andy David", "Gary Helen", "Jane Ken Linda", "Paul Steve"])
    second = in_classes(now, ["Bob David Emily", "Gary Jane Mary", "Linda Ray Steve", "Tom Vince"])
    found = attacked(now, "composition", [first], second)
    assert found.worst == 1.0 and found.detail["certain"] >= 1 / 16
    temporal = attacked(now, "temporal-release", [first], second)
    assert (temporal.worst, temporal.detail["came"], temporal.detail["left"]) == (1.0, 5, 5)


class TestMInvariance:
    """Release 1 is as published; release 2 keeps every signature with two counterfeits."""

    groups = ("Bob Alice", "Andy David", "Gary Helen", "Jane Ken Linda", "Paul Steve")

    def published(self, ledger: Path) -> tuple[shoal.Release, shoal.Release]:
        then, now = of(FIRST), of({name: what for name, what in {**FIRST, **CAME}.items() if name not in LEFT})
        models = (shoal.FrequencyLDiversity(l=2),)
        names = [sorted({**FIRST, **CAME})[int(age) - 20] for age in then.summary.hierarchies[0].labels[0]]
        owners = np.array([next(at for at, each in enumerate(self.groups) if name in each.split()) for name in names])
        plan = Plan(
            then.summary.keys, owners.astype(np.int32), owners < 0, np.zeros((0, 5), np.int32), (), by_record=True
        )
        first = publish(then, Recoding(plan, form="two-table"), Policy(models=models))
        with Ledger(ledger).publishing(then, first, Run()) as publication:
            publication.enter(first.manifest(["", ""]), None)
        return first, shoal.anonymize(now, *models, algorithm="m-invariance", seed=1, ledger=ledger)

    def signatures(self, release: shoal.Release) -> dict[str, frozenset[str]]:
        values: dict[int, set[str]] = {}
        for group, value, count in release.frames["sensitive"].rows():
            assert count == 1, "all values of a group are different"
            values.setdefault(group, set()).add(value)
        everybody = sorted({**FIRST, **CAME})
        return {everybody[age - 20]: frozenset(values[group]) for age, group in release.frame.rows()}

    def test_signatures_stay_and_two_counterfeits_are_enough(self, tmp_path: Path) -> None:
        first, second = self.published(tmp_path / "people.ledger")
        before, after = self.signatures(first), self.signatures(second)
        stayed = set(before) & set(after)
        assert stayed == {"Bob", "David", "Gary", "Jane", "Linda", "Steve"}
        assert all(before[name] == after[name] for name in stayed)
        assert all(len(signature) >= 2 for signature in after.values())
        assert second.provenance["counterfeits"] == 2 and second.suppressed == 0
        counted = second.frames["sensitive"]["count"].sum() - second.frame.height
        assert counted == 2, "how many there are is published"
        assert "bronchitis" in second.frames["sensitive"]["disease"].to_list(), "a value that nobody has any more"

    def test_nobody_is_known_better_than_by_one_release(self, tmp_path: Path) -> None:
        first, second = self.published(tmp_path / "people.ledger")
        found = shoal.attack(second.origin, second, "composition", earlier=[first])[0]
        assert found.worst == 0.5 and found.detail["exact"] == 1.0 and found.detail["gained"] == 0.0

    def test_the_file_is_verified(self, tmp_path: Path) -> None:
        _, second = self.published(tmp_path / "people.ledger")
        second.write(tmp_path / "second.csv")
        assert shoal.verify(tmp_path / "second.csv").holds
        other = (tmp_path / "second.sensitive.csv").read_text().splitlines()
        (tmp_path / "second.sensitive.csv").write_text("\n".join(other[:-1]) + "\n")
        assert not shoal.verify(tmp_path / "second.csv").holds
