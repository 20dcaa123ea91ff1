"""What the page hands over."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import shoal
from shoal.core.contracts.attack import Known
from shoal.core.run import Run
from shoal.web import packages


def test_the_report_of_the_page_has_the_attacks_that_the_page_made(tmp_path: Path) -> None:
    """Several rows a person, whose number is not published, in classes whose ranges overlap."""
    visits = pl.DataFrame(
        {
            "patient": [f"P{row * 7 % 40}" for row in range(120)],
            "age": [20 + row * 7 % 40 for row in range(120)],
            "sex": ["fm"[row * 7 % 40 % 2] for row in range(120)],
            "disease": [("flu", "gout", "cold")[row * row % 3] for row in range(120)],
        }
    )
    visits.write_csv(tmp_path / "visits.csv")
    job = shoal.job.parse(
        {
            "input": {"path": "visits.csv"},
            "columns": {
                "patient": {"role": "entity"}, "age": {"role": "quasi"}, "sex": {"role": "quasi"},
                "disease": {"role": "sensitive"},
            },
            "policy": {"models": ["k-anonymity:k=11"]},
            "algorithm": {"name": "k-member"},
        },
        tmp_path,
    )  # fmt: skip
    package = packages.make(packages.Order(1, job, "release.csv", uploaded=False), tmp_path, Run())
    register = shoal.read(visits.select("age", "sex").unique(), quasi=["age", "sex"])
    known = Known(external=register)
    report = package.add_report({"recipient": "the university"}, known, Run())
    outcome = package.outcome
    shown, reasons = shoal.api.every_attack(outcome.data, outcome.release, known)
    assert {each.name: each.worst for each in report.attempts} == {each.name: each.worst for each in shown}
    assert report.not_made == reasons and report.complete and report.risk.counted == "people"
    assert "counted in records" not in report.summary + report.verified
