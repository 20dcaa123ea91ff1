"""Who is exposed? The file, what its columns are, and how many people stand alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal import api
from shoal.core.finding import Finding, Findings
from shoal.core.schema import Kind, Role
from shoal.diagnosis.detection import Detection
from shoal.errors import InputError
from shoal.job.columns import ColumnJob
from shoal.job.plugins import member
from shoal.parsing import dates, numbers
from shoal.web.panels import panel
from shoal.web.screens import Fields
from shoal.web.session import NotReady, PageSession
from shoal.web.table import distinct, kind_of, missing_share
from shoal.web.work import TaskState

ROWS = "rows"
"""Somebody says that every row is a person of its own; until then it is only taken for granted."""
ROLES = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.PLAIN, Role.HOUSEHOLD, Role.WEIGHT, Role.DROP)
"""Roles that a column is given one by one; whose each row is, is chosen apart."""
SHARED = (Role.QUASI, Role.SENSITIVE)
"""Roles of columns that can be the household's."""
_INSTEAD = {Role.WEIGHT: Role.DROP, Role.HOUSEHOLD: Role.IDENTIFIER}
"""Roles that only one column can have, and what another one is from then on."""


WEIGHTED = ("population", "global-risk", "expected-reidentifications", "highest-individual-risk")
"""Figures that survey weights give."""


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    if not session.opened:
        return {"opened": False}
    parts = {
        "opened": True,
        "columns": panel(lambda: _columns(session)),
        "exposure": panel(lambda: _exposure(session)),
    }
    if "preview" in query:
        parts["preview"] = panel(lambda: {"names": list(session.look().names), "rows": session.look().preview()})
    return parts


def _detection(session: PageSession) -> Detection | None:
    """The suggestions; None where somebody stopped the search for them, or it failed."""
    try:
        return session.detection()
    except NotReady as pending:
        if pending.task.state in (TaskState.STOPPED, TaskState.FAILED) and pending.task.what == "work.detect":
            return None
        raise


def _columns(session: PageSession) -> dict[str, Any]:
    look, detection, pending = session.look(), None, None
    try:
        detection = _detection(session)
    except NotReady as waiting:
        pending = waiting.task.as_dict()
    roles = {name: column.role for name, column in session.job.columns.items()}
    suggestions = {each.column: each for each in detection.suggestions} if detection is not None else {}
    most = max((each.contribution or 0.0 for each in suggestions.values()), default=0.0)
    rows = []
    for place, name in enumerate(look.names):
        each = suggestions.get(name)
        part = each.contribution if each is not None else None
        rows.append({
            "place": place, "name": name, "kind": str(kind_of(look, name)), "distinct": distinct(look, name),
            "missing": missing_share(look, name), "role": str(roles.get(name, Role.PLAIN)),
            "suggested": None if each is None else str(each.role),
            "reasons": [] if each is None else list(each.reasons), "contribution": part,
            "bar": round(100 * part / most, 1) if part and most else 0.0,
            "doubt": look.doubts.get(name), "unreadable": look.unreadable.get(name),
            "format": _format(session.job.columns.get(name)), "shared": name in session.job.household_variables,
        })  # fmt: skip
    person = session.job.person
    return {
        "rows": rows, "records": look.data.records, "suggestions": detection is not None, "pending": pending,
        "roles": [str(role) for role in ROLES],
        "formats": [*dates.ORDERS, *numbers.FORMATS], "person": None if person is None else look.names.index(person),
        "rows_are_people": session.job.rows_are_people, "households": bool(session.job.named(Role.HOUSEHOLD)),
        "repeats": [each.column for each in suggestions.values() if each.repeats is not None],
    }  # fmt: skip


def _format(column: ColumnJob | None) -> str | None:
    return None if column is None else column.date_format or column.number_format


