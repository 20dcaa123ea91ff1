"""Plain columns: what is published as it is, looked at before anything is.

Models speak of quasi-identifiers and sensitive attributes alone. A column without a role goes out raw, whatever it
holds: a name, a number of a person, or the very values that are generalized one column further.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from shoal.core.contracts.form import Linked
from shoal.core.dataset import Dataset
from shoal.core.formatting import percent
from shoal.core.grouping import Codes
from shoal.core.run import Run
from shoal.core.schema import NAMING, Role
from shoal.core.survey import Survey
from shoal.core.values import Values
from shoal.diagnosis.single_columns import (
    ALMOST_UNIQUE,
    FEWEST,
    LOOKED_AT,
    SURVEYED,
    are_dates,
    determines,
    heading_of,
    is_copy,
    naming,
)
from shoal.errors import PlainColumnError, SchemaError, quoted, unknown_columns

LISTED = 5
"""Columns that a sentence names."""

Look = tuple[Values, Codes]


@dataclass(frozen=True, kw_only=True)
class PlainColumns:
    """What was found in the columns that are published as they are. No value is in it.

    `telling` has those that name people or tell a quasi-identifier or an identifier, with the reason. Of the others,
    those in `almost_unique` have a value of its own for almost every record. `alone` of the `records`, or of the people
    where `unit` says so, are told apart from all others by the plain columns together. `unseen` columns cannot be
    looked at; `allowed` are those that were named as fit to be published.
    """

    columns: tuple[str, ...]
    telling: Mapping[str, str]
    almost_unique: tuple[str, ...]
    unseen: tuple[str, ...]
    alone: int
    records: int
    allowed: tuple[str, ...] = ()
    unit: str = "records"

    @property
    def singled_out(self) -> float:
        """The share of the records, or people, that the plain columns together single out."""
        return self.alone / self.records if self.records else 0.0

    def check(self) -> None:
        """Raises unless every column that names people or tells another one is allowed by name."""
        refused = {name: reason for name, reason in self.telling.items() if name not in self.allowed}
        if refused:
            raise PlainColumnError(refused)

    def sentence(self, *, warned: bool = False) -> str:
        """What a holder should know of them before publishing; empty when there is nothing to say. Whoever was `warned`
        knows how many they single out."""
        one = len(self.columns) == 1
        parts = []
        if self.alone and not warned:
            share = percent(self.singled_out)
            parts.append(f"{'it singles' if one else 'together they single'} out {share} of the {self.unit}")
        telling = [name for name in self.allowed if name in self.telling]
        for names, what in (
            (self.almost_unique, "almost unique"),
            (telling, "there because you allowed it"),
            (self.unseen, "of a kind that cannot be looked at"),
        ):
            if names:
                parts.append(f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {what}")
        if not parts:
            return ""
        what = (
            "1 plain column is published as it is"
            if one
            else f"{len(self.columns)} plain columns are published as they are"
        )
        return f"{what}: {'; '.join(parts)}"

    def as_dict(self) -> dict[str, Any]:
        """What a manifest states: names and counts."""
        return {
            "columns": list(self.columns),
            "allowed": list(self.allowed),
            "almost_unique": list(self.almost_unique),
            "not_looked_at": list(self.unseen),
            "singled_out": self.alone,
            **({"people": self.records} if self.unit == "people" else {}),
        }


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(quoted, names[:LISTED])) + more


def plain_columns(
    data: Dataset,
    allowed: Collection[str] = (),
    ghosts: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    run: Run | None = None,
) -> PlainColumns:
    """Looks at the plain columns of a table; `allowed` ones may say whatever they say, and `ghosts` may tell the
    quasi-identifiers with which they are hidden."""
    schema = data.schema
    unknown = [name for name in allowed if name not in schema.names]
    if unknown:
        raise unknown_columns(unknown, schema.names)
    roles = {column.name: column.role for column in schema.columns}
    wrong = [name for name in allowed if roles[name] is not Role.PLAIN]
    if wrong:
        raise SchemaError(
            f"column {quoted(wrong[0])} is {roles[wrong[0]]}, and allow_plain names columns that have no role and are "
            "published as they are; leave it out there, or give the column no role"
        )
    plain = [name for name in schema.names if roles[name] is Role.PLAIN]
    if not plain:
        return PlainColumns(columns=(), telling={}, almost_unique=(), unseen=(), alone=0, records=data.records)
    survey = data.survey(records=SURVEYED, values=LOOKED_AT, run=run or Run())
    looks = {name: look for name, look in survey.looks.items() if not isinstance(look, str)}
    identifying = {name: roles[name] for name in looks if roles[name] in (Role.QUASI, *NAMING)}
    telling, almost = {}, []
    for name in plain:
        if name not in looks:
            continue
        distinct, present = survey.distinct[name], survey.present[name]
        others = {other: role for other, role in identifying.items() if other not in ghosts.get(name, ())}
        reason = _reason(name, survey, looks, others)
        if reason is not None:
            telling[name] = reason
        elif distinct >= FEWEST and distinct >= ALMOST_UNIQUE * present:
            almost.append(name)
    seen = [name for name in plain if name in looks]
    people = data.people if seen else None
    alone, records = (survey.alone, survey.records) if people is None else (data.people_alone(seen), people)
    return PlainColumns(
        columns=tuple(plain), telling=telling, almost_unique=tuple(almost), alone=alone, records=records,
        unit="records" if people is None else "people", allowed=tuple(dict.fromkeys(allowed)),
        unseen=tuple(name for name in plain if name not in looks),
    )  # fmt: skip


def _reason(name: str, survey: Survey, looks: Mapping[str, Look], others: Mapping[str, Role]) -> str | None:
    """Why a column names people, or tells another one; None when it does not."""
    judged = survey.judged
    if (name,) not in judged:
        judged[name,] = _own_reason(name, looks[name][0], survey.distinct[name], survey.present[name])
    if judged[name,] is not None:
        return judged[name,]
    for other, role in others.items():
        if (name, other) not in judged:
            what = "quasi-identifier" if role is Role.QUASI else "identifier"
            judged[name, other] = _reason_for(looks[name], looks[other], f"{what} {quoted(other)}")
        if judged[name, other] is not None:
            return judged[name, other]
    return None


def _own_reason(name: str, values: Values, distinct: int, present: int) -> str | None:
    """Why a column names people; None when it does not."""
    named = naming(name, values, distinct, present)
    if named:
        return named[0]
    heading = heading_of(name, values)
    if heading is not None and heading.meaning == "birth" and are_dates(values):
        return f"its heading says {heading.word!r}, and exact dates of birth single people out"
    return None


def _reason_for(column: Look, other: Look, what: str) -> str | None:
    """Why a column tells another one; None when it does not."""
    if is_copy(column, other):
        return f"it is a copy of the {what}"
    if determines(column[1], other[1]):
        return f"it tells the {what}: whoever knows the one knows the other"
    return None


def check_apart(data: Dataset, linked: Iterable[Linked], allowed: Collection[str] = (), run: Run | None = None) -> None:
    """Raises where a form keeps a sensitive attribute apart from the records and a plain column of theirs tells it."""
    together = [set(each.columns) for each in linked]
    schema = data.schema
    plain = [column.name for column in schema.columns if column.role is Role.PLAIN and column.name not in allowed]
    refused = {}
    for name in plain:
        for other in schema.sensitive:
            if any({name, other} <= columns for columns in together):
                continue
            looks = data.survey(records=SURVEYED, values=LOOKED_AT, run=run or Run()).looks
            look, hidden = looks[name], looks[other]
            if isinstance(look, str) or isinstance(hidden, str):
                continue
            reason = _reason_for(
                look, hidden, f"sensitive attribute {quoted(other)}, which is kept apart from the records"
            )
            if reason is not None:
                refused[name] = reason
    if refused:
        raise PlainColumnError(refused)
