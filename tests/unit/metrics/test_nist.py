"""NIST's two figures, counted once more from the two tables with nothing of Shoal."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.metrics.unique_exact_matches import chance

NIST = Path(__file__).parents[4] / "shared" / "data" / "nist" / "national2019.csv"
TEN = ["AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE"]
NAMES = ["age", "sex", "job"]


def people(count: int, seed: int, jobs: str = "abc") -> list[tuple[str, ...]]:
    chosen = random.Random(seed)
    return [(str(chosen.randint(20, 79)), chosen.choice("fm"), chosen.choice(jobs)) for _ in range(count)]


def binned(values: list[str], original: list[str], most: int) -> list[int]:
    """Numbers by the percentile of their mean rank in the original; others by the next greater one there."""
    numbers = sorted(float(value) for value in original)
    edges: dict[int, float] = {}
    for number in sorted(set(numbers)):
        ranks = [place + 1 for place, each in enumerate(numbers) if each == number]
        edges[min(int(most * (sum(ranks) / len(ranks)) / len(numbers)), most - 1)] = number
    return [next((each for each in sorted(edges) if float(value) <= edges[each]), max(edges)) for value in values]


def score(before: list[tuple[str, ...]], after: list[tuple[str, ...]], most: int, group: int | None = None) -> float:
    """NIST's k-marginal score of two tables whose first column holds numbers."""
    original = [row[0] for row in before]
    tables = [
        [(place, *row[1:]) for place, row in zip(binned([row[0] for row in rows], original, most), rows, strict=True)]
        for rows in (before, after)
    ]
    differences = []
    others = [place for place in range(len(before[0])) if place != group]
    for pair in combinations(others, 2):
        columns = pair if group is None else (group, *pair)
        counts = [Counter(tuple(row[place] for place in columns) for row in rows) for rows in tables]
        shares = [{key: n / len(rows) for key, n in each.items()} for each, rows in zip(counts, tables, strict=True)]
        keys = {*shares[0], *shares[1]}
        differences.append(sum(abs(shares[0].get(key, 0) - shares[1].get(key, 0)) for key in keys))
    return (2 - sum(differences) / len(differences)) * 500


def written(path: Path, rows: list[tuple[str, ...]]) -> Path:
    path.write_text("\n".join(map(",".join, [NAMES, *rows])) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("group", "most"), [(None, 20), (None, 7), ("sex", 20)])
def test_a_synthetic_table_of_another_tool(tmp_path: Path, group: str | None, most: int) -> None:
    before, after = people(300, 1), [(f"{int(age) + 0.5}", sex, job) for age, sex, job in people(250, 2, "abx")]
    after += people(30, 3)
    data = shoal.read(written(tmp_path / "table.csv", before), quasi=NAMES)
    metric = shoal.metrics.KMarginal(bins=most, group=group)
    found = shoal.evaluate(data, written(tmp_path / "synthetic.csv", after), metric, "unique-exact-matches")
    place = None if group is None else NAMES.index(group)
    assert found["k-marginal"].value == pytest.approx(score(before, after, most, place))
    unique = [row for row, times in Counter(before).items() if times == 1]
    matches = found["unique-exact-matches"]
    assert (matches.detail["unique"], matches.detail["matched"]) == (len(unique), len({*unique} & {*after}))
    assert found["k-marginal"].baselines["original"] == 1000 and matches.baselines["original"] == 1


def test_hidden_cells_stand_for_each_value_alike() -> None:
    table = pl.DataFrame({"sex": list("ffmm"), "job": list("abab"), "town": list("xxyy")})
    data = shoal.read(table, quasi=["sex", "job"], sensitive=["town"])
    found = shoal.evaluate(data, shoal.anonymize(data, shoal.KAnonymity(k=4)), "k-marginal", "unique-exact-matches")
    # sex and job: a quarter each, as it was; job and town: as it was; sex and town: a quarter instead of a half
    assert found["k-marginal"].detail == pytest.approx({"sex and job": 1000, "sex and town": 500, "job and town": 1000})
    assert found["unique-exact-matches"].value == 0


def test_people_with_several_records_are_unique_by_themselves() -> None:
    table = pl.DataFrame({"who": [1, 1, 2, 3], "sex": list("ffmm")})
    data = shoal.read(table, quasi=["sex"], person="who")
    found = shoal.metrics.UniqueExactMatches().score(data, shoal.anonymize(data, shoal.KAnonymity(k=1), seed=1))
    assert found.detail["unique"] == 1


def test_chance_is_what_random_halves_show() -> None:
    rows, chosen, shares = people(400, 5), random.Random(1), []
    for _ in range(300):
        chosen.shuffle(rows)
        half, other = Counter(rows[:200]), {*rows[200:]}
        unique = [row for row, times in half.items() if times == 1]
        shares.append(sum(row in other for row in unique) / len(unique))
    expected = chance(shoal.read(pl.DataFrame(rows, schema=NAMES, orient="row"), quasi=NAMES).summary.sizes)
    assert expected == pytest.approx(sum(shares) / len(shares), rel=0.02)


def test_a_group_that_is_no_column(tmp_path: Path) -> None:
    path = written(tmp_path / "table.csv", people(30, 1))
    with pytest.raises(ParameterError, match="group"):
        shoal.evaluate(shoal.read(path, quasi=NAMES), path, shoal.metrics.KMarginal(group="town"))


@pytest.mark.reference
@pytest.mark.skipif(not NIST.exists(), reason="they need the reference data beside the repository")
def test_random_samples_score_what_nist_says(tmp_path: Path) -> None:
    """About 900, 955 and 969; what samples differ in is a few points."""
    table = pl.read_csv(NIST, infer_schema=False).select(TEN)
    data = shoal.read(table, quasi=TEN)
    for share, published in ((0.01, 900), (0.05, 955), (0.1, 969)):
        table.sample(fraction=share, seed=1).write_csv(tmp_path / "sample.csv")
        found = shoal.evaluate(data, tmp_path / "sample.csv", "k-marginal", "unique-exact-matches", baselines=False)
        assert found["k-marginal"].value == pytest.approx(published, abs=20 if share < 0.05 else 6)
        assert found["unique-exact-matches"].value == pytest.approx(share, abs=0.005)
    assert found["unique-exact-matches"].detail["unique"] == 14_918
