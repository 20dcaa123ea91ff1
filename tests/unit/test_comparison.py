"""Comparing: what separate runs of `anonymize` say, in one table and one picture; nothing is published."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal import job
from shoal.cli import main
from shoal.core.run import Run
from shoal.errors import CancelledError, ParameterError
from shoal.plots.comparison import picture

QUASI = ["age", "sex", "race"]


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    table = shoal.samples.adult().head(200)
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    shoal.samples.adult().head(120).select(*QUASI, "occupation").write_csv(path)
    return path


def ended(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def figures(found: shoal.Comparison) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.as_dict().items() if key != "seconds"} for row in found]


def test_says_what_separate_runs_say_in_the_order_given(data: shoal.Dataset) -> None:
    wanted: list[Any] = ["distinct-l-diversity:l=2", ["distinct-l-diversity:l=3", "t-closeness:t=0.6"]]
    algorithms = ["oka", "auto:budget=0.05", "mondrian"]
    found = shoal.compare(
        data, *wanted, k=[5, 2], algorithms=algorithms, metrics=["dm", "gcp"], suppression=0.05, seed=4
    )
    expected = []
    for algorithm in algorithms:
        for models in ([wanted[0]], wanted[1]):
            for k in (5, 2):
                release = shoal.anonymize(
                    data, f"k-anonymity:k={k}", *models, algorithm=algorithm, suppression=0.05, seed=4
                )
                assert release.recoding is not None
                losses = {name: shoal.evaluate(data, release, name)[name].value for name in ("dm", "gcp")}
                expected.append(
                    {
                        "algorithm": algorithm, "models": " + ".join(models), "k": k, **losses,
                        "classes": len(release.classes), "suppressed": release.suppressed,
                        "chosen": release.recoding.facts.get("chosen"), "reason": None,
                    }
                )  # fmt: skip
    assert figures(found) == expected
    assert any(row.chosen for row in found) and all(row.seconds > 0 for row in found)


def test_the_same_seed_gives_the_same_figures(data: shoal.Dataset) -> None:
    asked: dict[str, Any] = {"k": [3], "algorithms": ["oka", "k-member"]}
    one, other = (shoal.compare(data, **asked, seed=9) for _ in range(2))
    assert figures(one) == figures(other)
    drawn = shoal.compare(data, **asked)
    assert figures(shoal.compare(data, **asked, seed=drawn.seed)) == figures(drawn)


def test_what_has_no_release_has_its_reason(data: shoal.Dataset) -> None:
    found = shoal.compare(
        data, "distinct-l-diversity:l=2", k=[2, 201], algorithms=["mondrian", "anatomy", "rank-swapping"], seed=1
    )
    assert [row.reason is None for row in found] == [True, False, False, False, False, False]
    assert "the table has only 200 records" in found[1].reason
    assert "quasi-identifiers as they are" in found[2].reason
    assert all(row.losses == {"lm": None, "gcp": None} and row.suppressed is None for row in found[1:])


def test_a_loss_that_a_form_does_not_tell_is_no_number(data: shoal.Dataset) -> None:
    (row,) = shoal.compare(data, "frequency-l-diversity:l=3", algorithms=["anatomy"], metrics=["gcp", "cm"], seed=1)
    assert row.suppressed == 0 and row.losses["cm"] is None
    assert row.reason.startswith("cm: not defined")


def test_a_value_in_a_model_is_shown_nowhere(data: shoal.Dataset, tmp_path: Path) -> None:
    model = "alpha-k-anonymity:alpha=0.9,k=2,values=Sales"
    found = shoal.compare(data, model, algorithms=["mondrian"], seed=1)
    page = picture(found, tmp_path / "compare.html").read_text(encoding="utf-8")
    assert found[0].reason is None
    assert not any("Sales" in text for text in (found.csv(), found.json(), page, repr(found)))


@pytest.mark.parametrize(
    "asked", [{}, {"k": [2], "algorithms": []}, {"k": [2], "algorithms": ["none-such"]}, {"k": [2], "metrics": ["no"]}]
)
def test_wrong_questions_are_refused_at_once(asked: dict[str, Any], data: shoal.Dataset) -> None:
    with pytest.raises(ParameterError):
        shoal.compare(data, **asked)


def test_can_be_watched_and_stopped(data: shoal.Dataset) -> None:
    said: list[tuple[float, str]] = []
    run = Run(lambda share, doing: said.append((share, doing)))
    shoal.compare(data, k=[2, 3], algorithms=["mondrian"], seed=1, run=run)
    assert (0.0, "comparing mondrian, 1 of 2") in said and (0.5, "comparing mondrian, 2 of 2") in said
    run.cancel()
    with pytest.raises(CancelledError):
        shoal.compare(data, k=[2], algorithms=["mondrian"], seed=1, run=run)


@pytest.mark.parametrize("k", [[2, 5], [5]])
def test_the_picture_has_a_panel_for_each_loss_and_policy(k: list[int], data: shoal.Dataset, tmp_path: Path) -> None:
    models = ["distinct-l-diversity:l=2", "distinct-l-diversity:l=3"]
    found = shoal.compare(data, *models, k=[*k, 201], algorithms=["mondrian", "oka"], seed=1)
    drawn = json.loads(picture(found, tmp_path / "compare.json").read_text())
    (values,) = drawn["datasets"].values()
    assert {(row["models"], row["measure"]) for row in values} == {
        (model, measure) for model in models for measure in ("lm", "gcp", "seconds")
    }
    assert {row["k"] for row in values} == set(k)
    assert "4 of" in drawn["title"]["subtitle"]
    page = picture(found, tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "<script src" not in page


def test_nothing_to_draw_is_said(data: shoal.Dataset, tmp_path: Path) -> None:
    found = shoal.compare(data, k=[201], algorithms=["mondrian"], seed=1)
    with pytest.raises(ParameterError, match="nothing to draw"):
        picture(found, tmp_path / "compare.svg")


def test_the_command(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, plot = tmp_path / "compare.csv", tmp_path / "compare.svg"
    asked = (
        "compare", table, "--quasi", "age,sex,race", "--sensitive", "occupation", "--k", "2,121",
        "--model", "distinct-l-diversity:l=2+t-closeness:t=0.9", "--algorithm", "mondrian", "--algorithm", "auto",
        "--metrics", "gcp", "--seed", "3",
    )  # fmt: skip
    assert ended(*asked, "-o", target, "--plot", plot, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["algorithm"], row["k"]) for row in told["rows"]] == [
        ("mondrian", 2), ("mondrian", 121), ("auto", 2), ("auto", 121),
    ]  # fmt: skip
    assert told["seed"] == 3 and plot.exists()
    rows = list(csv.DictReader(target.read_text(encoding="utf-8").splitlines()))
    assert [row["gcp"] for row in rows] == ["" if row["gcp"] is None else str(row["gcp"]) for row in told["rows"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compare.csv", "compare.svg", "people.csv"]
    assert ended(*asked) == 0
    shown = capsys.readouterr().out
    assert "distinct-l-diversity:l=2 + t-closeness:t=0.9" in shown and "(1) 121-anonymous is impossible here" in shown


def test_the_command_takes_a_job(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = job.parse(
        {
            "input": {"path": table.name},
            "columns": {"age": {"role": "quasi"}, "occupation": {"role": "sensitive"}},
            "policy": {"models": ["k-anonymity:k=7", "distinct-l-diversity:l=2"], "seed": 5},
            "algorithm": "oka",
        },
        tmp_path,
    )
    (tmp_path / "job.toml").write_text(job.toml(made, tmp_path), encoding="utf-8")
    assert ended("compare", "--job", tmp_path / "job.toml", "--k", "3", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (row,) = told["rows"]
    assert (row["algorithm"], row["models"], row["k"], told["seed"]) == ("oka", "distinct-l-diversity:l=2", 3, 5)


def test_the_command_refuses_before_it_works(table: Path, tmp_path: Path) -> None:
    asked = ("compare", table, "--quasi", "age,sex,race")
    assert ended(*asked, "--k", "two") == 2
    assert ended(*asked) == 2
    assert ended(*asked, "--k", "2", "-o", tmp_path / "compare.xlsx") == 2
    assert ended(*asked, "--k", "2", "-o", table) == 2
    assert ended(*asked, "--k", "121", "--algorithm", "mondrian") == 3
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
