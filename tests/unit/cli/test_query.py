"""`shoal query` as a recipient uses it."""

import json

import pytest

import shoal
from shoal.cli import main


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    path = tmp_path_factory.mktemp("query") / "out.csv"
    data = shoal.read(shoal.samples.adult().head(300), quasi=["age", "sex"], sensitive=["occupation"])
    shoal.anonymize(data, "k-anonymity:k=20", algorithm="mondrian", seed=1).write(path)
    return path


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    assert not end.value.code
    return capsys.readouterr().out


def test_json_has_the_figures_of_the_library(release, capsys):
    shown = json.loads(printed(capsys, "query", release, "--where", "age <= 40", "--where", "sex = Female", "--json"))
    found = shoal.query(release, where={"age": "<= 40", "sex": "Female"})
    assert (shown["value"], shown["low"], shown["high"]) == (found.value, found.low, found.high)


def test_words_lead_with_the_estimate(release, capsys):
    shown = printed(capsys, "query", release, "--mean", "hours-per-week", "--where", "age in 22..33")
    found = shoal.query(release, "mean", "hours-per-week", where={"age": (22, 33)})
    assert shown.startswith(f"Mean: {found.value:.4g} ±") and "300 published records" in shown
    assert "Certain bounds: " in shown


def test_a_sum_and_a_mean_at_once_are_refused(release, capsys):
    with pytest.raises(SystemExit) as end:
        main(["query", str(release), "--sum", "age", "--mean", "age"])
    assert end.value.code == 2 and "not both" in capsys.readouterr().err
