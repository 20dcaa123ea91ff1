"""Every engine tells how far a run is through all of its stages, and stops in each of them when it is told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from counts import long_on_spark

import shoal
from shoal import api, job
from shoal.core.run import Run
from shoal.errors import CancelledError

ON_SPARK = ("reading", "publishing", "writing")
"""Stages in which a run on Spark is cancelled every day: those in which its jobs run."""
STAGES = ["reading", "looking at the plain columns", "searching", "publishing", "verifying", "writing", "reading back"]


@pytest.fixture(params=["embedded", "duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return request.param


@pytest.fixture
def asked(tmp_path: Path, engine: str) -> job.Job:
    """A run over a folder of two files, with a column that has no role."""
    folder = tmp_path / "warehouse"
    folder.mkdir()
    for number in range(2):
        people = shoal.samples.census(2000, seed=number)
        people.select("age", "gender", "occupation", "salary-class").write_parquet(folder / f"{number}.parquet")
    columns: dict[str, Any] = {"age": {"role": "quasi"}, "gender": {"role": "quasi"}}
    columns["occupation"] = {"role": "sensitive"}
    return job.parse(
        {
            "input": {"path": "warehouse", "engine": engine},
            "columns": columns,
            "policy": {"models": ["k-anonymity:k=5"], "seed": 1, "allow_plain": ["salary-class"]},
            "algorithm": "optimal",
            "output": {"path": "out", "rows_per_file": 1000},
        },
        tmp_path,
    )


def test_every_stage_is_told_in_its_order_and_the_share_never_falls(asked: job.Job, engine: str) -> None:
    long_on_spark(engine)
    told: list[tuple[float, str]] = []
    api.run(asked, run=Run(lambda share, doing: told.append((share, doing))))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 1.0
    order = list(dict.fromkeys(doing for _, doing in told if doing in STAGES))
    assert order == STAGES
    ends = {doing: share for share, doing in told}
    assert all(ends[one] < ends[other] for one, other in zip(STAGES[:2], STAGES[2:4], strict=True))
    assert 0 < ends["reading"] < ends["searching"] < ends["verifying"] < ends["reading back"] == 1.0


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_is_cancelled_in_a_stage_writes_nothing(
    asked: job.Job, engine: str, stage: str, tmp_path: Path
) -> None:
    if stage not in ON_SPARK:
        long_on_spark(engine)

    def told(share: float, doing: str) -> None:
        if doing == stage:
            run.cancel()

    run = Run(told)
    with pytest.raises(CancelledError):
        api.run(asked, run=run)
    assert [path.name for path in tmp_path.iterdir() if path.name != "warehouse"] == []
