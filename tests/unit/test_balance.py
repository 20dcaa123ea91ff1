"""The balance: what separate runs of `anonymize` say, along a sweep, whatever the workers and the interrupts."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import shoal
from shoal import job
from shoal.cli import main, schemas
from shoal.core.run import Run
from shoal.errors import CancelledError, InputError, ParameterError, ShoalError
from shoal.plots.balance import curves, trade_off
from shoal.tradeoff import points
from shoal.utility.learning import cross_validated

QUASI = ["age", "education", "race"]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return shoal.samples.adult().head(300).select(*QUASI, "occupation", "sex", "salary-class")


@pytest.fixture(scope="module")
def data(table: pl.DataFrame) -> shoal.Dataset:
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=shoal.samples.hierarchies("adult"))


def figures(found: shoal.Balance) -> dict[str, Any]:
    told = found.as_dict()
    for point in told["points"]:
        del point["seconds"]
    return told


def ended(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def test_points_are_what_separate_runs_come_to(data: shoal.Dataset) -> None:
    found = shoal.balance(
        data, target="salary-class", k=[2, 20], algorithm=["oka:numeric=mean", "mondrian"], seed=7,
        utility=["decision-stump", "gcp"], privacy=["suppression-share", "highest-risk"], workers=1,
    )  # fmt: skip
    for point in found.points:
        release = shoal.anonymize(data, f"k-anonymity:k={point.place['k']}", algorithm=point.place["algorithm"], seed=7)
        frame = release.frame
        accuracy = cross_validated(shoal.learners.DecisionStump(), frame.drop("salary-class"), frame["salary-class"])
        measured = shoal.evaluate(data, release, "gcp", "suppression-share")
        shares = {name: spread.mean for name in point.runs[0].shares if (spread := point.share(name))}
        assert shares == {
            "decision-stump": accuracy, "gcp": 1 - measured["gcp"].value,
            "suppression-share": measured["suppression-share"].value,
            "highest-risk": 1 - measured["highest-risk"].value,
        }  # fmt: skip
    assert [point.place["algorithm"] for point in found.points] == ["oka:numeric=mean"] * 2 + ["mondrian"] * 2


WORKERS = """
import json, sys
import polars, shoal
from shoal.core.run import Run

