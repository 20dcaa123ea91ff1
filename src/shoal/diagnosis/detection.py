"""Detection: which columns name people, which could single them out, and which say what nobody should learn.

Suggestions with reasons; the person decides. No value of the table is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.core.classes import summarize
from shoal.core.contracts import Model
from shoal.core.grouping import Codes
from shoal.core.policy import allowed
from shoal.core.run import Run
from shoal.core.schema import Kind, Role
from shoal.core.values import Values
from shoal.core.words import counted, in_html, percent, printable
from shoal.diagnosis.borders import Search
from shoal.diagnosis.families import MOST
from shoal.diagnosis.headings import is_key, said
from shoal.diagnosis.identifier_patterns import PATTERNS
from shoal.diagnosis.weighted_rows import Partitions, WeightedRows

LOOKED_AT = 2000
"""Distinct values of a column whose form is looked at, evenly spaced."""
OF_A_FORM = 0.8
ALMOST_UNIQUE = 0.9
FEW_WORDS = 4
MOST_NAMED = 3
"""Columns of a role that a sentence names."""
WORK = 4e8
"""Rows times sets up to which every set is evaluated for the contributions."""
FEWEST_ORDERS, MOST_ORDERS = 4, 64

Look = tuple[Values, Codes] | str
"""A column's distinct values and its codes (negative: missing), or why it cannot be looked at."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A role for a column, why, and what was measured.

    `distinct_ratio` is distinct values over records that have one; `separation` the share of pairs of records that
    the column tells apart; `unique_share` the share of records whose value no other one has; `contribution` the
    column's part of the share of records that all looked-at columns together single out.
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


@dataclass(frozen=True, kw_only=True)
class Detection:
    """Suggestions for every column, and the smallest sets that single out more than `share` of the people."""

    records: int
    suggestions: tuple[Suggestion, ...]
    share: float
    singling_out: tuple[tuple[str, ...], ...]
    unique_share: float
    contributions: str
    proven: bool

    def __getitem__(self, column: str) -> Suggestion:
        for suggestion in self.suggestions:
            if suggestion.column == column:
                return suggestion
        raise KeyError(column)

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        said = {"identifiers": "naming people", "quasi": "outsiders may know", "sensitive": "to keep secret"}
        found = []
        for key, names in self.roles().items():
            if names and key in said:
                named = ", ".join(map(printable, names[:MOST_NAMED])) + ", …" * (len(names) > MOST_NAMED)
                found.append(f"{counted(len(names), 'columns')} {said[key]} ({named})")
        whole = counted(self.records, "records")
        alone = f"{percent(self.unique_share)} of {whole} stand alone by what outsiders may know"
        return "; ".join([", ".join(found) or "no column that gives people away", alone]) + "."

    def _repr_html_(self) -> str:
        rows = [
            (each.column, str(each.role), f"{each.distinct:,}", "; ".join(each.reasons)) for each in self.suggestions
        ]
        return in_html(("column", "role", "distinct values", "why"), rows, self.summary)

    def roles(self) -> dict[str, list[str]]:
        """The suggestions as `shoal.read` takes them."""
        keys = {"identifiers": Role.IDENTIFIER, "quasi": Role.QUASI, "sensitive": Role.SENSITIVE}
        return {key: [found.column for found in self.suggestions if found.role is role] for key, role in keys.items()}

    def as_dict(self) -> dict[str, Any]:
        """The detection as JSON holds it."""
        return {
            "records": self.records, "columns": [asdict(found) for found in self.suggestions], "share": self.share,
            "singling_out": [list(names) for names in self.singling_out], "unique_share": self.unique_share,
            "contributions": self.contributions, "proven": self.proven,
        }  # fmt: skip


@dataclass(frozen=True)
class _Figures:
    distinct: int
    distinct_ratio: float
    separation: float
    unique_share: float
    missing_share: float


def detect(columns: Mapping[str, Look], records: int, *, model: Model, share: float, seed: int, run: Run) -> Detection:
    """Looks at every column by itself, then at the sets of those that outsiders may know.

    Who breaks the model, which is 2-anonymity, is singled out.
    """
    figures = {name: _figures(look[1], records) for name, look in columns.items() if not isinstance(look, str)}
    named: dict[str, tuple[str, ...]] = {}
    for name, look in columns.items():
        if not isinstance(look, str):
            named[name] = _naming(name, look[0], figures[name])
    loose = [
        name for name, figure in figures.items() if not named[name] and not _confides(name) and figure.distinct > 1
    ]
    # Those that tell most pairs apart, if there are too many for a question about sets.
    loose = sorted(loose, key=lambda name: -figures[name].separation)[:MOST]
    loose = [name for name in columns if name in loose]
    sets: tuple[tuple[str, ...], ...] = ()
    contributions: dict[str, float] = {}
    how, unique, proven = "no column is left to look at", 0.0, True
    if loose:
        codes = [columns[name][1] + np.int32(1) for name in loose]  # type: ignore[operator]
        classes = summarize(loose, codes, [int(column.max()) + 1 for column in codes])
        unique = int((classes.sizes == 1).sum()) / records
        rows = WeightedRows.of(classes, model, loose)
        sets, proven = _singling_out(rows, share, run)
        contributions, how = _contributions(rows, seed, run)
    suggestions = [
        Suggestion(column=name, role=Role.PLAIN, reasons=(look,))
        if isinstance(look, str)
        else _suggestion(name, look[0], figures[name], named[name], contributions.get(name), sets, share)
        for name, look in columns.items()
    ]
    return Detection(
        records=records, suggestions=tuple(suggestions), share=share, singling_out=sets, unique_share=unique,
        contributions=how, proven=proven,
    )  # fmt: skip


