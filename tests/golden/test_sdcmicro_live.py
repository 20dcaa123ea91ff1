"""sdcMicro as a live oracle: its figures beside ours on the same tables, where R has it.

Neither R's sdcMicro nor a wheel of it is in the registries that the usual environments install from; `install.packages(
"sdcMicro")` brings it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.adversary.individual_risk import individual_risk
from shoal.adversary.survey_frequencies import frequencies_of, unknown_leaves

SCRIPT = """
suppressPackageStartupMessages({library(sdcMicro); library(jsonlite)})
x <- as.data.frame(read.csv(commandArgs(TRUE)[1]))
keys <- c("a", "b", "c", "d")
complete <- x[complete.cases(x), ]
risk <- function(table) {
  f <- freqCalc(table, keyVars = keys, w = "w")
  list(fk = f$fk, Fk = f$Fk, rk = indivRisk(f)$rk)
}
suda <- suda2(complete, variables = keys, DisFraction = 0.05)
model <- modRisk(complete, method = "default", weights = "w", formulaM = ~ a + b + c + d)
cat(toJSON(list(
  strict = risk(complete), wildcard = risk(x), score = suda$score, dis = suda$disScore,
  gr1 = model$gr1, gr2 = model$gr2
), digits = NA, auto_unbox = TRUE))
"""


@cache
def lacking() -> str:
    """Why there is no oracle here; empty where there is one."""
    program = shutil.which("Rscript")
    if program is None:
        return "R is not installed"
    asked = subprocess.run([program, "-e", "library(sdcMicro); library(jsonlite)"], capture_output=True, timeout=120)
    return "" if asked.returncode == 0 else "R lacks the packages sdcMicro and jsonlite"


def table() -> pl.DataFrame:
    generator = np.random.default_rng(11)
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5}
    columns = pl.DataFrame({name: generator.integers(1, size + 1, 150) for name, size in sizes.items()})
    gaps = pl.Series(generator.random(150) < 0.05)
    weights = pl.Series(np.round(1 + 99 * generator.random(150), 1))
    return columns.with_columns(c=pl.when(gaps).then(None).otherwise(pl.col("c")), w=weights)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> dict:
    if lacking():
        pytest.skip(f"the live oracle: {lacking()}")
    folder = tmp_path_factory.mktemp("oracle")
    table().write_csv(folder / "table.csv")
    (folder / "ask.R").write_text(SCRIPT, encoding="utf-8")
    command = ["Rscript", str(folder / "ask.R"), str(folder / "table.csv")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    told: dict = json.loads(answer.stdout)
    return told


def read(frame: pl.DataFrame) -> shoal.Dataset:
    names = list("abcd")
    return shoal.read(frame, quasi=names, weight="w", kinds=dict.fromkeys(names, "categorical"))


def by_record(data: shoal.Dataset, values: np.ndarray) -> np.ndarray:
    codes = [data.codes(name).tolist() for name in data.schema.quasi]
    places = {key: place for place, key in enumerate(zip(*data.summary.keys.tolist(), strict=True))}
    return np.array([values[places[key]] for key in zip(*codes, strict=True)])


@pytest.mark.parametrize("counting", ["strict", "wildcard"])
def test_frequencies_and_individual_risk(oracle: dict, counting: str) -> None:
    data = read(table().drop_nulls() if counting == "strict" else table())
    frequencies = frequencies_of(data.summary, unknown_leaves(data.summary) if counting == "wildcard" else None)
    told = oracle[counting]
    np.testing.assert_allclose(by_record(data, frequencies.sample), told["fk"])
    np.testing.assert_allclose(by_record(data, frequencies.population), told["Fk"], rtol=1e-9)
    risks = individual_risk(frequencies.sample, frequencies.population, "approximate")
    np.testing.assert_allclose(by_record(data, risks), told["rk"], rtol=1e-4, atol=1e-6)


def test_suda_scores(oracle: dict) -> None:
    scores = shoal.suda(read(table().drop_nulls()), fraction=0.05, largest=4).by_record()
    np.testing.assert_allclose(scores["suda"], oracle["score"], rtol=1e-6)


def test_log_linear_risk(oracle: dict, tmp_path: Path) -> None:
    data = read(table().drop_nulls())
    release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
    found = shoal.attack(data, release, "log-linear:interactions=no,fitted=sample")[0].detail
    cells = len(data.summary)  # modRisk divides by the cells that occur
    np.testing.assert_allclose(found["population_unique"] / cells, oracle["gr1"], rtol=1e-6)
    np.testing.assert_allclose(found["expected"] / cells, oracle["gr2"], rtol=1e-6)
