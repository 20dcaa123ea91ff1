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
from shoal.web.screens import Fields
from shoal.web.session import PageSession

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


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    share = _share(query.get("share", ""))
    return {
        "share": share, "shares": list(SHARES),
        "borders": panel(lambda: _borders(session, share)),
        "curve": panel(lambda: _curve(session)),
        "knows": panel(lambda: _knows(session, query.get("known", ""))),
    }  # fmt: skip


def _share(text: str) -> float:
    try:
        return float(text) if 0 <= float(text) < 1 else USUAL
    except ValueError:
        return USUAL


def _quasi(session: PageSession) -> tuple[str, ...]:
    quasi = session.data().schema.quasi
    if not quasi:
        raise InputError("name columns that outsiders may know first")
    return quasi


def _borders(session: PageSession, share: float) -> dict[str, Any]:
    quasi, data = _quasi(session), session.data()

    def ask(run: Run) -> Answer:
        return api.ask(data, k=2, delta=share or None, time_limit=PATIENCE, run=run)

    answer = session.result(session.work.task(("borders", session.roles_key(), share), "work.borders", ask))
    alone = sorted(answer.negative_border or (), key=len)
    safe = sorted(answer.positive_border or (), key=lambda names: -len(names))
    return {
        "fewest": len(alone[0]) if alone else None, "sets": len(alone),
        "alone": [list(each) for each in alone[:MOST_SETS]],
        "safe_sets": len(safe), "safe": [list(each) for each in safe[:MOST_SETS]], "proven": answer.proven,
        "columns": len(quasi),
    }  # fmt: skip


def _answer(session: PageSession) -> Answer:
    """The share that must be left out for each k."""
    quasi, data = _quasi(session), session.data()
    task = session.work.task(
        ("curve", session.roles_key()), "work.curve", lambda run: api.ask(data, attributes=quasi, delta="ask", run=run)
    )
    return session.result(task)


def _curve(session: PageSession) -> dict[str, Any]:
    steps = [{"k": int(level), "share": share} for level, share in _answer(session).answer]
    return {"steps": steps, "below": min((step["share"] for step in steps if step["k"] >= SAFE), default=1.0)}


def _knows(session: PageSession, text: str) -> dict[str, Any]:
    quasi, data = _quasi(session), session.data()
    columns = _telling(session, quasi)

    def ask(run: Run) -> list[dict[str, Any]]:
        answer = api.ask(data, question=10, k=2, attributes=columns, time_limit=PATIENCE, run=run)
        assert isinstance(answer.answer, PerSet)
        return _by_size(answer.answer)

    task = session.work.task(("knows", session.roles_key(), columns), "work.knows", ask)
    sizes = session.result(task)
    count = int(text) if text.isdigit() else min(3, len(sizes))
    size = sizes[min(max(count, 1), len(sizes)) - 1]
    return {"sizes": sizes, "chosen": size, "columns": len(columns), "all": len(quasi)}


def _telling(session: PageSession, quasi: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that tell most people apart, where there are too many to look at all sets of them."""
    if len(quasi) <= MOST_COLUMNS:
        return quasi
    schema = session.data().schema
    sizes = {name: tree.size if (tree := schema[name].hierarchy) is not None else 0 for name in quasi}
    most = sorted(quasi, key=lambda name: -sizes[name])[:MOST_COLUMNS]
    return tuple(name for name in quasi if name in most)


def _by_size(shares: PerSet) -> list[dict[str, Any]]:
    """For each number of columns: the share of the people that the worst set singles out, that set, and the mean."""
    by_size: dict[int, list[tuple[float, tuple[str, ...]]]] = {}
    for names, share in shares.items():
        by_size.setdefault(len(names), []).append((float(share), names))
    sizes = []
    for size in sorted(by_size):
        worst, names = max(by_size[size])
        mean = sum(share for share, _ in by_size[size]) / len(by_size[size])
        sizes.append({"known": size, "worst": worst, "columns": list(names), "mean": mean, "sets": len(by_size[size])})
    return sizes


def draw_curve(session: PageSession, query: Fields) -> Any:
    return curve(_answer(session)).properties(title="")


ACTIONS: dict[str, Any] = {}
PICTURES = {"curve": draw_curve}
