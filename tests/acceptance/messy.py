"""The tables as files that offices send: damaged dates, lost zeros, names that occur twice, other encodings.

Each function writes one file and gives what its cells mean: texts, dates in ISO form, numbers with a point, nothing
where a cell is damaged or missing. No row is left out or added, so a release can be held against it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from tables import court_records, covid_register, hospital_admissions, insurance_claims, panel_survey

ROW = "receipt"
"""A column that only these tests publish: a number of the row, by which a release is held against the table."""


class _Sheet:
    """A table as it is written, beside what it means."""

    def __init__(self, table: pl.DataFrame) -> None:
        numbered = table.with_columns(pl.Series(ROW, np.arange(len(table)) * 3 + 11))
        self.written = self.meant = numbered.cast(pl.String)

    def damage(self, column: str, *spellings: str, share: float = 0.02, seed: int = 1) -> None:
        """Writes something else into some cells, which then mean nothing."""
        draw = np.random.default_rng(seed)
        rows = len(self.written)
        hit = np.isin(np.arange(rows), draw.choice(rows, int(share * rows), replace=False))
        other = draw.choice(spellings, rows)
        cells = self.written[column].to_list()
        written = [new if damaged else cell for cell, new, damaged in zip(cells, other, hit, strict=True)]
        self.written = self.written.with_columns(pl.Series(column, written))
        self.meant = self.meant.with_columns(pl.Series(column, self.meant[column]).set(pl.Series(hit), None))

    def text(self, separator: str, header: dict[str, str] | None = None, numbers_below: str | None = None) -> str:
        """As CSV, under other headings and with a first column of row numbers where they are given."""
        table = self.written
        if numbers_below is not None:
            table = table.insert_column(0, pl.Series(numbers_below, np.arange(len(table))))
        names = [(header or {}).get(name, name) for name in table.columns]
        return separator.join(names) + "\n" + table.write_csv(separator=separator, include_header=False)


def hospital(path: Path) -> pl.DataFrame:
    """ZIP codes that a spreadsheet took for numbers, damaged dates of birth, and the row numbers that R writes."""
    sheet = _Sheet(hospital_admissions(rows=330, people=220))
    sheet.written = sheet.written.with_columns(pl.col("ZIP").str.strip_chars_start("0"))
    sheet.damage("BIRTHDATE", "0000-00-00", "1957-02-30", "unknown")
    sheet.damage("Ward", "NA", "", seed=2)
    path.write_text(sheet.text(",", numbers_below='""').replace('""""""', '""', 1), encoding="utf-8")
    return sheet.meant


def court(path: Path) -> pl.DataFrame:
    """A heading that stands twice, dates with the month first, and three spellings of a missing value."""
    sheet = _Sheet(court_records(rows=300))
    sheet.written = sheet.written.with_columns(pl.col("dob").str.to_date().dt.strftime("%m/%d/%Y"))
    sheet.damage("race", "NA", "n/a", "?")
    path.write_text(sheet.text(",", {"priors_count.1": "priors_count"}), encoding="utf-8")
    return sheet.meant


def covid(path: Path) -> pl.DataFrame:
    """Excel's first line, semicolons, latin-1, and dates of birth that nobody can have."""
    sheet = _Sheet(covid_register(rows=330, people=240).with_columns(pl.col("Symptome").replace("fever", "Übelkeit")))
    sheet.meant = sheet.meant.with_columns(pl.col("Geburtsdatum").str.to_date("%d.%m.%Y").cast(pl.String))
    sheet.damage("Geburtsdatum", "00.00.0000", "31.02.1970")
    path.write_bytes(("sep=;\n" + sheet.text(";")).encode("latin-1"))
    return sheet.meant


def panel(path: Path) -> pl.DataFrame:
    """Days of interviews that can be read in two ways, codes for no answer, a weight that a join left twice, and the
    row numbers that pandas writes."""
    table = panel_survey(people=110)
    weights = np.random.default_rng(6).choice([0.8, 1.0, 1.2], len(table))
    sheet = _Sheet(table.with_columns(pl.Series("weight", weights), pl.Series("weight.1", weights)))
    days = pl.col("interview_date").str.to_date().dt.truncate("1mo").dt.offset_by("4d")
    sheet.meant = sheet.meant.with_columns(days.cast(pl.String))
    sheet.written = sheet.written.with_columns(days.dt.strftime("%d/%m/%Y"))
    sheet.damage("marital_status", "-8", "NA")
    sheet.damage("education", ".", seed=2)
    path.write_text(sheet.text(",", {"weight.1": "weight"}, numbers_below="Unnamed: 0"), encoding="utf-8")
    return sheet.meant


def insurance(path: Path) -> pl.DataFrame:
    """Latin-1 with semicolons, decimal commas, day-first dates, and the zeros of the ZIP codes lost."""
    sheet = _Sheet(insurance_claims(rows=330, people=220))
    numbers = [pl.col(name).str.replace_all(".", "", literal=True) for name in ("Gehalt", "Schadenhöhe")]
    sheet.meant = sheet.meant.with_columns(
        *(pl.col(name).str.to_date("%d.%m.%Y").cast(pl.String) for name in ("Geburtsdatum", "Eintritt")),
        *(number.str.replace(",", ".", literal=True) for number in numbers),
    )
    sheet.written = sheet.written.with_columns(pl.col("PLZ").str.strip_chars_start("0"))
    sheet.damage("Eintritt", "unbekannt", "")
    path.write_bytes(sheet.text(";").encode("latin-1"))
    return sheet.meant


FILES: dict[str, Callable[[Path], pl.DataFrame]] = {
    "hospital": hospital, "court": court, "covid": covid, "panel": panel, "insurance": insurance,
}  # fmt: skip
