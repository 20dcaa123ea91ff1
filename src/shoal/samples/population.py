"""A census extract of any size, drawn from a seed.

The shape is that of the OCC and SAL tables on which anonymization methods are compared: the attributes and
their numbers of distinct values are those of Xiao and Tao, "Anatomy: simple and effective privacy
preservation", VLDB 2006. The people are invented, and so are all the proportions.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ParameterError
from shoal.samples.sample import SampleTable, stored

Codes = NDArray[np.uint8]
Weights = NDArray[np.float64]

BLOCK = 1 << 16
RESOLUTION_BITS = 14
YOUNGEST, OLDEST = 17, 94
SALARY_CLASSES = 50
SALARY_BASE, SALARY_SPREAD, SALARY_REACH = 8, 4.5, 20
NATIVE_SHARE = 0.85
AGE_BANDS = (30, 55)

SCHOOLING = np.array([1.2, 0.9, 1.2, 2.2, 2, 2.6, 3, 2.5, 29, 7, 13.5, 4, 3.5, 15.5, 6, 2, 1])
SCHOOLING_AGES = np.array([0, 0, 0, 0, 0, 0, 0, 0, 18, 18, 19, 20, 20, 21, 23, 24, 26])
SCHOOLING_TILTS = {
    "Northern-America": 0.0,
    "North-America": -0.3,
    "South-America": -0.1,
    "Europe": 0.04,
    "Asia": 0.2,
    "Africa": 0.12,
    "Oceania": 0.08,
}
COLUMNS = (
    "age", "gender", "education", "marital-status", "race", "work-class", "country", "occupation",
    "salary-class",
)  # fmt: skip


@SampleTable
def census(rows: int, seed: int = 0) -> pa.Table:
    """An invented census extract with the attributes of the OCC and SAL tables.

    The columns and their numbers of possible values: `age` 78 (17 to 94), `gender` 2, `education` 17,
    `marital-status` 6, `race` 9, `work-class` 10, `country` 83, `occupation` 50 and `salary-class` 50
    (0 to 49). `age` and `salary-class` are whole numbers, the others categories; `hierarchies("census")` covers
    them all. Rare values need a large table to appear.

    They depend on one another as in life: marital status on age and gender; race on the country of birth,
    which follows Zipf's law; education on age and country; occupation on education and gender; work class on
    occupation and age; salary on occupation, education, age and gender.

    The same `seed` gives the same people, and a larger table begins with the smaller one:
    `census(2 * n).head(n)` equals `census(n)`. It says nothing about any real population.

    Example:
        >>> from shoal import samples
        >>> people = samples.census(1000, seed=1)
        >>> people.shape
        (1000, 9)
        >>> people.equals(samples.census(70_000, seed=1).head(1000))
        True
    """
    if rows < 0 or seed < 0:
        raise ParameterError("census: rows and seed must not be negative")
    tables = _tables()
    codes = {column: np.empty(rows, dtype=np.uint8) for column in COLUMNS}
    for number, start in enumerate(range(0, rows, BLOCK)):
        stop = min(start + BLOCK, rows)
        for column, block in _block(tables, seed, number).items():
            codes[column][start:stop] = block[: stop - start]
    return pa.table({column: _column(column, codes.pop(column)) for column in COLUMNS})


def _block(tables: dict[str, NDArray[Any]], seed: int, number: int) -> dict[str, Codes]:
    """One block of people as codes, from raw bits: only their stream is the same in every numpy release."""
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,))).random_raw(3 * BLOCK)
    draws = bits.astype("<u8", copy=False).view("<u2").reshape(12, BLOCK) >> (16 - RESOLUTION_BITS)

    def draw(column: str, which: int, condition: NDArray[np.integer] | int = 0) -> Codes:
        codes: Codes = tables[column][(np.int32(condition) << RESOLUTION_BITS) | draws[which]]
        return codes

    ages = OLDEST - YOUNGEST + 1
    age = draw("age", 0)
    gender = draw("gender", 1, age)
    country = draw("country", 2)
    race = draw("race", 3, country)
    education = draw("education", 4, tables["origin"][country] * ages + age)
    marital = draw("marital-status", 5, gender * np.int32(ages) + age)
    occupation = draw("occupation", 6, gender * np.int32(len(SCHOOLING)) + education)
    work = draw("work-class", 7, occupation * np.int32(len(AGE_BANDS) + 1) + tables["band"][age])
    salary = (
        tables["pay"][occupation]
        + tables["degree"][education]
        + tables["experience"][age]
        + tables["gap"][gender]
        + draw("luck", 8).astype(np.int8)
    )
    return {
        "age": age,
        "gender": gender,
        "education": education,
        "marital-status": marital,
        "race": race,
        "work-class": work,
        "country": country,
        "occupation": occupation,
        "salary-class": np.clip(salary, 0, SALARY_CLASSES - 1).astype(np.uint8),
    }


def _tables() -> dict[str, NDArray[Any]]:
    """What each attribute is drawn from, given what it depends on, and the terms of the salary."""
    age = np.arange(YOUNGEST, OLDEST + 1, dtype=np.float64)
    countries, occupations = _paths("country"), _paths("occupation")
    jobs = stored("census-occupations.csv")
    band = np.searchsorted(AGE_BANDS, age, side="right")
    origins = list(SCHOOLING_TILTS)
    luck = np.arange(-SALARY_REACH, SALARY_REACH + 1)
    return {
        "age": _lookup((_rise(age, 18, 1.5) * np.exp(-((np.maximum(age - 42, 0) / 24) ** 2)))[None]),
        "gender": _lookup(_women(age)),
        "country": _lookup(_zipf(len(countries))[None]),
        "race": _lookup(_conditional("census-races", countries, _values("race"))),
        "education": _lookup(np.concatenate([_schooling(age, tilt) for tilt in SCHOOLING_TILTS.values()])),
        "marital-status": _lookup(np.concatenate([_marriages(age, woman) for woman in _is_woman()])),
        "occupation": _lookup(np.concatenate([_jobs(jobs, woman) for woman in _is_woman()])),
        "work-class": _lookup(_employers(occupations)),
        "luck": _lookup(np.exp(-((luck / SALARY_SPREAD) ** 2) / 2)[None]),
        "origin": np.array([origins.index(_first(path, origins)) for path in countries], dtype=np.int32),
        "band": band.astype(np.int32),
        "pay": (jobs["pay"].to_numpy() + SALARY_BASE - SALARY_REACH).astype(np.int8),
        "degree": ((np.arange(len(SCHOOLING)) - 8) // 2).astype(np.int8),
        "experience": np.maximum(4 - (age - 50) ** 2 // 100, -8).astype(np.int8),
        "gap": np.array([-2 if woman else 0 for woman in _is_woman()], dtype=np.int8),
    }


def _lookup(weights: Weights) -> Codes:
    """For each row of weights its values, repeated in proportion: a uniform draw is an index to one."""
    shares = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    edges = np.rint(shares * (1 << RESOLUTION_BITS)).astype(np.int64)
    values = np.tile(np.arange(weights.shape[1], dtype=np.uint8), len(weights))
    return np.repeat(values, np.diff(edges, axis=1, prepend=0).ravel())


def _rise(age: Weights, middle: float, pace: float) -> Weights:
    return 1 / (1 + np.exp((middle - age) / pace))


def _zipf(size: int) -> Weights:
    abroad = 1 / np.arange(2, size + 1)
    return np.concatenate([[NATIVE_SHARE], (1 - NATIVE_SHARE) * abroad / abroad.sum()])


def _women(age: Weights) -> Weights:
    women = 0.47 + 0.15 * _rise(age, 78, 5)
    return np.stack([women if woman else 1 - women for woman in _is_woman()], axis=1)


def _schooling(age: Weights, tilt: float) -> Weights:
    steps = np.arange(len(SCHOOLING)) - 8
    slopes = tilt - 0.01 * np.maximum(age - 40, 0) + np.where(age < 20, 0.35, 0)
    return np.where(age[:, None] >= SCHOOLING_AGES, SCHOOLING * np.exp(slopes[:, None] * steps), 0)


def _marriages(age: Weights, woman: bool) -> Weights:
    never = 1 - 0.96 * _rise(age, 26 if woman else 28, 4)
    widowed = (1 - never) * (0.75 if woman else 0.3) * _rise(age, 78, 6)
    rest = 1 - never - widowed
    divorced = rest * (0.03 + 0.17 * np.exp(-(((age - 50) / 20) ** 2)))
    apart = 0.03 * rest
    shares = {
        "Married-spouse-present": rest - divorced - 2 * apart,
        "Married-spouse-absent": apart,
        "Separated": apart,
        "Divorced": divorced,
        "Widowed": widowed,
        "Never-married": never,
    }
    return np.stack([shares[status] for status in _values("marital-status")], axis=1)


def _jobs(jobs: pa.Table, woman: bool) -> Weights:
    share, schooling, women = (jobs[column].to_numpy() for column in ("share", "schooling", "women"))
    spread = np.where(schooling < 14.5, 2.2, 0.8)
    distance = (np.arange(len(SCHOOLING))[:, None] - schooling) / spread
    weights: Weights = share * (women if woman else 100 - women) * np.exp(-(distance**2) / 2) / spread
    return weights


def _employers(occupations: Sequence[Sequence[str]]) -> Weights:
    kinds = _values("work-class")
    weights = _conditional("census-work-classes", occupations, kinds)
    own = np.array([kind.startswith("Self-employed") for kind in kinds])
    factors = np.stack([np.where(own, factor, 1.0) for factor in (0.4, 1.0, 1.8)])
    by_age: Weights = weights[:, None, :] * factors
    return by_age.reshape(-1, len(kinds))


def _conditional(table: str, paths: Sequence[Sequence[str]], values: Sequence[str]) -> Weights:
    """The weights of `values` for each path: those of its first label that the table knows."""
    given = stored(f"{table}.csv")
    keys = given.column(0).to_pylist()
    weights = np.stack([given[value].to_numpy().astype(np.float64) for value in values], axis=1)
    rows: Weights = weights[[keys.index(_first(path, keys)) for path in paths]]
    return rows


def _first(path: Sequence[str], labels: Sequence[str]) -> str:
    return next(label for label in path if label in labels)


def _paths(column: str) -> list[list[str]]:
    text = (resources.files(__package__) / f"hierarchies/census/{column}.csv").read_text("utf-8")
    return [line.split(";") for line in text.splitlines()]


def _values(column: str) -> list[str]:
    return [path[0] for path in _paths(column)]


def _is_woman() -> list[bool]:
    return [value == "Female" for value in _values("gender")]


def _column(column: str, codes: Codes) -> pa.Array:
    if column in {"age", "salary-class"}:
        return pa.array(codes.astype(np.int64) + (YOUNGEST if column == "age" else 0))
    return pa.DictionaryArray.from_arrays(codes, _values(column))
