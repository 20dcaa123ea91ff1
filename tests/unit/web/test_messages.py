"""The words: every message in every language, and every message that is asked for."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from markupsafe import Markup

import shoal.web
from shoal.core.schema import Kind, Role
from shoal.web.candidates import available_algorithms
from shoal.web.messages import Words, languages, preferred, table

FOLDER = Path(shoal.web.__file__).parent
SOURCES = [*FOLDER.rglob("*.html"), *FOLDER.rglob("*.py")]


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", table())
def test_every_message_is_there_in_every_language_with_the_same_holes(key: str) -> None:
    entry = table()[key]
    assert set(entry) == set(languages()) >= {"en", "de"}
    assert all(text.strip() for text in entry.values())
    assert len({frozenset(holes(text)) for text in entry.values()}) == 1 or key == "number.separators"


def asked_for() -> set[str]:
    found = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"""say\(\s*["']([\w.-]+)["']\s*[,)]""", text))
        found |= set(re.findall(r"""["']((?:history|work|error|hand_over)\.[\w-]+)["']""", text))
        found |= {
            each
            for pair in re.findall(r"""say\(["']([\w.]+)["'] if .*? else ["']([\w.]+)["']""", text)
            for each in pair
        }
    return found


def test_every_message_that_is_asked_for_is_in_the_table() -> None:
    wanted = asked_for()
    assert len(wanted) > 40
    assert wanted - set(table()) == set()
    for part in ("recipient", "purpose", "author"):
        assert f"hand_over.{part}" in table()
    for made in (*(f"role.{role}" for role in Role), *(f"kind.{kind}" for kind in Kind)):
        assert made in table()


def test_numbers_are_written_as_readers_of_the_language_do() -> None:
    assert Words("en").number(1234567) == "1,234,567"
    assert Words("de").number(1234567) == "1.234.567"
    assert Words("de").share(0.0123) == "1,2\u202f%"
    assert Words("de")("exposed.alone", alone=3109, people=30162) == "3.109 von 30.162 Personen stehen allein."


def test_the_language_is_the_browsers_unless_there_is_no_such_one() -> None:
    assert preferred("fr-FR, de;q=0.3, en;q=0.7") == "en"
    assert preferred("de-CH") == "de"
    assert preferred("nonsense;q=x") == "en"


def test_markup_among_the_values_stays_markup_and_nothing_else_does() -> None:
    said = Words("de")("work.failed", error=Markup('<span lang="en">too {old}</span>'))
    assert said == 'Das hat nicht geklappt: <span lang="en">too {old}</span>.' and isinstance(said, Markup)
    assert not isinstance(Words("de")("work.failed", error="<b>"), Markup)


def test_every_algorithm_of_the_page_has_a_plain_name() -> None:
    names = available_algorithms()
    assert len(names) > 15
    assert [name for name in names if f"method.{name}" not in table()] == []
