"""The same questions to every metric that the registry knows; what it is given is its own `examples`."""

from __future__ import annotations

import json
import re
from functools import cache
from math import isfinite
from typing import Any

import pytest
from counts import LONG
from making import by_form, cases, small, tells_no_value, written

import shoal
from shoal import registry
from shoal.api import open_release
from shoal.core.finding import Finding, Findings
from shoal.errors import NotDefined
from shoal.job import plugin, spelled

_SCORES: dict[tuple[str, ...], Finding | NotDefined] = {}


def scored(name: str, example: Any, form: str) -> Finding | NotDefined:
    """What a metric says of a release of a form: a finding, or why there is none. It is measured once."""
    key = (name, repr(example), form)
    if key not in _SCORES:
        try:
            _SCORES[key] = registry.make("metrics", name, dict(example)).score(small(), by_form()[form])
        except NotDefined as reason:
            _SCORES[key] = reason
    return _SCORES[key]


@cache
def opened_file(form: str) -> shoal.Release:
    """A release of a form as it is read from its files."""
    return open_release(written(by_form()[form]), small())


@pytest.mark.parametrize(("name", "example"), cases("metrics"))
class TestMetric:
    def test_measures_every_form_or_says_why_not(self, name: str, example: Any) -> None:
        answered = 0
        for form in by_form():
            found = scored(name, example, form)
            if isinstance(found, NotDefined):
                assert len(str(found)) > 20 and tells_no_value(str(found))
                continue
            assert isinstance(found, Finding) and found.name == name and found.how
            if found.value is not None:
                assert isfinite(found.value) and found.value >= 0
                answered += 1
            json.dumps(Findings((found,)).as_dict(), allow_nan=False)
            assert tells_no_value(repr(found))
        assert answered, "it measures no form at all"

    def test_is_a_function_of_the_release(self, name: str, example: Any) -> None:
        """Another instance, asked again, says the same to the last bit."""
        compared = 0
        for form, release in by_form().items():
            found = scored(name, example, form)
            if isinstance(found, Finding):
                assert registry.make("metrics", name, dict(example)).score(small(), release) == found
                compared += 1
        assert compared

    def test_evaluation_shows_it(self, name: str, example: Any) -> None:
        """What a figure is compared with is the same for every form: one has it."""
        metric = registry.make("metrics", name, dict(example))
        for form, release in by_form().items():
            measured = scored(name, example, form)
            shown = shoal.evaluate(small(), release, metric, baselines=LONG or form == "generalized")[name]
            assert shown.value == (measured.value if isinstance(measured, Finding) else None)
            read = shoal.evaluate(small(), opened_file(form), metric, baselines=LONG)[name]
            for finding in (shown, read):
                assert finding.value is not None or finding.how

    def test_spelling_gives_it_back(self, name: str, example: Any) -> None:
        metric = registry.make("metrics", name, dict(example))
        assert plugin("metrics", spelled(metric)) == metric

    def test_documents_itself(self, name: str, example: Any) -> None:
        text = registry.find("metrics", name).__doc__ or ""
        for section in (r"\b(not|only)\b", r"^ *Reference: ", r"^ *Example:\n *>>> "):
            assert re.search(section, text, re.MULTILINE), section


def test_evaluation_without_names_leaves_out_what_needs_a_parameter() -> None:
    found = {finding.name for finding in shoal.evaluate(small(), by_form()["generalized"])}
    complete = {name for name in registry.names("metrics") if registry.complete("metrics", name)}
    assert complete <= found and not (set(registry.names("metrics")) - complete) & found


def test_what_the_definition_says_of_the_table_itself_is_so() -> None:
    from shoal.api.evaluating import references

    original = references(small(), None)["original"]
    said = [
        registry.make("metrics", name, {}) for name in registry.names("metrics") if registry.complete("metrics", name)
    ]
    flawless = [metric for metric in said if metric.flawless is not None]
    assert flawless
    for metric in flawless:
        assert metric.score(small(), original).value == metric.flawless
