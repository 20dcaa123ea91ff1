"""Balance: how privacy and utility change with k, where they meet, and what that recommends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal import api
from shoal.core.schema import Role
from shoal.errors import ParameterError
from shoal.job import plugins
from shoal.job.file import toml
from shoal.plots import balance as plots
from shoal.tradeoff.balance import Balance
from shoal.web.candidates import chosen
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session

MOST_K = 200
STEPS = 10
"""Releases that are made along the curve."""
LOSS = "gcp"
"""What utility is where no column is to be told: the detail that is kept."""
RISK = "highest-risk"


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    held = session.job
    told = {
        "chosen": chosen(session), "target": held.target, "sweep": list(held.sweep),
        "targets": panel(lambda: {"names": _targets(session)}), "from": 2, "to": 20,
    }  # fmt: skip
    if held.sweep:
        told["balance"] = panel(lambda: _told(_found(session)))
    return told


def _targets(session: Session) -> list[dict[str, Any]]:
    """Columns that a classifier could be asked to tell: those that are published as they are."""
    look, columns = session.look(), session.job.columns
    kept = (Role.SENSITIVE, Role.PLAIN)
    return [
        {"place": place, "name": name}
        for place, name in enumerate(look.names)
        if name in columns and columns[name].role in kept and name not in look.unreadable
    ]


def _found(session: Session) -> Balance:
    held = replace(session.job, output=None, algorithm=plugins.plugin("algorithms", chosen(session)))
    task = session.work.task(
        ("balance", toml(held)), "work.balance", lambda run: api.balance_job(held, workers=1, run=run), long=True
    )
    found: Balance = session.result(task)
    return found


def _told(found: Balance) -> dict[str, Any]:
    told = found.as_dict()
    return {
        "summary": found.summary, "advice": told["advice"], "points": told["points"],
        "recommended": told["recommended"], "definitions": told["definitions"],
        "axis": found.axis.name if found.axis is not None else "",
        "balance": told["balance"],
    }  # fmt: skip


def begin(session: Session, given: Asked) -> None:
    """Takes what is swept, and what utility is."""
    first, last = (given.get(end, "") for end in ("from", "to"))
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) < int(last) <= MOST_K):
        raise ParameterError(f"k goes from a whole number to a larger one, up to {MOST_K}")
    step = max(1, (int(last) - int(first)) // (STEPS - 1))
    values = sorted({*range(int(first), int(last) + 1, step), int(last)})
    target = session.column(int(given["target"])) if given.get("target") else None
    changed = replace(
        session.job.without("balance"),
        target=target,
        sweep=(f"k={','.join(map(str, values))}",),
        privacy=(RISK,),
        utility=() if target else (LOSS,),
    )
    session.change(changed, "history.balance")


def take(session: Session, given: Asked) -> str:
    """Takes the k that is recommended."""
    model = plugins.plugin("models", {"name": "k-anonymity", "k": int(given["k"])})
    session.change(replace(session.job, models=session.job.models_with([model])), "history.policy")
    return "/candidates"


def draw(session: Session, asked: Asked) -> Any:
    return plots.curves(_found(session))


ACTIONS = {"begin": begin, "take": take}
PICTURES = {"curves": draw}
