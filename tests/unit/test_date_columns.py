"""Columns of dates and of numbers as people write them: read, published, measured from files, and asked about."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.core.schema import Kind
from shoal.errors import HierarchyError, InputError, ParameterError, SchemaError

ROWS = 300
DAYS = [dt.date(1930, 1, 1) + dt.timedelta(days=int(day)) for day in np.random.default_rng(3).integers(0, 29_000, ROWS)]
DAY_FIRST = [f"{day:%d.%m.%Y}" for day in DAYS]
ISO = [day.isoformat() for day in DAYS]


def patients(born: list[object] | pl.Series) -> pl.DataFrame:
    """Births like those of a hospital, with what else is known of the patients."""
    draw = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "row": range(ROWS),
            "born": born,
            "sex": draw.choice(["F", "M"], ROWS),
            "ward": draw.integers(1, 40, ROWS),
            "disease": draw.choice(["flu", "cold", "gout", "hiv"], ROWS),
        }
    )


def read(born: list[object] | pl.Series, **options: object) -> shoal.Dataset:
    return shoal.read(patients(born), quasi=["born", "sex", "ward"], sensitive=["disease"], **options)  # type: ignore[arg-type]


def gcp(data: shoal.Dataset, algorithm: str = "mondrian") -> float:
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=algorithm, seed=1)
    return shoal.evaluate(data, release, "gcp")["gcp"].value


SAME = {
    "iso": ISO,
    "day-first": DAY_FIRST,
    "month-first": [f"{day:%m/%d/%Y}" for day in DAYS],
    "midnight": [f"{day.isoformat()}T00:00:00Z" for day in DAYS],
    "typed": pl.Series(DAYS),
    "moments": pl.Series(DAYS).cast(pl.Datetime("us")),
}


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member", "optimal"])
def test_dates_cost_what_days_as_numbers_cost(algorithm: str) -> None:
    forms = SAME if LONG or algorithm == "mondrian" else ("iso", "day-first", "moments")
    found = {form: gcp(read(SAME[form]), algorithm) for form in forms}
    assert len(set(found.values())) == 1, found
    if algorithm != "optimal":  # whose levels for numbers are other ones
        numbers = gcp(read([day.toordinal() for day in DAYS]), algorithm)
        assert found["day-first"] == pytest.approx(numbers, rel=1e-12)
        assert found["day-first"] < 0.9 * gcp(read(DAY_FIRST, kinds={"born": "text"}), algorithm)


def day_of(text: str, form: str) -> dt.date:
    """The day that a release spells in the format of the column."""
    pattern = {"day-first": "%d.%m.%Y", "month-first": "%m/%d/%Y"}.get(form, "%Y-%m-%d")
    return dt.datetime.strptime(text, pattern).date()


@pytest.mark.parametrize("form", SAME)
def test_intervals_are_days_in_the_format_of_the_column_that_hold_their_records(form: str) -> None:
    data = read(SAME[form])
    assert data.schema["born"].kind is Kind.DATE
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    for row, text in release.frame.select("row", "born").iter_rows():
        first, last = (day_of(end, form) for end in text.removeprefix("[").removesuffix("]").split(" - "))
        assert first <= DAYS[row] <= last and {first, last} <= set(DAYS)


FILES = [
    (algorithm, form, ending)
    for row, algorithm in enumerate(["mondrian", "optimal", "mondrian:publish=born=mean"])
    for column, form in enumerate(["day-first", "moments", "midnight"])
    for turn, ending in enumerate(["csv", "parquet"])
    if LONG or (row + column) % 2 == turn
]
"""Each pair of an algorithm, a form and an ending; with `LONG` everything with everything."""


@pytest.mark.parametrize(("algorithm", "form", "ending"), FILES)
def test_a_file_measures_as_the_release_does(algorithm: str, form: str, ending: str, tmp_path: Path) -> None:
    data = read(SAME[form])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=algorithm, seed=1)
    path = tmp_path / f"release.{ending}"
    release.write(path)
    assert shoal.verify(path).holds
    if "mean" in algorithm:  # a mean stands for no range that a reader could know
        assert all(day_of(text, form) for text in release.frame["born"])
        return
    before, after = shoal.evaluate(data, release), shoal.evaluate(data, path)
    assert [(finding.name, finding.value) for finding in before] == [(each.name, each.value) for each in after]


def test_raw_dates_keep_their_format_and_typed_ones_their_type(tmp_path: Path) -> None:
    for form, published in (("midnight", ISO), ("day-first", DAY_FIRST), ("iso", ISO), ("moments", None)):
        table = patients(SAME[form])
        data = shoal.read(pl.concat([table] * 2), quasi=["born"], sensitive=["disease"])
        release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1, allow_plain=["row"])
        if published is None:
            assert release.frame["born"].dtype == pl.Datetime("us")
        else:
            assert sorted(release.frame["born"]) == sorted(published * 2)
        release.write(tmp_path / "release.csv")
        assert shoal.verify(tmp_path / "release.csv").holds
        assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value == 0


def test_a_release_of_another_tool_may_keep_the_spelling(tmp_path: Path) -> None:
    patients(DAY_FIRST).write_csv(tmp_path / "other.csv")
    assert shoal.evaluate(read(DAY_FIRST), tmp_path / "other.csv", "gcp")["gcp"].value == 0


def test_levels_of_the_calendar() -> None:
    born = ["17.05.1984", "18.05.1984", "21.05.1984", "02.06.1984", "31.12.1984", "30.01.1991"]
    data = shoal.read(pl.DataFrame({"born": born}), quasi=["born"])
    tree = data.hierarchies[0]
    assert [level.tolist() for level in tree.labels[1:]] == [
        ["1984-05", "1984-06", "1984-12", "1991-01"], ["1984-Q2", "1984-Q4", "1991-Q1"], ["1984", "1991"],
        ["1980s", "1990s"], ["*"],
    ]  # fmt: skip
    weeks = shoal.read(pl.DataFrame({"born": born}), quasi=["born"], hierarchies={"born": "dates:units=week"})
    assert weeks.hierarchies[0].labels[1].tolist() == ["1984-W20", "1984-W21", "1984-W22", "1985-W01", "1991-W05"]
    ages = "dates:reference=2026-05-17,units=age|5-years|20-years"
    aged = shoal.read(pl.DataFrame({"born": born}), quasi=["born"], hierarchies={"born": ages})
    assert [level.tolist() for level in aged.hierarchies[0].labels[1:]] == [
        ["42", "41", "35"], ["[40-44]", "[35-39]"], ["[40-59]", "[20-39]"], ["*"],
    ]  # fmt: skip


@pytest.mark.parametrize("day", ["1984-12-31", "1985-01-01", "2004-02-29", "0004-01-01", "1969-12-31", "2020-12-28"])
def test_weeks_are_those_of_iso(day: str) -> None:
    data = shoal.read(pl.DataFrame({"born": [day] * 2}), quasi=["born"], hierarchies={"born": "dates:units=week"})
    year, week, _ = dt.date.fromisoformat(day).isocalendar()
    assert data.hierarchies[0].labels[1].tolist() == [f"{year:04d}-W{week:02d}"]


def test_ages_are_those_of_birthdays() -> None:
    reference = dt.date(2023, 2, 28)
    data = read(ISO, hierarchies={"born": f"dates:reference={reference},units=age"})
    tree = data.hierarchies[0]
    for leaf, text in enumerate(tree.labels[0]):
        born = dt.date.fromisoformat(text)
        age = reference.year - born.year - ((reference.month, reference.day) < (born.month, born.day))
        assert tree.labels[1][tree.codes[1, leaf]] == str(age)


def test_levels_that_do_not_fit() -> None:
    for builder, error in (
        ("dates:reference=2000-01-01", HierarchyError),  # some are born later
        ("dates:reference=2030-01-01,units=5-years|8-years", HierarchyError),
        ("dates:units=week|month", HierarchyError),
        ("dates:reference=2030-01-01,units=month", ParameterError),
        ("dates:reference=01.01.2030", ParameterError),
        ("dates:units=age", ParameterError),
        ("intervals:width=5", HierarchyError),
    ):
        with pytest.raises(error) as told:
            read(ISO, hierarchies={"born": builder})
        assert not any(day in str(told.value) for day in ISO)


def test_a_node_of_the_calendar_counts_from_its_first_to_its_last_day() -> None:
    table = pl.DataFrame({"born": ["1984-05-17", "1984-05-18", "1985-05-16", "1985-05-17"] * 2})
    data = shoal.read(table, quasi=["born"], hierarchies={"born": "dates:units=month|year"})
    low, high = np.array([0], np.int32), np.array([1], np.int32)
    assert data.hierarchies[0].extent(low, high) == 30  # May has 31 days
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="optimal", seed=1)
    assert set(release.frame["born"]) == {"1984-05", "1985-05"}
    assert shoal.evaluate(data, release, "gcp")["gcp"].value == pytest.approx(30 / 365)


def test_a_hierarchy_file_may_spell_dates_as_the_column_does(tmp_path: Path) -> None:
    rows = {
        "own.csv": [[text, text[6:], "*"] for text in DAY_FIRST], "iso.csv": [[text, text[:4], "*"] for text in ISO],
    }  # fmt: skip
    trees = []
    for name, paths in rows.items():
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(sorted(paths, key=lambda path: (path[1], path[0][3:5], path[0])))
        data = read(DAY_FIRST, hierarchies={"born": tmp_path / name})
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
        trees.append(data.schema["born"].hierarchy)
        release.write(tmp_path / "release.csv")
        assert shoal.verify(tmp_path / "release.csv").holds
    assert [tree.labels[0].tolist() for tree in trees] == [sorted(set(ISO))] * 2 and all(tree.ordered for tree in trees)


def test_damaged_dates_are_missing_and_noted() -> None:
    damaged = [*DAY_FIRST[:-3], "31.02.1984", "unknown", "31.02.1984"]
    data = read(damaged)
    tree = data.schema["born"].hierarchy
    distinct = len(set(damaged))
    assert data.notes == (
        "column 'born' is read as dates with the day first",
        f"column 'born': 2 of its {distinct} distinct values are no dates and count as missing",
    )
    assert tree.missing and tree.size == distinct - 2 + 1 and int((data.codes("born") == 0).sum()) == 3
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    published = release.frame["born"].to_list()
    assert not any(text and ("31.02" in text or "unknown" in text) for text in published)
    with pytest.raises(InputError, match="lacks a value in 3 of 300 records"):
        read(damaged, missing_rules={"born": "refuse"})
    assert read(damaged, missing_rules={"born": "drop"}).records == ROWS - 3
    assert read(damaged, kinds={"born": "text"}).schema["born"].hierarchy.size == distinct


def test_too_many_damaged_dates_are_no_dates() -> None:
    damaged = [*DAY_FIRST[:200], *(f"lost {place}" for place in range(100))]
    assert read(damaged).schema["born"].kind is Kind.CATEGORICAL
    for told in ({"kinds": {"born": "date"}}, {"date_formats": {"born": "day-first"}}):
        with pytest.raises(SchemaError, match=r"100 of its .* distinct values are not dates") as error:
            read(damaged, **told)
        assert "lost" not in str(error.value)


AMBIGUOUS = [f"{1 + place % 12:02d}/{1 + place // 12 % 12:02d}/19{50 + place % 40}" for place in range(ROWS)]


def test_an_ambiguous_column_asks_and_is_read_as_told() -> None:
    with pytest.raises(SchemaError, match="'born': day-first and month-first both fit all") as error:
        read(AMBIGUOUS)
    assert "--date-format" in str(error.value) and "date_formats" in str(error.value)
    assert not any(text in str(error.value) for text in AMBIGUOUS)
    for form, pattern in (("day-first", "%d/%m/%Y"), ("month-first", "%m/%d/%Y"), ("%d/%m/%Y", "%d/%m/%Y")):
        data = read(AMBIGUOUS, date_formats={"born": form})
        days = sorted({str(dt.datetime.strptime(text, pattern).date()) for text in AMBIGUOUS})
        assert data.schema["born"].hierarchy.labels[0].tolist() == days and data.schema["born"].form == form
        assert data.notes == ()


def test_detection_and_attacks_do_not_ask() -> None:
    table = patients(AMBIGUOUS)
    found = shoal.detect(table)["born"]
    assert found.kind is Kind.DATE and found.role != "plain"
    data = shoal.read(table, quasi=["sex", "ward"], sensitive=["disease"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    assert shoal.attack(data, release, "functional-dependency:determinant=born,dependent=disease")


def test_mixed_formats_are_refused_with_counts_unless_one_is_named() -> None:
    mixed = [*sorted(set(ISO))[:20], *DAY_FIRST[20:]]
    with pytest.raises(SchemaError, match=r"20 iso, .* year-last with \.") as error:
        read(mixed)
    assert "--kind COLUMN=text" in str(error.value) and "--date-format" in str(error.value)
    named = read(mixed, date_formats={"born": "day-first"})
    assert int((named.codes("born") == 0).sum()) == 20 and "20 of its" in named.notes[0]


def test_a_name_that_may_be_a_value_is_not_told() -> None:
    table = pl.DataFrame({"Bob": ["Ann", "Eve"], "02/03/1999": ["03/04/1984", "05/06/1985"]})
    with pytest.raises(SchemaError, match="both fit all 2") as error:
        shoal.read(table, quasi=["02/03/1999"])
    assert "1999" not in str(error.value)


def test_formats_that_contradict_or_are_unknown() -> None:
    with pytest.raises(SchemaError, match="no column named"):
        read(ISO, date_formats={"death": "iso"})
    with pytest.raises(SchemaError, match="'born' has a date format but is declared as another kind"):
        read(ISO, date_formats={"born": "iso"}, kinds={"born": "numeric"})
    with pytest.raises(SchemaError, match="'born' has a date format but is declared as another kind"):
        read(ISO, date_formats={"born": "iso"}, number_formats={"born": "decimal-comma"})
    with pytest.raises(ParameterError, match="a date format is"):
        read(ISO, date_formats={"born": "dd.mm.yyyy"})


def test_numbers_without_separators_are_dates_when_somebody_says_so(tmp_path: Path) -> None:
    compact = [int(f"{day:%Y%m%d}") for day in DAYS]
    for born in (compact, [str(number) for number in compact]):
        data = read(born)
        assert data.schema["born"].kind is Kind.NUMERIC
        assert [("%Y%m%d" in note) for note in data.notes] == ([] if born is compact else [True])
        dated = read(born, date_formats={"born": "%Y%m%d"})
        assert gcp(dated) == gcp(read(ISO))
        raw = shoal.read(pl.concat([patients(born)] * 2), quasi=["born"], date_formats={"born": "%Y%m%d"})
        release = shoal.anonymize(raw, "k-anonymity:k=2", algorithm="optimal", seed=1, allow_plain=["row"])
        release.write(tmp_path / "release.csv")
        assert shoal.evaluate(raw, tmp_path / "release.csv", "gcp")["gcp"].value == 0


def test_years_of_two_digits_are_read_when_somebody_says_so() -> None:
    short = [f"{day:%d.%m.%y}" for day in DAYS]
    assert any("two digits" in note for note in read(short).notes)
    data = read(short, date_formats={"born": "%d.%m.%y"})
    assert data.schema["born"].kind is Kind.DATE
    assert data.notes == ("column 'born': years of two digits are 1969 to 2068",)


def wages(texts: list[str], **options: object) -> shoal.Dataset:
    return shoal.read(pl.DataFrame({"wage": texts}), quasi=["wage"], **options)  # type: ignore[arg-type]


GERMAN = [f"{1 + place % 7}.{place:03d},{place % 10}5" for place in range(40)]


def test_numbers_are_read_and_published_with_a_point(tmp_path: Path) -> None:
    data = wages(GERMAN)
    assert data.schema["wage"].kind is Kind.NUMERIC and data.schema["wage"].form == "decimal-comma"
    assert data.notes == ("column 'wage' is read as numbers with a decimal comma",)
    plain = [float(text.replace(".", "").replace(",", ".")) for text in GERMAN]
    assert data.schema["wage"].hierarchy.values.tolist() == sorted(plain)
    doubled = wages(GERMAN * 2)
    raw = shoal.anonymize(doubled, "k-anonymity:k=2", algorithm="optimal", seed=1)
    assert sorted(map(float, raw.frame["wage"])) == sorted(plain * 2)
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1)
    release.write(tmp_path / "release.csv")
    same = shoal.evaluate(data, release, "gcp")["gcp"].value
    assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value == same
    assert same == gcp_of_numbers(plain)


def gcp_of_numbers(numbers: list[float]) -> float:
    data = shoal.read(pl.DataFrame({"wage": numbers}), quasi=["wage"])
    return shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1), "gcp")[
        "gcp"
    ].value


def test_numbers_that_could_be_read_in_two_ways_ask() -> None:
    doubtful = [f"{1 + place},{100 + place}" for place in range(30)]
    for options in ({}, {"kinds": {"wage": "numeric"}}):
        with pytest.raises(SchemaError, match="a comma in 30 of its distinct values") as error:
            wages(doubtful, **options)
        assert "--number-format" in str(error.value) and doubtful[3] not in str(error.value)
    values = {
        form: wages(doubtful, number_formats={"wage": form}).schema["wage"].hierarchy.values[0]
        for form in ("decimal-comma", "decimal-point")
    }
    assert values == {"decimal-comma": 1.1, "decimal-point": 1100.0}
    assert wages(doubtful, kinds={"wage": "text"}).schema["wage"].kind is Kind.TEXT
    with pytest.raises(SchemaError, match="1 of its 31 distinct values are none"):
        wages([*doubtful, "none"], number_formats={"wage": "decimal-comma"})


def test_typed_numbers_are_what_they_are() -> None:
    table = pl.DataFrame({"wage": [1.5, 2.25, 3.125]})
    data = shoal.read(table, quasi=["wage"], number_formats={"wage": "decimal-comma"})
    assert data.schema["wage"].hierarchy.values.tolist() == [1.5, 2.25, 3.125] and data.schema["wage"].form is None


def test_a_point_before_three_digits_is_decimal_and_noted() -> None:
    texts = [f"{1 + place}.{100 + place}" for place in range(30)]
    data = wages(texts)
    assert data.schema["wage"].hierarchy.values[0] == 1.1 and "say decimal-comma" in data.notes[0]
    assert wages(texts, number_formats={"wage": "decimal-comma"}).schema["wage"].hierarchy.values[0] == 1100


def test_codes_with_leading_zeros_and_zip_codes_stay_texts() -> None:
    for texts in (["01,5", "02,5", "1,5"], ["01234", "12345"], ["811 02", "010 01"], ["008.45", "250.00"]):
        data = wages(texts)
        assert data.schema["wage"].kind is Kind.CATEGORICAL and data.notes == ()
        assert data.schema["wage"].hierarchy.labels[0].tolist() == sorted(texts)
    data = wages(["250,0", "250,00", "12"])
    assert data.schema["wage"].kind is Kind.NUMERIC and data.schema["wage"].hierarchy.labels[0].tolist() == [
        "12",
        "250",
    ]
