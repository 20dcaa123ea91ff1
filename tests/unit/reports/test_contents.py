"""A report says what the commands say, shows no value, and is the same for the same inputs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

import shoal
from shoal.cli import main, schemas
from shoal.errors import InputError, MissingExtraError, OutputError, ParameterError
from shoal.reports import page as templates

pytest.importorskip("altair")
sys.path.insert(0, str(Path(__file__).parent))
from reported import CANARY, FORMS, NUMBER, published

Shared = Callable[..., tuple[shoal.Dataset, Path, Any]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """A table, its release in a form, and the report on it, made once for the tests that change none of them; its job
    has secrets."""

    @cache
    def make(form: str = "generalized") -> tuple[shoal.Dataset, Path, Any]:
        data, path = published(tmp_path_factory.mktemp(form), form)
        return data, path, shoal.report(data, path, job=secretive(path.parent), recipient="somebody")

    return make


def secretive(folder: Path) -> shoal.job.Job:
    """A job with a seed, a key and values, none of which a report may show."""
    return shoal.job.Job(
        input=folder / "people.csv", seed=987654321, missing=(CANARY,), key_file=folder / "secret.key",
        columns={"sex": shoal.job.ColumnJob(role="quasi", hierarchy=shoal.hierarchies.Ordering(order=[CANARY, "x"]))},
    )  # fmt: skip


def short(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value


@pytest.mark.parametrize("form", FORMS)
def test_figures_are_those_of_the_commands(form: str, shared: Shared) -> None:
    data, path, made = shared(form)
    told = made.as_dict()
    assert told["verification"]["findings"] == shoal.verify(path).as_dict()
    release = shoal.api.open_release(path, data)
    evaluated = shoal.evaluate(data, release).as_dict()
    assert told["loss"]["findings"].keys() == evaluated.keys()
    for name, entry in told["loss"]["findings"].items():
        assert entry["value"] == short(evaluated[name]["value"]), name
        assert entry.get("reason") == evaluated[name].get("reason"), name
    attempts = shoal.attack(data, path)
    assert [each["name"] for each in told["attacks"]["made"]] == [each.name for each in attempts]
    for entry, attempt in zip(told["attacks"]["made"], attempts, strict=True):
        assert [entry[key] for key in ("success", "baseline", "worst")] == [
            short(each) for each in (attempt.success, attempt.baseline, attempt.worst)
        ]
    columns = {column.name: column.lost_words for column in shoal.columns(data, release)}
    assert {entry["name"] for entry in told["published"]["columns"]} == set(columns)
    page = made.html()
    for attempt in attempts:
        assert attempt.name in page
    validate(told, schemas.schema("report"))


def test_the_risk_is_the_prosecutors(shared: Shared) -> None:
    data, path, made = shared()
    risk = made.as_dict()["risk"]
    for threshold in risk["thresholds"]:
        found = shoal.attack(data, path, shoal.attacks.Prosecutor(threshold=threshold["risk"]))[0]
        assert threshold["share"] == pytest.approx(found.above)
    assert risk["highest"] == pytest.approx(found.worst) and risk["average"] == pytest.approx(found.success)
    findings = shoal.evaluate(data, path)
    assert risk["highest"] == findings["highest-risk"].value and risk["average"] == findings["average-risk"].value


def test_the_mark_of_the_risk_is_green_only_where_nobody_is_above_it(shared: Shared) -> None:
    def marks(form: str, threshold: float) -> tuple[bool, list[tuple[str, str]]]:
        made = shoal.report(*shared(form)[:2], threshold=threshold, quick=True)
        return made.holds, re.findall(r'<span class="mark (\w+)">([^<]*) above [\d.]+ % risk</span>', made.html())

    assert marks("generalized", 0.5) == (True, [("yes", "✓ nobody")])
    holds, ((colour, said),) = marks("generalized", 0.09)
    assert not holds and colour == "open" and said.endswith("% of the records")
    assert marks("perturbed", 0.5) == (False, [])  # no figure: neither a colour nor a yes


@pytest.mark.parametrize("form", FORMS)
def test_what_may_be_handed_over_has_no_value_and_no_seed(form: str, shared: Shared) -> None:
    data, path, made = shared(form)
    folder = path.parent
    for text in (made.html(), made.json()):
        shown = re.sub(r"<svg.*?</svg>", lambda drawing: re.sub(r"[\d.]{6,}", "", drawing[0]), text, flags=re.DOTALL)
        assert CANARY not in shown and str(NUMBER)[:4] not in re.sub(r"[0-9a-f]{64}", "", shown)
        assert "987654321" not in text and "secret.key" not in text and str(folder) not in text
    mine = shoal.report(data, path, job=secretive(folder), holder=True, quick=True)
    assert "987654321" not in mine.html() + mine.json()


def test_the_holders_part_is_marked_and_off_by_default(shared: Shared) -> None:
    data, path, made = shared()
    assert "holder" not in made.as_dict() and "For the holder only" not in made.html()
    mine = shoal.report(data, path, holder=True, job=shoal.job.Job(input=path.parent / "people.csv"))
    assert mine.html().count("For the holder only") == 3
    told = mine.as_dict()["holder"]
    assert told["exposure"] == shoal.diagnose(data, k=3).as_dict()
    assert told["findings"] == shoal.evaluate(data, path).as_dict()
    assert len(told["table"]["sha256"]) == 64
    validate(mine.as_dict(), schemas.schema("report"))


def test_the_same_inputs_give_the_same_bytes(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    data, path, _ = shared()
    first = shoal.report(data, path, date="2026-05-17")
    monkeypatch.setattr("time.time", lambda: 0.0)
    again = shoal.report(shoal.read(path.parent / "people.csv", quasi=["age", "sex"], sensitive=["disease"],
                                    identifiers=["name"]), path, date="2026-05-17")  # fmt: skip
    assert first.html() == again.html() and first.json() == again.json()


def test_what_people_say_stands_in_it(shared: Shared) -> None:
    data, path, _ = shared()
    said = {"recipient": "the <b>university</b>", "purpose": "a study\nof age", "author": "A. Officer"}
    made = shoal.report(data, path, **said, date="2026-05-17", quick=True)
    assert made.sentences[0] == (
        "All 60 records were published as release.csv for the <b>university</b> (a study of age)."
    )
    page = made.html()
    assert "the &lt;b&gt;university&lt;/b&gt;" in page and "<b>university" not in page
    assert "A. Officer" in page and "2026-05-17" in page
    with pytest.raises(ParameterError, match="2026-05-17"):
        shoal.report(data, path, date="yesterday")


def test_five_sentences(shared: Shared) -> None:
    for form in FORMS:
        found = shared(form)[2].sentences
        assert len(found) == 5 and all(each.endswith(".") and ". " not in each for each in found), form
    assert "no figure" in found[2] and "No privacy model is promised" in found[1]


def test_declared_analyses_are_told_without_their_values(shared: Shared) -> None:
    from shoal.utility.analyses import all_parsed

    data, path, _ = shared()
    asked = all_parsed([f"count where disease = '{CANARY} 1'", "mean(age)"])
    made = shoal.report(data, path, job=shoal.job.Job(analyses=asked), quick=True)
    assert CANARY not in made.html() + made.json() and list(made.as_dict()["loss"]["analyses"]) == [
        "analysis-1", "analysis-2",
    ]  # fmt: skip
    exact = shoal.evaluate(data, path, "gcp", analyses=asked, baselines=False)
    assert [each.value for each in made.analyses] == [each.value for each in exact[:2]]
    assert made.holds and "declared analysis 1: relative error" in made.html()
    mine = shoal.report(data, path, job=shoal.job.Job(analyses=asked), quick=True, holder=True)
    assert asked[0].title in mine.as_dict()["holder"]["findings"]
    assert repr(mine) == repr(made) == f"Report({path.name!r}, holds)"


def test_every_model_says_what_it_does_not_protect_against(shared: Shared) -> None:
    data, path, _ = shared()
    limits = dict(shoal.report(data, path, quick=True).limits)
    assert "homogeneity" in limits["3-anonymous"] and "similarity" in limits["frequency 2-diverse"]
    assert limits["columns without a role"].startswith("note is published as it was.")
    assert limits["the roles of the columns"].startswith("Only age and sex were taken")


def test_a_tampered_release_does_not_hold(tmp_path: Path) -> None:
    data, path = published(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[1]]) + "\n")
    made = shoal.report(data, path, quick=True)
    assert not made.holds and "does NOT keep" in made.sentences[1]
    assert "✗ does not keep what its manifest says" in made.html()


def test_a_threshold_that_is_given_decides(shared: Shared) -> None:
    data, path, made = shared()
    assert made.holds
    assert shoal.report(data, path, threshold=1 / 3, quick=True).holds
    assert not shoal.report(data, path, threshold=0.09, quick=True).holds
    swapped = shared("perturbed")[:2]
    assert not shoal.report(*swapped, threshold=0.5, quick=True).holds, "what has no figure is not below a threshold"
    for wrong in (0, -1, 2):
        with pytest.raises(ParameterError, match="threshold"):
            shoal.report(data, path, threshold=wrong)


def test_a_signature_is_shown_and_checked(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from shoal.publishing.signing import SigningKey

    data, path = published(tmp_path)
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)
    keys = {name: SigningKey.new().save(tmp_path / f"{name}.pem")[1] for name in ("holder", "other")}
    release.write(path, sign=tmp_path / "holder.pem")
    plain, own, other = (shoal.report(data, path, key=key, quick=True) for key in (None, *keys.values()))
    states = [made.signature["state"] for made in (plain, own, other)]
    assert states == ["not checked", "valid", "by another key"]
    assert own.holds and not other.holds
    assert "carries a valid signature" in own.summary
    assert "shoal verify release.csv --key" in plain.commands[0][0]


def test_tables_that_the_release_is_not_of(tmp_path: Path) -> None:
    data, path = published(tmp_path)
    others = shoal.read(tmp_path / "people.csv", quasi=["age", "sex", "disease"], identifiers=["name"])
    with pytest.raises(InputError, match="as sensitive, and here it is quasi"):
        shoal.report(others, path)
    text = (tmp_path / "people.csv").read_text().splitlines()
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease"], "identifiers": ["name"]}
    (tmp_path / "short.csv").write_text("\n".join(text[:-5]) + "\n")
    with pytest.raises(InputError, match="a table with 60 records, and this one has 55"):
        shoal.report(shoal.read(tmp_path / "short.csv", **roles), path)
    (tmp_path / "wide.csv").write_text("\n".join(f"{line},{at}" for at, line in enumerate(text)) + "\n")
    with pytest.raises(InputError, match="another table"):
        shoal.report(shoal.read(tmp_path / "wide.csv", **roles), path)
    other = [line.replace(",4815", ",4915") for line in text]
    (tmp_path / "other.csv").write_text("\n".join(other) + "\n")
    with pytest.raises(InputError, match="not a release of it"):
        shoal.report(shoal.read(tmp_path / "other.csv", **roles), path)
    path.with_name("release.csv.manifest.json").unlink()
    with pytest.raises(InputError, match="no manifest"):
        shoal.report(data, path)


def test_files_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, path = published(tmp_path)
    made = shoal.report(data, path, quick=True)
    with pytest.raises(OutputError, match=r"ends in .html or .json"):
        made.write(tmp_path / "report.pdf")
    with pytest.raises(OutputError, match="same file"):
        made.write(tmp_path / "report.html", tmp_path / "report.html")
    with pytest.raises(ParameterError, match="no picture 'curve'"):
        made.write(pictures={"curve": tmp_path / "curve.svg"})
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "people.csv", "release.csv", "release.csv.manifest.json",
    ]  # fmt: skip
    templates._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="report"):
        made.write(tmp_path / "report.html")
    assert made.write(tmp_path / "report.json")[0].exists(), "JSON needs no template"


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, path = published(tmp_path)
    names = ("report.html", "report.json", "risk.svg")
    page, data, drawn = (tmp_path / name for name in names)
    arguments = ["report", str(tmp_path / "people.csv"), str(path), "-o", str(page), "-o", str(data)]
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--plot", f"risk={drawn}", "--json", "--recipient", "us", "--threshold", "0.5"])
    assert not end.value.code
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(data.read_text()) and printed["about"]["recipient"] == "us"
    assert drawn.read_text().startswith("<svg") and page.read_text().startswith("<!doctype html>")
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--threshold", "0.01", "--overwrite", "--quick"])
    assert end.value.code == 1
    assert capsys.readouterr().out.count("\n") == 6


@pytest.mark.parametrize("name", ["people.csv", "release.csv", "release.csv.manifest.json"])
def test_the_command_overwrites_nothing_that_it_reads(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = published(tmp_path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    link = tmp_path / "report.json"
    link.hardlink_to(tmp_path / name)
    with pytest.raises(SystemExit) as end:
        main(["report", str(tmp_path / "people.csv"), str(path), "-o", str(link)])
    assert end.value.code == 2 and "would overwrite a file that is read" in capsys.readouterr().err
    link.unlink()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_the_job_of_a_report_names_the_engine_and_not_the_cluster(shared: Shared) -> None:
    data, path, _ = shared()
    engine = shoal.job.plugin("engines", {"name": "spark", "master": "spark://cluster.internal:7077"})
    shown = shoal.report(data, path, job=shoal.job.Job(engine=engine), quick=True).job
    assert 'name = "spark"' in shown and "cluster.internal" not in shown
