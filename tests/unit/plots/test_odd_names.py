"""Pictures of tables whose columns have names that would run as script, steer a terminal or break a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import shoal
from shoal.plots.diagnosis import picture as answered
from shoal.plots.release import picture

pytest.importorskip("altair")
SCRIPT = "</script><script>alert(1)</script><!--<script>"
ODD = "a\ufffe\"'\\&<b>"


class Page(HTMLParser):
    """What a browser sees of a page: its tags, and the scripts that it would run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script":
            self.scripts[-1] += data


def texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, (list, dict)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from texts(inner)


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    frame = pl.DataFrame({SCRIPT: ["f", "f", "m", "m"] * 3, ODD: [1, 2, 3, 4] * 3})
    return shoal.read(frame, quasi=[SCRIPT, ODD])


@pytest.fixture(params=["levels", "classes", "sets", "curve"])
def drawn(request: pytest.FixtureRequest, data: shoal.Dataset):
    if request.param == "sets":
        return lambda path: answered(shoal.ask(data, k=4), path)
    if request.param == "curve":
        return lambda path: answered(shoal.ask(data, attributes=[SCRIPT], delta="ask"), path)
    algorithm = "optimal" if request.param == "levels" else "mondrian"
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm=algorithm)
    return lambda path: picture(data, release, path)


def test_a_page_runs_no_name_and_loads_nothing(drawn, tmp_path: Path) -> None:
    text = drawn(tmp_path / "p.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags == ["html", "head", "meta", "style", "script", "body", "div", "script"] and page.links == []
    last = page.scripts[-1]
    assert "alert" not in re.sub(r'"(\\.|[^"\\])*"', "", last), "a name stands outside the strings"
    spec = json.loads(re.search(r"const spec = (.*);\n", last)[1])
    assert spec["$schema"] and not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f\u2028\u202e]", json.dumps(spec, ensure_ascii=False)
    )
    actions = json.loads(re.search(r"const embedOpt = (.*);\n", last)[1])["actions"]
    assert actions == {"export": True, "source": False, "compiled": False, "editor": False}


def test_a_drawing_is_well_formed(drawn, tmp_path: Path) -> None:
    tree = ElementTree.parse(drawn(tmp_path / "p.svg"))
    assert not [node.tag for node in tree.iter() if node.tag.endswith("script")]
    assert drawn(tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
