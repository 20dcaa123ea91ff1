"""Releases of every form to report on, in files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import shoal

CANARY = "Quetzal7319"
NUMBER = 48151
"""Values that no report may show."""
FORMS = {
    "generalized": ("mondrian", "k-anonymity:k=3", "frequency-l-diversity:l=2"),
    "levels": ("optimal", "k-anonymity:k=3"),
    "multisets": ("multiset", "k-anonymity:k=3"),
    "two-table": ("anatomy", "frequency-l-diversity:l=2"),
    "sliced": ("slicing:columns=age|sex|disease", "frequency-l-diversity:l=2"),
    "perturbed": ("rank-swapping:share=0.1",),
}


def people(count: int = 60) -> pl.DataFrame:
    """Records whose every value is a canary or belongs to a common few."""
    return pl.DataFrame(
        {
            "name": [f"{CANARY} name {row}" for row in range(count)],
            "age": [NUMBER + row * 7 % 50 for row in range(count)],
            "sex": ["sex" + CANARY * (row % 3 == 0) for row in range(count)],
            "disease": [f"{CANARY} {row % 4}" for row in range(count)],
            "note": [f"{CANARY} plain {row % 2}" for row in range(count)],
        }
    )


def published(folder: Path, form: str = "generalized", **reading: object) -> tuple[shoal.Dataset, Path]:
    """A table and a release of it in a form."""
    table = folder / "people.csv"
    people().write_csv(table)
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease"], "identifiers": ["name"]}
    data = shoal.read(table, **{**roles, **reading})
    algorithm, *models = FORMS[form]
    suppression = 0.1 if form == "levels" else 0.0
    release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=suppression, seed=987654321)
    release.write(folder / "release.csv")
    return data, folder / "release.csv"
