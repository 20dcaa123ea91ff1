"""What plain columns single out is counted in people where a column says whose each record is."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

import shoal


def visits() -> pl.DataFrame:
    rows = range(120)
    return pl.DataFrame(
        {
            "age": [20 + row % 4 for row in rows],
            "who": [f"p{row % 40}" for row in rows],
            "ward": [f"w{row % 40 % 7}" if row % 5 else f"own {row % 40}" for row in rows],
            "paid": [None if row % 11 == 0 else 1.5 * (row % 40 % 3) for row in rows],
        }
    )


def alone_by_hand(table: pl.DataFrame) -> int:
    having = defaultdict(set)
    for row in table.iter_rows(named=True):
        having[row["ward"], row["paid"]].add(row["who"])
    return len({who for people in having.values() if len(people) == 1 for who in people})


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_people_are_counted(engine: str, tmp_path: Path) -> None:
    data = shoal.read(visits(), quasi=["age"], person="who", engine=engine)
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", allow_plain=["ward", "paid"], seed=1)
    stated = release.provenance["plain"]
    assert stated["singled_out"] == alone_by_hand(visits()) and stated["people"] == 40
    risk = release.plain_risk
    assert risk is not None and risk.share == stated["singled_out"] / 40 and risk.unit == "people"
    assert risk.above and "of the people" in risk.warning and not release.notes
    calm = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", allow_plain=["ward", "paid"], seed=1)
    assert calm.plain_risk is not None and not calm.plain_risk.above
    assert calm.notes == ("2 plain columns are published as they are: together they single out 42 % of the people",)
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds


def test_records_are_counted_where_each_is_a_person() -> None:
    table = visits().drop("who")
    data = shoal.read(table, quasi=["age"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", allow_plain=["ward", "paid"], seed=1)
    alone = table.select("ward", "paid").is_unique().sum()
    assert release.provenance["plain"]["singled_out"] == alone and "people" not in release.provenance["plain"]
