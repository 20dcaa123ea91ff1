"""Detection: which columns name people, which could single them out, and which say what nobody should learn.

Suggestions with reasons; the person decides. No value of the table is in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from shoal.core.classes import summarize
from shoal.core.contracts.model import Model
from shoal.core.formatting import counted, in_html, percent, printable
from shoal.core.grouping import Codes, Counts
from shoal.core.policy import allowed
from shoal.core.run import Run
from shoal.core.schema import Kind, Role
from shoal.core.survey import Overview, alone
from shoal.core.values import Values
from shoal.diagnosis.borders import Search
from shoal.diagnosis.contributions import Contributions, contributions_of
from shoal.diagnosis.families import MOST
from shoal.diagnosis.person_columns import (
    JudgedColumn,
    household_of,
    keys_by_values,
    moves,
    owners_of,
    people_alone,
    person_of,
)
from shoal.diagnosis.single_columns import (
    ALMOST_UNIQUE,
    FEWEST,
    SURVEYED,
    determines,
    is_copy,
)
from shoal.diagnosis.weighted_rows import WeightedRows
from shoal.errors import quoted, unknown_columns

MOST_NAMED = 3
"""Columns of a role that a sentence names."""
SETS_WORK, FEWEST_SETS = 3e7, 200
"""Rows times sets after which the search for the smallest ones ends unless it is given time; so many sets are evaluated
in any case."""
WORTH = 0.1
"""The part of `share` that a column has to contribute to be suggested, where the time was up before all sets were."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A role for a column, why, and what was measured.

    `distinct_ratio` is distinct values over records that have one; `separation` the share of pairs of records that
    the column tells apart; `unique_share` the share of records whose value no other one has; `contribution` the
    column's part of the share of records that the columns of which sets are looked at single out together, and
    `contribution_error` its standard error where it is sampled. `repeats` counts the people that an identifier names,
    where it has several records of some.
    """

    column: str
    role: Role
    reasons: tuple[str, ...]
    kind: Kind | None = None
    distinct: int = 0
    distinct_ratio: float = 0.0
    separation: float = 0.0
    unique_share: float = 0.0
    missing_share: float = 0.0
    contribution: float | None = None
    contribution_error: float | None = None
    repeats: int | None = None


@dataclass(frozen=True, kw_only=True)
class Detection:
    """Suggestions for every column, and the smallest sets that single out more than `share` of the people.

    All sets are there when that is `proven`; else the time was up, and those that are there are smallest all the same.
    `person` is the column to count people by, where they have several records, and `people` how many there are; people
    are counted then, not records. `household` is the column that says who lives together, by its heading.
    """

    records: int
    suggestions: tuple[Suggestion, ...]
    share: float
    singling_out: tuple[tuple[str, ...], ...]
    unique_share: float
    contributions: str
    proven: bool
    person: str | None = None
    people: int | None = None
    household: str | None = None

    def __getitem__(self, column: str) -> Suggestion:
        for suggestion in self.suggestions:
            if suggestion.column == column:
                return suggestion
        raise unknown_columns([str(column)], [suggestion.column for suggestion in self.suggestions])

    def __contains__(self, column: object) -> bool:
        return any(suggestion.column == column for suggestion in self.suggestions)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.suggestions)

    def __len__(self) -> int:
        return len(self.suggestions)

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        meanings = {"identifiers": "naming people", "quasi": "outsiders may know", "sensitive": "to keep secret"}
        parts = []
        for key, names in self.roles().items():
            if names and key in meanings:
                named = ", ".join(map(printable, names[:MOST_NAMED])) + ", …" * (len(names) > MOST_NAMED)
                parts.append(f"{counted(len(names), 'columns')} {meanings[key]} ({named})")
        records = counted(self.records, "records")
        whole = records if self.people is None else f"{counted(self.people, 'people')} ({records})"
        alone = f"{percent(self.unique_share)} of {whole} stand alone by what outsiders may know"
        return "; ".join([", ".join(parts) or "no column that gives people away", alone]) + "."

    def _repr_html_(self) -> str:
        rows = [
            (each.column, str(each.role), f"{each.distinct:,}", "; ".join(each.reasons)) for each in self.suggestions
        ]
        return in_html(("column", "role", "distinct values", "why"), rows, self.summary)

    def roles(self) -> dict[str, list[str]]:
        """The suggestions as `shoal.read` takes them."""
        keys = {"identifiers": Role.IDENTIFIER, "quasi": Role.QUASI, "sensitive": Role.SENSITIVE}
        return {key: [each.column for each in self.suggestions if each.role is role] for key, role in keys.items()}

    def job_roles(self) -> dict[str, Role]:
        """The role of each column in a job: as suggested, but for the `person` and the `household`, which count."""
        counting = {self.person: Role.ENTITY, self.household: Role.HOUSEHOLD}
        return {each.column: counting.get(each.column, each.role) for each in self.suggestions}

    def words(self) -> list[str]:
        """The suggestions as lines for whoever decides."""
        roles = self.job_roles()
        return [
            "Suggested roles. You decide: read every line, change what is wrong, and choose k.",
            "Plain columns are published as they are.",
            "",
            *(f"{each.column}: {roles[each.column]}: {'; '.join(each.reasons)}" for each in self.suggestions),
            "",
        ]

    def as_dict(self) -> dict[str, Any]:
        """The detection as JSON holds it."""
        return {
            "records": self.records, "columns": [asdict(each) for each in self.suggestions], "share": self.share,
            "singling_out": [list(names) for names in self.singling_out], "unique_share": self.unique_share,
            "contributions": self.contributions, "proven": self.proven, "person": self.person, "people": self.people,
            "household": self.household,
        }  # fmt: skip


@dataclass(frozen=True)
class _Figures:
    distinct: int
    distinct_ratio: float
    separation: float
    unique_share: float
    missing_share: float


@dataclass(frozen=True)
class _Column:
    """A column by itself; `repeats` counts the people whom an identifier names, where some have several records."""

    look: JudgedColumn
    figures: _Figures
    naming: tuple[str, ...]
    repeats: int | None

    @classmethod
    def of(cls, name: str, look: tuple[Values, Codes], table: Overview) -> _Column:
        values, codes = look
        figures, present = _figures(codes, table), int(table.counts[codes >= 0].sum())
        judged = JudgedColumn.of(name, values, codes, figures.distinct, present)
        return cls(judged, figures, judged.naming, judged.repeats(name))

    @property
    def sensitive(self) -> bool:
        return self.look.heading is not None and self.look.heading.role is Role.SENSITIVE

    def singles_out(self, share: float) -> bool:
        """Whether it is almost unique, and so singles out more than a share by itself."""
        figures = self.figures
        almost = figures.distinct >= FEWEST and figures.distinct_ratio >= ALMOST_UNIQUE
        return almost and figures.unique_share > share


@dataclass(frozen=True)
class _Sets:
    """What sets of columns single out, and what each column has of it, with the error."""

    smallest: tuple[tuple[str, ...], ...] = ()
    contributions: Contributions = field(default_factory=dict)
    how: str = "no column is left to look at"
    unique_share: float = 0.0
    proven: bool = True


def detect(table: Overview, *, model: Model, share: float, seed: int, run: Run, work: float | None = None) -> Detection:
    """Looks at every column by itself first: its form, its heading, how often its values repeat. Then at the sets of
    those that are left, without identifiers, sensitive attributes, and columns that single people out by themselves.

    Who breaks the model, which is 2-anonymity, is singled out. The search for sets ends when the run's time is up, or
    after so much `work`: rows times sets, unless another amount is given that of `SETS_WORK`.
    """
    looks, records = table.looks, table.records
    looked = {name: _Column.of(name, look, table) for name, look in looks.items() if not isinstance(look, str)}
    judged = {name: column.look for name, column in looked.items()}
    household = household_of(judged, records)
    if household is not None:
        looked[household] = replace(looked[household], naming=("its heading is that of a key of households",))
        del judged[household]
    for name, reason in keys_by_values(judged, table.some(SURVEYED)).items():
        looked[name] = replace(looked[name], naming=(reason,), repeats=looked[name].figures.distinct)
    person = person_of(judged, {name: looked[name].repeats for name in judged})
    owners = None if person is None else owners_of(looked[person].look.codes)
    if household is not None and owners is not None and moves(owners, looked[household].look.codes):
        household = None
    open_ones = {
        name: column
        for name, column in looked.items()
        if not column.naming and not column.sensitive and column.figures.distinct > 1
    }
    lone = tuple((name,) for name, column in open_ones.items() if column.singles_out(share))
    loose = [name for name in open_ones if (name,) not in lone]
    # Those that tell most pairs apart, if there are too many for a question about sets.
    telling = sorted(loose, key=lambda name: -open_ones[name].figures.separation)[:MOST]
    chosen = {name: open_ones[name].look.codes for name in loose if name in telling}
    sets = _sets(chosen, table.counts, owners, model, share, seed, SETS_WORK if work is None else work, run)
    how = f"{sets.how}; without {len(lone)} almost unique columns" if lone and sets.contributions else sets.how
    known = [column.look.codes for column in open_ones.values()]
    if owners is None:
        unique_share, people = alone(known, table.counts) / records, None
    else:
        single, people = people_alone(known, owners)
        unique_share = single / people
    sets = replace(sets, smallest=lone + sets.smallest, unique_share=unique_share, how=how)
    suggestions = {
        name: Suggestion(column=name, role=Role.PLAIN, reasons=(look,))
        if isinstance(look, str)
        else _suggestion(name, looked[name], sets, share)
        for name, look in looks.items()
    }
    suggestions |= _copies(looked, suggestions, table)
    return Detection(
        records=records, suggestions=tuple(suggestions.values()), share=share, singling_out=sets.smallest,
        unique_share=sets.unique_share, contributions=sets.how, proven=sets.proven, person=person, people=people,
        household=household,
    )  # fmt: skip


def _sets(
    columns: Mapping[str, Codes],
    counts: Counts,
    owners: Codes | None,
    model: Model,
    share: float,
    seed: int,
    work: float,
    run: Run,
) -> _Sets:
    if not columns:
        return _Sets()
    codes = [column + np.int32(1) for column in columns.values()]
    classes = summarize(
        list(columns),
        codes,
        [int(column.max()) + 1 for column in codes],
        weights=counts,
        person=None if owners is None else ("", owners, int(owners.max()) + 1),
    )
    rows = WeightedRows.of(classes, model, list(columns))
    contributions, how = contributions_of(rows, seed, run)
    smallest, proven = _singling_out(rows, share, work, run)
    return _Sets(smallest, contributions, how, proven=proven)


def _copies(
    looked: Mapping[str, _Column], suggestions: Mapping[str, Suggestion], table: Overview
) -> dict[str, Suggestion]:
    """Columns that would be plain and tell a quasi-identifier or an identifier: they are to be treated as it is."""
    places = table.some(SURVEYED)
    looks = {name: (column.look.values, column.look.codes[places]) for name, column in looked.items()}
    roles = {name: suggestion.role for name, suggestion in suggestions.items()}
    copies: dict[str, Suggestion] = {}
    grown = True
    while grown:
        grown = False
        for name in [name for name in looks if roles[name] is Role.PLAIN]:
            for other in [other for other in looks if roles[other] in (Role.QUASI, Role.IDENTIFIER)]:
                if is_copy(looks[name], looks[other]) or determines(looks[name][1], looks[other][1]):
                    reason = f"it tells {quoted(other)}: whoever knows the one knows the other"
                    copies[name] = replace(suggestions[name], role=roles[other], reasons=(reason,))
                    roles[name], grown = roles[other], True
                    break
    return copies


def _figures(codes: Codes, table: Overview) -> _Figures:
    known, records = codes >= 0, table.records
    counts = np.bincount(codes[known], weights=table.counts[known]).astype(np.int64)
    present = int(counts.sum())
    missing = records - present
    pairs = records * (records - 1)
    alike = int((counts * (counts - 1)).sum()) + missing * (missing - 1)
    return _Figures(
        distinct=int((counts > 0).sum()),
        distinct_ratio=int((counts > 0).sum()) / present if present else 0.0,
        separation=1 - alike / pairs if pairs else 0.0,
        unique_share=(int((counts == 1).sum()) + (missing == 1)) / records if records else 0.0,
        missing_share=missing / records if records else 0.0,
    )


def _singling_out(rows: WeightedRows, share: float, work: float, run: Run) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The smallest sets by which more than a share of the records are unique: a negative border after δ."""
    most = max(FEWEST_SETS, work / max(len(rows), 1))
    borders = Search(rows, rows.model.threshold, allowed(share, rows.records), watch=run, most=most).run()
    return tuple(rows.named(mask) for mask in borders.negative), borders.proven


