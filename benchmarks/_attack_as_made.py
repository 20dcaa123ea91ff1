"""One attack on a release as it was made, for `benchmarks.commands`, in a folder with the tables of `_command_tables`:
`python -m benchmarks._attack_as_made ATTACK MADE QUASI NUMBERS`. Files do not tell what these attacks go by."""

from __future__ import annotations

import json
import sys
from typing import Any

import polars as pl

import shoal
from shoal.cli.signals import cancelling, interruptible
from shoal.core.run import Run
from shoal.errors import CancelledError

SEED = 12345678901234567890123
OF_SURVEYS = ("household-linkage", "individual-risk", "log-linear")
NUMERIC = ("rotation", "additive-noise", "rank-swapping")


def _released(table: pl.DataFrame, made: str, **roles: Any) -> tuple[shoal.Dataset, shoal.Release]:
    data = shoal.read(table, **roles)
    models = [] if made in NUMERIC else ["k-anonymity:k=5"]
    release = shoal.anonymize(data, *models, algorithm=made, suppression=0.02, seed=SEED, repeatable=True)
    return data, release


def attacked(attack: str, made: str, quasi: list[str], numbers: list[str], run: Run) -> dict[str, Any]:
    if made in NUMERIC:
        data, release = _released(pl.read_csv("numbers.csv"), made, quasi=numbers)
        return shoal.attack(data, release, attack, run=run)[0].as_dict()
    if attack.partition(":")[0] in OF_SURVEYS:
        households = {"household": "home", "household_variables": ["region"], "weight": "weight"}
        table = pl.read_csv("survey.csv").select(*quasi, "region", "home", "weight")
        data, release = _released(table, made, quasi=[*quasi, "region"], hierarchies="hierarchies", **households)
        return shoal.attack(data, release, attack, run=run)[0].as_dict()
    table = pl.read_csv("table.csv").select(*quasi, "occupation").with_row_index("row")
    roles = {"quasi": quasi, "sensitive": ["occupation"], "identifiers": ["row"], "hierarchies": "hierarchies"}
    known: dict[str, Any] = {}
    if attack == "functional-dependency":
        table = table.with_columns(ward=pl.col("occupation").rank("dense") % 3)
        roles["quasi"], attack = [*quasi, "ward"], f"{attack}:determinant=occupation,dependent=ward"
    if attack == "probabilistic-linkage":
        attack, known["external"] = f"{attack}:identifier=row", shoal.read(table.drop("occupation"), quasi=quasi)
    data, release = _released(table, made, **roles)
    if attack == "temporal-release":
        known["earlier"] = [_released(table.head(len(table) // 2), made, **roles)[1]]
    if attack == "unsorted-matching":
        known["earlier"] = [shoal.anonymize(data, "k-anonymity:k=10", algorithm=made, suppression=0.02, seed=SEED + 1)]
    return shoal.attack(data, release, attack, run=run, **known)[0].as_dict()


if __name__ == "__main__":
    run = Run()
    with interruptible(), cancelling(run):
        try:
            print(json.dumps(attacked(*sys.argv[1:3], *(text.split(",") for text in sys.argv[3:]), run)))  # type: ignore[arg-type, call-arg]
        except (CancelledError, KeyboardInterrupt):
            sys.exit(130)
