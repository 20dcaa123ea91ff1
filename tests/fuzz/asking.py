"""Asks a release for counts, sums and means, and holds what it calls certain against the table and against the cells.

The truth must lie between the bounds, and so must every table whose cells could have been published like this: a
record that may meet the conditions may not be left out, and one that may not meet them may not be counted on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, Literal

import pyarrow as pa
from tests.fuzz import reader
from tests.fuzz.case import Column, Given
from tests.fuzz.checking import TWO_TABLES, Checks, caught, demand
from tests.fuzz.meaning import arrow_text, iso, moment, plain, quantity

import shoal
from shoal.core.hierarchy import Hierarchy
from shoal.utility.estimation import Estimate

Test = Callable[[int], bool]
"""Whether the record of a row meets a condition."""


@dataclass(frozen=True)
class Condition:
    """A condition on a column, as it is asked and as it is true of a record."""

    column: Column
    asked: Any
    holds: Test
    told: dict[str, str | None] = field(default_factory=dict, compare=False)
    """What cells say about it, as far as they were looked at."""


@dataclass(frozen=True)
class Question:
    measure: Literal["count", "sum", "mean"]
    column: Column | None
    conditions: tuple[Condition, ...]

    def truth(self, rows: list[int]) -> Fraction | None:
        """The answer by the table; None: there is no mean of nothing."""
        met = [row for row in rows if all(each.holds(row) for each in self.conditions)]
        if self.column is None:
            return Fraction(len(met))
        values = [quantity(self.column.values[row], self.column.type) for row in met]
        numbers = [value for value in values if value is not None]
        if self.measure == "sum":
            return Fraction(sum(numbers))
        return Fraction(sum(numbers)) / len(numbers) if numbers else None


def check_answers(checks: Checks) -> None:
    """Asks as many questions as the case says, of the table, of the release as it was made, and of the file."""
    chance = Random(checks.case.number)
    rows = checks.rows if checks.rows is not None else checks.kept
    if len(rows) != len(checks.sheets[""].rows):  # which records were left out is not known
        return
    for _ in range(checks.case.questions):
        question = _question(checks, chance)
        for source in (checks.data, checks.made, checks.target):
            answer = None if source is None else _answer(checks, question, source)
            if answer is None:
                continue
            if source is checks.data:
                _check_truth(question, answer, checks.kept)
            else:
                checks.seen["bounds", checks.stated["form"]] += answer.low is not None or answer.high is not None
                _check_bounds(checks, question, answer, rows)


def _answer(checks: Checks, question: Question, source: Any) -> Estimate | None:
    """What Shoal answers; None: it gives a reason instead."""
    answer = None
    with caught(checks.told) as ended:
        trees = {
            column.name: Hierarchy.from_paths(column.name, column.hierarchy.paths)
            for column in checks.case.named("quasi")
            if isinstance(column.hierarchy, Given)
        }
        answer = shoal.query(
            source,
            question.measure,
            None if question.column is None else question.column.name,
            where={each.column.name: each.asked for each in question.conditions},
            hierarchies=trees if source is checks.target else None,
        )
    checks.seen["question", f"{question.measure} {ended.state.replace('published', 'answered')}"] += 1
    return answer


def _check_truth(question: Question, answer: Estimate, rows: list[int]) -> None:
    truth = question.truth(rows)
    if truth is None or answer.value is None:
        demand(truth is None and answer.value is None, "a mean of nothing")
        return
    demand(math.isclose(answer.value, truth, rel_tol=1e-9, abs_tol=1e-9), f"a {question.measure} of the table is wrong")


def _check_bounds(checks: Checks, question: Question, answer: Estimate, rows: list[int]) -> None:
    truth = question.truth(rows)
    form = checks.stated["form"]
    told = [bound for bound in (answer.low, answer.high) if bound is not None]
    if truth is None or not told:
        return
    slack = max(abs(float(truth)), *map(abs, told)) * 1e-9 + 1e-9
    low = -math.inf if answer.low is None else answer.low - slack
    high = math.inf if answer.high is None else answer.high + slack
    demand(low <= truth <= high, f"{question.measure}, {form}: the truth is outside what is certain")
    if answer.value is not None:
        demand(low <= answer.value <= high, f"{question.measure}, {form}: the estimate is outside what is certain")
    if question.measure == "count":
        ends = _certain(checks, question)
        if ends is not None:
            demand(low <= ends[0], f"{form}: a count is said to be at least more than the cells tell")
            demand(high >= ends[1], f"{form}: a count is said to be at most less than the cells tell")


# -------------------------------------------------------------------------------------------- what cells make certain


def _certain(checks: Checks, question: Question) -> tuple[int, int] | None:
    """The least and the greatest count of any table whose cells are these; None: a cell may be a mean."""
    parts = [part for part in _parts(checks) if any(each.column.name in part.columns for each in question.conditions)]
    sizes = _sizes(checks)
    surely: list[Counter[Hashable]] = []
    possibly: list[Counter[Hashable]] = []
    for part in parts:
        sure, possible = Counter[Hashable](), Counter[Hashable]()
        for group, count, row in part.rows:
            told = [_told(checks, each, row) for each in question.conditions if each.column.name in part.columns]
            if None in told:
                return None
            sure[group] += count * all(each == "surely" for each in told)
            possible[group] += count * all(each != "no" for each in told)
        surely.append(sure)
        possibly.append(possible)
    if len(parts) == 1 and checks.stated["form"] not in TWO_TABLES:
        return surely[0].total(), possibly[0].total()
    low = high = 0
    for group, size in sizes.items():
        # Of what a group shows beyond its people nobody can tell which are theirs.
        sure = [max(each[group] - (part.totals[group] - size), 0) for each, part in zip(surely, parts, strict=True)]
        low += max(sum(sure) - (len(parts) - 1) * size, 0)
        high += min([size, *(each[group] for each in possibly)])
    return low, high


@dataclass(frozen=True)
class _Part:
    """Columns that stand together for a record: for each row its group, how many records it counts, and its cells."""

    columns: tuple[str, ...]
    rows: list[tuple[Hashable, int, dict[str, Any]]]

    @property
    def totals(self) -> Counter[Hashable]:
        found = Counter[Hashable]()
        for group, count, _ in self.rows:
            found[group] += count
        return found


def _sizes(checks: Checks) -> Counter[Hashable]:
    """How many people each group of the release has."""
    form, sheet = checks.stated["form"], checks.sheets[""]
    if form in TWO_TABLES:
        return Counter(map(str, sheet.column("group")))
    if form == "sliced":
        return Counter(map(str, sheet.column("bucket")))
    return Counter(_keys(checks))


def _keys(checks: Checks) -> list[Hashable]:
    """The class of each row of the main table."""
    sheet = checks.sheets[""]
    return list(zip(*(sheet.column(column.name) for column in checks.case.named("quasi")), strict=True))


def _parts(checks: Checks) -> Iterator[_Part]:
    form, sheet = checks.stated["form"], checks.sheets[""]
    quasi = tuple(column.name for column in checks.case.named("quasi"))
    if form == "multisets":
        keys = _keys(checks)
        for name in quasi:
            rows: list[tuple[Hashable, int, dict[str, Any]]] = []
            for key, size in Counter(keys).items():
                held = reader.multiset(key[quasi.index(name)])  # type: ignore[index]
                times = size // sum(count for _, count in held)
                rows += [(key, count * times, {name: text}) for text, count in held]
            yield _Part((name,), rows)
        others = tuple(name for name in sheet.names if name not in quasi)
        cells = [dict(zip(sheet.names, row, strict=True)) for row in sheet.rows]
        yield _Part(others, [(key, 1, cell) for key, cell in zip(keys, cells, strict=True)])
        return
    groups = {"two-table": "group", "counterfeited": "group", "sliced": "bucket"}.get(form)
    for part in checks.sheets.values():
        counts = form in TWO_TABLES and part is not sheet
        counted = part.column("count") if counts else [1] * len(part.rows)
        named = [None] * len(part.rows) if groups is None else list(map(str, part.column(groups)))
        cells = [dict(zip(part.names, row, strict=True)) for row in part.rows]
        yield _Part(
            tuple(name for name in part.names if name != groups and not (counts and name == "count")),
            [(group, int(count), cell) for group, count, cell in zip(named, counted, cells, strict=True)],
        )


def _told(checks: Checks, condition: Condition, cells: dict[str, Any]) -> str | None:
    """What a cell says about a condition: `surely`, `maybe` or `no`; None: it may be a mean."""
    cell = cells[condition.column.name]
    if repr(cell) not in condition.told:
        condition.told[repr(cell)] = _verdict(checks, condition, cell)
    return condition.told[repr(cell)]


def _verdict(checks: Checks, condition: Condition, cell: Any) -> str | None:
    column = condition.column
    kind = next((each.types.get(column.name) for each in checks.sheets.values() if column.name in each.names), None)
    lexicon = checks.lexicons[column.name]
    verdicts = set()
    generalized = column.role == "quasi" and checks.stated["form"] == "generalized"
    shown = None if generalized else _value(checks, column, cell, kind)
    for row in checks.kept:
        if generalized:
            true = checks.covers(column, cell, kind, row)
            if true is None:
                return None
        else:
            true = lexicon.values[row] == shown
        if true:
            verdicts.add(condition.holds(row))
    return "maybe" if len(verdicts) == 2 else "surely" if True in verdicts else "no"


def _value(checks: Checks, column: Column, cell: Any, kind: Any) -> Hashable:
    return checks.meant(column.name, cell) if isinstance(cell, str) else checks.lexicons[column.name].read(cell, kind)


# ------------------------------------------------------------------------------------------------- drawing a question


def _question(checks: Checks, chance: Random) -> Question:
    """A question about columns with a role."""
    columns = [column for column in checks.case.columns if column.role in ("quasi", "sensitive")]
    asked = chance.sample(columns, min(len(columns), chance.choice([0, 1, 1, 1, 2, 3])))
    conditions = tuple(_condition(checks, chance, column) for column in asked)
    numeric = [column for column in columns if _measured(checks, column, quantity)]
    if numeric and chance.random() < 0.4:
        return Question(chance.choice(["sum", "mean"]), chance.choice(numeric), conditions)  # type: ignore[arg-type]
    return Question("count", None, conditions)


def _measured(checks: Checks, column: Column, measure: Callable[[Any, Any], Fraction | None]) -> bool:
    """Whether all values that a column has are numbers, or dates."""
    values = checks.lexicons[column.name].values
    held = [column.values[row] for row in checks.kept if values[row] is not None]
    return bool(held) and all(measure(raw, column.type) is not None for raw in held)


def _condition(checks: Checks, chance: Random, column: Column) -> Condition:
    lexicon = checks.lexicons[column.name]
    if chance.random() < 0.1:
        absent = chance.random() < 0.5
        return Condition(
            column,
            "is missing" if absent else "is not missing",
            lambda row: (lexicon.values[row] is None) == absent,
        )
    for measure in (quantity, moment):
        if _measured(checks, column, measure) and chance.random() < 0.7:
            return _comparison(checks, chance, column, measure)
    texts = _asked_for(checks, chance, column)
    chosen = chance.sample(texts, min(len(texts), chance.choice([1, 1, 2, 3])))
    wanted = {lexicon.read(text, pa.string()) for text in chosen if lexicon.has(text)}
    if len(chosen) == 1 and chance.random() < 0.5 and re.fullmatch(r"[\w*.:-]+", chosen[0]):
        if chance.random() < 0.5:
            return Condition(column, f"= {chosen[0]}", lambda row: lexicon.values[row] in wanted)
        return Condition(
            column, f"!= {chosen[0]}", lambda row: lexicon.values[row] is not None and lexicon.values[row] not in wanted
        )
    return Condition(column, chosen, lambda row: lexicon.values[row] in wanted)


def _asked_for(checks: Checks, chance: Random, column: Column) -> list[str]:
    """Texts that somebody may ask for: values of the column, cells of the release, and what nobody has."""
    values = checks.lexicons[column.name].values
    own = sorted({_text(column.values[row], column.type) for row in checks.kept if values[row] is not None})
    sheet = next(each for each in checks.sheets.values() if column.name in each.names)
    cells = sorted({cell for cell in sheet.column(column.name) if isinstance(cell, str)})
    some = {*chance.sample(own, min(3, len(own))), *chance.sample(cells, min(2, len(cells))), "*", "a"}
    return sorted(text for text in some if text.strip())


def _text(raw: Any, kind: pa.DataType) -> str:
    """A value as somebody asks for it: a date as releases spell it."""
    return iso(raw.strip()) if isinstance(raw, str) else arrow_text(raw, kind)


def _comparison(checks: Checks, chance: Random, column: Column, measure: Callable[[Any, Any], Any]) -> Condition:
    """A condition on a number or a date: an end of it is a value of the column, or lies between two."""
    values = checks.lexicons[column.name].values
    held = [column.values[row] for row in checks.kept if values[row] is not None]

    def end() -> tuple[str, Fraction]:
        raw = chance.choice(held)
        exact = measure(raw, column.type)
        if measure is moment or (isinstance(raw, str) and chance.random() < 0.5):
            return _text(raw, column.type), exact
        moved = exact + chance.choice([0, 0, Fraction(1, 2), Fraction(1, 4), Fraction(-1, 2), 1, -1])
        return plain(moved), moved

    (first, low), (second, high) = sorted((end(), end()), key=lambda pair: pair[1])
    kind = chance.choice(["<=", "<", ">=", ">", ".."])
    meets: dict[str, Callable[[Any], bool]] = {
        "<=": lambda value: value <= low, "<": lambda value: value < low, ">=": lambda value: value >= low,
        ">": lambda value: value > low, "..": lambda value: low <= value <= high,
    }  # fmt: skip
    asked = f"{first}..{second}" if kind == ".." else f"{kind} {first}"
    return Condition(
        column, asked,
        lambda row: values[row] is not None and meets[kind](measure(column.values[row], column.type)),
    )  # fmt: skip
