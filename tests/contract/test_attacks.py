"""The same questions to every attack that the registry knows."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from making import by_form, cases, earlier, knowledge, small, tells_no_value

import shoal
from shoal import registry
from shoal.api import knowing
from shoal.core.contracts import Attempt, Known
from shoal.core.parameters import parameters
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.job import plugin, spelled

ALL = {"external": knowledge().external, "held_out": knowledge().held_out, "earlier": earlier()}


def known_by(release: shoal.Release, more: dict[str, Any]) -> Known:
    """What somebody knows who is told the same as `shoal.attack`."""
    given = {**more}
    return replace(knowing(small(), release, given.pop("earlier", ())), **given)


@pytest.mark.parametrize(("name", "example"), cases("attacks"))
class TestAttack:
    @pytest.mark.parametrize("more", [{}, ALL], ids=["alone", "with a register and earlier releases"])
    def test_figures_are_shares_or_there_is_a_reason(self, name: str, example: Any, more: dict[str, Any]) -> None:
        attack = registry.make("attacks", name, dict(example))
        for release in by_form().values():
            try:
                found = attack.attempt(small(), release, known_by(release, more), Run())
            except NotDefined as reason:
                assert len(str(reason)) > 20 and tells_no_value(str(reason))
                with pytest.raises(NotDefined, match=re.escape(str(reason))):
                    shoal.attack(small(), release, attack, **more)
                if registry.complete("attacks", name) and not example:
                    assert name not in {attempt.name for attempt in shoal.attack(small(), release, **more)}
                continue
            assert isinstance(found, Attempt) and found.name == name and found.knew and found.meaning
            for share in (found.success, found.baseline, found.worst, found.above, found.threshold):
                assert 0 <= share <= 1
            for share in (found.random, found.control, *(found.interval or ())):
                assert share is None or 0 <= share <= 1
            assert found.worst >= found.success - 1e-12, "no mean is above the worst record"
            assert (found.above > 0) == (found.worst > found.threshold)
            assert tells_no_value(repr(found)) and tells_no_value(repr(attack))
            json.dumps(found.as_dict(), allow_nan=False)
            assert shoal.attack(small(), release, attack, **more) == (found,)

    def test_it_can_be_tried_on_some_form(self, name: str, example: Any) -> None:
        attack, made = registry.make("attacks", name, dict(example)), 0
        for release in by_form().values():
            with suppress(NotDefined):
                made += bool(attack.attempt(small(), release, known_by(release, ALL), Run()))
        assert made

    def test_a_higher_threshold_leaves_fewer_above(self, name: str, example: Any) -> None:
        if "threshold" not in {parameter.name for parameter in parameters(registry.find("attacks", name))}:
            return
        compared = 0
        for release in by_form().values():
            shares = []
            with suppress(NotDefined):
                for threshold in (0.0, 0.1, 0.3, 0.6, 1.0):
                    attack = registry.make("attacks", name, {**example, "threshold": threshold})
                    shares.append(attack.attempt(small(), release, known_by(release, ALL), Run()).above)
                assert shares == sorted(shares, reverse=True) and shares[-1] == 0
                compared += 1
        assert compared

    def test_spelling_gives_it_back(self, name: str, example: Any) -> None:
        attack = registry.make("attacks", name, dict(example))
        assert plugin("attacks", spelled(attack)) == attack

    def test_documents_itself(self, name: str, example: Any) -> None:
        text = registry.find("attacks", name).__doc__ or ""
        for section in (r"\bnot\b", r"^ *Reference: ", r"^ *Example:\n *>>> "):
            assert re.search(section, text, re.MULTILINE), section
