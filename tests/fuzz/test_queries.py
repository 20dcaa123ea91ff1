"""What queries call certain, by many questions to a few releases, and by counterfeits."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
from counts import count as daily
from tests.fuzz.drawing import drawn
from tests.fuzz.running import run

import shoal
from shoal.errors import InfeasibleError


def test_what_is_certain_is_true() -> None:
    """Twelve questions to every release of some cases."""
    plain = {"questions": 12, "repeated": False, "command": False, "steps": ()}
    cases = [replace(drawn(number), **plain) for number in range(daily(15, 24))]
    seen = Counter[tuple[str, str]]()
    for case in cases:
        outcome = run(case)
        assert outcome.broken is None, f"python -m tests.fuzz {case.number}: {outcome.broken}\n  {case}"
        seen += outcome.seen
    answers = sum(count for (kind, name), count in seen.items() if kind == "question" and name.endswith("answered"))
    bounds = sum(count for (kind, _), count in seen.items() if kind == "bounds")
    assert answers > 5 * len(cases), "a fuzzer whose questions are refused finds nothing"
    assert bounds > answers / 3, "and neither does one that is told nothing certain"


def test_counterfeits_are_nobody() -> None:
    """Values of a second table that no person has count for nobody, and nothing says which they are."""
    values, asked_about, fakes = [*"ababababababac"], 0, 0
    for seed in range(4):
        chance = Random(seed)
        people = sorted(chance.sample(range(14), 7))
        with tempfile.TemporaryDirectory() as folder:
            for some in (list(range(14)), people):
                table = pl.DataFrame(
                    {
                        "name": [f"p{person}" for person in some],
                        "age": [20 + person // 2 for person in some],
                        "ill": [values[person] for person in some],
                        "row": [f"row {person}" for person in some],
                    }
                )
                data = shoal.read(table, quasi=["age"], sensitive=["ill"], identifiers=["name"])
                try:
                    release = shoal.anonymize(
                        data, shoal.FrequencyLDiversity(l=2), algorithm="m-invariance:m=2", suppression=0.5, seed=seed,
                        ledger=Path(folder) / "ledger", allow_plain=["row"],
                    )  # fmt: skip
                except InfeasibleError:
                    break
        fakes += release.provenance["counterfeits"]
        shown = [table.filter(pl.col("row") == row).row(0, named=True) for row in release.frame["row"]]
        for value in "abc":
            for end in (None, 21, 23, 25):
                where = {"ill": f"= {value}"} | ({} if end is None else {"age": f"<= {end}"})
                truth = sum(each["ill"] == value and (end is None or each["age"] <= end) for each in shown)
                answer = shoal.query(release, where=where)
                assert answer.low is not None and answer.high is not None
                assert answer.low <= truth <= answer.high, (seed, where, answer, truth)
                asked_about += 1
    assert asked_about and fakes