def _exposure(session: PageSession) -> dict[str, Any]:
    _detection(session)  # the roles are theirs, the first time
    data = session.data()
    records = data.records
    if not data.schema.quasi:
        return {"quasi": [], "records": records, "people": records, "alone": 0, "share": 0.0}
    findings = api.diagnose(data)
    people = findings.get("people")
    count = records if people is None else _count(people)
    alone = _count(findings.get("unique-people") or findings["unique-records"])
    return {
        "quasi": list(data.schema.quasi), "records": records, "people": count, "alone": alone,
        "share": alone / max(count, 1), "k": findings["k"].value, "classes": findings["classes"].value,
        "average_risk": findings["average-risk"].value, "highest_risk": findings["highest-risk"].value,
        "counts_people": data.schema.person is not None, "households": _households(findings),
        "weighted": {name: findings[name].value for name in WEIGHTED} if data.schema.weight is not None else None,
    }  # fmt: skip


def _households(findings: Findings) -> dict[str, Any] | None:
    """What households add to the risk, where a column says who lives with whom."""
    if findings.get("households") is None:
        return None
    values = {name: findings[f"{name}-reidentifications"].value for name in ("expected", "household")}
    return {
        "count": findings["households"].value, "unique": findings["unique-households"].value,
        "average_risk": findings["average-household-risk"].value,
        "alone": round(float(values["expected"] or 0)), "together": round(float(values["household"] or 0)),
    }  # fmt: skip


def _count(finding: Finding) -> int:
    assert isinstance(finding.value, int)
    return finding.value


def change_role(session: PageSession, form: Fields) -> None:
    """Gives a column a role."""
    name = session.column(int(form["column"]))
    role = member(Role, form["role"], "role")
    look = session.look()
    if role is not Role.PLAIN and name in look.unreadable:
        raise InputError(look.unreadable[name])
    columns = dict(session.job.columns)
    if role in _INSTEAD:  # there is one; a weight is read as numbers even where these look like codes
        for other in session.job.named(role):
            kind = None if role is Role.WEIGHT else columns[other].kind
            columns[other] = replace(columns[other], role=_INSTEAD[role], kind=kind)
    column = columns.get(name, ColumnJob())
    kind = Kind.NUMERIC if role is Role.WEIGHT else None if column.role is Role.WEIGHT else column.kind
    columns[name] = replace(column, role=role, kind=kind)
    homes = [each for each, given in columns.items() if given.role is Role.HOUSEHOLD]
    same = homes == list(session.job.named(Role.HOUSEHOLD))  # what is said of other households says nothing here
    shared = tuple(each for each in session.job.household_variables if same and columns[each].role in SHARED)
    session.change(replace(session.job, columns=columns, household_variables=shared), "history.role", column=name)


def change_shared(session: PageSession, form: Fields) -> None:
    """Says whether a column is the same for all members of a household."""
    name = session.column(int(form["column"]))
    others = tuple(each for each in session.job.household_variables if each != name)
    shared = (*others, name) if form["shared"] == "yes" else others
    session.look().with_roles(session.job.columns, shared)  # refused where it differs inside a household
    session.change(replace(session.job, household_variables=shared), "history.shared", column=name)


def change_person(session: PageSession, form: Fields) -> None:
    """Says whose the rows are: each its own person's, or as a column says. A column that no longer says it names
    people, so it is dropped."""
    person = session.column(int(form["person"])) if form["person"].isdigit() else None
    columns = {
        name: replace(column, role=Role.IDENTIFIER) if column.role is Role.ENTITY else column
        for name, column in session.job.columns.items()
    }
    if person is not None:
        columns[person] = replace(columns.get(person, ColumnJob()), role=Role.ENTITY)
    changed = replace(session.job, columns=columns, rows_are_people=form["person"] == ROWS)
    session.change(changed, "history.rows" if person is None else "history.person", column=person or "")


def change_format(session: PageSession, form: Fields) -> None:
    """Says how the dates or numbers of a column are to be read."""
    name, pattern = session.column(int(form["column"])), form["format"] or None
    number = pattern in numbers.FORMATS
    session.change_column(
        name, "history.format", date_format=None if number else pattern, number_format=pattern if number else None
    )


def accept(session: PageSession, form: Fields) -> None:
    """Takes the suggested roles again."""
    detection = session.detection()
    columns = dict(session.job.columns)
    for name, role in detection.job_roles().items():
        columns[name] = replace(columns.get(name, ColumnJob()), role=role)
    session.change(replace(session.job, columns=columns), "history.suggested")


ACTIONS = {
    "role": change_role,
    "shared": change_shared,
    "person": change_person,
    "format": change_format,
    "suggested": accept,
}
