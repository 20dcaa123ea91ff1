"""The same questions to every attack that the registry knows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from counts import LONG
from making import by_form, cases, earlier, knowledge, small, tells_no_value

import shoal
from shoal import registry
from shoal.api import knowledge_of
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.parameters import parameters
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.job import plugin, spelled

ALONE, INFORMED = "alone", "with a register and earlier releases"
THRESHOLDS = (0.0, 0.1, 0.3, 0.6, 1.0) if LONG else (1.0,)
"""Besides its own: nobody is above the highest, whatever an attack finds."""


def given(attacker: str) -> dict[str, Any]:
    """What an attacker has besides the release, as `shoal.attack` takes it."""
    if attacker == ALONE:
        return {}
    return {"external": knowledge().external, "held_out": knowledge().held_out, "earlier": earlier()}


def known_by(release: shoal.Release, attacker: str) -> Known:
    """What an attacker knows who is told the same as `shoal.attack`."""
    more = given(attacker)
    return replace(knowledge_of(small(), release, more.pop("earlier", ())), **more)


_ATTEMPTS: dict[tuple[str, ...], Attempt | NotDefined] = {}


def attempted(name: str, example: Any, form: str, attacker: str) -> Attempt | NotDefined:
    """What `shoal.attack` says of a release of a form: an attempt, or why there is none. It is made once."""
    key = (name, repr(example), form, attacker)
    if key not in _ATTEMPTS:
        attack = registry.make("attacks", name, dict(example))
        try:
            (_ATTEMPTS[key],) = shoal.attack(small(), by_form()[form], attack, **given(attacker))
        except NotDefined as reason:
            _ATTEMPTS[key] = reason
    return _ATTEMPTS[key]


@cache
def made_without_being_named(form: str, attacker: str) -> frozenset[str]:
    """The attacks that are made on a release when none is named."""
    return frozenset(attempt.name for attempt in shoal.attack(small(), by_form()[form], **given(attacker)))


def takes_threshold(name: str) -> bool:
    return "threshold" in {parameter.name for parameter in parameters(registry.find("attacks", name))}


def possible_forms(name: str, example: Any, attacker: str) -> list[str]:
    """The forms on which an attack can be made; the examples of all attacks take turns at which comes first."""
    found = [form for form in by_form() if isinstance(attempted(name, example, form, attacker), Attempt)]
    turn = [case.values for case in cases("attacks")].index((name, example)) % max(len(found), 1)
    return found[turn:] + found[:turn]


_AGAIN: dict[tuple[str, ...], Attempt] = {}


def again(name: str, example: Any, form: str, attacker: str) -> Attempt:
    """What another instance finds itself, not by way of `shoal.attack`. Every day it has the highest threshold, so that
    two questions can be asked of it."""
    key = (name, repr(example), form, attacker)
    if key not in _AGAIN:
        highest = {} if LONG or not takes_threshold(name) else {"threshold": THRESHOLDS[-1]}
        attack = registry.make("attacks", name, {**example, **highest})
        _AGAIN[key] = attack.attempt(small(), by_form()[form], known_by(by_form()[form], attacker), Run())
    return _AGAIN[key]


@pytest.mark.parametrize(("name", "example"), cases("attacks"))
class TestAttack:
    @pytest.mark.parametrize("attacker", [ALONE, INFORMED])
    def test_figures_are_shares_or_there_is_a_reason(self, name: str, example: Any, attacker: str) -> None:
        attack = registry.make("attacks", name, dict(example))
        for form in by_form():
            found = attempted(name, example, form, attacker)
            if isinstance(found, NotDefined):
                assert len(str(found)) > 20 and tells_no_value(str(found))
                if registry.complete("attacks", name) and not example:
                    assert name not in made_without_being_named(form, attacker)
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

    @pytest.mark.parametrize("attacker", [ALONE, INFORMED] if LONG else [INFORMED])
    def test_another_instance_says_the_same_again(self, name: str, example: Any, attacker: str) -> None:
        """The attack itself says what `shoal.attack` said, to the last bit: on one form on which it can be made, in
        which the examples take turns, and one on which it cannot; with `LONG` on all."""
        possible = possible_forms(name, example, attacker)
        impossible = [form for form in by_form() if form not in possible]
        for form in by_form() if LONG else (*possible[:1], *impossible[:1]):
            expected = attempted(name, example, form, attacker)
            if isinstance(expected, NotDefined):
                with pytest.raises(NotDefined, match=re.escape(str(expected))):
                    again(name, example, form, attacker)
                continue
            found = again(name, example, form, attacker)
            if found.threshold != expected.threshold:  # only these are about who is above it
                gained = {name: expected.detail[name] for name in ("gained",) if name in expected.detail}
                detail = {**found.detail, **gained}
                found = replace(found, threshold=expected.threshold, above=expected.above, detail=detail)
            assert found == expected

    def test_it_can_be_tried_on_some_form(self, name: str, example: Any) -> None:
        assert any(isinstance(attempted(name, example, form, INFORMED), Attempt) for form in by_form())

    def test_a_higher_threshold_leaves_fewer_above(self, name: str, example: Any) -> None:
        """On one form on which it can be made; with `LONG` on all."""
        if not takes_threshold(name):
            return
        possible = possible_forms(name, example, INFORMED)
        assert possible
        for form in possible if LONG else possible[:1]:
            own = attempted(name, example, form, INFORMED)
            assert isinstance(own, Attempt)
            above = {own.threshold: own.above}
            for threshold in THRESHOLDS:
                if LONG:
                    attack = registry.make("attacks", name, {**example, "threshold": threshold})
                    (found,) = shoal.attack(small(), by_form()[form], attack, **given(INFORMED))
                else:
                    found = again(name, example, form, INFORMED)
                assert found.threshold == threshold
                above[threshold] = found.above
            shares = [above[threshold] for threshold in sorted(above)]
            assert shares == sorted(shares, reverse=True) and shares[-1] == 0

    def test_spelling_gives_it_back(self, name: str, example: Any) -> None:
        attack = registry.make("attacks", name, dict(example))
        assert plugin("attacks", spelled(attack)) == attack

    def test_documents_itself(self, name: str, example: Any) -> None:
        text = registry.find("attacks", name).__doc__ or ""
        for section in (r"\bnot\b", r"^ *Reference: ", r"^ *Example:\n *>>> "):
            assert re.search(section, text, re.MULTILINE), section
