"""What a full-domain search hands over: the recoding with its facts, or why there is none."""

from __future__ import annotations

from typing import Any

from shoal.algorithms.full_domain._checker import Checker, NodeVerdict
from shoal.core.lattice import Lattice
from shoal.core.recoding import Recoding
from shoal.errors import InfeasibleError

MOST_RUNNERS_UP = 5


def described(lattice: Lattice, verdict: NodeVerdict) -> dict[str, Any]:
    """A node in figures."""
    return {
        "levels": lattice.named(verdict.node),
        "score": verdict.score,
        "left_out": verdict.suppressed,
        "published_classes": verdict.classes,
    }


def recoded(checker: Checker, lattice: Lattice, best: NodeVerdict, nodes: dict[str, Any], **facts: Any) -> Recoding:
    """The recoding at a node. Runners-up are the next best among the nodes that were checked."""
    feasible = [verdict for verdict in checker.verdicts.values() if verdict.feasible and verdict is not best]
    feasible.sort(key=lambda verdict: (verdict.score, verdict.node))
    trail = tuple((verdict.node, verdict.feasible) for verdict in checker.verdicts.values())
    known = {
        **described(lattice, best),
        "nodes": {"total": lattice.size, "checked": len(checker.verdicts), **nodes},
        "runners_up": [described(lattice, verdict) for verdict in feasible[:MOST_RUNNERS_UP]],
        **facts,
    }
    withheld = checker.suppression(best.node)
    checker.groupings.forget()  # a large table needs the room now
    return Recoding.at_levels(checker.groupings.summary, best.node, withheld, facts=known, trail=trail)


def infeasible(checker: Checker, lattice: Lattice, *, proven: bool = True) -> InfeasibleError:
    """The error of a search without a result, with the checked node that comes closest."""
    closest = checker.closest
    assert closest is not None
    what = "no node of the lattice satisfies the policy" if proven else "no node that was checked satisfies the policy"
    attempt = {
        "levels": lattice.named(closest.node), "suppressed": closest.suppressed, "budget": checker.budget,
        "records": checker.records, "lacking": closest.suppressed - checker.budget, "checked": len(checker.verdicts),
    }  # fmt: skip
    return InfeasibleError(
        f"{what}: the closest one has to leave out {closest.suppressed:,} of {checker.records:,} records, and "
        f"{checker.budget:,} may be; allow more suppression, higher levels or weaker models",
        attempt,
    )