def _figures(codes: Codes, records: int) -> _Figures:
    counts = np.bincount(codes[codes >= 0]) if len(codes) else np.zeros(0, np.int64)
    present, missing = int(counts.sum()), int((codes < 0).sum())
    pairs = records * (records - 1)
    alike = int((counts * (counts - 1)).sum()) + missing * (missing - 1)
    return _Figures(
        distinct=int((counts > 0).sum()),
        distinct_ratio=int((counts > 0).sum()) / present if present else 0.0,
        separation=1 - alike / pairs if pairs else 0.0,
        unique_share=(int((counts == 1).sum()) + (missing == 1)) / records if records else 0.0,
        missing_share=missing / records if records else 0.0,
    )


def _naming(name: str, values: Values, figures: _Figures) -> tuple[str, ...]:
    """Why a column names people; empty when it does not."""
    texts = values.texts
    looked = texts[np.linspace(0, len(texts) - 1, min(len(texts), LOOKED_AT)).astype(int)] if len(texts) else texts
    reasons = []
    for pattern, test in PATTERNS.items():
        hits = sum(test(text) for text in looked)
        if hits and hits >= OF_A_FORM * len(looked):
            reasons.append(f"{hits / len(looked):.0%} of its distinct values have the form of {pattern}")
            break
    almost = figures.distinct > 2 and figures.distinct_ratio >= ALMOST_UNIQUE
    heading = said(name)
    spoken = heading is not None and heading[0] is Role.IDENTIFIER
    measured = values.kind is Kind.NUMERIC and not is_key(name)
    if spoken and heading is not None and values.kind is not Kind.DATE:
        reasons.append(f"its heading says {heading[1]!r}")
    if values.kind is Kind.CATEGORICAL and figures.distinct_ratio > 0.5 and len(looked):
        count = float(np.mean([len(text.split()) for text in looked]))
        if count >= FEW_WORDS and figures.distinct > 2:
            reasons.append(f"free text of {count:.0f} words on average, in which anything may stand")
    if almost and not measured and values.kind is not Kind.DATE:
        reasons.append(f"almost unique: {figures.distinct_ratio:.0%} of the records that have a value have their own")
    return tuple(reasons)


def _confides(name: str) -> bool:
    heading = said(name)
    return heading is not None and heading[0] is Role.SENSITIVE


def _singling_out(rows: WeightedRows, share: float, run: Run) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The smallest sets by which more than a share of the records are unique: a negative border after δ."""
    found = Search(rows, rows.model.threshold, allowed(share, rows.records), watch=run).run()
    return tuple(rows.named(mask) for mask in found.negative), found.proven


def _contributions(rows: WeightedRows, seed: int, run: Run) -> tuple[dict[str, float], str]:
    """Shapley values of the share of unique records: a column's mean increase, over the orders of learning them."""
    partitions = Partitions(rows, run)
    count = len(rows.names)
    worth: dict[int, float] = {0: 0.0}

    def value(mask: int) -> float:
        if mask not in worth:
            worth[mask] = int((rows.sizes(partitions.of(mask)) == 1).sum()) / rows.records
        return worth[mask]

    totals = np.zeros(count)
    if len(rows) * 2.0**count <= WORK:
        ways = [1.0]
        for size in range(1, count):
            ways.append(ways[-1] * size / (count - size))
        for mask in range(1 << count):
            for position in range(count):
                if not mask >> position & 1:
                    gain = value(mask | 1 << position) - value(mask)
                    totals[position] += gain * ways[mask.bit_count()] / count
            if run.expired:
                return {}, "time was up before the contributions were known"
        return dict(zip(rows.names, totals.tolist(), strict=True)), f"exact, over all {2**count - 1:,} sets"
    generator = np.random.default_rng(seed)
    orders = 0
    most = max(FEWEST_ORDERS, min(MOST_ORDERS, int(WORK / (len(rows) * count))))
    while orders < most and not (orders and run.expired):
        mask = 0
        for position in generator.permutation(count).tolist():
            grown = mask | 1 << position
            # Nothing can be gained once every record is unique.
            totals[position] += 0.0 if worth.get(mask) == 1.0 else value(grown) - value(mask)
            worth.setdefault(grown, 1.0)
            mask = grown
        orders += 1
    return dict(zip(rows.names, (totals / orders).tolist(), strict=True)), f"sampled, {orders} orders, seed {seed}"


def _suggestion(
    name: str, values: Values, figures: _Figures, naming: Sequence[str], contribution: float | None,
    sets: Sequence[Sequence[str]], share: float,
) -> Suggestion:  # fmt: skip
    heading = said(name)
    reasons = list(naming)
    inside = [chosen for chosen in sets if name in chosen]
    role = Role.PLAIN
    if figures.distinct <= 1 and not naming:
        reasons.append("it has no value" if figures.distinct == 0 else "it has the same value everywhere")
    elif naming:
        role = Role.IDENTIFIER
    elif heading is not None and _confides(name):
        role = Role.SENSITIVE
        reasons.append(f"its heading says {heading[1]!r}")
    else:
        if heading is not None and heading[0] is Role.QUASI:
            reasons.append(f"its heading says {heading[1]!r}, which outsiders may know")
        if inside:
            least = min(len(chosen) for chosen in inside)
            with_whom = "alone" if least == 1 else f"with {least - 1} other column{'s' if least > 2 else ''}"
            reasons.append(f"{with_whom} it singles out more than {share:.0%} of the people")
        role = Role.QUASI if reasons else Role.PLAIN
        if not reasons:
            reasons.append(f"it is in no smallest set that singles out more than {share:.0%} of the people")
    return Suggestion(
        column=name, role=role, reasons=tuple(reasons), kind=values.kind, contribution=contribution,
        **vars(figures),
    )  # fmt: skip
