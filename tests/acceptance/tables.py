"""Tables as offices hold them, made up from a seed: nobody in them exists, and what is planted in them is known.

Each function gives a frame; `PLANTED` says which of its columns name people, which ones outsiders may know, and which
ones nobody should learn.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np
import polars as pl

_WOMEN = "Mary Patricia Linda Barbara Susan Jessica Karen Lisa Nancy Sandra Ashley Emily Donna Carol Ruth Helen"
_MEN = "James Robert John David William Richard Thomas Charles Daniel Paul Steven Kenneth George Brian Edward"
_FAMILY = """
    Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson Anderson
    Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Walker Young
    Allen King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter
"""
GIVEN = {"f": _WOMEN.split(), "m": _MEN.split()}
FAMILY = _FAMILY.split()
DISEASES = ["asthma", "diabetes", "fracture", "hypertension", "influenza", "migraine", "pneumonia", "appendicitis"]
RACES = ["African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"]
DEGREES = ["F", "M"]
CHARGES = ["Battery", "Burglary", "Driving License Suspended", "Grand Theft", "Possession of Cocaine", "Petit Theft"]
TODAY = date(2014, 12, 31)


def _people(draw: np.random.Generator, rows: int) -> dict[str, list]:
    """Sex, given name, family name and date of birth of so many people."""
    sexes = [("f", "m")[place] for place in draw.integers(0, 2, rows)]
    return {
        "sex": sexes,
        "given": [draw.choice(GIVEN[sex]) for sex in sexes],
        "family": [draw.choice(FAMILY) for _ in range(rows)],
        "born": [date(1930, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 27_000, rows)],
    }


def _years(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def hospital_admissions(seed: int = 1, rows: int = 3_000, people: int = 2_100) -> pl.DataFrame:
    """Admissions to hospitals, several of some people: names with digits in them as some systems write, numbers of
    people, dates of birth, and what they were treated for."""
    draw = np.random.default_rng(seed)
    known = _people(draw, people)
    ssn = [f"{100 + place % 560}-{10 + place % 89}-{1000 + place}" for place in draw.permutation(people).tolist()]
    zips = [f"0{1000 + 7 * place}" for place in draw.integers(0, 90, people).tolist()]
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    admitted = [date(2014, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 365, rows)]
    return pl.DataFrame(
        {
            "SSN": [ssn[place] for place in who],
            "FIRST": [f"{known['given'][place]}{place % 900 + 100}" for place in who],
            "LAST": [f"{known['family'][place]}{place % 700 + 100}" for place in who],
            "BIRTHDATE": [known["born"][place].isoformat() for place in who],
            "GENDER": [known["sex"][place].upper() for place in who],
            "ZIP": [zips[place] for place in who],
            "ADMITTED": [day.isoformat() for day in admitted],
            "AGE_AT_YEAR_END": [_years(known["born"][place], TODAY) for place in who],
            "Ward": draw.choice(["north", "south", "surgery", "children"], rows).tolist(),
            "Diagnosis": draw.choice(DISEASES, rows).tolist(),
            "Cost": draw.gamma(2.0, 900.0, rows).round(2).tolist(),
        }
    )


def court_records(seed: int = 2, rows: int = 2_000) -> pl.DataFrame:
    """Defendants and whether they came back: names, the date of birth beside the age, and a column that a join left
    twice."""
    draw = np.random.default_rng(seed)
    known = _people(draw, rows)
    ages = [_years(born, TODAY) for born in known["born"]]
    priors = draw.geometric(0.3, rows) - 1
    first, last = [name.lower() for name in known["given"]], [name.lower() for name in known["family"]]
    return pl.DataFrame(
        {
            "id": np.arange(1, rows + 1),
            "name": [f"{given} {family}" for given, family in zip(first, last, strict=True)],
            "first": first,
            "last": last,
            "sex": [{"f": "Female", "m": "Male"}[sex] for sex in known["sex"]],
            "dob": [born.isoformat() for born in known["born"]],
            "age": ages,
            "age_cat": ["Less than 25" if age < 25 else "25 - 45" if age <= 45 else "Greater than 45" for age in ages],
            "race": draw.choice(RACES, rows, p=[0.5, 0.01, 0.34, 0.09, 0.01, 0.05]).tolist(),
            "juv_fel_count": draw.poisson(0.1, rows),
            "priors_count": priors,
            "c_case_number": [f"{13 + place % 2}{place:06}CF10A" for place in draw.permutation(rows).tolist()],
            "c_charge_degree": draw.choice(DEGREES, rows, p=[0.65, 0.35]).tolist(),
            "c_charge_desc": draw.choice(CHARGES, rows).tolist(),
            "decile_score": draw.integers(1, 11, rows),
            "priors_count.1": priors,
            "two_year_recid": draw.integers(0, 2, rows),
        }
    )


def covid_register(seed: int = 3, rows: int = 2_500, people: int = 1_900) -> pl.DataFrame:
    """Tests for a virus, several of some people, as a German health office lists them."""
    draw = np.random.default_rng(seed)
    known = _people(draw, people)
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    tested = [date(2021, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 200, rows)]
    codes = [f"{20000 + 37 * place}" for place in draw.integers(0, 60, people).tolist()]
    phones = [f"040 {place:07}" for place in (1_000_000 + 311 * draw.permutation(people)).tolist()]
    return pl.DataFrame(
        {
            "patient_id": [f"P{place:05}" for place in who],
            "Vorname": [known["given"][place] for place in who],
            "Nachname": [known["family"][place] for place in who],
            "Geburtsdatum": [known["born"][place].strftime("%d.%m.%Y") for place in who],
            "Geschlecht": [{"f": "w", "m": "m"}[known["sex"][place]] for place in who],
            "PLZ": [codes[place] for place in who],
            "Telefon": [phones[place] for place in who],
            "Testdatum": [day.isoformat() for day in tested],
            "Labor": draw.choice(["A", "B", "C"], rows).tolist(),
            "Ct_Wert": draw.normal(25, 5, rows).round(1).tolist(),
            "Symptome": draw.choice(["none", "cough", "fever", "loss of smell"], rows).tolist(),
            "infected": draw.choice(["yes", "no"], rows, p=[0.2, 0.8]).tolist(),
        }
    )


def panel_survey(seed: int = 4, people: int = 800, waves: int = 4) -> pl.DataFrame:
    """Interviews of the same people year after year, of whom some drop out; what stays with a person repeats."""
    draw = np.random.default_rng(seed)
    known = _people(draw, people)
    regions = draw.choice(["North", "South", "East", "West", "Capital"], people).tolist()
    schooling = draw.choice(["primary", "secondary", "vocational", "tertiary"], people, p=[0.1, 0.4, 0.3, 0.2]).tolist()
    stays = draw.integers(1, waves + 1, people).tolist()
    asked = [(place, wave) for place in range(people) for wave in range(stays[place])]
    who, rows = [place for place, _ in asked], len(asked)
    days = draw.integers(0, 120, rows).tolist()
    return pl.DataFrame(
        {
            "pid": [f"{7_000_000 + 13 * place}" for place in who],
            "wave": [wave + 1 for _, wave in asked],
            "interview_date": [
                (date(2010 + wave, 2, 1) + timedelta(days=day)).isoformat()
                for (_, wave), day in zip(asked, days, strict=True)
            ],
            "sex": [{"f": "female", "m": "male"}[known["sex"][place]] for place in who],
            "birth_year": [known["born"][place].year for place in who],
            "region": [regions[place] for place in who],
            "education": [schooling[place] for place in who],
            "household_size": draw.integers(1, 6, rows),
            "marital_status": draw.choice(["single", "married", "divorced", "widowed"], rows).tolist(),
            "income": (draw.gamma(4.0, 600.0, rows) // 10 * 10).astype(int),
            "satisfaction": draw.integers(0, 11, rows),
            "illness": draw.choice(["none", *DISEASES], rows, p=[0.6, *[0.05] * 8]).tolist(),
        }
    )


def insurance_claims(seed: int = 5, rows: int = 1_800, people: int = 1_200) -> pl.DataFrame:
    """Claims of the employees of a firm, several of some, as a German insurer exports them: decimal commas, day-first
    dates, umlauts."""
    draw = np.random.default_rng(seed)
    known = _people(draw, people)
    family = [draw.choice(["Müller", "Schäfer", "Köhler", "Groß", "Böhm", *FAMILY[:20]]) for _ in range(people)]
    codes = [f"{1067 + 113 * place:05}" for place in draw.integers(0, 80, people).tolist()]
    joined = [date(1995, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 7_000, people)]
    pay = [
        f"{amount // 1000}.{amount % 1000:03},{cents:02}"
        for amount, cents in zip(
            draw.integers(1_800, 7_900, people).tolist(), draw.integers(0, 100, people).tolist(), strict=True
        )
    ]
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    return pl.DataFrame(
        {
            "Versichertennummer": [f"M{100_000_000 + 7 * place}" for place in who],
            "Name": [f"{family[place]}, {known['given'][place]}" for place in who],
            "E-Mail": [f"{known['given'][place].lower()}.{place}@example.org" for place in who],
            "Geburtsdatum": [known["born"][place].strftime("%d.%m.%Y") for place in who],
            "Geschlecht": [{"f": "weiblich", "m": "männlich"}[known["sex"][place]] for place in who],
            "PLZ": [codes[place] for place in who],
            "Eintritt": [joined[place].strftime("%d.%m.%Y") for place in who],
            "Gehalt": [pay[place] for place in who],
            "Tarif": draw.choice(["Basis", "Komfort", "Plus"], rows).tolist(),
            "Schadenhöhe": [f"{amount:.2f}".replace(".", ",") for amount in draw.gamma(2.0, 120.0, rows)],
            "Diagnose": draw.choice(["Asthma", "Rückenschmerz", "Diabetes", "Grippe", "Depression"], rows).tolist(),
        }
    )


def clinic_stays(seed: int = 7, rows: int = 600, people: int = 90) -> pl.DataFrame:
    """Stays in a German clinic, several of each patient: short headings, day-first dates, decimal commas."""
    draw = np.random.default_rng(seed)
    known = _people(draw, people)
    towns = ["01067", "01069", "04109", "10115", "10117", "20095"]
    codes = draw.choice(towns, people).tolist()
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])
    admitted = [date(2023, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 365, rows)]
    return pl.DataFrame(
        {
            "PatID": [f"P{10_000 + 7 * place}" for place in who],
            "Nachname": [known["family"][place] for place in who],
            "Vorname": [known["given"][place] for place in who],
            "Geschlecht": [{"f": "w", "m": "m"}[known["sex"][place]] for place in who],
            "Geburtsdatum": [known["born"][place].strftime("%d.%m.%Y") for place in who],
            "PLZ": [codes[place] for place in who],
            "Aufnahme": [day.strftime("%d.%m.%Y") for day in admitted],
            "Station": draw.choice(["Chirurgie", "Innere", "Kinder"], rows).tolist(),
            "Diagnose": draw.choice(["E11", "F32", "I10", "J45", "K35", "S52"], rows).tolist(),
            "Kosten": [f"{amount:.2f}".replace(".", ",") for amount in draw.gamma(2.0, 900.0, rows)],
        }
    )


TABLES: dict[str, Callable[..., pl.DataFrame]] = {
    "hospital admissions": hospital_admissions,
    "court records": court_records,
    "COVID register": covid_register,
    "panel survey": panel_survey,
    "insurance claims": insurance_claims,
}
PLANTED = {
    "hospital admissions": {
        "identifiers": ["SSN", "FIRST", "LAST"],
        "quasi": ["BIRTHDATE", "GENDER", "ZIP", "AGE_AT_YEAR_END"],
        "sensitive": ["Diagnosis"],
    },
    "court records": {
        "identifiers": ["id", "name", "first", "last", "c_case_number"],
        "quasi": ["sex", "dob", "age", "age_cat", "race"],
        "sensitive": [],
    },
    "COVID register": {
        "identifiers": ["patient_id", "Vorname", "Nachname", "Telefon"],
        "quasi": ["Geburtsdatum", "Geschlecht", "PLZ"],
        "sensitive": ["Symptome", "infected"],
    },
    "panel survey": {
        "identifiers": ["pid"],
        "quasi": ["sex", "birth_year", "region", "education", "marital_status"],
        "sensitive": ["illness"],
    },
    "insurance claims": {
        "identifiers": ["Versichertennummer", "Name", "E-Mail"],
        "quasi": ["Geburtsdatum", "Geschlecht", "PLZ"],
        "sensitive": ["Diagnose"],
    },
}
PERSON = {
    "hospital admissions": ["SSN"],
    "COVID register": ["patient_id"],
    "panel survey": ["pid"],
    "insurance claims": ["Versichertennummer"],
}
"""Whose each record is, in tables that have several of some people."""
