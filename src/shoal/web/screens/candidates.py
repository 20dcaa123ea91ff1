"""Candidates: what is lost, and what risk is left, for each way to make the release."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice
from shoal.core.loss import by_level, misclassification
from shoal.core.schema import Role
from shoal.diagnosis.exposure import exposure
from shoal.errors import InputError, ParameterError, PlainColumnError, SchemaError
from shoal.job import plugins
from shoal.plots import lattice
from shoal.plots.candidates import chart
from shoal.web import candidates
from shoal.web.panels import panel
from shoal.web.screens import Fields
from shoal.web.session import PageSession
from shoal.web.work import PageTask


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    parts = {"candidates": panel(lambda: _candidates(session))}
    if "lattice" in query:
        parts["lattice"] = panel(lambda: _node(session, query))
    return parts


def _algorithms(session: PageSession) -> list[str]:
    names = list(dict.fromkeys([*candidates.USUAL, *session.tried]))
    own = candidates.chosen_algorithm(session)
    return names if own in names else [*names, own]


def _candidates(session: PageSession) -> dict[str, Any]:
    if not session.prepared().schema.quasi:
        raise InputError("name columns that outsiders may know first")
    tasks = {spec: candidates.task(session, spec) for spec in _algorithms(session)}
    session.work.wait_for(next(iter(tasks.values())))
    rows = [_row(session, spec, task) for spec, task in tasks.items()]
    finished = [row for row in rows if row["state"] == "done" and row["loss"] is not None]
    blocked = next((task.cause for task in tasks.values() if isinstance(task.cause, PlainColumnError)), None)
    names = session.look().names
    return {
        "rows": rows, "busy": any(task.active for task in tasks.values()),
        "chosen": candidates.chosen_algorithm(session),
        "best": min(finished, key=lambda row: row["loss"])["spec"] if finished else None,
        "drawn": [row["spec"] for row in finished if row["average_risk"] is not None],
        "others": [
            {"name": name, "about": candidates.about(name)}
            for name in candidates.available_algorithms()
            if name not in tasks
        ],
        "plain": [
            {"place": names.index(name), "name": name, "reason": reason}
            for name, reason in (blocked.columns if blocked is not None else {}).items()
        ],
        "pinned": [row for row in rows if row["spec"] in session.pinned and row["state"] == "done"],
    }  # fmt: skip


def _row(session: PageSession, spec: str, task: PageTask[candidates.Candidate]) -> dict[str, Any]:
    state, candidate = task.state, task.result  # in this order: what is done has its result
    facts = {"loss": None, "average_risk": None} if candidate is None else candidate.facts()
    row = {**facts, "spec": spec, "state": str(state), "task": task.as_dict(), "pinned": spec in session.pinned}
    row["title"] = candidates.title(spec)
    row["schema"] = isinstance(task.cause, SchemaError)
    return {**row, "about": candidates.about(spec.partition(":")[0])}


def _node(session: PageSession, query: Fields) -> dict[str, Any]:
    """Any node of the lattice: each column at the level that is chosen for it."""
    data, look = session.prepared(), session.look()
    nodes = Lattice.of(data.hierarchies)
    optimum = _levels(session)
    levels = []
    for name, tree in zip(data.schema.quasi, data.hierarchies, strict=True):
        text = query.get(f"level-{look.names.index(name)}", "")
        level = int(text) if text.isdigit() else optimum.get(name, 0)
        levels.append(min(level, tree.height))
    findings = exposure(data.summary.generalize(levels), candidates_k(session))
    below = findings.get("people-below-k") or findings["records-below-k"]
    alone = findings.get("unique-people") or findings["unique-records"]
    losses = _losses(data, levels)
    assert isinstance(below.value, int)
    allowed = int(session.job.suppression * data.records)
    return {
        "size": nodes.size, "k": findings["k"].value, "wanted": candidates_k(session), "below": below.value,
        "holds": below.value <= allowed, "alone": alone.value, "classes": findings["classes"].value,
        "loss": sum(losses.values()) / max(len(losses), 1), "drawn": bool(optimum),
        "columns": [
            {"place": look.names.index(name), "name": name, "level": level, "height": tree.height, "lost": losses[name]}
            for name, level, tree in zip(data.schema.quasi, levels, data.hierarchies, strict=True)
        ],
    }  # fmt: skip


def candidates_k(session: PageSession) -> int:
    """The least size of a group that the policy asks for."""
    return max((model.least for model in session.job.models), default=1)


def _losses(data: Dataset, levels: list[int]) -> dict[str, float]:
    """What LM charges for each column at a level, in the mean over all records."""
    losses = {}
    summary = data.summary
    for name, tree, keys, level in zip(data.schema.quasi, data.hierarchies, summary.keys, levels, strict=True):
        charge = partial(misclassification, least=int(keys.min()), greatest=int(keys.max()))
        losses[name] = float(np.average(by_level(tree, charge)[level][keys], weights=summary.sizes))
    return losses


def _levels(session: PageSession) -> dict[str, int]:
    """The levels of the proven optimum, once it is there."""
    optimum = candidates.task(session, "optimal").result
    return {} if optimum is None else dict(optimum.levels or {})


def try_algorithm(session: PageSession, form: Fields) -> None:
    """Makes a further candidate."""
    spec = plugins.written(plugins.plugin("algorithms", form["spec"]))
    if spec not in session.tried:
        session.tried.append(spec)


def try_levels(session: PageSession, form: Fields) -> str:
    """Makes a candidate with these levels and no others; the policy must hold for it as for any."""
    data, look = session.prepared(), session.look()
    texts = {name: form.get(f"level-{look.names.index(name)}", "") for name in data.schema.quasi}
    if not all(level.isdigit() for level in texts.values()):
        raise ParameterError("choose a level for every column")
    levels = {name: int(level) for name, level in texts.items()}
    if any(set(name) & set("|,") or name != name.strip() for name in levels):
        raise ParameterError(
            "columns whose names contain commas, bars or outer spaces cannot be tried this way; rename them"
        )
    spec = {"name": "optimal", "least_levels": levels, "greatest_levels": levels}
    try_algorithm(session, {"spec": plugins.written(plugins.plugin("algorithms", spec))})
    return "/candidates"


def choose(session: PageSession, form: Fields) -> str:
    """The candidate that is looked at, attacked and handed over."""
    session.change(
        replace(session.job, algorithm=plugins.plugin("algorithms", form["spec"])),
        "history.algorithm",
        name=form["spec"],
    )
    return "/before-after" if form.get("go") else "/candidates"


def pin(session: PageSession, form: Fields) -> None:
    spec = form["spec"]
    session.pinned = [each for each in session.pinned if each != spec] + [spec] * (spec not in session.pinned)


def settle(session: PageSession, form: Fields) -> None:
    """What becomes of a column without a role that gives people away: dropped, made coarser, or published all the
    same."""
    name, how = session.column(int(form["column"])), form["how"]
    roles = {"drop": Role.DROP, "coarsen": Role.QUASI}
    if how in roles:
        session.change_column(name, "history.role", role=roles[how])
    elif how == "allow":
        allowed = (*session.job.allow_plain, name)
        session.change(replace(session.job, allow_plain=allowed), "history.allowed", column=name)
    else:
        raise ParameterError("there is no such choice")


def draw(session: PageSession, query: Fields) -> Any:
    results = [candidates.task(session, spec).result for spec in _algorithms(session)]
    finished = {candidates.title(each.spec): each.facts() for each in results if each is not None}
    return chart(finished, k=candidates_k(session))


def draw_lattice(session: PageSession, query: Fields) -> Any:
    optimum = session.result(candidates.task(session, "optimal"))
    return lattice.chart(optimum.data.hierarchies, optimum.release.recoding)


ACTIONS = {"try": try_algorithm, "levels": try_levels, "choose": choose, "pin": pin, "settle": settle}
PICTURES = {"candidates": draw, "lattice": draw_lattice}
