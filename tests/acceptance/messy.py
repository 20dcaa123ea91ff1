"""The tables as files that offices send: damaged dates, lost zeros, names that occur twice, other encodings.

Each function writes one file and gives the clean frame that it was made from, whose rows are those of the file. No
row is left out or added, so what a release says can be held against what was planted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from tables import court_records, covid_register, hospital_admissions, insurance_claims, panel_survey

ROW = "receipt"
"""A column that only these tests publish: the number of the row, by which a release is held against the table."""


def _damaged(values: pl.Series, spellings: list[str], share: float, seed: int) -> pl.Series:
    """A column some of whose cells hold something else."""
    draw = np.random.default_rng(seed)
    cells = values.cast(pl.String).to_list()
    for place in draw.choice(len(cells), int(share * len(cells)), replace=False).tolist():
        cells[place] = spellings[int(draw.integers(len(spellings)))]
    return pl.Series(values.name, cells)


def _numbered(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.Series(ROW, np.arange(len(table)) * 3 + 11))


def _lines(table: pl.DataFrame, separator: str, header: list[str] | None = None) -> str:
    written = table.write_csv(separator=separator)
    if header is None:
        return written
    return separator.join(header) + "\n" + written.partition("\n")[2]


def hospital(path: Path) -> pl.DataFrame:
    """ZIP codes that a spreadsheet took for numbers, damaged dates of birth, and the row numbers that R writes."""
    table = _numbered(hospital_admissions(rows=900, people=600))
    messy = table.with_columns(
        pl.col("ZIP").cast(pl.Int64).cast(pl.String),
        _damaged(table["BIRTHDATE"], ["0000-00-00", "1957-02-30", "unknown"], 0.01, 1),
        _damaged(table["Ward"], ["NA", ""], 0.03, 2),
    )
    numbers = pl.Series("", np.arange(1, len(table) + 1))
    path.write_text(_lines(messy.insert_column(0, numbers), ","), encoding="utf-8")
    return table


def court(path: Path) -> pl.DataFrame:
    """A heading that stands twice, dates with the month first, and three spellings of a missing value."""
    table = _numbered(court_records(rows=700))
    messy = table.with_columns(
        pl.col("dob").str.to_date().dt.strftime("%m/%d/%Y"), _damaged(table["race"], ["NA", "n/a", "?"], 0.02, 3)
    )
    header = ["priors_count" if name == "priors_count.1" else name for name in table.columns]
    path.write_text(_lines(messy, ",", header), encoding="utf-8")
    return table


def covid(path: Path) -> pl.DataFrame:
    """Excel's first line, semicolons, latin-1, and dates of birth that nobody can have."""
    table = _numbered(covid_register(rows=800, people=600))
    table = table.with_columns(pl.col("Symptome").replace("loss of smell", "Geschmacksstörung"))
    messy = table.with_columns(_damaged(table["Geburtsdatum"], ["00.00.0000", "31.02.1970"], 0.01, 4))
    path.write_bytes(("sep=;\n" + _lines(messy, ";")).encode("latin-1"))
    return table


def panel(path: Path) -> pl.DataFrame:
    """Codes for no answer, a weight that a join left twice, and the row numbers that pandas writes."""
    table = _numbered(panel_survey(people=300))
    weights = np.random.default_rng(6).choice([0.8, 1.0, 1.2], len(table))
    messy = table.with_columns(
        _damaged(table["marital_status"], ["-8", "NA"], 0.03, 5), _damaged(table["education"], ["."], 0.02, 6),
        pl.Series("weight", weights), pl.Series("other weight", weights),
    )  # fmt: skip
    header = ["Unnamed: 0", *("weight" if name == "other weight" else name for name in messy.columns)]
    numbers = pl.Series("row", np.arange(len(table)))
    path.write_text(_lines(messy.insert_column(0, numbers), ",", header), encoding="utf-8")
    return table


def insurance(path: Path) -> pl.DataFrame:
    """Latin-1 with semicolons, decimal commas, day-first dates, and the zeros of the ZIP codes lost."""
    table = _numbered(insurance_claims(rows=750, people=500))
    messy = table.with_columns(
        pl.col("PLZ").str.strip_chars_start("0"), _damaged(table["Eintritt"], ["unbekannt", ""], 0.01, 7)
    )
    path.write_bytes(_lines(messy, ";").encode("latin-1"))
    return table


FILES: dict[str, Callable[[Path], pl.DataFrame]] = {
    "hospital": hospital, "court": court, "covid": covid, "panel": panel, "insurance": insurance,
}  # fmt: skip
