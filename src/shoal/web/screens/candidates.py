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
from shoal.web.screens import Asked
from shoal.web.session import Session
from shoal.web.work import State, Task


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    told = {"candidates": panel(lambda: _candidates(session))}
    if "lattice" in asked:
        told["lattice"] = panel(lambda: _node(session, asked))
    return told


def _tried(session: Session) -> list[str]:
    names = list(dict.fromkeys([*candidates.USUAL, *session.tried]))
    own = candidates.chosen(session)
    return names if own in names else [*names, own]


def _candidates(session: Session) -> dict[str, Any]:
    if not session.prepared().schema.quasi:
        raise InputError("name columns that outsiders may know first")
    tasks = {spec: candidates.task(session, spec) for spec in _tried(session)}
    session.work.awaited(next(iter(tasks.values())))
    rows = [_row(session, spec, task) for spec, task in tasks.items()]
    done = [row for row in rows if row["state"] == "done" and row["loss"] is not None]
    blocked = next((task.cause for task in tasks.values() if isinstance(task.cause, PlainColumnError)), None)
    names = session.look().names
    return {
        "rows": rows, "busy": any(task.active for task in tasks.values()), "chosen": candidates.chosen(session),
        "best": min(done, key=lambda row: row["loss"])["spec"] if done else None,
        "drawn": [row["spec"] for row in done if row["average_risk"] is not None],
        "others": [
            {"name": name, "about": candidates.about(name)} for name in candidates.offered() if name not in tasks
        ],
        "plain": [
            {"place": names.index(name), "name": name, "reason": reason}
            for name, reason in (blocked.columns if blocked is not None else {}).items()
        ],
        "pinned": [row for row in rows if row["spec"] in session.pinned and row["state"] == "done"],
    }  # fmt: skip


def _row(session: Session, spec: str, task: Task) -> dict[str, Any]:
    held = task.result.facts() if task.state is State.DONE else {"loss": None, "average_risk": None}
    told = {**held, "spec": spec, "state": str(task.state), "task": task.as_dict(), "pinned": spec in session.pinned}
    told["title"] = candidates.title(spec)
    told["schema"] = isinstance(task.cause, SchemaError)
    return {**told, "about": candidates.about(spec.partition(":")[0])}


def _node(session: Session, asked: Asked) -> dict[str, Any]:
    """Any node of the lattice: each column at the level that is chosen for it."""
    data, look = session.prepared(), session.look()
    nodes = Lattice.of(data.hierarchies)
    taken = _levels(session)
    levels = []
    for name, tree in zip(data.schema.quasi, data.hierarchies, strict=True):
        text = asked.get(f"level-{look.names.index(name)}", "")
        level = int(text) if text.isdigit() else taken.get(name, 0)
        levels.append(min(level, tree.height))
    found = exposure(data.summary.generalize(levels), candidates_k(session))
    below = found.get("people-below-k") or found["records-below-k"]
    alone = found.get("unique-people") or found["unique-records"]
    losses = _losses(data, levels)
    assert isinstance(below.value, int)
    allowed = int(session.job.suppression * data.records)
    return {
        "size": nodes.size, "k": found["k"].value, "wanted": candidates_k(session), "below": below.value,
        "holds": below.value <= allowed, "alone": alone.value, "classes": found["classes"].value,
        "loss": sum(losses.values()) / max(len(losses), 1), "drawn": bool(taken),
        "columns": [
            {"place": look.names.index(name), "name": name, "level": level, "height": tree.height, "lost": losses[name]}
            for name, level, tree in zip(data.schema.quasi, levels, data.hierarchies, strict=True)
        ],
    }  # fmt: skip


def candidates_k(session: Session) -> int:
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


def _levels(session: Session) -> dict[str, int]:
    """The levels of the proven optimum, once it is there."""
    task = candidates.task(session, "optimal")
    return dict(task.result.levels or {}) if task.state is State.DONE else {}


def try_algorithm(session: Session, given: Asked) -> None:
    """Makes a further candidate."""
    spec = plugins.written(plugins.plugin("algorithms", given["spec"]))
    if spec not in session.tried:
        session.tried.append(spec)


def try_levels(session: Session, given: Asked) -> str:
    """Makes a candidate with these levels and no others; the policy must hold for it as for any."""
    data, look = session.prepared(), session.look()
    asked = {name: given.get(f"level-{look.names.index(name)}", "") for name in data.schema.quasi}
    if not all(level.isdigit() for level in asked.values()):
        raise ParameterError("choose a level for every column")
    levels = {name: int(level) for name, level in asked.items()}
    if any(set(name) & set("|,") or name != name.strip() for name in levels):
        raise ParameterError("columns whose names have commas, bars or outer blanks cannot be tried so; rename them")
    wanted = {"name": "optimal", "least_levels": levels, "greatest_levels": levels}
    try_algorithm(session, {"spec": plugins.written(plugins.plugin("algorithms", wanted))})
    return "/candidates"


def choose(session: Session, given: Asked) -> str:
    """The candidate that is looked at, attacked and handed over."""
    session.change(
        replace(session.job, algorithm=plugins.plugin("algorithms", given["spec"])),
        "history.algorithm",
        name=given["spec"],
    )
    return "/before-after" if given.get("go") else "/candidates"


def pin(session: Session, given: Asked) -> None:
    spec = given["spec"]
    session.pinned = [each for each in session.pinned if each != spec] + [spec] * (spec not in session.pinned)


def settle(session: Session, given: Asked) -> None:
    """What becomes of a column without a role that gives people away: dropped, made coarser, or published all the
    same."""
    name, how = session.column(int(given["column"])), given["how"]
    roles = {"drop": Role.IDENTIFIER, "coarsen": Role.QUASI}
    if how in roles:
        session.change_column(name, "history.role", role=roles[how])
    elif how == "allow":
        allowed = (*session.job.allow_plain, name)
        session.change(replace(session.job, allow_plain=allowed), "history.allowed", column=name)
    else:
        raise ParameterError("there is no such choice")


def draw(session: Session, asked: Asked) -> Any:
    done = [candidates.task(session, spec) for spec in _tried(session)]
    found = {candidates.title(task.result.spec): task.result.facts() for task in done if task.state is State.DONE}
    return chart(found, k=candidates_k(session))


def draw_lattice(session: Session, asked: Asked) -> Any:
    made: candidates.Candidate = session.result(candidates.task(session, "optimal"))
    return lattice.chart(made.data.hierarchies, made.release.recoding)


ACTIONS = {"try": try_algorithm, "levels": try_levels, "choose": choose, "pin": pin, "settle": settle}
PICTURES = {"candidates": draw, "lattice": draw_lattice}
