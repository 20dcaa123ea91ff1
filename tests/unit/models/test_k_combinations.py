"""k over combinations: every set of so many columns, against a count in plain Python, and through releases."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.core.margins import margins
from shoal.errors import ParameterError
from shoal.models import KCombinations

QUASI = ["age", "sex", "zip", "job"]


def drawn(seed: int, rows: int = 60) -> pl.DataFrame:
    """People with some cells missing, about every third of whom has two records."""
    generator = np.random.default_rng(seed)
    zips = [None if place % 9 == 0 else str(code) for place, code in enumerate(generator.integers(0, 3, rows))]
    return pl.DataFrame(
        {
            "age": generator.integers(20, 26, rows), "sex": generator.choice(["f", "m"], rows), "zip": zips,
            "job": generator.choice(list("abcd"), rows), "who": generator.integers(0, 2 * rows // 3, rows),
        }
    )  # fmt: skip


def rarest(table: pl.DataFrame, size: int, person: str | None = None, names: list[str] = QUASI) -> int:
    """The fewest people who share the values of so many columns, a missing one being a value."""
    fewest = table.height
    for chosen in combinations(names, size):
        people = defaultdict(set)
        for row, record in enumerate(table.iter_rows(named=True)):
            people[tuple(record[name] for name in chosen)].add(row if person is None else record[person])
        fewest = min(fewest, *map(len, people.values()))
    return fewest


@pytest.mark.parametrize("seed", range(4))
def test_the_level_is_the_rarest_combination(seed: int) -> None:
    table = drawn(seed)
    records = shoal.read(table.drop("who"), quasi=QUASI).summary
    people = shoal.read(table, quasi=QUASI, person="who").summary
    for size in range(1, len(QUASI) + 1):
        model = KCombinations(k=2, size=size)
        assert model.measure(records).value == rarest(table, size)
        assert model.measure(people).value == rarest(table, size, "who")
    everything = KCombinations(k=2, size=len(QUASI))
    assert everything.levels(records).tolist() == records.sizes.tolist()
    assert everything.levels(people).tolist() == people.headcounts.tolist()


def test_wide_margins_are_numbered_and_narrow_ones_counted_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = shoal.read(drawn(5).drop("who"), quasi=QUASI).summary
    before = [sorted(each.people[each.people > 0].tolist()) for each in margins(classes, 3)]
    monkeypatch.setattr("shoal.core.margins.DENSE", 0)
    monkeypatch.setattr("shoal.core.margins.SPARSE", 0)
    assert [sorted(each.people.tolist()) for each in margins(classes, 3)] == before


def test_fewer_columns_may_have_to_be_safer() -> None:
    table = drawn(1, 400).drop("who")
    classes = shoal.read(table, quasi=QUASI).summary
    single, pair = rarest(table, 1), rarest(table, 2)
    assert single > pair > 1
    kept = KCombinations(k=pair, size=2, smaller=(single,)).measure(classes)
    assert kept.holds and kept.value == pair and kept.detail == {"1 column": single, "2 columns": pair}
    broken = KCombinations(k=pair, size=2, smaller=(single + 1,)).measure(classes)
    assert broken.holds is False and broken.value == pair


@pytest.mark.parametrize("algorithm", ["optimal", "datafly", "mondrian", "k-member", "auto"])
def test_a_release_keeps_it_in_the_file(algorithm: str, tmp_path: Path) -> None:
    """Full-domain searches keep it as it is, others by way of k-anonymity, and both are verified in the file."""
    path, model = tmp_path / "out.csv", KCombinations(k=3, size=2, smaller=(8,))
    data = shoal.read(drawn(2), quasi=QUASI, person="who")
    release = shoal.anonymize(data, model, algorithm=algorithm, pseudonyms=shoal.Pseudonyms(), seed=1)
    release.write(path)
    published = pl.read_csv(path, infer_schema=False)
    assert rarest(published, 2, "who") >= 3 and rarest(published, 1, "who") >= 8
    finding = shoal.verify(path)["k-combinations"]
    assert finding.holds and finding.value == rarest(published, 2, "who")
    smallest = int(release.in_people(release.classes).headcounts.min())
    assert algorithm in ("optimal", "datafly", "auto") or smallest >= 8


def test_what_implies_it_asks_for_the_largest_k() -> None:
    assert KCombinations(k=3, size=2).by_class() == shoal.KAnonymity(k=3)
    assert KCombinations(k=3, size=3, smaller=(9, 5)).by_class() == shoal.KAnonymity(k=9)


def test_it_costs_less_than_k_anonymity_of_all_columns() -> None:
    data = shoal.read(drawn(3, 200).drop("who"), quasi=QUASI)
    some = shoal.anonymize(data, KCombinations(k=4, size=2), algorithm="optimal")
    every = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="optimal")
    assert sum(some.recoding.levels) < sum(every.recoding.levels) and some.classes.sizes.min() < 4


def test_what_is_left_out_is_left_out_of_other_combinations_too() -> None:
    """Leaving out one record breaks combinations of others, until what is left holds."""
    rows = [("a", "x"), ("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("b", "z"), ("b", "z"), ("a", "z")]
    data = shoal.read(pl.DataFrame(rows, schema=["p", "q"], orient="row"), quasi=["p", "q"])
    release = shoal.anonymize(
        data, KCombinations(k=3, size=1), algorithm="optimal:greatest_levels=p:0|q:0", suppression=0.7
    )
    assert release.suppressed == 5 and release.frame.rows() == [("a", "x")] * 3


def test_every_engine_measures_the_same(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    drawn(4).write_csv(path)
    found = {
        name: KCombinations(k=2, size=3).measure(shoal.read(path, quasi=QUASI, person="who", engine=name).summary)
        for name in registry.names("engines")
        if name in ("embedded", "duckdb")
    }
    assert len(set(map(repr, found.values()))) == 1


def test_a_question_about_one_set_counts_people() -> None:
    table = drawn(0)
    data = shoal.read(table, quasi=QUASI, person="who")
    names = ["age", "sex", "job"]
    answer = shoal.ask(data, notion=KCombinations(k=2, size=2), attributes=names, question=2)
    assert answer.answer == rarest(table, 2, "who", names)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"k": 0, "size": 2}, "k must be at least 1"),
        ({"k": 2, "size": 0}, "size must be at least 1"),
        ({"k": 2, "size": 2, "smaller": (3, 3)}, "1 smaller sizes at most"),
        ({"k": 5, "size": 2, "smaller": (3,)}, "none of them below k"),
    ],
)
def test_bounds_that_make_no_sense(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        KCombinations(**given)


def test_more_columns_than_there_are(tmp_path: Path) -> None:
    path, model = tmp_path / "out.csv", KCombinations(k=2, size=5)
    data = shoal.read(drawn(0).drop("who"), quasi=QUASI)
    for refused in (
        lambda: shoal.anonymize(data, model, algorithm="mondrian").write(path),
        lambda: shoal.testing.assert_satisfies(drawn(0), model, quasi=QUASI),
    ):
        with pytest.raises(ParameterError, match="size is 5, but there are 4 quasi-identifiers"):
            refused()
    assert not list(tmp_path.iterdir())
