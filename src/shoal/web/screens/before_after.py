"""Before and after: what the chosen candidate shows of each column, and what became of the values and the groups."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from shoal.core.schema import Role
from shoal.plots import distribution
from shoal.plots.exposure import class_sizes, size_shares
from shoal.utility.analyses import Analysis
from shoal.web.candidates import Candidate, chosen_algorithm, chosen_candidate
from shoal.web.panels import panel, plain_facts
from shoal.web.screens import Fields
from shoal.web.session import PageSession


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    parts: dict[str, Any] = {"chosen": chosen_algorithm(session), "release": panel(lambda: _release(session))}
    if query.get("column", "").isdigit():
        parts["distribution"] = panel(lambda: _distribution(session, int(query["column"])))
    parts["analyses"] = [panel(partial(_analysis, session, each)) for each in session.job.analyses]
    return parts


def _analysis(session: PageSession, analysis: Analysis) -> dict[str, Any]:
    """An analysis on the table and on the release."""
    candidate = chosen_candidate(session)
    task = session.work.task(
        ("analysis", id(candidate), analysis.text),
        "work.analysis",
        lambda run: analysis.measured(candidate.data, candidate.release),
    )
    finding = session.result(task)
    return {
        "analysis": analysis.text, "value": finding.value, "unit": finding.unit, "how": finding.how,
        "detail": {key: value for key, value in finding.detail.items() if value is not None},
    }  # fmt: skip


def declare(session: PageSession, form: Fields) -> str:
    """Takes an analysis that must survive; it is part of the job from then on."""
    analysis = Analysis.parsed(form.get("analysis", ""))
    analysis.columns(session.look().names)
    others = [each for each in session.job.analyses if each.text != analysis.text]
    session.change(replace(session.job, analyses=(*others, analysis)), "history.analysis")
    return "/before-after#analyses"


def forget(session: PageSession, form: Fields) -> str:
    """Takes an analysis out again."""
    place = int(form["place"]) if form.get("place", "").isdigit() else -1
    others = tuple(each for at, each in enumerate(session.job.analyses) if at != place)
    session.change(replace(session.job, analyses=others), "history.analysis")
    return "/before-after#analyses"


def _release(session: PageSession) -> dict[str, Any]:
    candidate, names = chosen_candidate(session), session.look().names
    columns = [{"place": names.index(each.name), **each.as_dict()} for each in candidate.columns]
    lost = sorted(
        (each for each in candidate.columns if each.lost and each.role is Role.QUASI),
        key=lambda each: -(each.lost or 0),
    )
    return {
        "columns": columns, "records": candidate.release.records, "published": candidate.release.published.records,
        "suppressed": candidate.release.suppressed, "notes": list(candidate.release.notes),
        "plain": plain_facts(candidate.release),
        "most": [{"name": each.name, "lost": each.lost} for each in lost[:1]],
        "drawn": candidate.form == "generalized", "sizes": _sizes(candidate), "hidden": _hidden(candidate),
        **{key: candidate.facts()[key] for key in ("loss", "k", "average_risk")},
    }  # fmt: skip


def _hidden(candidate: Candidate) -> dict[str, Any]:
    """How many cells of each column are hidden, what one is worth, and what all are worth at least; the most first."""
    decided = {} if candidate.release.recoding is None else candidate.release.recoding.facts
    if "hidden" not in decided:
        return {}
    records = max(candidate.release.published.records, 1)
    rows = [
        {"name": name, "count": count, "share": count / records, "importance": decided["importance"][name]}
        for name, count in sorted(decided["hidden"].items(), key=lambda entry: -entry[1])
    ]
    cells = sum(row["count"] for row in rows)
    figures = {name: int(value) if (value := decided[name]) % 1 == 0 else value for name in ("cost", "bound")}
    wildcard = any(model.wildcards for model in candidate.release.policy.models) if candidate.release.policy else False
    return {"rows": rows, "cells": cells, "wildcard": wildcard, **figures}


def _distribution(session: PageSession, place: int) -> dict[str, Any]:
    candidate, name = chosen_candidate(session), session.column(place)
    before, after = distribution.shares(candidate.data, candidate.release, name)
    return {
        "place": place, "name": name, "distance": float(abs(before - after).sum() / 2),
        "values": _beside(distribution.binned_shares(candidate.data, candidate.release, name), "values"),
    }  # fmt: skip


def _sizes(candidate: Candidate) -> list[dict[str, Any]]:
    """The share of the people by the size of their group, before and after."""
    if candidate.form != "generalized":
        return []
    return _beside(size_shares(_tables(candidate), k=_least(candidate)), "size")


def _beside(rows: list[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """What a chart of the table and the release shows, as rows that are not empty."""
    points: dict[str, dict[str, Any]] = {}
    for row in rows:
        points.setdefault(row[by], {"label": row[by]})[row["table"]] = row["share"]
    return [point for point in points.values() if point["original"] or point["release"]]


def draw_classes(session: PageSession, query: Fields) -> Any:
    candidate = chosen_candidate(session)
    return class_sizes(_tables(candidate), k=_least(candidate)).properties(title="")


def _tables(candidate: Candidate) -> dict[str, Any]:
    return {"original": candidate.data.summary, "release": candidate.release.in_people(candidate.release.classes)}


def _least(candidate: Candidate) -> int:
    return candidate.release.policy.least if candidate.release.policy is not None else 1


def draw_distribution(session: PageSession, query: Fields) -> Any:
    candidate = chosen_candidate(session)
    place = int(query["column"]) if query.get("column", "").isdigit() else -1
    return distribution.chart(candidate.data, candidate.release, session.column(place))


ACTIONS = {"declare": declare, "forget": forget}
PICTURES = {"classes": draw_classes, "distribution": draw_distribution}
