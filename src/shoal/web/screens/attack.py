"""Attack it: what an adversary would get out of the chosen candidate."""

from __future__ import annotations

from typing import Any

from shoal import api
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.run import Run
from shoal.web.candidates import chosen_algorithm, chosen_candidate
from shoal.web.panels import panel
from shoal.web.screens import Fields
from shoal.web.session import PageSession


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    register = session.register
    return {
        "chosen": chosen_algorithm(session), "register": None if register is None else register.name,
        "attacks": panel(lambda: _attacks(session)),
    }  # fmt: skip


def register_of(session: PageSession) -> Dataset | None:
    """The register of the attacker, if there is one, with the columns that it has in common with the table."""
    path = session.register
    if path is None:
        return None
    data, missing = session.prepared(), session.job.missing
    task = session.work.task(
        ("register", str(path), session.policy_free()), "work.register",
        lambda run: api.read_beside(path, data, what="the register", missing=missing),
    )  # fmt: skip
    return session.result(task)


def _attacks(session: PageSession) -> dict[str, Any]:
    candidate, register = chosen_candidate(session), register_of(session)
    known = Known(external=register)

    def attack(run: Run) -> tuple[tuple[Attempt, ...], dict[str, str]]:
        return api.every_attack(candidate.data, candidate.release, known, run)

    key = ("attacks", id(candidate), str(session.register))
    attempts, reasons = session.result(session.work.task(key, "work.attack", attack, long=True))
    tiles = sorted((_tile(each) for each in attempts), key=lambda tile: (not tile["red"], -tile["worst"]))
    return {
        "tiles": tiles, "red": sum(tile["red"] for tile in tiles), "not_made": dict(reasons),
        "register": None if register is None else {"records": register.records, "columns": register.schema.quasi},
        "strongest": max(tiles, key=lambda tile: tile["success"] - tile["baseline"])["name"] if tiles else None,
    }  # fmt: skip


def _tile(attempt: Attempt) -> dict[str, Any]:
    figures = attempt.as_dict()
    figures.pop("detail", None)
    return {**figures, "red": attempt.above > 0}


def forget(session: PageSession, form: Fields) -> None:
    """The attacker has no register after all."""
    session.give_attacker(None)


ACTIONS = {"forget": forget}
