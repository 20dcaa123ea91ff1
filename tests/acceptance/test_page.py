"""The page in a real browser: from a file to a signed release, and whatever may happen on the way."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import browser as browsers
import messy
import polars as pl
import pytest
from counts import LONG, count
from served import Server, ready

import shoal
from shoal.publishing.signing import SigningKey
from shoal.web.screens import NAMES

FEW = ("age", "workclass", "education", "sex", "race")
"""Columns that outsiders may know in these tests; others are dropped, so that they take less time."""
MARKUP = "race <img src=x onerror=alert(document.title)>"


TABLE = shoal.samples.adult()[: count(3_000, 30_162)]
"""The sample that is taken from a file to a release."""


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adult") / "adult.csv"
    TABLE.write_csv(path)
    return path


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    shoal.samples.adult().select("age", "sex", "race", "occupation")[:1500].write_csv(path)
    return path


def chosen(page: Any, role: str, *, among: tuple[str, ...]) -> None:
    """Gives every column a role: these stay known to outsiders, all others get the role."""
    names = page.locator(".columns .name").all_inner_texts()
    for place, name in enumerate(names):
        select = page.locator(f"#role-{place}")
        if select.count() and select.input_value() == "quasi" and name not in among:
            with page.expect_response(lambda answer: answer.url.endswith("/exposed") and answer.status == 200):
                select.select_option(role)
            page.wait_for_selector(f"#columns tr:nth-child({place + 1}).role-{role}")


def key(folder: Path) -> Path:
    path = folder / "holder.key"
    SigningKey.new().save(path)
    return path


def handed_over(page: Any, server: Server, folder: Path, name: str) -> Path:
    """Makes a signed release on the last screen and saves it."""
    page.goto(f"{server.base}/hand-over")
    page.fill("#name", name)
    page.fill("#sign", str(key(folder)))
    page.click("#make button.main")
    page.wait_for_selector("#package .sentence")
    target = folder / "out"
    target.mkdir()
    page.fill("#folder", str(target))
    page.click("#package form button.main")
    page.wait_for_selector("#package .notice.fine")
    return target / "for-recipient" / name


def test_from_adult_to_a_signed_release(server: Any, adult: Path, looking: Any, tmp_path: Path, commands: Any) -> None:
    served = server(adult)
    page = looking.open(served.address)
    assert "token" not in page.url
    ready(page, "#exposure .sentence")
    assert f"of {len(TABLE):,} people stand alone" in page.inner_text("#exposure .sentence")
    assert all(value not in page.content() for value in ("Never-married", "Bachelors", "United-States"))
    chosen(page, "identifier", among=FEW)
    with page.expect_response(lambda answer: answer.url.endswith("/exposed") and answer.status == 200):
        page.select_option("#person", "rows")
    data = shoal.read(adult, quasi=FEW)
    alone = shoal.diagnose(data)["unique-records"].value
    assert page.inner_text("#exposure .sentence") == f"{alone:,} of {len(TABLE):,} people stand alone."

    page.goto(f"{served.base}/why")
    ready(page, "#curve img")
    assert page.locator("#borders .chip").count() > 2
    before = page.inner_text("#knows .lead")
    page.locator("#known").press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('#knows .lead').innerText !== before", arg=before, polling=browsers.PACE
    )

    page.goto(f"{served.base}/give-up")
    ready(page, "#columns table")
    page.fill("#k", "6")
    page.click("#policy button.main")
    page.wait_for_function(
        "() => document.querySelector('#policy .sentence').innerText.includes('at least 6')", polling=browsers.PACE
    )
    grouped(page, served)

    page.goto(f"{served.base}/candidates")
    page.wait_for_function("() => document.querySelectorAll('.card .figures').length == 2", polling=browsers.PACE)
    page.goto(f"{served.base}/before-after")
    ready(page, "#classes img")
    page.goto(f"{served.base}/attack")
    ready(page, "#attacks .card")
    release = handed_over(page, served, tmp_path, "release.csv")

    found = shoal.verify(release, key=f"{tmp_path / 'holder.key'}.pub")
    assert found.holds and found["k"].value >= 6 and found["signature"].holds
    assert sorted(path.name for path in (release.parents[1] / "private" / "hierarchies").iterdir()) == ["workclass.csv"]
    assert looking.quiet and not looking.elsewhere
    printed = served.stop()
    assert "Private" not in printed and "Traceback" not in printed
    assert list(served.temporary.glob("shoal*")) == []
    again(release, commands)


def grouped(page: Any, served: Server) -> None:
    """Groups two kinds of work by keyboard, and a third one by dragging it there."""
    from playwright.sync_api import TimeoutError

    page.goto(f"{served.base}/give-up")
    page.click("a[aria-label='Show and group the values of workclass']")
    ready(page, "#editor .levels")
    for value in ("Local-gov", "State-gov"):
        page.locator(".level").first.get_by_label(value, exact=True).press("Space")
    page.fill("#name-0", "Public")
    page.locator(".level").first.get_by_role("button", name="Move").press("Enter")
    page.wait_for_selector(".level:nth-of-type(2) label:has-text('Public')")
    ready(page)
    federal = page.locator(".level").first.locator(".node", has_text="Federal-gov")
    public = page.locator(".level").nth(1).locator(".node", has_text="Public")
    total = int((TABLE["workclass"].is_in(["Local-gov", "State-gov", "Federal-gov"])).sum())
    joined = page.locator(".level").nth(1).locator(".node", has_text=f"{total:,}")
    for _ in range(20):  # a drag is lost when the page moves under the mouse; a person would drag again
        if joined.count():
            break
        federal.drag_to(public)
        with suppress(TimeoutError):
            joined.wait_for(timeout=10_000)
    assert f"{total:,}" in public.inner_text()


def again(release: Path, commands: Any) -> None:
    """The job file that was saved makes the same release."""
    before, private = release.read_bytes(), release.parents[1] / "private"
    ended = commands.run("anonymize", "--job", "job.toml", "-o", "again.csv", folder=private)
    assert ended.code == 0, ended.err
    assert (private / "again.csv").read_bytes() == before


@pytest.mark.skipif(not LONG, reason="they belong to the long suite: make test-long")
def test_from_a_messy_table_to_a_signed_release(server: Any, looking: Any, tmp_path: Path) -> None:
    """What test_hospital.py asks every day, of another table."""
    file = tmp_path / "admissions.csv"
    messy.hospital(file)
    served = server()
    page = looking.open(served.address)
    page.set_input_files("#table", str(file))
    ready(page, "#exposure .sentence")
    assert "people" in page.inner_text("#exposure .sentence")
    page.goto(f"{served.base}/candidates")
    page.wait_for_selector(".card .figures, .settle")
    while page.locator(".settle").count():
        page.locator(".settle button[value=drop]").first.click()
        page.wait_for_load_state("networkidle")
        page.wait_for_selector(".card .figures, .settle")
    release = handed_over(page, served, tmp_path, "release.csv")
    found = shoal.verify(release, key=f"{tmp_path / 'holder.key'}.pub")
    assert found.holds and found["k"].value >= 5 and found["signature"].holds
    assert looking.quiet


def test_stopped_in_the_middle_reloaded_and_found_in_a_second_tab(server: Any, browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    table = shoal.samples.adult().select("age", "fnlwgt", "race", "education", "hours-per-week")
    # So many different records keep k-means busy for longer than it takes to look at it from a second tab.
    pl.concat([table.with_columns(pl.col("fnlwgt") + more) for more in range(7)]).write_csv(file)
    served = server(file)
    with browsers.looking(browser) as seen:
        page = seen.open(served.address)
        ready(page, "#exposure .sentence")
        page.goto(f"{served.base}/candidates")
        page.wait_for_selector(".settle, .card progress")
        while page.locator(".settle").count():
            page.locator(".settle button[value=drop]").first.click()
            page.wait_for_load_state("networkidle")
        page.wait_for_function("() => document.querySelectorAll('.card .figures').length == 2", polling=browsers.PACE)
        page.select_option("#spec", "k-means")
        page.click("button:has-text('Try it')")
        card = ".card:has(h2:has-text('k-means'))"
        page.wait_for_selector(f"{card} progress")
        second = page.context.new_page()
        second.goto(f"{served.base}/why")
        second.wait_for_selector("#work .task progress")
        page.bring_to_front()
        page.reload()
        page.wait_for_selector(f"{card} progress")
        page.locator(f"{card} button:has-text('Stop')").click()
        page.wait_for_selector(f"{card} button:has-text('Try again')")
        second.wait_for_function("() => !document.querySelector('#work .task')", polling=browsers.PACE)
        page.close()  # somebody leaves in the middle; the other tab goes on
        second.goto(f"{served.base}/exposed")
        ready(second, "#exposure .sentence")


def test_names_that_hold_markup_stay_text(server: Any, looking: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.parquet"
    frame = shoal.samples.adult().select("age", "sex", "race", "occupation")[:200]
    frame = frame.rename({"race": MARKUP, "sex": "sex {{ facts }}"})
    frame.with_columns(
        pl.Series("city </script><script>alert(document.title)</script>", ["x", "y"] * 100)
    ).write_parquet(file)
    served = server(file)
    page = looking.open(served.address)
    ready(page, "#exposure .sentence")
    assert MARKUP in page.locator(".columns .name").all_inner_texts()
    assert "sex {{ facts }}" in page.locator(".columns .name").all_inner_texts()
    for name in NAMES:
        page.goto(f"{served.base}/{name}")
        ready(page)
        assert page.locator("main img[src=x]").count() == 0 and page.title().endswith("– Shoal"), name
        assert "<" not in page.title() and MARKUP not in page.url
    page.goto(f"{served.base}/give-up?column=2")
    ready(page, "#editor .levels")
    assert not looking.dialogs and not looking.errors and not looking.elsewhere


def test_strangers_are_kept_out(server: Any, people: Path, looking: Any, browser: Any) -> None:
    served = server(people)
    answer = looking.page.goto(f"{served.base}/?token=wrong")
    assert answer.status == 403 and "does not open the page" in looking.page.inner_text("h1")
    page = looking.open(served.address)
    ready(page, "#exposure .sentence")
    again = looking.page.context.browser.new_context().new_page()
    assert again.goto(served.address).status == 403  # the token was used
    again.context.close()
    # Another page in the same browser cannot make this one do anything.
    answer = page.context.request.post(
        f"{served.base}/language", form={"language": "de"}, headers={"Origin": "http://evil.example"}
    )
    assert answer.status == 403
    rebound = page.context.request.get(f"{served.base}/exposed", headers={"Host": "evil.example"})
    assert rebound.status == 421
    page.reload()
    assert page.locator("html").get_attribute("lang") == "en"


def test_it_stops_cleanly_in_the_middle_of_work(server: Any, looking: Any, tmp_path: Path) -> None:
    shoal.samples.adult().write_csv(tmp_path / "adult.csv")
    served = server(tmp_path / "adult.csv")
    looking.page.goto(served.address)
    assert "Traceback" not in served.stop(signal.SIGTERM)
    assert list(served.temporary.glob("shoal*")) == []
