"""What changes while somebody uses the page: the file, the same choice in another tab, the browser that reloads."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.core.schema import Role
from shoal.engines.common import csv
from shoal.web.work import PageTask

LARGE = 2 << 30


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    shoal.samples.adult().select("age", "sex", "race")[:300].write_csv(path)
    return path


def ready(page: Any) -> None:
    page.wait_for_function("() => !document.querySelector('main [aria-busy=true]')")


def test_two_tabs_do_not_overrule_each_other_unseen(serving: Any, people: Path, looking: Any) -> None:
    served, first = serving(people), looking.page
    first.goto(served.address)
    second = first.context.new_page()
    for page in (first, second):
        page.goto(f"{served.base}/give-up")
        ready(page)
    first.fill("#k", "11")
    first.click("#policy button.main")
    first.wait_for_function("() => document.querySelector('#policy .sentence').innerText.includes('at least 11')")
    second.fill("#suppression", "3")
    second.click("#policy button.main")  # which would also set k back to 5
    second.wait_for_selector("[role=alert]:has-text('another tab')")
    assert served.session.job.models[0].k == 11 and served.session.job.suppression == 0
    assert second.input_value("#k") == "11"
    second.fill("#suppression", "3")
    second.click("#policy button.main")  # now that they have seen it
    second.wait_for_function("() => document.querySelector('#suppression').value === '3.0'")
    assert (served.session.job.models[0].k, served.session.job.suppression) == (11, 0.03)
    second.goto(f"{served.base}/candidates")
    first.goto(f"{served.base}/hand-over")
    served.session.change_column("age", "history.role", role=Role.SENSITIVE)
    served.session.decisions.append("a third tab")
    first.click("#make button.main")  # of what they no longer see
    first.wait_for_selector("[role=alert]:has-text('another tab')")
    assert served.session.order is None and looking.quiet


def test_a_file_that_changes_is_said_and_read_again(serving: Any, people: Path) -> None:
    page = serving(people)
    page.facts("/exposed.json", panel="exposure")
    page.post("/exposed/role", column=0, role="sensitive")
    people.write_text(people.read_text(encoding="utf-8") + "99,Female,White\n", encoding="utf-8")
    for screen in ("exposed", "candidates", "hand-over"):
        text = page.ask(f"/{screen}")[2]
        assert text.count('role="alert"') == 1 and "people.csv has changed" in text and 'class="panel"' not in text
    part = page.ask("/exposed", headers={"HX-Request": "true", "HX-Target": "columns"})
    assert part[1]["hx-refresh"] == "true" and part[2] == ""
    page.post("/hand-over/make", name="release.csv", sign="")
    page.post("/open/again?from=exposed")
    told = page.facts("/exposed.json", panel="exposure")
    assert told["exposure"]["records"] == 301
    assert page.session.job.columns["age"].role is Role.SENSITIVE and page.session.order is None


def test_a_file_that_changes_while_it_is_read_is_one_error(
    serving: Any, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = csv.load

    def slow(*given: Any) -> Any:
        columns = load(*given)
        os.utime(people, ns=(1, 1))
        return columns

    monkeypatch.setattr(csv, "load", slow)
    page = serving(people)
    look = page.session._look_task()
    assert look.ended.wait(240) and "changed while it was being read" in look.error
    text = page.ask("/exposed")[2]
    assert "people.csv has changed" in text and text.count('role="alert"') == 1
    monkeypatch.undo()
    page.post("/open/again?from=exposed")
    assert page.facts("/exposed.json", panel="exposure")["exposure"]["state"] == "ready"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "arff", "parquet"])
def test_two_gigabytes_are_refused_without_filling_the_memory(serving: Any, tmp_path: Path, ending: str) -> None:
    large = tmp_path / f"large.{ending}"
    beginning = {"csv": b"age,sex\n30,f\n", "jsonl": b'{"age": 30}\n', "parquet": b"PAR1"}
    with large.open("wb") as file:
        file.write(beginning.get(ending, b"@relation a\n@attribute age numeric\n@data\n30\n"))
        file.truncate(LARGE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    page = serving(large)
    told = page.facts("/exposed.json", panel="exposure")["exposure"]
    assert told["state"] == "failed" and f"large.{ending}" in told["task"]["error"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_a_reload_in_the_middle_finds_what_was_begun(
    serving: Any, people: Path, looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, page = serving(people), looking.page
    page.goto(served.address)
    page.wait_for_selector("#exposure .sentence")
    served.post("/exposed/person", person="rows")
    begun, carry_out = [], PageTask.carry_out
    monkeypatch.setattr(PageTask, "carry_out", lambda task: (begun.append(task.what), carry_out(task))[1])
    page.goto(f"{served.base}/hand-over")
    with page.expect_navigation(wait_until="commit"):  # there is nothing to load again before
        page.click("#make button.main")
    page.reload()
    page.wait_for_selector("#package .sentence")
    page.reload()
    assert page.locator("#package .sentence").count() == 1 and begun.count("work.package") == 1
    assert served.session.order.number == 1
