"""SUDA2 against brute force, the SDC practice guide's ten records, and sdcMicro's three."""

from __future__ import annotations

import json
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.errors import ParameterError, SchemaError

GUIDE = [
    ("urban", "female", "secondary incomplete", "employed", 180),
    ("urban", "female", "secondary incomplete", "employed", 180),
    ("urban", "female", "primary incomplete", "not in labour force", 215),
    ("urban", "male", "secondary complete", "employed", 76),
    ("rural", "female", "secondary complete", "unemployed", 186),
    ("urban", "male", "secondary complete", "employed", 76),
    ("urban", "female", "primary complete", "not in labour force", 180),
    ("urban", "male", "post-secondary", "unemployed", 215),
    ("urban", "female", "secondary incomplete", "not in labour force", 186),
    ("urban", "female", "secondary incomplete", "not in labour force", 76),
]
KEYS = ["residence", "gender", "education", "labour"]


def guide(*, weight: str | None = None) -> shoal.Dataset:
    table = pl.DataFrame(GUIDE, schema=[*KEYS, "weight"], orient="row")
    return shoal.read(table if weight else table.drop("weight"), quasi=KEYS, weight=weight)


def uniques(
    table: pl.DataFrame, names: list[str], person: str | None, most: int, *, ignore_missing: bool = False
) -> list[set[frozenset[str]]]:
    """The minimal sample uniques of each record, by trying every set."""
    records = table.to_dicts()

    def alone(record: dict[str, object], chosen: tuple[str, ...]) -> bool:
        same = [at for at, other in enumerate(records) if all(other[name] == record[name] for name in chosen)]
        return len({at if person is None else records[at][person] for at in same}) == 1

    found = []
    for record in records:
        minimal: set[frozenset[str]] = set()
        for size in range(1, most + 1):
            for chosen in combinations(names, size):
                if ignore_missing and any(record[name] is None for name in chosen):
                    continue
                if not any(part <= set(chosen) for part in minimal) and alone(record, chosen):
                    minimal.add(frozenset(chosen))
        found.append(minimal)
    return found


def test_the_guide_s_ten_records() -> None:
    """The guide scores as Elliot does, and its DIS figures come from the scores of the IHSN's program."""
    suda = shoal.suda(guide())
    assert suda.by_record()["suda"].to_list() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert (suda.exposed, dict(suda.by_size)) == (4, {1: 4, 2: 5, 3: 0})
    risks = shoal.suda(guide(), convention="ihsn").by_record()["dis"]
    assert risks.round(6).to_list() == [0, 0, 0.00512, 0, 0.010702, 0, 0.00512, 0.008775, 0, 0]


def test_the_share_of_the_sample_follows_from_weights() -> None:
    assert shoal.suda(guide()).fraction == 0.01
    weighted = shoal.suda(guide(weight="weight"))
    assert weighted.fraction == pytest.approx(10 / sum(row[-1] for row in GUIDE))
    given = shoal.suda(guide(), fraction=weighted.fraction)
    assert given.risks.tolist() == weighted.risks.tolist() and given.risks.max() < 0.02
    assert shoal.suda(guide(), fraction=1.0).risks.max() == 1.0, "of a census every unique is right"


def test_three_records() -> None:
    table = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    suda = shoal.suda(shoal.read(table, quasi=["a", "b", "c"]))
    assert dict(suda.contributions) == {"a": 0.5, "b": 0.375, "c": 0.375}
    assert suda.by_record()["b contribution"].to_list() == [0, 0.5, 0.5]
    assert suda.by_value("a").rows() == [("1", 0.5), ("2", 0.5)]
    assert suda.by_value("b").rows() == [("3", pytest.approx(2 / 3)), ("0", pytest.approx(1 / 3))]


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize(("seed", "most"), [(0, 3), (1, 2), (2, 4), (3, 3), (5, 1)])
def test_every_set_by_brute_force(seed: int, most: int, person: str | None) -> None:
    generator = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    table = pl.DataFrame(
        {name: generator.integers(0, width, 40) for name, width in zip(names, (2, 3, 5, 9), strict=True)}
    )
    table = table.with_columns(a=pl.when(pl.col("b") == 0).then(None).otherwise(pl.col("a")))
    table = table.with_columns(who=pl.Series(generator.integers(0, 30, 40)))
    expected = uniques(table, names, person, most, ignore_missing=seed % 2 == 1)
    data = shoal.read(table, quasi=names, person=person)
    suda = shoal.suda(data, largest=most, ignore_missing=seed % 2 == 1)
    record = suda.by_record()
    worth = {1: 6, 2: 2, 3: 1, 4: 1}
    worth = {size: value // (factorial(4 - most - 1) if most < 3 else 1) for size, value in worth.items()}
    scores = [float(sum(worth[len(each)] for each in minimal)) for minimal in expected]
    assert record["suda"].to_list() == scores
    for name in names:
        parts = [sum(worth[len(each)] for each in minimal if name in each) for minimal in expected]
        shares = [part / score if score else 0 for part, score in zip(parts, scores, strict=True)]
        assert record[f"{name} contribution"].to_list() == pytest.approx(shares)
    whose = range(40) if person is None else table["who"]
    assert suda.exposed == len({who for who, score in zip(whose, scores, strict=True) if score})
    assert sum(suda.bands.values()) == len(set(whose))


def test_duckdb_finds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    shoal.samples.adult().head(400).write_csv(path)
    names = ["age", "sex", "race", "workclass", "education"]
    here, there = (shoal.suda(shoal.read(path, quasi=names, engine=engine)) for engine in ("embedded", "duckdb"))
    assert here.as_dict() == there.as_dict() and here.by_record().equals(there.by_record())


def test_some_columns_of_several() -> None:
    data = guide()
    assert shoal.suda(data, attributes=["gender", "residence"]).columns == ("gender", "residence")
    pair = shoal.suda(data, attributes=["gender", "residence"])
    assert pair.by_record()["suda"].to_list() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


def test_nobody_is_singled_out() -> None:
    table = pl.DataFrame({"a": [1, 1], "b": [2, 2]})
    suda = shoal.suda(shoal.read(table, quasi=["a", "b"]))
    assert suda.exposed == 0 and suda.risks.tolist() == [0.0] and dict(suda.contributions) == {"a": 0.0, "b": 0.0}
    assert suda.summary == "nobody is singled out by 1 column or fewer"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"largest": 5}, "from 1 to 4"),
        ({"largest": 0}, "from 1 to 4"),
        ({"fraction": 0.0}, "share of the population"),
        ({"convention": "mine"}, "one of original, ihsn"),
        ({"attributes": ["gender"]}, "at least two"),
    ],
)
def test_what_makes_no_sense(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        shoal.suda(guide(), **given)
    with pytest.raises(SchemaError):
        shoal.suda(guide(), attributes=["town"])


def test_the_command_shows_and_draws_no_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, drawn = tmp_path / "guide.csv", tmp_path / "suda.svg"
    pl.DataFrame(GUIDE, schema=[*KEYS, "weight"], orient="row").drop("weight").write_csv(path)
    for more in (["--plot", str(drawn)], ["--json"]):
        with pytest.raises(SystemExit) as end:
            main(["diagnose", str(path), "--suda", *more])
        assert not end.value.code
        printed = capsys.readouterr()
        assert not any(value in printed.out + printed.err for row in GUIDE for value in row[:4])
    assert json.loads(printed.out)["uniques"] == {"1": 4, "2": 5, "3": 0}
    picture = drawn.read_text()
    assert "education" in picture and "rural" not in picture
