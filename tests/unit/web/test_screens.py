"""The screens through their JSON versions: what they tell is what the API tells, and bad input loses nothing."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl
import pytest

import shoal
import shoal.job.suggestion
from shoal.core.schema import Role
from shoal.ledger import Ledger
from shoal.web.screens import NAMES

QUASI = ("age", "sex", "race")


def test_every_screen_has_an_address_and_a_twin(served: Any) -> None:
    for name in NAMES:
        told = json.loads(served.ask(f"/{name}.json")[2])
        assert told["screen"] == name
        status, headers, _ = served.ask(f"/{name}")
        assert status == 200 and headers["content-type"].startswith("text/html")


def test_a_change_of_role_is_counted_at_once(served: Any, table: Path) -> None:
    data = shoal.read(table, quasi=QUASI)
    told = served.facts("/exposed.json", panel="exposure")["exposure"]
    assert told["alone"] == shoal.diagnose(data)["unique-records"].value
    began = time.process_time()
    served.post("/exposed/role", column=0, role="identifier")
    told = served.facts("/exposed.json", panel="exposure")["exposure"]
    assert told["quasi"] == ["sex", "race"] and time.process_time() - began < 2
    assert told["alone"] == shoal.diagnose(data, attributes=["sex", "race"])["unique-records"].value


def test_people_are_counted_where_a_column_says_whose_the_rows_are(serving, tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    frame = pl.DataFrame({"patient": [1, 1, 2, 2, 3], "age": [30, 31, 30, 31, 50], "ward": list("aabbb")})
    frame.write_csv(file)
    page = serving(file)
    page.facts("/exposed.json", panel="exposure")
    page.post("/exposed/role", column=1, role="quasi")
    page.post("/exposed/role", column=2, role="plain")
    page.post("/exposed/person", person=0)
    told = page.facts("/exposed.json", panel="exposure")["exposure"]
    assert (told["people"], told["records"], told["alone"]) == (3, 5, 1)


def test_hidden_cells_are_counted_by_column_and_importance(served: Any) -> None:
    served.post("/candidates/choose", spec="cell-suppression:importance=sex=3,strata=race")
    while (told := served.facts("/before-after.json", panel="release")["release"])["state"] in ("waiting", "running"):
        time.sleep(0.01)
    told = told["hidden"]
    assert {row["name"]: row["importance"] for row in told["rows"]} == {"age": 1.0, "sex": 3.0, "race": None}
    counts = {row["name"]: row["count"] for row in told["rows"]}
    assert counts["race"] == 0 and told["cells"] == sum(counts.values()) > 0
    assert told["bound"] <= told["cost"] == counts["age"] + 3 * counts["sex"] and not told["wildcard"]
    page = served.ask("/before-after", headers={"HX-Request": "true", "HX-Target": "release"})[2]
    assert "Hidden cells" in page and "never hidden" in page


def test_undo_and_redo_walk_through_the_history(served: Any) -> None:
    before = served.session.place
    served.post("/exposed/role", column=0, role="plain")
    assert served.session.job.columns["age"].role is Role.PLAIN
    served.post("/history?from=why", step="undo")
    assert served.session.job.columns["age"].role is Role.QUASI and served.session.place == before
    assert served.post("/history?from=why", step="redo")[1]["location"] == "/why"
    assert served.session.job.columns["age"].role is Role.PLAIN
    served.post("/history", step=0)
    assert served.session.place == 0


def test_why_names_the_sets_that_the_diagnosis_finds(served: Any, table: Path) -> None:
    data = shoal.read(table, quasi=QUASI)
    found = shoal.ask(data, k=2, delta=0.01)
    told = served.facts("/why.json?share=0.01", panel="borders")["borders"]
    assert {tuple(each) for each in told["alone"]} == set(found.negative_border)
    knows = served.facts("/why.json?known=2", panel="knows")["knows"]
    alone = {
        pair: shoal.diagnose(data, attributes=pair)["unique-records"].value / data.records
        for pair in (("age", "sex"), ("age", "race"), ("sex", "race"))
    }
    assert knows["chosen"]["worst"] == pytest.approx(max(alone.values()))
    assert knows["chosen"]["mean"] == pytest.approx(sum(alone.values()) / 3)


def test_a_policy_with_its_models_is_taken_or_refused_in_words(served: Any) -> None:
    served.post(
        "/give-up/policy",
        **{"k": 7, "suppression": 2.5, "model-t-closeness": "on", "t-closeness.t": 0.4, "entropy-l-diversity.l": 3},
    )
    job = served.session.job
    assert [type(model).__name__ for model in job.models] == ["KAnonymity", "TCloseness"]
    assert job.models[0].k == 7 and job.models[1].t == 0.4 and job.suppression == 0.025
    for wrong in ({"k": "many"}, {"k": 0}, {"k": 5, "suppression": 200}):
        served.post("/give-up/policy", **wrong)
        assert served.session.job == job and served.session.notice is not None
        assert 'class="notice' in served.ask("/give-up")[2]


def test_a_candidate_is_what_the_job_hands_over(served: Any, tmp_path: Path) -> None:
    served.facts("/candidates.json", panel="candidates")
    while served.facts("/candidates.json")["candidates"]["busy"]:
        time.sleep(0.05)
    rows = {row["spec"]: row for row in served.facts("/candidates.json")["candidates"]["rows"]}
    assert rows["optimal"]["proven"] and rows["mondrian"]["loss"] < rows["optimal"]["loss"]
    served.post("/hand-over/make", name="release.csv", sign="")
    told = served.facts("/hand-over.json", panel="package")["package"]
    assert told["given"] == ["release.csv", "release.csv.manifest.json", "verify.html"] and told["own"] == ["job.toml"]
    out = tmp_path / "out"
    out.mkdir()
    served.post("/hand-over/save", folder=out)
    release = shoal.api.open_release(out / "for-recipient" / "release.csv", served.session.prepared())
    found = shoal.evaluate(served.session.prepared(), release, "lm", baselines=False)
    assert found["lm"].value == pytest.approx(rows["mondrian"]["loss"])
    assert shoal.verify(out / "for-recipient" / "release.csv").holds


def test_any_node_of_the_lattice_tells_what_a_release_of_it_loses(served: Any) -> None:
    served.facts("/candidates.json", panel="candidates")
    while served.facts("/candidates.json")["candidates"]["busy"]:
        time.sleep(0.05)
    best = next(row for row in served.facts("/candidates.json")["candidates"]["rows"] if row["spec"] == "optimal")
    node = served.facts("/candidates.json?lattice=open", panel="lattice")["lattice"]
    assert node["holds"] and node["loss"] == pytest.approx(best["loss"]) and node["k"] == best["k"]
    raw = served.facts("/candidates.json?lattice=open&level-0=0&level-1=0&level-2=0", panel="lattice")["lattice"]
    assert raw["loss"] == 0 and not raw["holds"]


def test_levels_of_the_lattice_are_tried_as_a_candidate(served: Any) -> None:
    tops = {
        f"level-{column['place']}": column["height"]
        for column in served.facts("/candidates.json?lattice=open", panel="lattice")["lattice"]["columns"]
    }
    asked = {**tops, "level-1": 0}  # sex as it is, the others as coarse as can be
    served.post("/candidates/levels", **asked)
    while served.facts("/candidates.json", panel="candidates")["candidates"]["busy"]:
        time.sleep(0.05)
    row = served.facts("/candidates.json")["candidates"]["rows"][-1]
    node = served.facts(f"/candidates.json?lattice=open&{urlencode(asked)}", panel="lattice")["lattice"]
    assert row["state"] == "done" and row["full_domain"] and node["holds"]
    assert row["title"] == f"age {asked['level-0']}, sex 0, race {asked['level-2']}"
    assert row["loss"] == pytest.approx(node["loss"]) and row["k"] == node["k"]
    served.post("/candidates/choose", spec=row["spec"])
    assert served.session.job.algorithm.least_levels == {"age": asked["level-0"], "sex": 0, "race": asked["level-2"]}
    served.post("/candidates/levels", **dict.fromkeys(asked, 0))
    while served.facts("/candidates.json", panel="candidates")["candidates"]["busy"]:
        time.sleep(0.05)
    (failed,) = (row for row in served.facts("/candidates.json")["candidates"]["rows"] if row["state"] == "failed")
    assert "optimal:" in failed["spec"]  # levels that break the policy make no release
    served.post("/candidates/levels", **{"level-0": 2})
    assert "choose a level for every column" in served.ask("/candidates")[2]


def test_an_analysis_that_must_survive_is_compared_and_forgotten(served: Any, table: Path) -> None:
    served.post("/before-after/declare", analysis="count where age >= 40")
    while (told := served.facts("/before-after.json")["analyses"][0])["state"] in ("waiting", "running"):
        time.sleep(0.05)
    assert told["analysis"] == "count where age >= 40" and told["value"] is not None
    made = served.session.prepared()
    release = shoal.anonymize(made, shoal.KAnonymity(k=5), algorithm="mondrian", seed=served.session.job.seed)
    (analysis,) = served.session.job.analyses
    assert told["value"] == pytest.approx(analysis.measured(made, release).value)
    assert "count where age &gt;= 40" in served.ask("/before-after")[2]
    for wrong in ("count where shoe >= 40", "nonsense"):
        served.post("/before-after/declare", analysis=wrong)
        assert len(served.session.job.analyses) == 1 and 'role="alert"' in served.ask("/before-after")[2]
    served.post("/before-after/forget", place=0)
    assert served.session.job.analyses == () and served.facts("/before-after.json")["analyses"] == []


def test_the_recommended_k_is_taken(served: Any) -> None:
    served.post("/balance/begin", **{"from": 2, "to": 6, "target": ""})
    told = served.facts("/balance.json", panel="balance")["balance"]
    k = told["recommended"]["k"]
    assert k in {5, 6} and {point["k"] for point in told["points"]} == {2, 3, 4, 5, 6}, "the policy asks for k = 5"
    assert f'name="k" value="{k}"' in served.ask("/balance")[2]
    taken = 6 if k != 6 else 4
    assert served.post("/balance/take", k=taken)[1]["location"] == "/candidates"
    assert [model.k for model in served.session.job.models] == [taken]
    served.post("/history", step="undo")
    assert [model.k for model in served.session.job.models] == [shoal.job.suggestion.SUGGESTED_K]


def test_what_a_form_changes_can_be_undone_at_once(served: Any) -> None:
    changed = served.ask("/give-up", headers={"HX-Request": "true", "HX-Target": "main"})[2]
    assert 'id="steps"' in changed and 'value="undo" >' in changed and 'value="redo" disabled' in changed


def test_the_attacker_may_have_a_register(served: Any, table: Path) -> None:
    register = pl.read_csv(table).select("age", "sex")[:500].with_columns(name=pl.lit("Jane Doe"))
    upload(served, "../voters.csv", register.write_csv().encode(), "/attack/register")
    told = served.facts("/attack.json", panel="attacks")
    assert told["register"] == "voters.csv"
    assert told["attacks"]["register"] == {"records": 500, "columns": ["age", "sex"]}
    data = served.session.prepared()
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=served.session.job.seed)
    wanted = {each.name: each.success for each in shoal.attack(data, release, external=served.session.register)}
    alone = {each.name: each.success for each in shoal.attack(data, release)}
    found = {tile["name"]: tile["success"] for tile in told["attacks"]["tiles"]}
    assert found == pytest.approx(wanted) and set(found) > set(alone)
    page = served.ask("/attack")[2]
    assert "The attacker has voters.csv: 500 rows with age, sex." in page and "Jane Doe" not in page
    served.post("/attack/forget")
    told = served.facts("/attack.json", panel="attacks")
    assert {tile["name"] for tile in told["attacks"]["tiles"]} == set(alone)
    assert list(served.session.folder.glob("table-*")) == []


def test_a_register_that_shares_no_column_is_said(served: Any) -> None:
    upload(served, "members.csv", b"shoe,hat\n40,7\n41,8\n", "/attack/register")
    told = served.facts("/attack.json", panel="attacks")["attacks"]
    assert told["state"] == "failed"
    assert "the register shares no quasi-identifier" in told["task"]["error"] and "'age'" in told["task"]["error"]
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(5 << 30)}
    assert served.ask("/attack/register", method="POST", body=b"", headers=headers)[1]["location"] == "/attack"
    assert "larger than 4 GB" in served.ask("/attack")[2]
    served.post("/attack/forget")
    assert served.facts("/attack.json", panel="attacks")["attacks"]["state"] == "ready"


def test_what_the_library_says_is_marked_as_english_on_a_german_page(served: Any) -> None:
    served.post("/language", language="de")
    served.post("/candidates/levels")
    page = served.ask("/candidates")[2]
    assert '<html lang="de">' in page
    assert '<p><span lang="en">choose a level for every column</span></p>' in page
    upload(served, "members.csv", b"shoe,hat\n40,7\n41,8\n", "/attack/register")
    served.facts("/attack.json", panel="attacks")
    page = served.ask("/attack")[2]
    assert 'Das hat nicht geklappt: <span lang="en">the register shares no quasi-identifier' in page
    served.post("/attack/forget")
    (tile, *_) = served.facts("/attack.json", panel="attacks")["attacks"]["tiles"]
    assert f'<strong>Der Angreifer wusste:</strong> <span lang="en">{tile["knew"][:20]}' in served.ask("/attack")[2]


def upload(page: Any, name: str, content: bytes, to: str = "/open") -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="table"; filename="%s"\r\n\r\n%s\r\n--b--\r\n' % (
        name.encode(), content,
    )  # fmt: skip
    page.ask(to, method="POST", body=body, headers={"Content-Type": "multipart/form-data; boundary=b"})


def test_a_file_that_cannot_be_read_is_said(serving) -> None:
    page = serving()
    upload(page, "broken.parquet", b"PAR1 this is no parquet")
    told = page.facts("/exposed.json", panel="exposure")["exposure"]
    assert told["state"] == "failed" and "broken.parquet" in told["task"]["error"]
    upload(page, "empty.csv", b"age,sex\n")
    assert "no record" in page.facts("/exposed.json", panel="exposure")["exposure"]["task"]["error"]
    upload(page, "../../etc/good.csv", b"age,sex\n" + b"30,f\n31,m\n" * 20)
    assert page.facts("/exposed.json", panel="exposure")["exposure"]["state"] == "ready"
    assert page.session.job.input.name == "good.csv" and page.session.job.input.is_relative_to(page.session.folder)
    assert len(list(page.session.folder.glob("table-*"))) == 1


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(serving) -> None:
    page = serving()
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(5 << 30)}
    assert page.ask("/open", method="POST", body=b"", headers=headers)[0] == 303
    assert "larger than 4 GB" in page.ask("/exposed")[2]


def test_a_table_of_five_hundred_columns_is_shown(serving, tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    pl.DataFrame({f"answer_{place}": [place % 3, (place + 1) % 3, 2] * 20 for place in range(500)}).write_csv(file)
    page = serving(file)
    page.facts("/exposed.json", panel="exposure")
    told = page.facts("/exposed.json", panel="exposure")
    assert len(told["columns"]["rows"]) == 500 and told["exposure"]["state"] == "ready"
    page.session.change_column("answer_0", "history.role", role=Role.QUASI)
    columns = {name: shoal.job.ColumnJob(role=Role.QUASI) for name in page.session.look().names}
    page.session.change(replace(page.session.job, columns=columns), "history.suggested")
    told = page.facts("/why.json", panel="borders")["borders"]
    assert told["state"] == "failed" and "at most 63" in told["task"]["error"]


def test_the_ledger_refuses_what_breaks_an_earlier_promise(served: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    served.post("/hand-over/make", name="release.csv", sign="", ledger=ledger)
    assert served.facts("/hand-over.json", panel="package")["package"]["state"] == "ready"
    assert len(Ledger(ledger).entries()) == 1
    served.post("/candidates/choose", spec="k-member")
    served.post("/hand-over/make", name="release.csv", sign="", ledger=ledger)
    told = served.facts("/hand-over.json", panel="package")["package"]
    assert told["state"] == "failed" and "1 earlier release" in told["task"]["error"]
    assert len(Ledger(ledger).entries()) == 1


def test_what_the_ledger_cannot_judge_is_published_only_where_it_is_named(served: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    served.post("/hand-over/make", name="release.csv", sign="", ledger="", allow_unjudged="release:this")
    assert served.session.order is None and "name the ledger" in served.ask("/hand-over")[2]
    served.post("/hand-over/make", name="release.csv", sign="", ledger=ledger, allow_unjudged="nobody, release:this")
    told = served.facts("/hand-over.json", panel="package")["package"]
    assert told["state"] == "failed" and "neither a column" in told["task"]["error"]
    served.post("/hand-over/make", name="release.csv", sign="", ledger=ledger, allow_unjudged="release:this")
    told = served.facts("/hand-over.json", panel="package")["package"]
    assert told["state"] == "ready" and not told["stale"]
    assert served.session.order.job.allow_unjudged == ("release:this",)


def test_what_plain_columns_single_out_is_as_large_as_the_promise(serving, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    numbers = range(60)
    columns = {"age": [20 + row % 30 for row in numbers], "income": [1000 + 7 * row for row in numbers]}
    pl.DataFrame(columns).write_csv(file)
    page = serving(file)
    page.facts("/exposed.json", panel="exposure")
    page.post("/exposed/role", column=0, role="quasi")
    page.post("/exposed/role", column=1, role="plain")
    page.post("/hand-over/make", name="release.csv", sign="")
    told = page.facts("/hand-over.json", panel="package")["package"]
    assert told["plain"] == {"count": 1, "share": 1.0, "names": ["income"]}
    words = '<p class="sentence"><span class="bad">One column is published as it is, and it singles out 100'
    for address in ("/hand-over", "/before-after"):
        page.facts(f"{address}.json", panel="package" if address == "/hand-over" else "release")
        shown = page.ask(address)[2]
        assert words in shown and '<a href="/exposed">Change the columns</a>' in shown
    assert '<span class="good">The release is ready.' not in page.ask("/hand-over")[2]
    page.post("/exposed/role", column=1, role="quasi")
    page.post("/hand-over/make", name="release.csv", sign="")
    assert page.facts("/hand-over.json", panel="package")["package"]["plain"] is None
