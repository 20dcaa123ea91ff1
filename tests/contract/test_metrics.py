"""The same questions to every metric that the registry knows; what it is given is its own `examples`."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from making import by_form, cases, small, tells_no_value

import shoal
from shoal import registry
from shoal.core.finding import Finding, Findings
from shoal.errors import NotDefined
from shoal.job import plugin, spelled


@pytest.mark.parametrize(("name", "example"), cases("metrics"))
class TestMetric:
    def test_measures_every_form_or_says_why_not(self, name: str, example: Any) -> None:
        metric, answered = registry.make("metrics", name, dict(example)), 0
        for release in by_form().values():
            try:
                found = metric.score(small(), release)
            except NotDefined as reason:
                assert len(str(reason)) > 20 and tells_no_value(str(reason))
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
        for release in by_form().values():
            with suppress(NotDefined):
                twice = [registry.make("metrics", name, dict(example)).score(small(), release) for _ in range(2)]
                assert twice[0] == twice[1]
                compared += 1
        assert compared

    def test_evaluation_shows_it(self, name: str, example: Any, tmp_path: Path) -> None:
        metric = registry.make("metrics", name, dict(example))
        for form, release in by_form().items():
            release.write(tmp_path / f"{form}.csv")
            for given in (release, tmp_path / f"{form}.csv"):
                found = shoal.evaluate(small(), given, metric)[name]
                assert found.value is not None or found.how

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
