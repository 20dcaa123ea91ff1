"""Before and after: what the chosen candidate shows of each column, and what became of the values and the groups."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from shoal.core.finding import Finding
from shoal.core.schema import Role
from shoal.plots import distribution
from shoal.plots.exposure import class_sizes
from shoal.utility.analyses import Analysis
from shoal.web.candidates import Candidate, candidate, chosen
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    told: dict[str, Any] = {"chosen": chosen(session), "release": panel(lambda: _release(session))}
    if asked.get("column", "").isdigit():
        told["distribution"] = panel(lambda: _distribution(session, int(asked["column"])))
    told["analyses"] = [panel(partial(_analysed, session, each)) for each in session.job.analyses]
    return told


def _analysed(session: Session, analysis: Analysis) -> dict[str, Any]:
    """An analysis on the table and on the release."""
    made = candidate(session)
    task = session.work.task(
        ("analysis", id(made), analysis.text), "work.analysis", lambda run: analysis.measured(made.data, made.release)
    )
    found: Finding = session.result(task)
    return {
        "analysis": analysis.text, "value": found.value, "unit": found.unit, "how": found.how,
        "detail": {key: value for key, value in found.detail.items() if value is not None},
    }  # fmt: skip


def declare(session: Session, given: Asked) -> str:
    """Takes an analysis that must survive; it is part of the job from then on."""
    analysis = Analysis.parsed(given.get("analysis", ""))
    analysis.columns(session.look().names)
    known = [each for each in session.job.analyses if each.text != analysis.text]
    session.change(replace(session.job, analyses=(*known, analysis)), "history.analysis")
    return "/before-after#analyses"


def forget(session: Session, given: Asked) -> str:
    """Takes an analysis out again."""
    place = int(given["place"]) if given.get("place", "").isdigit() else -1
    kept = tuple(each for at, each in enumerate(session.job.analyses) if at != place)
    session.change(replace(session.job, analyses=kept), "history.analysis")
    return "/before-after#analyses"


def _release(session: Session) -> dict[str, Any]:
    made, names = candidate(session), session.look().names
    columns = [{"place": names.index(each.name), **each.as_dict()} for each in made.columns]
    lost = sorted(
        (each for each in made.columns if each.lost and each.role is Role.QUASI), key=lambda each: -(each.lost or 0)
    )
    return {
        "columns": columns, "records": made.release.records, "published": made.release.published.records,
        "suppressed": made.release.suppressed, "notes": list(made.release.notes),
        "most": [{"name": each.name, "lost": each.lost} for each in lost[:1]],
        "drawn": made.form == "generalized", **{key: made.facts()[key] for key in ("loss", "k", "average_risk")},
    }  # fmt: skip


def _distribution(session: Session, place: int) -> dict[str, Any]:
    made, name = candidate(session), session.column(place)
    before, after = distribution.shares(made.data, made.release, name)
    return {"place": place, "name": name, "distance": float(abs(before - after).sum() / 2)}


def draw_classes(session: Session, asked: Asked) -> Any:
    made = candidate(session)
    return class_sizes(_tables(made), k=_least(made)).properties(title="")


def _tables(made: Candidate) -> dict[str, Any]:
    return {"original": made.data.summary, "release": made.release.in_people(made.release.classes)}


def _least(made: Candidate) -> int:
    return made.release.policy.least if made.release.policy is not None else 1


def draw_distribution(session: Session, asked: Asked) -> Any:
    made = candidate(session)
    place = int(asked["column"]) if asked.get("column", "").isdigit() else -1
    return distribution.chart(made.data, made.release, session.column(place))


ACTIONS = {"declare": declare, "forget": forget}
PICTURES = {"classes": draw_classes, "distribution": draw_distribution}
