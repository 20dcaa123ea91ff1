"""The page takes a column as survey weights."""

from pathlib import Path

import polars as pl

from shoal.core.schema import Kind, Role


def test_a_column_is_the_weight_and_only_one(serving, tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    pl.DataFrame({"sex": list("fmfm") * 3, "w": [3, 5, 7] * 4, "v": [2] * 12, "x": [0] * 12}).write_csv(path)
    page = serving(path)
    page.facts("/exposed.json", panel="columns")
    page.post("/exposed/role", column=0, role="quasi")
    page.post("/exposed/role", column=2, role="weight")
    page.post("/exposed/role", column=1, role="weight")
    columns = page.session.job.columns
    assert (columns["w"].role, columns["w"].kind, columns["v"].role) == (Role.WEIGHT, Kind.NUMERIC, Role.DROP)
    page.facts("/exposed.json", panel="exposure")
    assert page.session.data().summary.population.tolist() == [30, 30]
    assert "By the weights, the rows stand for 60 people." in page.ask("/exposed")[2]
    assert '<option value="weight" selected>Survey weight (dropped)</option>' in page.ask("/exposed")[2]
    page.post("/exposed/role", column=3, role="weight")
    assert "is not above 0 in 12 of 12 records" in page.ask("/exposed")[2]
