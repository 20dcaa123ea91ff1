"""A hospital's table from the raw file to a signed report with its attacks, by the page alone: in German, and in
English too in the long suite."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import browser as browsers
import pytest
from counts import LONG
from served import ready
from tables import clinic_stays

import shoal

PEOPLE, ROWS, K = 90, 600, 5
SENTENCES = {
    "en": {"alone": "[0-9]+ of 90 people stand", "ready": "The release is ready.", "attacks": "of [0-9]+ attacks"},
    "de": {
        "alone": "[0-9]+ von 90 Personen", "ready": "Die Veröffentlichung ist fertig.", "attacks": "[0-9] Angriffen",
    },
}  # fmt: skip
"""What the page says in each language."""
DROPPED = ("Aufnahme", "Kosten")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "klinik.csv"
    clinic_stays(rows=ROWS, people=PEOPLE).write_csv(path, separator=";")
    return path


def go(page: Any, name: str, wait: str) -> None:
    """Goes to a screen as somebody does who follows the steps."""
    page.click(f"nav.steps a[href='/{name}']")
    page.wait_for_selector(wait)
    ready(page)


def described(page: Any) -> None:
    """Says whose the rows are, and leaves two columns out."""
    names = page.locator(".columns .name").all_inner_texts()
    if page.locator("#person").input_value() != str(names.index("PatID")):
        page.select_option("#person", str(names.index("PatID")))
        page.wait_for_selector(f"#columns tr:nth-child({names.index('PatID') + 1}).role-entity")
    wanted = dict.fromkeys(DROPPED, "drop") | {
        "Nachname": "identifier", "Vorname": "identifier", "Geschlecht": "quasi", "Geburtsdatum": "quasi",
        "PLZ": "quasi", "Station": "plain", "Diagnose": "sensitive",
    }  # fmt: skip
    for name, role in wanted.items():
        place = names.index(name)
        if page.locator(f"#role-{place}").input_value() != role:
            page.select_option(f"#role-{place}", role)
            page.wait_for_selector(f"#columns tr:nth-child({place + 1}).role-{role}")


def downloaded(page: Any, link: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(link)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def released(page: Any, key: Path, said: dict[str, str]) -> None:
    """Makes a key, a release that it signs, and a report; the browser reloads in the middle."""
    go(page, "hand-over", "#make")
    page.click("#make details summary")
    page.fill("#key", str(key))
    page.click("form[action='/hand-over/key'] button")
    page.wait_for_selector(".notice.fine")
    page.fill("#sign", str(key))
    with page.expect_navigation():  # a browser that is on its way elsewhere cannot reload
        page.click("#make button.main")
    page.reload()
    page.wait_for_selector("#package .sentence")
    assert page.inner_text("#package .sentence") == said["ready"]
    page.fill("#recipient", "Universität")
    page.click("#report button")
    page.wait_for_selector("#report a.button")
    ready(page)


@pytest.mark.parametrize("language", SENTENCES if LONG else ["de"])
def test_from_the_raw_file_to_a_signed_report(
    server: Any, browser: Any, table: Path, tmp_path: Path, language: str
) -> None:
    served, said = server(), SENTENCES[language]
    with browsers.looking(browser, locale=language, accept_downloads=True) as seen:
        page = seen.open(served.address)
        assert page.locator("html").get_attribute("lang") == language
        page.set_input_files("#table", str(table))
        page.wait_for_selector("#exposure .sentence")
        ready(page)
        described(page)
        ready(page)
        assert re.match(said["alone"], page.inner_text("#exposure .sentence"))
        go(page, "why", "#borders .chip")
        go(page, "give-up", "#columns table")
        page.fill("#k", str(K))
        page.click("#policy button.main")
        page.wait_for_selector(f"#policy .sentence:has-text('{K}')")
        go(page, "candidates", ".card .figures, .settle")
        while page.locator(".settle").count():
            page.locator(".settle button[value=drop]").first.click()
            page.wait_for_selector(".card .figures, .settle")
            ready(page)
        go(page, "before-after", "#release table")
        go(page, "attack", "#attacks .card")
        attacks = set(page.locator("#attacks .card h2").all_inner_texts())
        assert re.search(said["attacks"], page.inner_text("#attacks .sentence"))
        released(page, tmp_path / "holder.key", said)
        packed = downloaded(page, "a[href='/hand-over/recipient.zip']", tmp_path)
        own = downloaded(page, "a[href='/hand-over/own.zip']", tmp_path)
        assert seen.quiet and not seen.elsewhere
    handed_over(packed, own, {name.split()[0] for name in attacks}, tmp_path, browser)


def handed_over(packed: Path, own: Path, attacks: set[str], folder: Path, browser: Any) -> None:
    """What a recipient gets is whole, signed and safe, has no secret, and its report says what the page measured."""
    out = folder / "received"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(out)
    with zipfile.ZipFile(own) as archive:
        seed = re.search(r"seed = (\d+)", archive.read("job.toml").decode())[1]
    assert sorted(path.name for path in out.iterdir()) == [
        "release.csv",
        "release.csv.manifest.json",
        "report.html",
        "verify.html",
    ]
    assert all(seed not in path.read_text(encoding="utf-8") for path in out.iterdir())
    findings = shoal.verify(out / "release.csv", key=f"{folder / 'holder.key'}.pub")
    assert findings.holds and findings["signature"].holds and findings["k"].value >= K
    assert (out / "release.csv").read_text(encoding="utf-8").startswith("Geschlecht;Geburtsdatum;PLZ;")
    with browsers.looking(browser, locale="en") as seen:
        report = seen.open(out / "report.html").inner_text("body")
        assert seen.quiet and not seen.elsewhere
    assert f"{PEOPLE} people" in report and "Universität" in report
    assert "by records, not by people" not in report and "no attack can be made" not in report.lower()
    missing = {name for name in attacks if name not in report}
    assert len(attacks) >= 5 and not missing, missing
    assert "P10000" not in report and "Kosten" in report