path, quasi, asked = json.loads(sys.argv[1])
hierarchies = shoal.samples.hierarchies("adult")
data = shoal.read(polars.read_parquet(path), quasi=quasi, sensitive=["occupation"], hierarchies=hierarchies)
said = []
found = shoal.balance(data, workers=2, run=Run(lambda share, doing: said.append((share, doing))), **asked)
print(json.dumps([said[0], said[-1], found.as_dict()]))
"""
"""A script that does not say what its workers must not do again."""


def test_the_figures_do_not_depend_on_the_workers_nor_on_the_order_of_rows(
    data: shoal.Dataset, table: pl.DataFrame, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"target": "sex", "k": [2, 5, 9], "algorithm": "oka", "seeds": 2, "seed": 3}
    alone = figures(shoal.balance(data, workers=1, **asked))
    script, path = tmp_path / "script.py", tmp_path / "people.parquet"
    script.write_text(WORKERS, encoding="utf-8")
    table.sample(fraction=1, shuffle=True, seed=5).write_parquet(path)
    done = subprocess.run(
        [sys.executable, script, json.dumps([str(path), QUASI, asked])], capture_output=True, text=True, check=True
    )
    first, last, beside = json.loads(done.stdout)
    for point in beside["points"]:
        del point["seconds"]
    assert beside == json.loads(json.dumps(alone))
    assert first == [0.0, "0 of 6 releases"] and last == [1.0, "6 of 6 releases"]


def test_an_interrupted_sweep_goes_on_and_says_the_same(data: shoal.Dataset, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"target": "sex", "k": [2, 5, 9, 14], "algorithm": "oka", "workers": 1}
    state = tmp_path / "state.json"
    run = Run(lambda share, doing: run.cancel() if share >= 0.5 else None)
    with pytest.raises(CancelledError):
        shoal.balance(data, resume_file=state, seed=11, run=run, **asked)
    held = json.loads(state.read_text())
    assert 0 < len(held["points"]) < 4 and state.stat().st_mode & 0o077 == 0
    done = shoal.balance(data, resume_file=state, **asked)
    assert done.seed == 11
    assert figures(done) == figures(shoal.balance(data, seed=11, **asked))
    # what is done is not done again: figures that were changed in the file come back
    held = json.loads(state.read_text())
    for point in held["points"].values():
        point["shares"]["decision-stump"] = 0.125
    state.write_text(json.dumps(held))
    assert {point.share("decision-stump").mean for point in shoal.balance(data, resume_file=state, **asked).points} == {
        0.125
    }


def test_the_state_holds_no_value_and_is_of_one_table(data: shoal.Dataset, table: pl.DataFrame, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    asked: dict[str, Any] = {
        "target": "sex",
        "k": [2, 400],
        "algorithm": "mondrian",
        "workers": 1,
        "resume_file": state,
    }
    model = "alpha-k-anonymity:alpha=0.9,k=2,values=Sales"
    shoal.balance(data, model, seed=1, **asked)
    text = state.read_text()
    held = {str(value) for name in ("occupation", "education", "race", "salary-class", "sex") for value in table[name]}
    assert not [value for value in held if value in text]
    with pytest.raises(InputError, match="another seed"):
        shoal.balance(data, model, seed=2, **asked)
    other = shoal.read(table.tail(299), quasi=QUASI, sensitive=["occupation"])
    with pytest.raises(InputError, match="another table"):
        shoal.balance(other, model, **asked)
    state.write_text("{}")
    with pytest.raises(InputError, match="not the saved progress of a sweep"):
        shoal.balance(data, model, **asked)
    assert state.read_text() == "{}"


def test_an_infeasible_point_is_reported_and_breaks_the_curve(data: shoal.Dataset) -> None:
    found = shoal.balance(data, target="sex", k=[2, 301], algorithm="mondrian", seed=1, workers=1)
    last = found.as_dict()["points"][1]
    assert last["utility"] is None and "300 records" in last["reason"]
    assert found.recommended is found.points[0]
    assert any("1 of 2 settings" in sentence for sentence in found.advice)
    nothing = shoal.balance(data, target="sex", k=[301, 400], algorithm="mondrian", seed=1, workers=1)
    assert nothing.recommended is None and nothing.as_dict()["balance"] is None
    assert nothing.summary.startswith("No setting")
    with pytest.raises(ParameterError, match="nothing to draw"):
        curves(nothing)


def test_a_form_that_does_not_tell_has_its_reason(data: shoal.Dataset) -> None:
    found = shoal.balance(
        data, "frequency-l-diversity:l=2", target="occupation", algorithm=["anatomy", "mondrian"], seed=1, workers=1
    )
    first, second = found.points
    assert first.share("decision-stump") is None and "does not tell which" in (first.why_not("decision-stump") or "")
    assert second.share("decision-stump") is not None
    assert found.axis is None and found.pairs == () and found.front() == (second,)


@pytest.mark.parametrize(
    ("target", "words"),
    [("one", "1 values, so there is nothing"), ("each", "nearly one each"), ("lacking", "no column named"),
     ("name", "not published"), ("empty", "0 values")],
)  # fmt: skip
def test_a_target_that_cannot_be_learned_is_refused(target: str, words: str) -> None:
    records = 40
    table = pl.DataFrame(
        {"age": [20 + at % 20 for at in range(records)], "one": "same", "each": [f"v{at}" for at in range(records)],
         "name": [f"n{at}" for at in range(records)], "empty": pl.Series([None] * records, dtype=pl.String)}
    )  # fmt: skip
    data = shoal.read(table, quasi=["age"], sensitive=["each"], identifiers=["name"])
    with pytest.raises(shoal.errors.ShoalError, match=words) as error:
        shoal.balance(data, target=target, k=[2], workers=1)
    assert "v0" not in str(error.value) and "same" not in str(error.value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "one or two"),
        ({"k": [2], "t": [0.1], "algorithm": ["oka"]}, "one or two"),
        ({"k": [2], "utility": "magic"}, "no such definition of utility"),
        ({"k": [2], "privacy": "magic"}, "no such definition of privacy"),
        ({"k": [2], "privacy": "gcp"}, "no such definition of privacy"),
        ({"k": [2], "seeds": 0}, "seeds must be a whole number"),
        ({"k": [2], "workers": 0}, "workers must be a whole number"),
        ({"k": [2], "utility": []}, "name a definition"),
        ({"k": [2], "target": None}, "name the target"),
    ],
)
def test_wrong_questions_are_refused_at_once(asked: dict[str, Any], words: str, data: shoal.Dataset) -> None:
    with pytest.raises(ParameterError, match=words):
        shoal.balance(data, **{"target": "sex", **asked})


def test_a_measure_that_is_no_share_has_its_reason(data: shoal.Dataset) -> None:
    found = shoal.balance(data, k=[2], utility="dm", algorithm="mondrian", seed=1, workers=1)
    assert "no share" in (found.points[0].why_not("dm") or "")


def test_processes_are_started_where_they_pay(data: shoal.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short sweep starts none; one that is worth them hands over what is left after its first release."""
    asked: dict[str, Any] = {"target": "sex", "k": [2, 5, 9], "algorithm": "oka", "seed": 3}
    handed: list[tuple[list[int], int, int]] = []

    def beside(content: bytes, tasks: Any, count: int, processes: int, run: Run) -> Any:
        handed.append((list(tasks), count, processes))
        for place, task in tasks.items():
            yield place, points.measure(pickle.loads(content), task, Run())

    monkeypatch.setattr(points, "_beside", beside)
    monkeypatch.setattr(points, "available", lambda workers: workers or 4)
    alone = figures(shoal.balance(data, **asked))
    assert not handed
    monkeypatch.setattr(points, "WORTH", 0.0)
    monkeypatch.setattr(points, "START", 0.0)
    assert figures(shoal.balance(data, **asked)) == alone
    assert figures(shoal.balance(data, workers=2, **asked)) == alone
    assert figures(shoal.balance(data, workers=1, **asked)) == alone
    assert handed == [([1, 2], 3, 2), ([0, 1, 2], 3, 2)]