def _suggestion(name: str, column: _Column, sets: _Sets, share: float) -> Suggestion:
    heading, figures = column.look.heading, column.figures
    contribution, error = sets.contributions.get(name, (None, None))
    reasons = list(column.naming)
    inside = [chosen for chosen in sets.smallest if name in chosen]
    role = Role.PLAIN
    if figures.distinct <= 1 and not column.naming:
        reasons.append("it has no value" if figures.distinct == 0 else "it has the same value everywhere")
    elif column.naming:
        role = Role.IDENTIFIER
        if column.repeats is not None:
            reasons.append(f"repeats: {column.repeats:,} people, so it says whose each row is")
    elif heading is not None and column.sensitive:
        role = Role.SENSITIVE
        reasons.append(f"its heading says {heading.word!r}")
    else:
        if heading is not None and heading.role is Role.QUASI:
            reasons.append(f"its heading says {heading.word!r}, which outsiders may know")
        if inside:
            least = min(len(chosen) for chosen in inside)
            with_whom = "alone" if least == 1 else f"with {least - 1} other column{'s' if least > 2 else ''}"
            reasons.append(f"{with_whom} it singles out more than {share:.0%} of the people")
        elif not sets.proven and contribution is not None and contribution > WORTH * share:
            reasons.append(f"it adds {contribution:.1%} to the share that is singled out")
        role = Role.QUASI if reasons else Role.PLAIN
        if not reasons:
            reasons.append(f"it is in no smallest set that singles out more than {share:.0%} of the people")
    return Suggestion(
        column=name, role=role, reasons=tuple(reasons), kind=column.look.values.kind, contribution=contribution,
        contribution_error=error, repeats=column.repeats, **vars(figures),
    )  # fmt: skip
