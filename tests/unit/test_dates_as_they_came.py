"""Dates of quasi-identifiers and sensitive columns come out in the format that they came in, and are read back."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=17 * (place % 30)) for place in range(60)]
VISITS = [dt.datetime(2021, 3, 1, 9, 5) + dt.timedelta(hours=31 * (place % 20)) for place in range(60)]


def unpadded(day: dt.date) -> str:
    return f"{day.day}.{day.month}.{day.year}"


SPELLED: dict[str, Callable[[dt.date], str]] = {
    "point": "{:%d.%m.%Y}".format, "slash": "{:%m/%d/%Y}".format, "hyphen": "{:%d-%m-%Y}".format,
    "unpadded": unpadded, "short": "{:%d.%m.%y}".format,
}  # fmt: skip
OPTIONS: dict[str, Any] = {"short": {"date_formats": {"born": "%d.%m.%y"}}}
VISIT = "%d.%m.%Y %H:%M"


def patients(form: str = "point") -> pl.DataFrame:
    return pl.DataFrame(
        {"born": [SPELLED[form](day) for day in DAYS], "visit": [f"{visit:{VISIT}}" for visit in VISITS]}
    )


def read(form: str = "point", **options: Any) -> shoal.Dataset:
    return shoal.read(patients(form), quasi=["born"], sensitive=["visit"], **OPTIONS.get(form, {}), **options)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("form", SPELLED)
def test_days_and_ranges_are_spelled_as_the_column_does(form: str, ending: str, tmp_path: Path) -> None:
    data = read(form)
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1)
    ends = {end for text in release.frame["born"] for end in text.removeprefix("[").removesuffix("]").split(" - ")}
    assert ends <= set(patients(form)["born"]) and any(" - " in text for text in release.frame["born"])
    assert sorted(release.frame["visit"]) == sorted(patients()["visit"])
    path = tmp_path / f"release.{ending}"
    release.write(path)
    assert shoal.verify(path).holds
    assert shoal.evaluate(data, path, "gcp")["gcp"].value == shoal.evaluate(data, release, "gcp")["gcp"].value
    middle = DAYS[15]
    for column, wanted in (
        ("born", f"<= {middle}"), ("born", f"<= {SPELLED[form](middle)}"), ("visit", f"= {VISITS[3]:{VISIT}}"),
        ("visit", f"{VISITS[2]:{VISIT}}..{VISITS[9]:{VISIT}}"),
    ):  # fmt: skip
        truth, estimate = shoal.query(data, where={column: wanted}), shoal.query(path, where={column: wanted})
        assert truth.value > 0 and estimate.low <= truth.value <= estimate.high
        assert column == "born" or estimate.low == estimate.high


def test_a_whole_level_of_days_stays_as_it_came_and_coarser_labels_are_iso() -> None:
    twice = pl.concat([patients()] * 2)
    release = shoal.anonymize(
        shoal.read(twice, quasi=["born"]), "k-anonymity:k=4", algorithm="optimal", seed=1, allow_plain=["visit"]
    )
    assert set(release.frame["born"]) == set(patients()["born"])
    data = shoal.read(patients(), quasi=["born"], hierarchies={"born": "dates:units=month|year"})
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", seed=1, allow_plain=["visit"])
    assert set(release.frame["born"]) <= {f"{day:%Y-%m}" for day in DAYS} | {f"{day:%Y}" for day in DAYS}


@pytest.mark.parametrize("algorithm", ["anatomy", "multiset", "slicing", "mondrian:publish=born=mean"])
def test_every_form_is_read_back(algorithm: str, tmp_path: Path) -> None:
    data = read()
    model = "k-anonymity:k=4" if "mondrian" in algorithm else "distinct-l-diversity:l=2"
    release = shoal.anonymize(data, model, algorithm=algorithm, seed=1)
    texts = [str(cell) for frame in release.frames.values() for row in frame.rows() for cell in row]
    assert not any("2020-" in text or "2021-" in text for text in texts) and any(".2020" in text for text in texts)
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    found, read_back = shoal.evaluate(data, release), shoal.evaluate(data, tmp_path / "release.csv")
    if "mean" not in algorithm:
        assert [(each.name, each.value) for each in found] == [(each.name, each.value) for each in read_back]


def test_what_is_written_in_several_ways_or_without_signs_is_published_in_iso_form() -> None:
    mixed = patients()["born"].to_list()
    mixed[0] = mixed[0].replace(".", "/")
    data = shoal.read(pl.DataFrame({"born": mixed}), quasi=["born"], date_formats={"born": "day-first"})
    assert all(
        "-" in text for text in shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1).frame["born"]
    )
    compact = pl.DataFrame({"born": [f"{day:%Y%m%d}" for day in DAYS]})
    data = shoal.read(compact, quasi=["born"], date_formats={"born": "%Y%m%d"})
    assert set(shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1).frame["born"]) == set(
        map(str, DAYS)
    )
    padding = patients("unpadded")["born"].to_list()
    padding[0] = "01.01.2020"
    data = shoal.read(pl.DataFrame({"born": padding}), quasi=["born"])
    published = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1).frame["born"]
    assert set(published) == set(patients()["born"])


def test_engines_publish_the_same_bytes(tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "table.csv")
    written = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(tmp_path / "table.csv", quasi=["born"], sensitive=["visit"], engine=engine)
        release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1)
        release.write(tmp_path / f"{engine}.csv")
        assert shoal.verify(tmp_path / f"{engine}.csv", engine=engine).holds
        written.append((tmp_path / f"{engine}.csv").read_bytes())
    assert written[0] == written[1] and b"[01.01.2020 - " in written[0]


@pytest.mark.parametrize("other", ["iso", "slash"])
def test_a_release_is_read_by_its_manifest_beside_a_table_in_another_format(other: str, tmp_path: Path) -> None:
    release = shoal.anonymize(read(), "k-anonymity:k=4", algorithm="mondrian", seed=1)
    release.write(tmp_path / "release.csv")
    spell = str if other == "iso" else SPELLED[other]
    table = patients().with_columns(born=pl.Series([spell(day) for day in DAYS]))
    data = shoal.read(table, quasi=["born"], sensitive=["visit"])
    same = shoal.evaluate(read(), release, "gcp")["gcp"].value
    assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value == same


def test_a_saved_rule_and_an_external_table_in_another_format(tmp_path: Path) -> None:
    data = read()
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1)
    shoal.recodings.save(release, tmp_path / "rule.json")
    applied = shoal.apply(tmp_path / "rule.json", patients())
    assert sorted(applied.frame["born"]) == sorted(release.frame["born"])
    register = patients().select("born").with_columns(born=pl.Series([str(day) for day in DAYS]))
    own = shoal.attack(data, release, "prosecutor", external=patients().select("born"))
    assert [
        each.success
        for each in shoal.attack(data, release, "prosecutor", external=shoal.read(register, quasi=["born"]))
    ] == [each.success for each in own]


def test_nodes_that_are_named_by_days_mean_what_they_did(tmp_path: Path) -> None:
    """A group that has the name of its first day stands for all its days."""
    days = sorted(set(DAYS))
    paths = [[f"{day:%d.%m.%Y}", f"{days[place // 5 * 5]:%d.%m.%Y}", "*"] for place, day in enumerate(days)]
    (tmp_path / "born.csv").write_text("\n".join(";".join(path) for path in paths) + "\n")
    data = read(hierarchies={"born": tmp_path / "born.csv"})
    release = shoal.anonymize(data, "k-anonymity:k=10", algorithm="optimal", seed=1)
    assert set(release.frame["born"]) == {path[1] for path in paths}
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    for wanted in (f"<= {days[7]}", f"= {days[7]}", f"> {days[7]:%d.%m.%Y}"):
        truth = shoal.query(data, where={"born": wanted})
        found = shoal.query(
            tmp_path / "release.csv", where={"born": wanted}, hierarchies={"born": tmp_path / "born.csv"}
        )
        assert found.low <= truth.value <= found.high


def test_a_manifest_states_the_format_and_older_releases_in_iso_form_are_read(tmp_path: Path) -> None:
    path, beside = tmp_path / "release.csv", tmp_path / "release.csv.manifest.json"
    table = patients().with_columns(born=pl.Series([str(day) for day in DAYS]))
    data = shoal.read(table, quasi=["born"], sensitive=["visit"])
    shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1).write(path)
    stated = json.loads(beside.read_text())
    assert [column.get("format") for column in stated["columns"]] == [None, "day-first"]
    before = shoal.query(path, where={"born": f"<= {DAYS[15]}"})
    stated["columns"][0]["format"] = "day-first"
    beside.write_text(json.dumps(stated))
    assert shoal.verify(path).holds and shoal.query(path, where={"born": f"<= {DAYS[15]}"}) == before
    stated["columns"][0]["format"] = "%d.%(.%Y"
    beside.write_text(json.dumps(stated))
    with pytest.raises(InputError, match="manifest is broken"):
        shoal.verify(path)


def test_labels_that_only_look_like_dates_of_a_format_without_signs_stay(tmp_path: Path) -> None:
    """198411 is November, and no first of January."""
    days = [dt.date(1984, 11, 1 + place % 20) for place in range(40)] + [
        dt.date(1984, 12, 1 + place % 20) for place in range(40)
    ]
    paths = [[f"{day:%Y%m%d}", f"{day:%Y%m}", "*"] for day in sorted(set(days))]
    (tmp_path / "born.csv").write_text("\n".join(";".join(path) for path in paths) + "\n")
    table = pl.DataFrame({"born": [f"{day:%Y%m%d}" for day in days]})
    data = shoal.read(
        table, quasi=["born"], date_formats={"born": "%Y%m%d"}, hierarchies={"born": tmp_path / "born.csv"}
    )
    release = shoal.anonymize(data, "k-anonymity:k=10", algorithm="optimal", seed=1)
    assert set(release.frame["born"]) == {"198411", "198412"}
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value > 0.3
