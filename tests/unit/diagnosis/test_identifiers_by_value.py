"""Identifiers under headings that say nothing: names, numbers of people, keys that repeat; and who is counted then."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.core.schema import Kind, Role
from shoal.core.values import Values
from shoal.diagnosis.identifier_patterns import PATTERNS
from shoal.diagnosis.single_columns import naming
from shoal.errors import PlainColumnError

SURNAMES = """
    Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein Wolf
    Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Schmitt Werner Krause Meier Lehmann Köhler
    Walter König Mayer Huber Kaiser Fuchs Peters Möller Scholz Lang Weiß Jung Hahn Schubert Vogel Friedrich Keller
    Frank Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster Simon Ludwig Böhm Winter Kraus Martin
"""
GIVEN = """
    Anna Lena Julia Sarah Lisa Laura Katharina Sabine Petra Monika Ursula Renate Helga Karin Brigitte Ingrid Erika Heike
    Thomas Michael Andreas Peter Stefan Christian Wolfgang Klaus Jürgen Markus Frank Uwe Matthias Bernd Jan Tobias Lukas
"""


def insurance_number(draw: np.random.Generator, born: date) -> str:
    """An Austrian one: a serial number, a check digit, the date of birth."""
    while True:
        digits = [*draw.integers(0, 10, 3).tolist(), 0, *map(int, born.strftime("%d%m%y"))]
        check = sum(a * b for a, b in zip(digits, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6), strict=True)) % 11
        if digits[0] and check < 10:
            digits[3] = check
            return "".join(map(str, digits))


def stays(people: int = 120, rows: int = 800, seed: int = 4) -> pl.DataFrame:
    """Stays in a hospital, several of most people, under short headings; two people share a number by mistake."""
    draw = np.random.default_rng(seed)
    born = [date(1930, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 27_000, people)]
    numbers = [insurance_number(draw, day) for day in born]
    numbers[1] = numbers[0]
    surnames, given = draw.choice(SURNAMES.split(), people), draw.choice(GIVEN.split(), people)
    sexes = draw.choice(["m", "w"], people)
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    return pl.DataFrame(
        {
            "PatID": [100 + 7 * int(place) for place in who],
            "PN": [str(surnames[place]) for place in who],
            "VN": [str(given[place]) for place in who],
            "SVNR": [numbers[place] for place in who],
            "GebDat": [born[place].strftime("%d.%m.%Y") for place in who],
            "G": [str(sexes[place]) for place in who],
            "Stn": draw.choice(["A1", "A2", "B1", "B2"], rows).tolist(),
            "Betrag": [f"{amount:.2f}".replace(".", ",") for amount in draw.gamma(2.0, 900.0, rows)],
        }
    )


@pytest.fixture(scope="module")
def table():
    return stays()


@pytest.fixture(scope="module")
def found(table):
    return shoal.detect(table)


def test_names_and_numbers_under_short_headings(found):
    assert {each.column for each in found if each.role is Role.IDENTIFIER} == {"PatID", "PN", "VN", "SVNR"}
    assert "names of people" in found["PN"].reasons[0] and "names of people" in found["VN"].reasons[0]
    assert found["SVNR"].reasons[0] == "its values have the form of Austrian social insurance numbers"


def test_the_column_that_repeats_by_person_is_the_person_and_people_are_counted(table, found):
    assert found.person == "PatID" and found.people == table["PatID"].n_unique() == 120
    assert "of 120 people (800 records) stand alone" in found.summary
    assert found.job_roles()["PatID"] is Role.ENTITY and found.job_roles()["SVNR"] is Role.IDENTIFIER
    outsiders = [each.column for each in found if each.role not in (Role.IDENTIFIER, Role.SENSITIVE)]
    agreeing = table.group_by(outsiders).agg(pl.col("PatID").unique()).filter(pl.col("PatID").list.len() == 1)
    alone = agreeing["PatID"].list.first().n_unique()
    assert found.unique_share == alone / 120


def test_whatever_the_headings_say(table):
    nameless = shoal.detect(table.rename({"PatID": "x1", "PN": "x2", "VN": "x3", "SVNR": "x4", "GebDat": "geb_datum"}))
    assert nameless["x2"].role is nameless["x3"].role is nameless["x4"].role is Role.IDENTIFIER
    assert nameless["x1"].role is Role.IDENTIFIER and "key of people" in nameless["x1"].reasons[0]
    assert nameless.person in ("x1", "x4") and nameless.people >= 119


def test_a_bare_key_that_determines_other_columns_is_the_person():
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(60), 5)
    ethnicity, school = draw.integers(0, 4, 60)[who], draw.integers(6, 18, 60)[who]
    panel = pl.DataFrame({"nr": 13 * who, "e": ethnicity, "s": school, "hours": draw.integers(0, 60, 300)})
    assert shoal.detect(panel).person == "nr"
    assert shoal.detect(panel.rename({"nr": "hours2"})).person is None
    assert shoal.detect(panel.with_columns(nr=draw.permutation(13 * who))).person is None


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_names_are_not_published_because_their_heading_is_short(table, engine, tmp_path, capsys):
    pytest.importorskip("polars" if engine == "embedded" else engine)
    data = shoal.read(table, quasi=["G", "Stn"], person="PatID", engine=engine)
    with pytest.raises(PlainColumnError) as stop:
        shoal.anonymize(data, shoal.KAnonymity(k=5))
    assert {"PN", "VN", "SVNR"} <= set(stop.value.columns)


def test_the_command_stops_and_writes_nothing(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.write_csv("stays.csv")
    with pytest.raises(SystemExit) as stop:
        main(["anonymize", "stays.csv", "-o", "out.csv", "--quasi", "G,Stn", "--person", "PatID", "--k", "5"])
    assert stop.value.code == 2 and not (tmp_path / "out.csv").exists()
    assert "'PN'" in capsys.readouterr().err


def reasons(heading: str, texts: list[str]) -> tuple[str, ...]:
    values = Values.of(heading, Kind.CATEGORICAL, sorted(set(texts)))
    return naming(heading, values, len(values.texts), len(texts))


@pytest.mark.parametrize(
    "names",
    [
        "Dubois, Jean-Pierre;Lefèvre, Camille;Moreau, Zoé;Girard, Hélène;Bonnet, Gaël;Roux, Thibault",
        "GARCÍA LÓPEZ MARÍA;FERNÁNDEZ RUIZ JOSÉ;MARTÍNEZ DÍAZ ANA;SÁNCHEZ GIL PABLO;PÉREZ SANZ LUCÍA",
        "mehmet yılmaz;ayşe demir;mustafa kaya;fatma çelik;zeynep şahin;emre öztürk",
        "Иванов Сергей;Смирнова Ольга;Кузнецов Дмитрий;Попова Анна;Соколов Алексей",
        "王伟;李娜;张敏;刘洋;陈静;杨磊",
        "Mrs. Jane Austen;Dr Arthur Conan Doyle;Miss Emily Brontë;Mr Charles Dickens;Oscar Wilde",
    ],
)
def test_names_in_many_languages(names):
    assert "names of people" in " ".join(reasons("x", names.split(";") * 9))


@pytest.mark.parametrize(
    "others",
    [
        "red;green;brown;white;black;pink;silver;gold;violet;orange",
        "January;February;March;April;May;June;July;August",
        "Tech-support;Craft-repair;Sales;Exec-managerial;Farming-fishing;Priv-house-serv",
        "Texas;Georgia;Virginia;Carolina;Montana;Washington;Maine;Florida;Nevada",
        "asthma;diabetes;fracture;influenza;migraine;pneumonia;gout",
        "ALA;ANN;BEN;KIM;LEE;MAX;TOM;ZOE",
    ],
)
def test_other_words_are_no_names(others):
    assert not reasons("x", others.split(";") * 9)


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("street addresses", "Rue de la Paix"),
        ("street addresses", "Hauptsache 12"),
        ("street addresses", "2009"),
        ("coordinates", "48.2, 16.4"),
    ],
)
def test_what_has_no_form(form, other):
    assert not PATTERNS[form](other)


def test_numbers_of_other_countries():
    pytest.importorskip("stdnum")
    from stdnum.tr import tckimlik

    draw = np.random.default_rng(0)
    numbers = [str(number) for number in draw.integers(100_000_000, 999_999_999, 30)]
    right = [number + tckimlik.calc_check_digits(number) for number in numbers]
    assert "Turkish identity numbers" in reasons("x", right)[0]
    assert not any("form of" in reason for reason in reasons("x", [number + "00" for number in numbers]))


def test_long_codes_of_one_length_are_keys_and_running_numbers_are_not():
    assert reasons("x", [f"{number:010}" for number in range(10**9, 10**9 + 10**7, 12_345)])
    numbers = Values.of("x", Kind.NUMERIC, [str(number) for number in range(1, 101)])
    assert not naming("x", numbers, 100, 100)


def test_the_headline_of_the_diagnosis_counts_people(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.write_csv("stays.csv")
    headlines = []
    for more in ([], ["--rows-are-people"], ["--person", "SVNR"]):
        with pytest.raises(SystemExit):
            main(["diagnose", "stays.csv", "--quasi", "GebDat,G", *more])
        headlines.append(capsys.readouterr())
    assert "of 120 people" in headlines[0].out and "counted by column 'PatID'" in headlines[0].err
    assert "of 800 people" in headlines[1].out and "counted by" not in headlines[1].err
    assert "of 119 people" in headlines[2].out and "counted by" not in headlines[2].err
