"""The twelve questions about a level, k for instance: which one it is follows from what is given.

|            | no δ                     | δ given                 | δ asked for                |
|------------|--------------------------|-------------------------|----------------------------|
| Q and k    | 1 does it hold?          | 5 does it hold after δ? | 9 which δ?                 |
| Q          | 2 which k?               | 6 which k after δ?      | 11 which δ for each k?     |
| k          | 3 which sets: borders    | 7 borders after δ       | 10 which δ for each set?   |
| nothing    | 4 k of every set         | 8 k of every set        | 12 δ for every set and k   |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from numbers import Real
from threading import Lock
from typing import Any, Literal, cast
from weakref import WeakKeyDictionary

from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.formatting import amount, counted, in_html, percent, printable
from shoal.core.grouping import Counts
from shoal.core.policy import allowed
from shoal.core.run import Run
from shoal.diagnosis.borders import Borders, Memory, Search
from shoal.diagnosis.every_set import MOST_CURVES, MOST_LISTED, Measured, PerSet, SetWalk, WalkedSets, extremes
from shoal.diagnosis.families import MOST, by_size
from shoal.diagnosis.weighted_rows import Curve, Levels, Partition, Partitions, WeightedRows
from shoal.errors import ParameterError

Delta = float | Literal["ask"] | None
Sets = tuple[tuple[str, ...], ...]

# (Q is given, a bound is given, δ is None, given or asked for) for each question
TABLE = {
    1: (True, True, None), 5: (True, True, "given"), 9: (True, True, "ask"),
    2: (True, False, None), 6: (True, False, "given"), 11: (True, False, "ask"),
    3: (False, True, None), 7: (False, True, "given"), 10: (False, True, "ask"),
    4: (False, False, None), 8: (False, False, "given"), 12: (False, False, "ask"),
}  # fmt: skip
WORDS = {
    1: "does {set} have {letter} {sign} {bound}?",
    2: "which {letter} does {set} have?",
    3: "which sets of columns have {letter} {sign} {bound}?",
    4: "which {letter} does each set of columns have?",
    5: "does {set} have {letter} {sign} {bound} when {delta} of the records may be left out?",
    6: "which {letter} does {set} have when {delta} of the records may be left out?",
    7: "which sets have {letter} {sign} {bound} when {delta} of the records may be left out?",
    8: "which {letter} does each set have when {delta} of the records may be left out?",
    9: "which share of the records must be left out for {set} to have {letter} {sign} {bound}?",
    10: "which share of the records must be left out for each set to have {letter} {sign} {bound}?",
    11: "which share of the records must be left out for {set}, for each {letter}?",
    12: "which share of the records must be left out for each set and each {letter}?",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer with what it rests on.

    `answer` is a yes or no (questions 1, 5), a level (2, 6), a share δ (9), steps of a curve, `(level, δ)` (11), the
    maximal sets that satisfy (3, 7), or a mapping from each set to its level (4, 8), δ (10) or curve (12).

    `calls` counts evaluations of the base function on a set (levels that an earlier question about the same data
    left behind need none) and `scans` looks at one record's neighbours;
    `calls_levelwise` and `calls_brute` are what plain levelwise search and trying every set would take. When the
    answer is not `proven`, time ran out: what stands in the borders is certain, `known_bad` sets are certainly bad
    and not proven minimal, and of the sets inside the `undecided` ones nothing else is known.

    `model` is what was asked, with the bound where the question has one. Under a strict schema `contexts` are the other
    sensitive attributes, on which the people of a part of a class agree. With a `person` column the level of a class
    counts people; what is left out is counted in records.

    Without `monotone`, adding an attribute can make a set better. Then the borders are still the maximal sets that
    satisfy and the minimal ones that do not, but a set between them must be looked up on its own.
    """

    question: int
    notion: str
    model: Model
    attributes: tuple[str, ...]
    records: int
    bound: float | int | None = None
    delta: Delta = None
    sensitive: str | None = None
    contexts: tuple[str, ...] = ()
    person: str | None = None
    answer: Any
    positive_border: Sets | None = None
    negative_border: Sets | None = None
    known_bad: Sets = ()
    undecided: Sets = ()
    calls: int = 1
    scans: int = 0
    calls_levelwise: int | None = None
    calls_brute: int = 1
    proven: bool = True
    monotone: bool = True

    @property
    def parameter(self) -> str:
        """The parameter that the question is about: k, l, t or another one."""
        return self.model.asks

    @property
    def words(self) -> str:
        """The question in words."""
        chosen = f"{{{', '.join(map(printable, self.attributes))}}}"
        bound = f"{self.bound:g}" if isinstance(self.bound, float) else self.bound
        sign = "≥" if self.model.more_is_safer else "≤"
        return WORDS[self.question].format(set=chosen, letter=self.parameter, sign=sign, bound=bound, delta=self.delta)

    @property
    def summary(self) -> str:
        """The answer in a sentence."""
        shown = f"{{{', '.join(map(printable, self.attributes))}}}"
        sign = "at least" if self.model.more_is_safer else "at most"
        condition = f"{self.parameter} {sign} {amount(self.bound)}"
        after = "" if self.delta in (None, "ask") else f" when {percent(float(self.delta))} of the records are left out"
        if self.positive_border is not None and self.negative_border is not None:
            sentence = (
                f"{counted(len(self.positive_border), 'largest sets')} of columns with {condition}{after}, "
                f"{counted(len(self.negative_border), 'smallest sets')} without"
            )
        elif isinstance(self.answer, bool):
            sentence = (
                f"{'Yes' if self.answer else 'No'}: {shown} has {'' if self.answer else 'not '}{condition}{after}"
            )
        elif isinstance(self.answer, PerSet):
            span = _span(list(self.answer.values())) if self.question in (4, 8) else ""
            what = f"have {self.parameter} {span}" if span else "were looked at"
            sentence = f"{counted(len(self.answer), 'sets')} of columns {what}{after}"
        elif isinstance(self.answer, tuple):
            sentence = f"{shown}: {counted(len(self.answer), 'steps')}, from the least to the greatest {self.parameter}"
        elif self.question == 9:
            out = counted(round(self.answer * self.records), "records")
            sentence = f"{out} ({percent(self.answer)}) must be left out for {shown} to have {condition}"
        else:
            sentence = f"{shown} has {self.parameter} = {amount(self.answer)}{after}"
        return printable(f"{sentence}{'' if self.proven else '; time was up, so there may be more'}.")

    def _repr_html_(self) -> str:
        if self.positive_border is None or self.negative_border is None:
            return in_html(("question", "answer"), [(self.words, self.summary)])
        rows = zip_longest(map(", ".join, self.positive_border), map(", ".join, self.negative_border), fillvalue="")
        return in_html(("largest sets that keep it", "smallest sets that do not"), rows, self.summary)

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON holds it; a number that JSON lacks (infinity) is written as text."""
        entry: dict[str, Any] = {
            "question": self.question, "words": self.words, "notion": self.notion,
            "attributes": list(self.attributes), "bound": self.bound, "delta": self.delta,
            "answer": _plain(self.answer), "calls": self.calls, "scans": self.scans,
            "calls_levelwise": self.calls_levelwise, "calls_brute": self.calls_brute, "proven": self.proven,
            "monotone": self.monotone,
        }  # fmt: skip
        if self.positive_border is not None and self.negative_border is not None:
            entry["positive_border"] = [list(names) for names in self.positive_border]
            entry["negative_border"] = [list(names) for names in self.negative_border]
        if not self.proven:
            entry["known_bad"] = [list(names) for names in self.known_bad]
            entry["undecided"] = [list(names) for names in self.undecided]
        if self.sensitive is not None:
            entry["sensitive"] = self.sensitive
        if self.person is not None:
            entry["person"] = self.person
        return entry


def _span(levels: list[Any]) -> str:
    least, greatest = min(levels, default=0), max(levels, default=0)
    return f"= {amount(least)}" if least == greatest else f"from {amount(least)} to {amount(greatest)}"


def _plain(value: Any) -> Any:
    if isinstance(value, PerSet):
        return [{"attributes": list(names), "value": _plain(each)} for names, each in value.items()]
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def which(*, attributes: bool, bound: bool, delta: Delta, forced: int | None = None) -> int:
    """The number of the question that is asked by what is given; a forced one must have what it needs.

    Example:
        >>> which(attributes=False, bound=True, delta=None), which(attributes=True, bound=False, delta="ask")
        (3, 11)
    """
    if delta is not None and delta != "ask" and (isinstance(delta, (str, bool)) or not 0 <= delta <= 1):
        raise ParameterError("δ is a share of the records between 0 and 1, or 'ask'")
    share = delta if delta in (None, "ask") else "given"
    if forced is None:
        return next(number for number, row in TABLE.items() if row == (attributes, bound, share))
    if forced not in TABLE:
        raise ParameterError("questions are numbered 1 to 12")
    _, needs_bound, needs_delta = TABLE[forced]
    if needs_bound and not bound:
        raise ParameterError(f"question {forced} needs a bound, such as k, l or t")
    if needs_delta == "given" and share != "given":
        raise ParameterError(f"question {forced} needs δ, a share of the records between 0 and 1")
    if bound and not needs_bound:
        raise ParameterError(f"question {forced} asks for the level and one is given; leave it out")
    if share == "given" and needs_delta != "given":
        raise ParameterError(f"question {forced} takes no δ; leave it out")
    return forced


def ask(
    classes: Classes,
    model: Model,
    attributes: Sequence[str],
    *,
    question: int,
    bound: float | int | None = None,
    delta: Delta = None,
    sensitive: str | None = None,
    time_limit: float | None = None,
    run: Run | None = None,
    notion: str | None = None,
) -> Answer:
    """The answer to a question about a table's summary. Questions about sets range over those of `attributes`.

    The question is about the parameter that the model `asks` for: of what the model says about it, only a bound is
    taken, where the question needs one and none is given. `notion` is how the answer calls the model.
    """
    one, needs_bound, share = TABLE[question]
    if needs_bound and bound is not None:
        model = bounded(model, bound)
    if not attributes:
        raise ParameterError("name at least one attribute")
    if not one and len(attributes) > MOST:
        raise ParameterError(
            f"a question about sets takes at most {MOST} attributes and these are {len(attributes)}; name fewer"
        )
    if not one and not model.merge_monotone:
        raise ParameterError(
            f"{type(model).__name__} cannot be asked about sets of attributes, because adding one can make its level "
            "better; ask about one set, or choose a model that merging classes keeps"
        )
    if not one and model.whole_table:
        raise ParameterError(
            f"{type(model).__name__} cannot be asked about sets of attributes, because it judges all classes of a "
            "table together; ask about one set"
        )
    if classes.people is not None:
        model.check_people()
    watch = (run or Run()).part(seconds=time_limit)
    chosen_delta: Delta = (
        float(delta) if share == "given" and isinstance(delta, Real) else "ask" if share == "ask" else None
    )
    with _remembered(classes, model, tuple(attributes), sensitive, chosen_delta) as (rows, memory, budget):
        owners = classes.people if model.needs_sensitive else rows.histogram
        sensitive_column = rows.histogram.column if rows.histogram and model.needs_sensitive else None
        asked = _Asked(rows, rows.sign * model.threshold, budget, watch, memory)
        monotone = rows.monotone(budget) and (chosen_delta != "ask" or rows.monotone(1))
        facts: dict[str, Any] = {
            "question": question, "notion": notion or model.level, "model": model, "attributes": rows.names,
            "records": rows.records, "bound": model.bound if needs_bound else None, "delta": chosen_delta,
            "monotone": monotone, "sensitive": sensitive_column,
            "contexts": rows.others(classes), "person": None if owners is None else owners.column,
        }  # fmt: skip
        if one:
            facts["answer"] = asked.one(question)
        elif question in (3, 7):
            facts |= {"calls_brute": rows.full, **asked.borders(monotone)}
        else:
            walked = asked.every(question, monotone)
            facts |= {
                "answer": PerSet(rows.names, walked.values), "calls": walked.calls, "proven": walked.proven,
                "calls_brute": rows.full, "calls_levelwise": rows.full,
                "undecided": () if walked.proven else (rows.names,),
            }  # fmt: skip
    return Answer(**facts)


def bounded(model: Model, bound: Any) -> Model:
    """The model with another bound; one that makes no sense for it is an error that says so."""
    if isinstance(bound, bool) or not isinstance(bound, Real) or not math.isfinite(bound):
        raise ParameterError(f"{model.asks} is a number")
    plain, changed = float(bound), cast(Any, model)
    other: Model = replace(changed, **{model.asks: int(plain) if plain.is_integer() else plain})
    return other


_MEMORIES: WeakKeyDictionary[Classes, tuple[Any, WeightedRows, dict[int, Memory]]] = WeakKeyDictionary()
_LOCK = Lock()


@contextmanager
def _remembered(
    classes: Classes, model: Model, attributes: tuple[str, ...], sensitive: str | None, delta: Delta
) -> Iterator[tuple[WeightedRows, Memory, int]]:
    """The rows of a question, what earlier questions about the same sets and budget found, and that budget.

    Only what the last questions found is kept. The rows never change; of the memory every question gets a copy, and
    leaves it behind when it ends, so that questions in several threads do not meet.
    """
    fixed = {name: value for name, value in model.parameters().items() if name != model.asks}
    key = (type(model), fixed, attributes, sensitive)
    with _LOCK:
        remembered = _MEMORIES.get(classes)
    if remembered is None or remembered[0] != key:
        remembered = (key, WeightedRows.of(classes, model, attributes, sensitive), {})
    budget = allowed(delta, remembered[1].records) if isinstance(delta, float) else 0
    with _LOCK:
        memory = remembered[2].get(budget, Memory()).copied()
    yield remembered[1], memory, budget
    memory.rolled.clear()  # too large to be kept
    with _LOCK:
        remembered[2][budget] = memory
        _MEMORIES[classes] = remembered


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question on its way to an answer."""

    rows: WeightedRows
    threshold: float
    budget: int
    watch: Run
    memory: Memory

    def level(self, partitions: Partitions, sizes: Counts, levels: Levels) -> float | int:
        return self.rows.outer(partitions.level(sizes, levels, self.budget))

    def holds(self, partitions: Partitions, sizes: Counts, levels: Levels) -> bool:
        return self.rows.below(sizes, levels, self.threshold) <= self.budget

    def share(self, partitions: Partitions, sizes: Counts, levels: Levels) -> float:
        return self.rows.below(sizes, levels, self.threshold) / self.rows.records

    def curve(self, partitions: Partitions, sizes: Counts, levels: Levels) -> Curve:
        return self.rows.curve(sizes, levels)

    def measured(self, question: int) -> Measured:
        """What a question asks of a set."""
        if question in (2, 4, 6, 8):
            return self.level
        if question in (1, 5):
            return self.holds
        return self.share if question in (9, 10) else self.curve

    def one(self, question: int) -> Any:
        partitions = Partitions(self.rows, self.watch)
        return self.measured(question)(partitions, *self.rows.levels(partitions.of(self.rows.full)))

    def every(self, question: int, monotone: bool) -> WalkedSets:
        most = MOST_CURVES if question == 12 else MOST_LISTED
        return SetWalk(self.rows, self.measured(question), monotone and question != 12, self.watch, most=most).run()

    def borders(self, monotone: bool) -> dict[str, Any]:
        """Both borders; where adding an attribute can help, from a look at every set that could be good."""
        if monotone:
            return self._described(Search(self.rows, self.threshold, self.budget, self.memory, self.watch).run())
        walked = SetWalk(self.rows, self.holds, False, self.watch, self._hopeless).run()
        positive, negative = extremes(walked.values, len(self.rows.names)) if walked.proven else ([], [])
        bad = [] if walked.proven else [mask for mask, good in walked.values.items() if not good]
        largest, smallest = (tuple(sorted(sets, key=by_size)) for sets in (positive, negative))
        undecided = () if walked.proven else (self.rows.full,)
        borders = Borders(largest, smallest, walked.calls, 0, walked.proven, tuple(bad), undecided)
        return {**self._described(borders), "calls_levelwise": self.rows.full}

    def _hopeless(self, rows: WeightedRows, partition: Partition) -> bool | None:
        """Fails a set and all its supersets, whatever else is not monotone."""
        return False if rows.hopeless(partition, self.threshold) > self.budget else None

    def _described(self, borders: Borders) -> dict[str, Any]:
        def named(masks: Any) -> Sets:
            return tuple(self.rows.named(mask) for mask in masks)

        return {
            "answer": named(borders.positive),
            "positive_border": named(borders.positive),
            "negative_border": named(borders.negative),
            "known_bad": named(borders.bad),
            "undecided": named(borders.open),
            "calls": borders.calls,
            "scans": borders.scans,
            "proven": borders.proven,
            "calls_levelwise": borders.levelwise,
        }
