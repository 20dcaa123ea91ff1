"""Admissions to a hospital as its office would export them, drawn from a seed. Nobody in them exists."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from shoal.samples.sample import SampleTable

WOMEN = "Mary Patricia Linda Barbara Susan Jessica Karen Lisa Nancy Sandra Ashley Emily Donna Carol Ruth Helen"
MEN = "James Robert John David William Richard Thomas Charles Daniel Paul Steven Kenneth George Brian Edward"
NAMES = """
    Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson Anderson
    Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Walker Young
    Allen King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter
"""
# How often a diagnosis is met below 30, below 60 and from 60 years on.
DIAGNOSES = {
    "appendicitis": (4, 2, 1),
    "asthma": (5, 2, 1),
    "diabetes": (1, 3, 4),
    "fracture": (4, 2, 4),
    "hernia": (1, 3, 2),
    "hypertension": (0.5, 4, 5),
    "migraine": (3, 3, 1),
    "pneumonia": (2, 2, 4),
    "stroke": (0.2, 1, 4),
}
YOUNGEST, OLDEST = date(2007, 12, 31), date(1932, 1, 1)
FIRST_DAY = date(2025, 1, 1)
YEAR = 365.25


@SampleTable
def admissions(rows: int = 1_500, people: int = 1_000, seed: int = 1) -> pa.Table:
    """Admissions to an invented hospital in the year 2025; a third of them are of people who come again.

    `patient_id` and the names say whose each record is. Dates are written with the month first, postal codes begin
    with a zero, the diagnosis depends on the age, and `days` is how long somebody stayed.

    Example:
        >>> table = admissions()
        >>> table.height, table["patient_id"].n_unique()
        (1500, 1000)
        >>> table.columns[3:]
        ['birth_date', 'sex', 'zip', 'admitted', 'diagnosis', 'days']
    """
    draw = np.random.default_rng(seed)
    sexes = draw.choice(["F", "M"], people).tolist()
    first_names = [str(draw.choice((WOMEN if sex == "F" else MEN).split())) for sex in sexes]
    last_names = draw.choice(NAMES.split(), people).tolist()
    born = [OLDEST + timedelta(days=int(day)) for day in draw.integers(0, (YOUNGEST - OLDEST).days, people)]
    # Three regions, in each of which a few districts have most of the people.
    regions, districts = draw.integers(0, 3, people), np.minimum(draw.geometric(0.15, people), 25)
    codes = [f"{number:05}" for number in (2100 + 100 * regions + 4 * districts - 3).tolist()]
    numbers = [f"P{number:06}" for number in (draw.permutation(people) + 100_000).tolist()]
    who = np.concatenate([np.arange(people), draw.integers(0, people, rows - people)])[draw.permutation(rows)].tolist()
    admitted = [FIRST_DAY + timedelta(days=int(day)) for day in draw.integers(0, 365, rows)]
    ages = np.array([(day - born[person]).days / YEAR for day, person in zip(admitted, who, strict=True)])
    weights = np.array(tuple(DIAGNOSES.values()))[:, np.searchsorted([30, 60], ages, side="right")].cumsum(axis=0)
    diagnoses = (weights / weights[-1] < draw.random(rows)).sum(axis=0)
    return pa.table(
        {
            "patient_id": [numbers[person] for person in who],
            "first_name": [first_names[person] for person in who],
            "last_name": [last_names[person] for person in who],
            "birth_date": [f"{born[person]:%m/%d/%Y}" for person in who],
            "sex": [sexes[person] for person in who],
            "zip": [codes[person] for person in who],
            "admitted": [f"{day:%m/%d/%Y}" for day in admitted],
            "diagnosis": [tuple(DIAGNOSES)[place] for place in diagnoses.tolist()],
            "days": np.minimum(draw.geometric(0.2, rows), 30),
        }
    )
