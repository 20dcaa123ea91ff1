"""`shoal apply`: a saved recoding on new records; verified, or nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return stop.value.code or 0, captured.out, captured.err


def test_next_month_is_recoded_as_this_one_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = shoal.samples.adult().select("age", "sex", "occupation")
    table[:9000].write_csv(tmp_path / "may.csv")
    table[9000:18000].write_csv(tmp_path / "june.csv")
    table[18000:18004].write_csv(tmp_path / "few.csv")
    saved = tmp_path / "recoding.json"
    wanted = ("--quasi", "age,sex", "--sensitive", "occupation", "--k", 10, "--algorithm", "optimal", "--seed", 1)
    code, out, _ = ran(capsys, "anonymize", tmp_path / "may.csv", *wanted, "--save-recoding", saved, "-o",
                       tmp_path / "may-out.csv", "--save-job", tmp_path / "job.toml")  # fmt: skip
    assert (
        code == 0
        and saved.stat().st_mode & 0o077 == 0
        and 'recoding = "recoding.json"' in (tmp_path / "job.toml").read_text()
    )
    code, out, _ = ran(capsys, "apply", saved, tmp_path / "june.csv", "-o", tmp_path / "june-out.csv", "--json")
    assert code == 0 and json.loads(out)["findings"]["k"]["holds"]
    assert shoal.verify(tmp_path / "june-out.csv").holds
    months = [pl.read_csv(tmp_path / f"{month}-out.csv") for month in ("may", "june")]
    assert len(months[1]) == 9000 and set(months[1]["age"]) <= set(months[0]["age"]) | {"*"}
    code, _, err = ran(capsys, "apply", saved, tmp_path / "few.csv", "-o", tmp_path / "few-out.csv")
    assert code == 3 and "break the policy" in err and not list(tmp_path.glob("few-out*"))
    assert ran(capsys, "apply", saved, "-o", tmp_path / "x.csv")[0] == 2
    assert ran(capsys, "apply", saved, tmp_path / "june.csv")[0] == 2
    assert "overwrite" in ran(capsys, "apply", saved, tmp_path / "june.csv", "-o", saved)[2]


def test_a_recoding_that_cannot_be_applied_is_not_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "in.csv"
    pl.DataFrame({"age": [20, 30] * 6, "disease": ["flu", "cold", "gout"] * 4}).write_csv(table)
    code, _, err = ran(
        capsys, "anonymize", table, "--quasi", "age", "--sensitive", "disease", "--model", "frequency-l-diversity:l=2",
        "--algorithm", "anatomy", "--save-recoding", tmp_path / "recoding.json", "-o", tmp_path / "out.csv",
    )  # fmt: skip
    assert code == 2 and "only a generalized release" in err
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
