"""Attack it: what an adversary would get out of the chosen candidate."""

from __future__ import annotations

from typing import Any

from shoal import api
from shoal.core.contracts import Attempt
from shoal.core.run import Run
from shoal.web.candidates import candidate, chosen
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    return {"chosen": chosen(session), "attacks": panel(lambda: _attacks(session))}


def _attacks(session: Session) -> dict[str, Any]:
    made = candidate(session)

    def attacked(run: Run) -> tuple[tuple[Attempt, ...], dict[str, str]]:
        return api.every_attack(made.data, made.release, run=run)

    key = ("attacks", id(made))
    attempts, reasons = session.result(session.work.task(key, "work.attack", attacked, long=True))
    tiles = sorted((_tile(each) for each in attempts), key=lambda tile: (not tile["red"], -tile["worst"]))
    return {
        "tiles": tiles, "red": sum(tile["red"] for tile in tiles), "not_made": dict(reasons),
        "strongest": max(tiles, key=lambda tile: tile["success"] - tile["baseline"])["name"] if tiles else None,
    }  # fmt: skip


def _tile(attempt: Attempt) -> dict[str, Any]:
    told = attempt.as_dict()
    told.pop("detail", None)
    return {**told, "red": attempt.above > 0}
