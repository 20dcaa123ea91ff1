"""The page of a report in a real browser."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from counts import count

import shoal

pytest.importorskip("altair")
sys.path.insert(0, str(Path(__file__).parent))
from reported import FORMS, published

EVIL = "</style></svg><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"
LONG = "w" * 250
A4 = {"width": 665, "height": 986}
"""Pixels of what a page of paper holds inside its margins."""

RENDERED = """() => [...document.querySelectorAll('figure svg')].map(drawing => ({
    box: drawing.getBoundingClientRect().width * drawing.getBoundingClientRect().height,
    marks: drawing.querySelectorAll('.mark-rect path, .mark-rule line').length,
    shown: getComputedStyle(drawing).overflow === 'visible',
    texts: [...drawing.querySelectorAll('text')].every(text => {
        const inner = text.getBoundingClientRect(), outer = document.body.getBoundingClientRect();
        return inner.left >= outer.left - 1 && inner.right <= outer.right + 1
            && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    }),
}))"""


@pytest.mark.parametrize("form", [*FORMS][:: count(2, 1)])
def test_a_page_opens_with_every_chart_and_asks_for_nothing(form: str, looking: Any, tmp_path: Path) -> None:
    data, path = published(tmp_path, form)
    made = shoal.report(data, path, holder=True)
    page = looking.open(made.write(tmp_path / "report.html")[0])
    assert looking.quiet, (looking.console, looking.errors)
    assert looking.requests == [(tmp_path / "report.html").resolve().as_uri()]
    drawings = page.evaluate(RENDERED)
    assert len(drawings) == len(made.pictures)
    assert all(
        drawing["box"] > 10_000 and drawing["marks"] and drawing["shown"] and drawing["texts"] for drawing in drawings
    ), drawings
    assert [each.inner_text() for each in page.query_selector_all(".sentences li")] == list(made.sentences)
    assert len(page.query_selector_all("h2[id]")) == 10
    anchors = page.evaluate("() => [...document.querySelectorAll('nav a')].map(a => a.getAttribute('href').slice(1))")
    assert all(page.query_selector(f"h2#{anchor}") for anchor in anchors) and len(anchors) == 9
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(set(ids)) == len(ids)


def test_names_that_would_run_stay_text(looking: Any, tmp_path: Path) -> None:
    table = pl.DataFrame({EVIL: [1, 2, 3, 4] * 3, LONG: ["f", "f", "m", "m"] * 3, "b{%raw%}": list("xyxyxy") * 2})
    data = shoal.read(table, quasi=[EVIL, LONG], sensitive=["b{%raw%}"])
    place = tmp_path / "a&b <i>.csv"
    shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1).write(place)
    made = shoal.report(data, place, recipient=EVIL + "\u202e", purpose=EVIL, author=EVIL, holder=True)
    page = looking.open(made.write(tmp_path / "report.html")[0])
    assert looking.quiet and len(looking.requests) == 1
    assert page.query_selector_all("script, img, i, iframe, object") == []
    shown = page.inner_text("body")
    assert "{{ 7*7 }}" in shown and "<script>alert(1)</script>" in shown and "\u202e" not in shown
    width = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "a long name makes the page scroll sideways"


def test_even_a_script_in_the_page_would_not_run(looking: Any, tmp_path: Path) -> None:
    data, path = published(tmp_path)
    text = shoal.report(data, path).html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]
    planted = text.replace("</footer>", "</footer><script>alert(1)</script><img src='https://example.org/x.png'>")
    (tmp_path / "report.html").write_text(planted)
    looking.open(tmp_path / "report.html")
    assert looking.dialogs == [] and len(looking.console) >= 2
    assert all("Content Security Policy" in said for said in looking.console), "both are stopped"


def test_the_first_page_is_one_sheet_and_nothing_is_cut_off(browser: Any, tmp_path: Path) -> None:
    import browser as browsers

    data, path = published(tmp_path)
    told = {"recipient": "the epidemiology group of the university of a large town", "author": "A. Officer"}
    made = shoal.report(data, path, **told, purpose="a study of age and region over ten years", holder=True)
    made.write(tmp_path / "report.html")
    with browsers.looking(browser, viewport=A4) as seen:
        page = seen.open(tmp_path / "report.html")
        page.emulate_media(media="print")
        assert page.evaluate("() => document.querySelector('.first').getBoundingClientRect().height") <= A4["height"]
        assert page.evaluate("() => document.documentElement.scrollWidth") <= A4["width"]
        printed = page.pdf(prefer_css_page_size=True)
        assert printed.startswith(b"%PDF") and 4 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 25
    with browsers.looking(browser, viewport={"width": 360, "height": 700}) as seen:
        page = seen.open(tmp_path / "report.html")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, "a telephone scrolls sideways"