def test_can_be_stopped_also_beside(data: shoal.Dataset) -> None:
    stopped = Run(lambda share, doing: stopped.cancel() if share > 0 else None)
    with pytest.raises(CancelledError):
        shoal.balance(data, target="sex", k=range(2, 30), algorithm="oka", seed=1, workers=2, run=stopped)


@pytest.fixture
def file(table: pl.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    table.write_csv(path)
    return path


def test_the_command_prints_what_its_schema_says_and_draws(file: Path, capsys: Any, tmp_path: Path) -> None:
    told = tmp_path / "balance.json"
    asked = [
        "balance", file, "--target", "salary-class", "--quasi", ",".join(QUASI), "--sweep", "k=2..8..3", "--sweep",
        "algorithm=oka,mondrian", "--seed", 5, "--workers", 1, "--privacy", "suppression-share,average-risk",
    ]  # fmt: skip
    assert ended(*asked, "--json", "-o", told, "--plot", tmp_path / "b.svg", "--plane", tmp_path / "p.svg") == 0
    printed = json.loads(capsys.readouterr().out)
    jsonschema.validate(printed, schemas.schema("balance"))
    assert set(printed["points"][0]) >= {"k", "algorithm", "utility", "privacy"}
    assert json.loads(told.read_text()) == {
        key: value for key, value in printed.items()
        if key not in ("command", "version", "summary", "seed", "figures", "plot", "plane")
    }  # fmt: skip
    assert all("<svg" in (tmp_path / name).read_text() for name in ("b.svg", "p.svg"))
    assert ended(*asked) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(printed["summary"]) and printed["advice"][0] in shown.replace("\n", " ")
    assert "oka" in shown and "1 − average-risk" in shown


def test_the_command_says_how_a_sweep_is_written(file: Path, capsys: Any) -> None:
    common = ["balance", file, "--target", "sex", "--quasi", "age"]
    assert ended(*common) == 2 and "--sweep k=2..20" in capsys.readouterr().err
    assert ended(*common, "--sweep", "k=2-20") == 2 and "write k=2..20" in capsys.readouterr().err
    assert ended(*common, "--sweep", "k=500,600", "--workers", 1) == 3
    assert "No setting of the sweep has a release" in capsys.readouterr().out


def test_a_job_file_says_it_all_and_comes_back(file: Path, capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(
        f"""
        algorithm = "oka"
        [input]
        path = "{file.name}"
        [columns.age]
        role = "quasi"
        [policy]
        seed = 4
        [balance]
        target = "sex"
        sweep = ["k=2..8..3"]
        utility = ["naive-bayes"]
        seeds = 2
        """,
        encoding="utf-8",
    )
    assert ended("balance", "--job", path, "--json", "--workers", 1) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["seeds"] == 2 and printed["definitions"]["naive-bayes"] == "accuracy of naive-bayes on sex"
    made = job.load(path)
    again = tmp_path / "again.toml"
    again.write_text(job.toml(made, tmp_path), encoding="utf-8")
    assert job.load(again) == made


def test_pictures_have_every_point_and_every_crossing() -> None:
    from shoal.tradeoff.balance import Balance
    from shoal.tradeoff.sweep_result import Definition, Measured, Point, SweptAxis

    def point(k: int, utility: float, privacy: float) -> Point:
        return Point(place={"k": k}, runs=(Measured(shares={"u": utility, "p": privacy}),))

    found = Balance(
        axes=(SweptAxis("k", (8, 9)),), points=(point(8, 0.62, 0.58), point(9, 0.58, 0.62)),
        utilities=(Definition(name="u", words="accuracy", heading="u"),),
        privacies=(Definition(name="p", words="share", heading="p"),), records=10, seeds=1, seed=0, target=None,
    )  # fmt: skip
    assert found.as_dict()["balance"] == {"k": 8.5, "value": 0.6}
    assert found.summary.startswith("k = 8 balances privacy and utility best: utility is 62 % (accuracy) and")
    assert "The curves of utility and privacy meet at k = 8.5, where both are 60 %." in found.advice
    rows = curves(found).to_dict()["data"]["values"]
    assert sum(row["part"] == "curve" for row in rows) == 4
    assert [row["label"] for row in rows if row["part"] == "met"] == ["k = 8.5, 60 %"]
    plane = json.dumps(trade_off(found).to_dict())
    assert plane.count('"best": true') == 2


def test_no_k_below_the_line_that_the_policy_draws_is_recommended(data: shoal.Dataset) -> None:
    options: dict[str, Any] = {
        "k": [2, 4, 6, 11, 16], "utility": "gcp", "privacy": "highest-risk", "algorithm": "mondrian", "seed": 1,
        "workers": 1,
    }  # fmt: skip
    free = shoal.balance(data, **options)
    assert free.recommended is not None and free.recommended.place["k"] < 11 and free.refused is None
    found = shoal.balance(data, shoal.KAnonymity(k=11), **options)
    assert found.recommended is not None and found.recommended.place["k"] == 11
    assert [point.place["k"] for point in found.points] == options["k"]
    assert found.summary.startswith("k = 11 balances privacy and utility best among those with k = 11 or more: ")
    assert any(f"it would be k = {free.recommended.place['k']}, but the policy asks" in each for each in found.advice)
    assert found.as_dict()["asked_k"] == 11
    beyond = shoal.balance(data, shoal.KAnonymity(k=40), **options)
    assert beyond.recommended is None and "k = 40, which the policy asks for" in beyond.summary


def test_only_the_columns_that_are_named_count(data: shoal.Dataset, file: Path, capsys: Any) -> None:
    """A mean is never suppressed; without age the share is larger, and it is that of the frame's own cells."""
    asked: dict[str, Any] = {"k": [2, 40], "algorithm": "oka:numeric=mean", "utility": "gcp", "seed": 1, "workers": 1}
    every, two, none = (
        shoal.balance(data, **asked, privacy_columns=columns) for columns in ((), ("race", "education"), ("age",))
    )
    for point, narrower, of_means in zip(every.points, two.points, none.points, strict=True):
        frame = shoal.anonymize(data, f"k-anonymity:k={point.place['k']}", algorithm=asked["algorithm"], seed=1).frame
        hidden = {name: float((frame[name] == "*").mean()) for name in ("education", "race")}
        assert narrower.share(two.privacy.name).mean == pytest.approx(sum(hidden.values()) / 2)
        assert point.share(every.privacy.name).mean == pytest.approx(sum(hidden.values()) / 3)
        assert of_means.share(none.privacy.name).mean == 0
    assert two.privacy.words == "share of suppressed cells of race and education"
    both = shoal.balance(data, **asked, privacy=[two.privacy.name, "suppression-share"])
    assert (
        figures(both)["points"][1]["measures"] | figures(two)["points"][1]["measures"]
        == figures(both)["points"][1]["measures"]
    )
    command = ("balance", file, "--quasi", ",".join(QUASI), "--sweep", "k=2,40", "--algorithm", asked["algorithm"],
               "--utility", "gcp", "--seed", 1, "--workers", 1, "--json")  # fmt: skip
    assert ended(*command, "--privacy-columns", "race,education") == 0
    assert json.loads(capsys.readouterr().out)["definitions"][two.privacy.name] == two.privacy.words


@pytest.mark.parametrize(
    "asked, words",
    [
        ({"privacy_columns": ["occupation"]}, "no column named 'occupation'"),
        ({"privacy": "suppression-share:columns=height|race"}, "no column named 'height'"),
        ({"privacy": "highest-risk", "privacy_columns": ["race"]}, "only suppression-share counts"),
    ],
)
def test_columns_that_cannot_count_are_refused(asked: dict[str, Any], words: str, data: shoal.Dataset) -> None:
    with pytest.raises(ShoalError, match=words):
        shoal.balance(data, k=[2, 3], utility="gcp", **asked)


def test_definitions_are_told_apart_in_words() -> None:
    from shoal.tradeoff.measures import privacy

    assert privacy("suppression-share:missing=suppressed").definition.words == "share of suppressed or missing cells"


def test_li_and_lis_losses_are_definitions_too_and_every_form_has_them(data: shoal.Dataset) -> None:
    found = shoal.balance(
        data, "frequency-l-diversity:l=2", algorithm=["anatomy", "mondrian"], utility="utility-loss",
        privacy="privacy-loss", seed=1, workers=1,
    )  # fmt: skip
    for point in found.points:
        release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=point.place["algorithm"], seed=1)
        told = shoal.evaluate(data, release, "utility-loss", "privacy-loss")
        for name in ("utility-loss", "privacy-loss"):
            spread = point.share(name)
            assert spread is not None and spread.mean == pytest.approx(1 - told[name].value)


def test_with_declared_analyses_the_release_is_looked_for_that_keeps_them_best(data: shoal.Dataset) -> None:
    analyses = ["count where age >= 40 and race = White", "mean(age) where occupation = Sales", "linear(age ~ race)"]
    found = shoal.balance(data, "k-anonymity:k=5", analyses=analyses, algorithm=["oka", "mondrian"], seed=3, workers=1)
    shares = {}
    for point in found.points:
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=point.place["algorithm"], seed=3)
        query, mean, regression = (
            shoal.evaluate(data, release, "gcp", analyses=[each])[each].value for each in analyses
        )
        kept = (1 - min(query, 1) + 1 - min(mean, 1) + regression) / 3
        spread = point.share("analyses")
        assert spread is not None and spread.mean == pytest.approx(kept)
        shares[point.place["algorithm"]] = kept
    best = max(shares, key=shares.__getitem__)
    assert found.recommended is not None and found.recommended.place == {"algorithm": best}
    assert found.summary.startswith(f"The declared analyses survive best with {best}")
    assert found.advice[0].startswith(f"Take {best}: every setting meets the policy")


