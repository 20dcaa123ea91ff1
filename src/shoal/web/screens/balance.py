"""Balance: how privacy and utility change with k, where they meet, and what that recommends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal import api
from shoal.core.schema import Role
from shoal.errors import ParameterError
from shoal.job import plugins
from shoal.job.file import toml
from shoal.job.job import Job
from shoal.plots import balance as plots
from shoal.tradeoff.balance import Balance
from shoal.web.candidates import chosen_algorithm
from shoal.web.panels import panel
from shoal.web.screens import Fields
from shoal.web.session import PageSession

MOST_K = 200
STEPS = 10
"""Releases that are made along the curve."""
LOSS = "gcp"
"""What utility is where no column is to be told: the detail that is kept."""
RISK = "highest-risk"


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    job = session.job
    parts = {
        "chosen": chosen_algorithm(session), "target": job.target, "sweep": list(job.sweep),
        "targets": panel(lambda: {"names": _targets(session)}), "from": 2, "to": min(MOST_K, max(20, 2 * _asked(job))),
    }  # fmt: skip
    if job.sweep:
        parts["balance"] = panel(lambda: _balance_facts(_balance(session)))
    return parts


def _asked(job: Job) -> int:
    """The k that the policy asks for."""
    return max((model.least for model in job.models if model.by_size), default=1)


def _targets(session: PageSession) -> list[dict[str, Any]]:
    """Columns that a classifier could be asked to tell: those that are published as they are."""
    look, columns = session.look(), session.job.columns
    roles = (Role.SENSITIVE, Role.PLAIN)
    return [
        {"place": place, "name": name}
        for place, name in enumerate(look.names)
        if name in columns and columns[name].role in roles and name not in look.unreadable
    ]


def _balance(session: PageSession) -> Balance:
    job = replace(session.job, output=None, algorithm=plugins.plugin("algorithms", chosen_algorithm(session)))
    task = session.work.task(
        ("balance", toml(job)), "work.balance", lambda run: api.balance_job(job, workers=1, run=run), long=True
    )
    return session.result(task)


def _balance_facts(balance: Balance) -> dict[str, Any]:
    figures = balance.as_dict()
    return {
        "summary": balance.summary, "advice": figures["advice"], "points": figures["points"],
        "recommended": figures["recommended"], "definitions": figures["definitions"],
        "axis": balance.axis.name if balance.axis is not None else "",
        "balance": figures["balance"],
    }  # fmt: skip


def begin(session: PageSession, form: Fields) -> None:
    """Takes what is swept, and what utility is."""
    first, last = (form.get(end, "") for end in ("from", "to"))
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) < int(last) <= MOST_K):
        raise ParameterError(f"k must go from a whole number to a larger one, up to {MOST_K}")
    step = max(1, (int(last) - int(first)) // (STEPS - 1))
    asked = {_asked(session.job)} & set(range(int(first), int(last) + 1))
    values = sorted({*range(int(first), int(last) + 1, step), int(last), *asked})
    target = session.column(int(form["target"])) if form.get("target") else None
    changed = replace(
        session.job.without("balance"),
        target=target,
        sweep=(f"k={','.join(map(str, values))}",),
        privacy=(RISK,),
        utility=() if target else (LOSS,),
    )
    session.change(changed, "history.balance")


def take(session: PageSession, form: Fields) -> str:
    """Takes the k that is recommended."""
    model = plugins.plugin("models", {"name": "k-anonymity", "k": int(form["k"])})
    session.change(replace(session.job, models=session.job.models_with([model])), "history.policy")
    return "/candidates"


def draw(session: PageSession, query: Fields) -> Any:
    return plots.curves(_balance(session))


ACTIONS = {"begin": begin, "take": take}
PICTURES = {"curves": draw}
