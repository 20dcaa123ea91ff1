"""Attack it: what an adversary would get out of the chosen candidate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal import api
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.run import Run
from shoal.web.candidates import candidate, chosen
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    given = session.register
    return {
        "chosen": chosen(session), "register": None if given is None else given.name,
        "attacks": panel(lambda: _attacks(session, given)),
    }  # fmt: skip


def _register(session: Session, path: Path) -> Dataset:
    """The register of the attacker, with the columns that it has in common with the table."""
    data, missing = session.prepared(), session.job.missing
    task = session.work.task(
        ("register", str(path), session.policy_free()), "work.register",
        lambda run: api.beside(path, data, what="the register", missing=missing),
    )  # fmt: skip
    found: Dataset = session.result(task)
    return found


def _attacks(session: Session, given: Path | None) -> dict[str, Any]:
    made = candidate(session)
    register = None if given is None else _register(session, given)
    known = Known(external=register)

    def attacked(run: Run) -> tuple[tuple[Attempt, ...], dict[str, str]]:
        return api.every_attack(made.data, made.release, known, run)

    key = ("attacks", id(made), str(given))
    attempts, reasons = session.result(session.work.task(key, "work.attack", attacked, long=True))
    tiles = sorted((_tile(each) for each in attempts), key=lambda tile: (not tile["red"], -tile["worst"]))
    return {
        "tiles": tiles, "red": sum(tile["red"] for tile in tiles), "not_made": dict(reasons),
        "register": None if register is None else {"records": register.records, "columns": register.schema.quasi},
        "strongest": max(tiles, key=lambda tile: tile["success"] - tile["baseline"])["name"] if tiles else None,
    }  # fmt: skip


def _tile(attempt: Attempt) -> dict[str, Any]:
    told = attempt.as_dict()
    told.pop("detail", None)
    return {**told, "red": attempt.above > 0}


def forget(session: Session, given: Asked) -> None:
    """The attacker has no register after all."""
    session.give_attacker(None)


ACTIONS = {"forget": forget}
