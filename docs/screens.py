"""Draws the screens of the page into `docs/images`, as a person sees them: run it with the extras `web` and `dev`.

It opens the sample table, walks through every screen in a real browser, and takes a picture of each; those on a phone
and in the dark go to the folder that is named on the command line, to be looked at.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

IMAGES = ROOT / "docs" / "images"
KNOWN = ("age", "workclass", "education", "marital-status", "sex", "race")
"""Columns that outsiders know in the pictures; the others are dropped, or kept secret."""
SCREENS = {
    "exposed": "exposed", "why": "why", "give-up": "give-up", "hierarchy": "give-up?column=1#editor",
    "candidates": "candidates", "before-after": "before-after", "attack": "attack", "balance": "balance",
    "hand-over": "hand-over",
}  # fmt: skip


def served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """The page as a process of its own, and its address."""
    command = [sys.executable, "-m", "shoal", "serve", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=dict(os.environ))
    assert process.stdout is not None
    found = re.search(r"http\S+", process.stdout.readline())
    assert found is not None
    return process, found[0]


def settled(page: Any) -> None:
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    page.wait_for_function("() => !document.querySelector('[aria-busy=true], main progress')", timeout=240_000)
    page.wait_for_timeout(400)


def prepared(page: Any, base: str) -> None:
    """Opens the sample, gives roles, and makes everything that the pictures show."""
    page.click("form[action='/open/sample'] button")
    page.wait_for_selector("#exposure .sentence", timeout=120_000)
    for place, name in enumerate(page.locator(".columns .name").all_inner_texts()):
        role = "sensitive" if name in ("occupation", "salary-class") else "quasi" if name in KNOWN else "identifier"
        if page.locator(f"#role-{place}").input_value() != role:
            with page.expect_response(lambda answer: answer.url.endswith("/exposed") and answer.status == 200):
                page.select_option(f"#role-{place}", role)
            page.wait_for_selector(f"#columns tr:nth-child({place + 1}).role-{role}")
    with page.expect_response(lambda answer: answer.url.endswith("/exposed") and answer.status == 200):
        page.select_option("#person", "rows")
    page.goto(f"{base}/candidates")
    page.select_option("#spec", "anatomy")
    page.click("form[action='/candidates/try'] button")
    settled(page)
    page.goto(f"{base}/attack")
    settled(page)
    page.goto(f"{base}/balance")
    page.click("#targets button")
    page.wait_for_selector("#balance .sentence", timeout=240_000)
    page.goto(f"{base}/hand-over")
    page.click("#make button.main")
    page.wait_for_selector("#package .sentence", timeout=120_000)


def checked(browser: Any, folder: Path) -> None:
    """The page for recipients, when it has checked a signed release of the sample."""
    import shoal
    from shoal.publishing.signing import SigningKey
    from shoal.reports import verifier

    table = shoal.samples.adult().select("age", "sex", "race", "occupation")
    data = shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])
    key, public = SigningKey.new().save(folder / "holder.pem")
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), shoal.EntropyLDiversity(l=3))
    manifest = release.write(folder / "release.csv", sign=key)
    (folder / verifier.PAGE).write_text(verifier.page(), encoding="utf-8")
    page = browser.new_context(viewport={"width": 960, "height": 720}, locale="en-GB").new_page()
    page.goto((folder / verifier.PAGE).as_uri())
    page.set_input_files("#choose", [folder / "release.csv", manifest, public])
    page.wait_for_selector("#result:not([hidden])")
    page.screenshot(path=IMAGES / "verify-page.png", full_page=True)


def main(others: Path | None) -> None:
    import browser as browsers

    with tempfile.TemporaryDirectory() as folder, browsers.started() as running:
        checked(running, Path(folder))
        process, address = served(Path(folder))
        base = address.partition("?")[0].rstrip("/")
        try:
            context = running.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
            page = context.new_page()
            page.goto(address)
            page.screenshot(path=IMAGES / "page-open.png")
            prepared(page, base)
            for name, where in SCREENS.items():
                _taken(page, f"{base}/{where}", IMAGES / f"page-{name}.png")
            if others is not None:
                others.mkdir(exist_ok=True)
                for name, where in SCREENS.items():
                    page.emulate_media(color_scheme="dark")
                    _taken(page, f"{base}/{where}", others / f"{name}-dark.png")
                    page.emulate_media(color_scheme="light")
                    page.set_viewport_size({"width": 390, "height": 844})
                    _taken(page, f"{base}/{where}", others / f"{name}-phone.png")
                    page.set_viewport_size({"width": 1280, "height": 720})
        finally:
            process.terminate()
            process.wait(20)


def _taken(page: Any, address: str, path: Path) -> None:
    page.goto("about:blank")
    page.goto(address)
    settled(page)
    page.screenshot(path=path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