def test_without_a_sweep_every_form_is_tried_for_the_analyses(file: Path, capsys: Any) -> None:
    asked = ["balance", file, "--quasi", "age,education", "--sensitive", "occupation", "--workers", 1, "--seed", 1]
    assert ended(*asked, "--model", "frequency-l-diversity:l=2", "--analysis", "count where age >= 40", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert {"anatomy", "mondrian"} <= {point["algorithm"] for point in printed["points"]}
    assert printed["recommended"]["algorithm"] in {point["algorithm"] for point in printed["points"]}
    assert ended(*asked, "--model", "k-anonymity:k=2", "--analysis", "mean(lacking)") == 2
    assert "no column named 'lacking'" in capsys.readouterr().err


def test_the_log_does_not_tell_what_an_analysis_spells(file: Path, tmp_path: Path, capsys: Any) -> None:
    log = tmp_path / "log.jsonl"
    asked = ["balance", file, "--quasi", "age", "--model", "k-anonymity:k=2", "--sweep", "algorithm=mondrian"]
    assert ended(*asked, "--analysis", "count where sex = Female", "--workers", 1, "--log-file", log) == 0
    capsys.readouterr()
    line = json.loads(log.read_text(encoding="utf-8"))
    assert line["options"]["analyses"] == "given" and "Female" not in log.read_text(encoding="utf-8")
