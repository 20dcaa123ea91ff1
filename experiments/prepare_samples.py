"""Rebuild the files that are made by rule: the UCI tables and the hierarchies of intervals.

    python experiments/prepare_samples.py DOWNLOADS

DOWNLOADS is a folder with the five files of UCI's that `SOURCES` names.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

HERE = Path(__file__).parents[1] / "src" / "shoal" / "samples"
SOURCES = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "haberman.data": "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
    "heart.dat": "f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
    "sonar.all-data": "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
}
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "salary-class",
)  # fmt: skip
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
HEART = (
    "age", "sex", "chest-pain", "resting-blood-pressure", "cholesterol", "fasting-blood-sugar", "resting-ecg",
    "maximum-heart-rate", "exercise-angina", "oldpeak", "slope", "major-vessels", "thal", "class",
)  # fmt: skip
HABERMAN = ("age", "operation-year", "positive-nodes", "class")
SONAR = (*(f"band-{band:02}" for band in range(1, 61)), "class")
INTERVALS = {
    "adult/age": (17, 90, 0, (5, 10, 20, 40)),
    "adult/education-num": (1, 16, 1, (2, 4, 8)),
    "adult/hours-per-week": (1, 99, 0, (5, 10, 20)),
    "census/age": (17, 94, 0, (5, 10, 20, 40)),
    "census/salary-class": (0, 49, 0, (5, 25)),
}


def read(path: Path, separator: str, columns: Sequence[str]) -> pl.DataFrame:
    """A table of UCI's: no header, padded, with comment lines, and a question mark for a missing value."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != SOURCES[path.name]:
        raise SystemExit(f"{path.name} is not the file that UCI publishes")
    lines = [line.strip().rstrip(".") for line in content.decode().splitlines() if not line.startswith("|")]
    records = [[field.strip() for field in line.split(separator)] for line in lines if line]
    frame = pl.DataFrame(records, schema=dict.fromkeys(columns, pl.String), orient="row")
    return frame.with_columns(pl.all().replace("?", None))


def intervals(first: int, last: int, origin: int, widths: Sequence[int]) -> str:
    """A hierarchy over whole numbers: intervals of the given widths that start at `origin`, then the top."""
    lines = []
    for value in range(first, last + 1):
        lows = [value - (value - origin) % width for width in widths]
        labels = [f"[{low}-{low + width - 1}]" for low, width in zip(lows, widths, strict=True)]
        lines.append(";".join([str(value), *labels, "*"]) + "\n")
    return "".join(lines)


def main(downloads: Path) -> None:
    tables = HERE / "tables"
    for source, target in {"adult.data": "adult-train", "adult.test": "adult-test"}.items():
        adult = read(downloads / source, ",", ADULT).with_columns(pl.col(ADULT_NUMBERS).cast(pl.Int64))
        adult.write_parquet(tables / f"{target}.parquet", compression="zstd", compression_level=22)

    sonar = read(downloads / "sonar.all-data", ",", SONAR).with_columns(
        pl.exclude("class").cast(pl.Float64), pl.col("class").replace({"R": "rock", "M": "mine"})
    )
    sonar.write_parquet(tables / "sonar.parquet", compression="zstd", compression_level=22)

    heart = read(downloads / "heart.dat", " ", HEART).with_columns(
        pl.exclude("oldpeak", "class").cast(pl.Float64).cast(pl.Int64),
        pl.col("class").replace({"1": "absent", "2": "present"}),
    )
    heart.write_csv(tables / "heart-statlog.csv")

    haberman = read(downloads / "haberman.data", ",", HABERMAN).with_columns(
        pl.col("class").replace({"1": "survived", "2": "died"})
    )
    haberman.write_csv(tables / "haberman.csv")

    for name, (first, last, origin, widths) in INTERVALS.items():
        (HERE / "hierarchies" / f"{name}.csv").write_text(intervals(first, last, origin, widths))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
