"""Analyses that must survive: declared by the user, done on the table and on the release, and compared."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.errors import NotDefined, ParameterError, unknown_columns
from shoal.utility import queries
from shoal.utility.conditions import Condition, where
from shoal.utility.published_labels import Labels
from shoal.utility.queries import ExpectedRows
from shoal.utility.regressions import Fit, Method, fit, overlaps

_FORM = re.compile(r"\s*(\w+)\s*(?:\((.*?)\))?\s*(?:\bwhere\b(.*))?", re.DOTALL)
_AND = re.compile(r"""\s+and\s+(?=(?:[^"]*"[^"]*")*[^"]*$)""")
MOST = 100
"""Values of a column of names that a regression takes."""
USAGE = (
    "an analysis is written 'count where age >= 40 and sex = F', 'mean(hours) where age >= 40', 'sum(hours)', "
    "'linear(hours ~ age + sex)' or 'logistic(salary ~ age + sex)'"
)


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A count, sum or mean under conditions, or a regression, that a recipient is going to do.

    `error` is the greatest relative error that a query may have, `overlap` the least mean overlap of the confidence
    intervals of a regression's coefficients; without one there is no verdict.

    Example:
        >>> analysis = Analysis.parsed("mean(hours) where age >= 40 and sex = F")
        >>> analysis.kind, analysis.column, analysis.conditions
        ('mean', 'hours', ('age >= 40', 'sex = F'))
        >>> Analysis.parsed("linear(hours ~ age + sex)").terms
        ('age', 'sex')
    """

    text: str
    kind: str
    column: str | None = None
    terms: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    name: str | None = None
    error: float | None = None
    overlap: float | None = None

    @classmethod
    def parsed(cls, written: Analysis | str | Mapping[str, Any]) -> Analysis:
        """An analysis as people write it: a text, or a table with the `analysis`, its `name` and its bounds."""
        if isinstance(written, Analysis):
            return written
        table = {"analysis": written} if isinstance(written, str) else dict(written)
        text = table.pop("analysis", None)
        if not isinstance(text, str):
            raise ParameterError(USAGE)
        unknown = set(table) - {"name", "error", "overlap"}
        if unknown:
            raise ParameterError("an analysis has: analysis, name, error, overlap")
        parts = _FORM.fullmatch(text)
        kind = parts[1].lower() if parts else ""
        regression = kind in ("linear", "logistic")
        if parts is None or (not regression and kind not in ("count", "sum", "mean")):
            raise ParameterError(USAGE)
        inner, rest = (parts[2] or "").strip(), (parts[3] or "").strip()
        column, tilde, right = (part.strip() for part in inner.partition("~"))
        terms = tuple(term.strip() for term in right.split("+")) if tilde else ()
        lacking = (
            (kind == "count") == bool(inner) or regression != bool(tilde) or (tilde and not (column and all(terms)))
        )
        if lacking or ((parts[3] is not None) and not rest):
            raise ParameterError(USAGE)
        bounds = {key: _bound(key, table.get(key)) for key in ("error", "overlap")}
        if bounds["overlap" if not regression else "error"] is not None:
            raise ParameterError("the bound of a query is an error, that of a regression an overlap")
        return cls(
            text=" ".join(text.split()),
            kind=kind,
            column=column or None,
            terms=terms,
            conditions=tuple(_AND.split(rest)) if rest else (),
            name=table.get("name"),
            **bounds,
        )

    @property
    def title(self) -> str:
        return self.name or self.text

    def spelled(self) -> dict[str, Any]:
        """As a job file holds it."""
        keys = {"analysis": self.text, "name": self.name, "error": self.error, "overlap": self.overlap}
        return {key: value for key, value in keys.items() if value is not None}

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that it is about; raises when a table does not have them."""
        wanted = [condition.column for condition in where(self.conditions, names)]
        about = [*([self.column] if self.column and self.column in names else []), *self.terms]
        if self.column and self.column not in names:
            if self.kind != "logistic" or not re.search(r"[<>=]|\bin\b|\bis\b", self.column):
                raise unknown_columns([self.column], names)
            about.append(where([self.column], names)[0].column)
        unknown = [name for name in about if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
        return tuple(dict.fromkeys((*about, *wanted)))

    def measured(self, data: Dataset, release: Release) -> Finding:
        """How far what a recipient finds is from what the table says."""
        try:
            names = self.columns(data.schema.names)
            published = {name for each in release.view.linked() for name in each.columns}
            dropped = [name for name in names if name not in published]
            if dropped:
                raise NotDefined(f"column {dropped[0]!r} is not published, so nobody can do this on the release")
            return self._query(data, release) if not self.terms else self._regression(data, release, names)
        except NotDefined as reason:
            return self._finding(None, how=str(reason))

    def _finding(self, value: float | None, **facts: Any) -> Finding:
        """An error, of which the bound is the greatest, or an overlap, of which it is the least."""
        bound = self.overlap if self.terms else self.error
        holds = None
        if bound is not None:
            holds = value is not None and (value >= bound if self.terms else value <= bound)
        return Finding(name=self.title, value=value, bound=bound, holds=holds, unit="share", **facts)

    def _query(self, data: Dataset, release: Release) -> Finding:
        trees = {each.name: each.hierarchy for each in release.schema.columns if each.hierarchy is not None}
        kind: Any = self.kind
        exact = queries.of_dataset(data, kind, self.column, self.conditions)
        truth, truth_of_all = exact.value, exact.weighted
        answer = queries.of_release(release, kind, self.column, self.conditions, trees)
        if truth is None or answer.value is None:
            raise NotDefined("no record meets the conditions, so there is nothing to compare")
        off = abs(answer.value - truth)
        error = off / abs(truth) if truth else (0.0 if off == 0 else None)
        detail = {"truth": truth, "estimate": answer.value, "standard error": answer.error}
        known = {"certain from": answer.low, "certain to": answer.high}
        detail |= {key: value for key, value in known.items() if value is not None}
        if truth_of_all is not None:
            detail |= {"weighted truth": truth_of_all, "weighted estimate": answer.weighted}
        how = "how far the estimate from the release is from the truth, as a share of the truth"
        if error is None:
            how = "the truth is 0 and the estimate is not, so there is no relative error"
        return self._finding(error, label=f"{self.title}: relative error", how=how, detail=detail)

    def _regression(self, data: Dataset, release: Release, names: Sequence[str]) -> Finding:
        trees = {each.name: each.hierarchy for each in data.knowing(names).schema.columns if each.hierarchy is not None}
        before, after = queries.rows_of_dataset(data, names), queries.rows_of_release(release, names, trees)
        terms = [term for name in self.terms for term in _terms(name, before.labels[name])]
        outcome = self._outcome(before, data.schema.names)
        fits = [self._fit(rows, terms, outcome, data.schema.names) for rows in (before, after)]
        determined = ~np.isnan(fits[0].coefficients[1:])
        if not determined.any():
            raise NotDefined(
                "the table itself does not tell the coefficients: columns tell one another, or the outcome"
            )
        shares = overlaps(*fits)[1:]
        value = float(shares[determined].mean())
        detail = {
            str(term): {"table": _plain(one), "release": _plain(other), "overlap": float(share) if known else None}
            for term, one, other, share, known in zip(
                terms, fits[0].coefficients[1:], fits[1].coefficients[1:], shares, determined, strict=True
            )
        }
        how = (
            "overlap of the 95 % confidence intervals of the coefficients, on average (Karr et al.); ranges count as "
            "their middle, names by their chances"
        )
        return self._finding(value, label=f"{self.title}: overlap", how=how, detail=detail)

    def _outcome(self, rows: ExpectedRows, names: Sequence[str]) -> Condition | None:
        """What the outcome of a logistic regression is; None where the outcome is a number."""
        if self.kind == "linear":
            if not rows.labels[str(self.column)].numeric:
                raise ParameterError(f"{self.title}: column {self.column!r} has no numbers; use logistic(…) for names")
            return None
        if self.column not in names:
            return where([str(self.column)], names)[0]
        values = _occurring(rows.labels[str(self.column)])
        if len(values) != 2:
            raise ParameterError(
                f"{self.title}: column {self.column!r} has {len(values)} values and a logistic regression takes two; "
                "say which one is meant, as in logistic(COLUMN = value ~ …)"
            )
        return Condition(column=str(self.column), values=frozenset([max(values)]))

    def _fit(self, rows: ExpectedRows, terms: Sequence[Term], outcome: Condition | None, names: Sequence[str]) -> Fit:
        chance = np.ones(len(rows.weights))
        for condition in where(self.conditions, names):
            chance = chance * condition.meaning(rows.labels[condition.column]).chance[rows.codes[condition.column]]
        about = dict.fromkeys([*(term.column for term in terms), outcome.column if outcome else str(self.column)])
        for name in about:
            chance = chance * ~rows.labels[name].absent[rows.codes[name]]
        chosen = np.flatnonzero(chance > 0)
        codes = {name: rows.codes[name][chosen] for name in about}
        design = np.column_stack([term.values(rows.labels[term.column])[codes[term.column]] for term in terms])
        if outcome is None:
            low, high = rows.labels[str(self.column)].ends
            explained = ((low + high) / 2)[codes[str(self.column)]]
        else:
            explained = outcome.meaning(rows.labels[outcome.column]).chance[codes[outcome.column]]
        method: Method = "linear" if self.kind == "linear" else "logistic"
        return fit(method, design, explained, (rows.weights * chance)[chosen])


@dataclass(frozen=True)
class Term:
    """What a regression takes of a column: its number, or whether it has one value. The value is not printed: it is
    named by its place among the values of the column."""

    column: str
    value: Condition | None = None
    place: str = ""

    def __str__(self) -> str:
        return f"{self.column} {self.place}".strip()

    def values(self, labels: Labels) -> Floats:
        """The number of each label: the middle of its range; or the chance that it is the value."""
        if self.value is not None:
            return self.value.meaning(labels).chance
        return queries.middles(labels)


def _terms(column: str, labels: Labels) -> list[Term]:
    """The number of a column, or all its values but the first."""
    if labels.numeric:
        return [Term(column)]
    values = _occurring(labels)
    if len(values) > MOST:
        raise ParameterError(f"column {column!r} has {len(values):,} names, too many for a regression")
    return [
        Term(column, Condition(column=column, values=frozenset([value])), f"({place} of {len(values)})")
        for place, value in enumerate(values[1:], 2)
    ]


def _occurring(labels: Labels) -> list[str]:
    """The values that records have, in order."""
    return sorted(
        text for text, weight in zip(labels.texts, labels.weights, strict=True) if text is not None and weight
    )


def _bound(key: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value >= 0 and math.isfinite(value)):
        raise ParameterError(f"the {key} of an analysis is a number from 0 up, such as 0.05")
    return float(value)


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def all_parsed(written: Iterable[Analysis | str | Mapping[str, Any]]) -> tuple[Analysis, ...]:
    """Analyses as people give them; one text is one analysis."""
    return tuple(Analysis.parsed(each) for each in ([written] if isinstance(written, (str, Analysis)) else written))
