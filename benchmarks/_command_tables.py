"""The tables that `benchmarks.commands` runs every command on: `python -m benchmarks._command_tables FOLDER NAME`.

Beside the table itself there are what some commands need: people with weights and households, columns of numbers, the
lists of two holders, a register that knows more people, and items that three holders look for rules of.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl

import shoal

ROWS = 1_000_000
BESIDE = "shared/data/adult"
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


def _adult() -> tuple[pl.DataFrame, pl.DataFrame, Path]:
    """Adult, all of its people as a register, and its hierarchies: the reference copy, else the sample."""
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
             "salary-class"]  # fmt: skip
    register = shoal.samples.adult(part="all").select(names)
    for parent in Path(__file__).resolve().parents:
        if (parent / BESIDE).is_dir():
            table = pl.read_csv(parent / BESIDE / "adult.csv", separator=";").select(names)
            return table, register, parent / BESIDE / "hierarchies"
    return shoal.samples.adult().select(names), register, shoal.samples.hierarchies("adult")


def _census() -> tuple[pl.DataFrame, pl.DataFrame, Path]:
    register = shoal.samples.census(ROWS * 6 // 5)
    return register.head(ROWS), register, shoal.samples.hierarchies("census")


def _numbers(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """Columns of numbers: Adult's, or those of the census and two that follow from them and chance."""
    if name == "adult":
        return shoal.samples.adult().select(NUMBERS)
    draw = np.random.default_rng(1)
    age, pay = table["age"].to_numpy(), table["salary-class"].to_numpy()
    return pl.DataFrame(
        {
            "age": age,
            "salary-class": pay,
            "income": np.round(1000 * pay * draw.lognormal(0, 0.3, len(pay))),
            "hours": np.clip(np.round(40 - abs(age - 40) / 8 + draw.normal(0, 6, len(age))), 1, 99),
        }
    )


def _survey(table: pl.DataFrame) -> pl.DataFrame:
    """The people with weights and in households of three on average, whose region is the same for all members."""
    draw = np.random.default_rng(2)
    homes = draw.integers(0, len(table) // 3, len(table))
    return table.with_columns(
        home=homes, region=pl.Series((homes % 50).astype(str)), weight=draw.integers(20, 400, len(table)).astype(float)
    )


def _wide(table: pl.DataFrame) -> pl.DataFrame:
    """A table of 53 columns, as a register of patients has: the table's, numbered copies that differ, and codes."""
    draw = np.random.default_rng(3)
    columns = {name: table[name] for name in table.columns}
    for at in range(53 - len(columns)):
        name = table.columns[at % len(table.columns)]
        shuffled = table[name].to_numpy()[draw.permutation(len(table))]
        columns[f"{name}-{at}"] = pl.Series(np.where(draw.random(len(table)) < 0.7, table[name].to_numpy(), shuffled))
    return pl.DataFrame(columns)


def prepare(folder: Path, name: str) -> None:
    table, register, hierarchies = _adult() if name == "adult" else _census()
    shutil.copytree(hierarchies, folder / "hierarchies")
    table.write_csv(folder / "table.csv")
    half = len(table) // 2
    table.head(half).write_csv(folder / "first.csv")
    table.tail(half).write_csv(folder / "held-out.csv")
    register.drop("occupation").write_csv(folder / "register.csv")
    _numbers(name, table).write_csv(folder / "numbers.csv")
    _survey(table).write_csv(folder / "survey.csv")
    if name == "adult":
        _wide(table).write_csv(folder / "wide.csv")
    people = np.arange(len(table))
    for holder, first in (("ours", 0), ("theirs", half)):
        pl.DataFrame({"patient": people + first}).with_columns(
            pl.format("person {}", "patient").alias("patient")
        ).write_csv(folder / f"{holder}.csv")
    items = table.select(pl.col("race").cast(str).unique().sort()).head(4)
    items.select(column=pl.lit("race"), value="race").write_csv(folder / "items.csv")
    for at, holder in enumerate(("one", "two", "three")):
        table.slice(at * len(table) // 3, len(table) // 3).select("race").write_csv(folder / f"{holder}.csv")


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), sys.argv[2])
