"""Times with a zone: whatever the zone, the spelling and the algorithm, a published range holds every one of its class.

What a text says is worked out anew here, with Python's own dates and zones.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl
import pyarrow as pa
import pytest
from counts import LONG

import shoal
from shoal.core.schema import Kind
from shoal.errors import SchemaError

ZONES = {
    "Europe/Berlin": [dt.datetime(2020, 3, 29, 1), dt.datetime(2020, 10, 25, 1)],
    "America/New_York": [dt.datetime(2021, 3, 14, 7), dt.datetime(2021, 11, 7, 6)],
    "Australia/Lord_Howe": [dt.datetime(2021, 4, 3, 15), dt.datetime(2021, 10, 2, 15, 30)],  # by half an hour
    "America/Havana": [dt.datetime(2020, 3, 8, 5), dt.datetime(2020, 11, 1, 5)],  # at midnight
    "America/St_Johns": [dt.datetime(1990, 10, 28, 2, 31)],  # back across midnight
    "Pacific/Apia": [dt.datetime(2011, 12, 30, 10)],  # a day was left out
    "Asia/Kolkata": [dt.datetime(2020, 6, 1, 12)],
    "UTC": [dt.datetime(2020, 6, 1, 12)],
}
"""Moments, in UTC, at which the clock of a zone was changed."""


def around(zone: str) -> list[dt.datetime]:
    """Moments in UTC around the changes of a zone."""
    steps = [dt.timedelta(minutes=minutes) for minutes in (-1, *range(-180, 181, 15))]
    return [(change + step).replace(tzinfo=dt.UTC) for change in ZONES[zone] for step in steps]


def moment(text: str) -> dt.datetime:
    """When a published text is."""
    found = dt.datetime.fromisoformat(text)
    assert found.tzinfo is not None, "a time without its offset says no moment"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text), "not spelled in the one way"
    return found


def holds(label: str, when: dt.datetime, zone: dt.tzinfo) -> bool:
    """Whether a published label is true of a moment."""
    if label == "*":
        return True
    ends = re.fullmatch(r"\[(.+) - (.+)\]", label)
    if ends:
        return moment(ends[1]) <= when <= moment(ends[2])
    if "T" in label:
        return moment(label) == when
    local = when.astimezone(zone)
    levels = (f"{local:%Y-%m-%d}", f"{local:%Y-%m}", f"{local:%Y}-Q{(local.month + 2) // 3}", f"{local:%Y}")
    return label in (*levels, f"{local.year // 10}0s")


ALGORITHMS = ("mondrian", "optimal", "k-member")
EACH = [(zone, algorithm) for zone in ZONES for algorithm in ALGORITHMS]
IN_TURNS = [(zone, ALGORITHMS[place % len(ALGORITHMS)]) for place, zone in enumerate(ZONES)]


@pytest.mark.parametrize(("zone", "algorithm"), EACH if LONG else IN_TURNS)
def test_ranges_hold_the_moments_of_typed_columns(zone: str, algorithm: str, tmp_path: Path) -> None:
    moments = around(zone)
    table = pa.table(
        {"when": pa.array(moments, pa.timestamp("us", zone)), "row": [f"r{at}" for at in range(len(moments))]}
    )
    data = shoal.read(table, quasi=["when"])
    tree = data.hierarchies[0]
    assert [moment(text) for text in tree.labels[0]] == sorted(moments)
    assert tree.values.tolist() == [each.timestamp() for each in sorted(moments)]
    crossing = zone == "America/St_Johns"
    clock = dt.UTC if crossing else ZoneInfo(zone)
    assert [note for note in data.notes if "UTC" in note] == (
        ["column 'when': its clock was once set back to another day; it is published in UTC"] if crossing else []
    )
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm=algorithm, allow_plain=["row"], seed=1)
    for label, row in release.frame.select(["when", "row"]).to_pandas().itertuples(index=False):
        assert holds(label, moments[int(row[1:])], clock)
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    inside = shoal.evaluate(data, release, "gcp")["gcp"].value
    assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value == inside


def test_the_hour_that_comes_twice() -> None:
    """02:30 summer time, 02:30 winter time and 03:30 in Berlin: the range begins with the first of them."""
    hours = [dt.datetime(2020, 10, 25, hour, 30, tzinfo=dt.UTC) for hour in (0, 1, 2)]
    table = pa.table({"when": pa.array(hours, pa.timestamp("s", "Europe/Berlin"))})
    release = shoal.anonymize(shoal.read(table, quasi=["when"]), "k-anonymity:k=3", algorithm="mondrian", seed=1)
    assert set(release.frame["when"].to_pylist()) == {"[2020-10-25T02:30:00+02:00 - 2020-10-25T03:30:00+01:00]"}


SPELLINGS = (
    "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%dT%H:%M%z", "%Y-%m-%d %H:%M:%S.000%z", "%Y-%m-%d  %H:%M %z",
    "%Y-%m-%dT%H:%M:%S.%f%z", "%Y/%m/%d %H:%M%z",
)  # fmt: skip


def spelled(when: dt.datetime, chance: random.Random) -> str:
    """A moment as somebody may write it, by the clock that it has."""
    text = when.strftime(chance.choice(SPELLINGS))
    offset = text[-5:]
    ways = [offset, f"{offset[:3]}:{offset[3:]}"]
    if offset.endswith("00"):
        ways.append(offset[:3])
    if offset == "+0000":
        ways += ["Z", "z", "-00:00"]
    return text[:-5] + chance.choice(ways)


@pytest.mark.parametrize(
    ("zone", "engine"),
    [("Europe/Berlin", "embedded"), ("America/New_York", "duckdb"), ("Asia/Kolkata", "embedded"), ("UTC", "embedded")],
)
def test_texts_of_one_moment_are_one_value(zone: str, engine: str, tmp_path: Path) -> None:
    chance = random.Random(zone)
    moments = around(zone)
    published = []
    for clocks in ([dt.UTC], [ZoneInfo(zone), dt.UTC, dt.timezone(dt.timedelta(hours=-9, minutes=-30))]):
        rows = [
            (spelled(each.astimezone(chance.choice(clocks)), chance), at % 3) for at, each in enumerate(moments * 2)
        ]
        chance.shuffle(rows)
        table = pl.DataFrame({"when": [text for text, _ in rows], "ill": [f"ill{kind}" for _, kind in rows]})
        table.write_csv(tmp_path / "table.csv")
        data = shoal.read(tmp_path / "table.csv", quasi=["when"], sensitive=["ill"], engine=engine)
        assert data.schema["when"].kind is Kind.DATE
        assert [moment(text) for text in data.hierarchies[0].labels[0]] == sorted(set(moments))
        assert set(data.summary.sizes.tolist()) == {2}
        assert any("published in UTC" in note for note in data.notes) == (len(clocks) > 1)
        release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="k-member", seed=1)
        release.write(tmp_path / "release.csv")
        assert shoal.verify(tmp_path / "release.csv", engine=engine).holds
        published.append((tmp_path / "release.csv").read_bytes())
    assert published[0] == published[1] and b"Z" in published[0]


def test_one_offset_keeps_its_clock() -> None:
    table = pl.DataFrame(
        {"when": ["2020-06-01T00:30+02:00", "2020-06-01 00:30:00+0200", "2020-06-02T23:00+02", "2020-06-03"]}
    )
    data = shoal.read(table, quasi=["when"])
    assert data.hierarchies[0].labels[0].tolist() == [
        "2020-06-01T00:30:00+02:00", "2020-06-02T23:00:00+02:00", "2020-06-03T00:00:00+02:00",
    ]  # fmt: skip
    assert data.hierarchies[0].labels[1].tolist() == ["2020-06-01", "2020-06-02", "2020-06-03"]
    tree = data.hierarchies[0]
    assert tree.leaf("2020-05-31T22:30Z") == 0 and tree.leaf("2020-06-01T00:30Z") is None
    assert tree.parse("[2020-05-31T22:00Z - 2020-06-02T21:00Z]") == (0, 1)


def test_times_with_and_without_an_offset_ask() -> None:
    table = pl.DataFrame({"when": ["2020-06-01T00:30+02:00", "2020-06-01T00:30", "2020-06-01T01:30"]})
    with pytest.raises(SchemaError, match="1 of its distinct times name an offset from UTC, and 2 do not"):
        shoal.read(table, quasi=["when"])
    assert shoal.read(table, quasi=["when"], kinds={"when": "text"}).schema["when"].kind is Kind.TEXT


def test_two_spellings_do_not_stand_in_one_range() -> None:
    table = pl.DataFrame({"when": ["2020-01-01 10:00:00", "2020-01-01T10:00", "2020-01-01T11:00", "2020-01-01"]})
    release = shoal.anonymize(shoal.read(table, quasi=["when"]), "k-anonymity:k=4", algorithm="mondrian", seed=1)
    assert set(release.frame["when"]) == {"[2020-01-01T00:00:00 - 2020-01-01T11:00:00]"}


def test_moments_closer_than_floats_tell_apart_stay_in_order() -> None:
    texts = [f"2020-01-01T00:00:00{rest}Z" for rest in ("", ".000000001", ".000000002", ".00000001")]
    tree = shoal.read(pl.DataFrame({"when": texts[::-1]}), quasi=["when"]).hierarchies[0]
    assert tree.labels[0].tolist() == texts


def test_midnights_that_come_twice_are_two() -> None:
    """In Havana the clock was set back to midnight."""
    twice = [dt.datetime(2020, 11, 1, hour, tzinfo=dt.UTC) for hour in (4, 5)]
    table = pa.table({"when": pa.array(twice, pa.timestamp("s", "America/Havana"))})
    labels = shoal.read(table, quasi=["when"]).hierarchies[0].labels[0].tolist()
    assert labels == ["2020-11-01T00:00:00-04:00", "2020-11-01T00:00:00-05:00"]


def test_clocks_of_towns_are_told_in_utc() -> None:
    """Before there were zones, Berlin was 53 minutes and 28 seconds ahead, which no offset spells."""
    old = [dt.datetime(1880, 1, day, 12, tzinfo=dt.UTC) for day in (1, 2)]
    data = shoal.read(pa.table({"when": pa.array(old, pa.timestamp("s", "Europe/Berlin"))}), quasi=["when"])
    assert data.hierarchies[0].labels[0].tolist() == ["1880-01-01T12:00:00Z", "1880-01-02T12:00:00Z"]


def test_a_recoding_of_moments_takes_other_zones() -> None:
    """What was learned in Berlin's summer is applied to records that name another offset."""
    days = [dt.datetime(2020, 7, day, hour, tzinfo=dt.UTC) for day in range(1, 9) for hour in (8, 20)]
    table = pa.table({"when": pa.array(days, pa.timestamp("s", "Europe/Berlin"))})
    release = shoal.anonymize(shoal.read(table, quasi=["when"]), "k-anonymity:k=4", algorithm="mondrian", seed=1)
    tokyo = dt.timezone(dt.timedelta(hours=9))
    again = shoal.apply(release, pl.DataFrame({"when": [day.astimezone(tokyo).isoformat() for day in days]}))
    assert sorted(again.frame["when"]) == sorted(release.frame["when"].to_pylist())
