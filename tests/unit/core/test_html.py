"""What a notebook shows: names and counts, escaped, and no cell's value."""

from __future__ import annotations

from html.parser import HTMLParser

import polars
import pytest

import shoal

SCRIPT = "town<script>"


class Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data + " "


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    rows = {SCRIPT: ["canary-1", "canary-2"] * 8, "age": [70001, 70002, 70003, 70004] * 4, "ill": ["canary-3"] * 16}
    return shoal.read(polars.DataFrame(rows), quasi=[SCRIPT, "age"], sensitive=["ill"])


@pytest.mark.parametrize(
    "made",
    [
        lambda data: data,
        lambda data: shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1),
        lambda data: shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)),
        lambda data: shoal.ask(data, k=3),
        lambda data: shoal.ask(data, attributes=[SCRIPT]),
        lambda data: shoal.detect(data),
        lambda data: shoal.dependencies(data),
    ],
    ids=["dataset", "release", "findings", "borders", "answer", "detection", "dependencies"],
)
def test_names_are_escaped_and_values_are_not_shown(made: object, data: shoal.Dataset) -> None:
    shown = made(data)._repr_html_()  # type: ignore[operator]
    read = Read()
    read.feed(shown)
    assert read.tags <= {"p", "table", "thead", "tbody", "tr", "th", "td"} and "table" in read.tags
    assert "canary" not in read.text and "7000" not in read.text


def test_a_dataset_shows_its_columns(data: shoal.Dataset) -> None:
    read = Read()
    read.feed(data._repr_html_())
    assert SCRIPT in read.text and "16 records" in read.text
