"""Why? Which columns together single people out, and how much an attacker has to know for it."""

from __future__ import annotations

from typing import Any

from shoal import api
from shoal.core.run import Run
from shoal.diagnosis.every_set import PerSet
from shoal.diagnosis.questions import Answer
from shoal.errors import InputError
from shoal.plots.diagnosis import curve
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session

SHARES = (0.0, 0.01, 0.05, 0.1, 0.25)
"""Shares of the people that a set of columns may single out before it is named."""
USUAL = 0.05
MOST_SETS = 24
"""Sets that are shown as chips."""
MOST_COLUMNS = 12
"""Columns of which every set is looked at, for what an attacker knows who knows some of them."""
SAFE = 11
"""The k of what is published to anybody."""
PATIENCE = 20.0
"""Seconds after which what is proven so far is shown."""


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    share = _share(asked.get("share", ""))
    return {
        "share": share, "shares": list(SHARES),
        "borders": panel(lambda: _borders(session, share)),
        "curve": panel(lambda: _curve(session)),
        "knows": panel(lambda: _knows(session, asked.get("known", ""))),
    }  # fmt: skip


def _share(text: str) -> float:
    try:
        return float(text) if 0 <= float(text) < 1 else USUAL
    except ValueError:
        return USUAL


def _quasi(session: Session) -> tuple[str, ...]:
    quasi = session.data().schema.quasi
    if not quasi:
        raise InputError("name columns that outsiders may know first")
    return quasi


def _borders(session: Session, share: float) -> dict[str, Any]:
    quasi, data = _quasi(session), session.data()

    def asked(run: Run) -> Answer:
        return api.ask(data, k=2, delta=share or None, time_limit=PATIENCE, run=run)

    found: Answer = session.result(session.work.task(("borders", session.roles(), share), "work.borders", asked))
    alone = sorted(found.negative_border or (), key=len)
    safe = sorted(found.positive_border or (), key=lambda names: -len(names))
    return {
        "fewest": len(alone[0]) if alone else None, "sets": len(alone),
        "alone": [list(each) for each in alone[:MOST_SETS]],
        "safe_sets": len(safe), "safe": [list(each) for each in safe[:MOST_SETS]], "proven": found.proven,
        "columns": len(quasi),
    }  # fmt: skip


def _answer(session: Session) -> Answer:
    """The share that must be left out for each k."""
    quasi, data = _quasi(session), session.data()
    task = session.work.task(
        ("curve", session.roles()), "work.curve", lambda run: api.ask(data, attributes=quasi, delta="ask", run=run)
    )
    found: Answer = session.result(task)
    return found


def _curve(session: Session) -> dict[str, Any]:
    steps = [{"k": int(level), "share": share} for level, share in _answer(session).answer]
    return {"steps": steps, "below": min((step["share"] for step in steps if step["k"] >= SAFE), default=1.0)}


def _knows(session: Session, known: str) -> dict[str, Any]:
    quasi, data = _quasi(session), session.data()
    columns = _telling(session, quasi)

    def asked(run: Run) -> list[dict[str, Any]]:
        found = api.ask(data, question=10, k=2, attributes=columns, time_limit=PATIENCE, run=run)
        assert isinstance(found.answer, PerSet)
        return _by_size(found.answer)

    task = session.work.task(("knows", session.roles(), columns), "work.knows", asked)
    sizes: list[dict[str, Any]] = session.result(task)
    wanted = int(known) if known.isdigit() else min(3, len(sizes))
    chosen = sizes[min(max(wanted, 1), len(sizes)) - 1]
    return {"sizes": sizes, "chosen": chosen, "columns": len(columns), "all": len(quasi)}


def _telling(session: Session, quasi: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that tell most people apart, where there are too many to look at all sets of them."""
    if len(quasi) <= MOST_COLUMNS:
        return quasi
    schema = session.data().schema
    sizes = {name: tree.size if (tree := schema[name].hierarchy) is not None else 0 for name in quasi}
    most = sorted(quasi, key=lambda name: -sizes[name])[:MOST_COLUMNS]
    return tuple(name for name in quasi if name in most)


def _by_size(found: PerSet) -> list[dict[str, Any]]:
    """For each number of columns: the share of the people that the worst set singles out, that set, and the mean."""
    by_size: dict[int, list[tuple[float, tuple[str, ...]]]] = {}
    for names, share in found.items():
        by_size.setdefault(len(names), []).append((float(share), names))
    told = []
    for size in sorted(by_size):
        worst, names = max(by_size[size])
        mean = sum(share for share, _ in by_size[size]) / len(by_size[size])
        told.append({"known": size, "worst": worst, "columns": list(names), "mean": mean, "sets": len(by_size[size])})
    return told


def draw_curve(session: Session, asked: Asked) -> Any:
    return curve(_answer(session)).properties(title="")


ACTIONS: dict[str, Any] = {}
PICTURES = {"curve": draw_curve}
