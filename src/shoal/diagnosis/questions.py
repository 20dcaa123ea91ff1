"""The twelve questions about k, l or t: which one it is follows from what is given.

|            | no δ                     | δ given                 | δ asked for                |
|------------|--------------------------|-------------------------|----------------------------|
| Q and k    | 1 does it hold?          | 5 does it hold after δ? | 9 which δ?                 |
| Q          | 2 which k?               | 6 which k after δ?      | 11 which δ for each k?     |
| k          | 3 which sets: borders    | 7 borders after δ       | 10 which δ for each set?   |
| nothing    | 4 k of every set         | 8 k of every set        | 12 δ for every set and k   |
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from shoal.core.classes import Classes
from shoal.core.grouping import Counts
from shoal.core.run import Run
from shoal.core.sensitive import SLACK
from shoal.diagnosis.borders import Borders, Memory, Search
from shoal.diagnosis.families import by_size
from shoal.diagnosis.notions import Notion
from shoal.diagnosis.subsets import MOST_CURVES, MOST_LISTED, Hopeless, PerSet, Walk, Walked, extremes
from shoal.diagnosis.tuples import MOST, Levels, Partition, Tuples
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
    3: "which sets have {letter} {sign} {bound}?",
    4: "which {letter} does each set have?",
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

    Without `monotone`, adding an attribute can make a set better. Then the borders are still the maximal sets that
    satisfy and the minimal ones that do not, but a set between them must be looked up on its own.
    """

    question: int
    notion: str
    attributes: tuple[str, ...]
    records: int
    bound: float | int | None = None
    delta: Delta = None
    sensitive: str | None = None
    c: float | None = None
    distance: str = "equal"
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
    def words(self) -> str:
        """The question in words."""
        chosen = f"{{{', '.join(self.attributes)}}}"
        bound = f"{self.bound:g}" if isinstance(self.bound, float) else self.bound
        letter = self.notion[-1]
        sign = "≤" if letter == "t" else "≥"
        return WORDS[self.question].format(set=chosen, letter=letter, sign=sign, bound=bound, delta=self.delta)

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
        return entry


def _plain(value: Any) -> Any:
    if isinstance(value, PerSet):
        return [{"attributes": list(names), "value": _plain(found)} for names, found in value.items()]
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
    given = delta if delta in (None, "ask") else "given"
    if forced is None:
        return next(number for number, row in TABLE.items() if row == (attributes, bound, given))
    if forced not in TABLE:
        raise ParameterError("questions are numbered 1 to 12")
    _, needs_bound, needs_delta = TABLE[forced]
    if needs_bound and not bound:
        raise ParameterError(f"question {forced} needs k, l or t")
    if needs_delta == "given" and given != "given":
        raise ParameterError(f"question {forced} needs δ, a share of the records between 0 and 1")
    if bound and not needs_bound:
        raise ParameterError(f"question {forced} asks for the level and one is given; leave it out")
    if given == "given" and needs_delta != "given":
        raise ParameterError(f"question {forced} takes no δ; leave it out")
    return forced


def ask(
    classes: Classes,
    notion: Notion,
    attributes: Sequence[str],
    *,
    question: int,
    bound: float | int | None = None,
    delta: Delta = None,
    sensitive: str | None = None,
    time_limit: float | None = None,
    run: Run | None = None,
) -> Answer:
    """The answer to a question about a table's summary. Questions about sets range over those of `attributes`."""
    if not TABLE[question][1]:
        bound = None
    elif bound is not None:
        bound = notion.checked(bound)
    if not attributes:
        raise ParameterError("name at least one attribute")
    if not TABLE[question][0] and len(attributes) > MOST:
        raise ParameterError(
            f"a question about sets takes at most {MOST} attributes and these are {len(attributes)}; name fewer"
        )
    tuples, memories = _remembered(classes, notion, tuple(attributes), sensitive)
    delta = float(delta) if TABLE[question][2] == "given" and delta is not None else TABLE[question][2]
    budget = int(delta * tuples.records + 1e-9) if isinstance(delta, (int, float)) else 0
    memory = memories.setdefault(budget, Memory())
    asked = _Asked(tuples, notion, bound, budget, limit(time_limit), run or Run(), memory)
    monotone = notion.monotone(budget) and (delta != "ask" or notion.monotone(1))
    facts: dict[str, Any] = {
        "question": question, "notion": notion.name, "attributes": tuples.names, "records": tuples.records,
        "bound": bound, "delta": delta, "c": notion.c, "distance": notion.distance, "monotone": monotone,
        "sensitive": classes.histogram(sensitive).column if notion.needs_sensitive else None,
    }  # fmt: skip
    if TABLE[question][0]:
        facts["answer"] = asked.one(question)
    elif question in (3, 7):
        facts |= {"calls_brute": tuples.full, **asked.borders(monotone)}
    else:
        walked = asked.every(question, monotone)
        facts |= {
            "answer": PerSet(tuples.names, walked.values), "calls": walked.calls, "proven": walked.proven,
            "calls_brute": tuples.full, "calls_levelwise": tuples.full,
            "undecided": () if walked.proven else (tuples.names,),
        }  # fmt: skip
    # Levels are worth keeping for the next question; partitions and rolled-up rows are too large.
    tuples.held.clear()
    memory.rolled.clear()
    return Answer(**facts)


_MEMORIES: WeakKeyDictionary[Classes, tuple[Any, Tuples, dict[int, Memory]]] = WeakKeyDictionary()


def _remembered(
    classes: Classes, notion: Notion, attributes: tuple[str, ...], sensitive: str | None
) -> tuple[Tuples, dict[int, Memory]]:
    """The rows of a question and, by budget, what earlier questions about the same sets found; the last ones only."""
    key = (notion, attributes, sensitive)
    held = _MEMORIES.get(classes)
    if held is None or held[0] != key:
        held = _MEMORIES[classes] = (key, Tuples.of(classes, notion, attributes, sensitive), {})
    return held[1], held[2]


def limit(seconds: float | None) -> Callable[[], bool]:
    """A function that says whether the time is up."""
    if seconds is None:
        return lambda: False
    if not seconds >= 0:
        raise ParameterError("the time limit is a number of seconds from 0 up")
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question on its way to an answer."""

    tuples: Tuples
    notion: Notion
    bound: float | int | None
    budget: int
    stop: Any
    watch: Run
    memory: Memory

    def level(self, rows: Tuples, sizes: Counts, levels: Levels) -> float | int:
        return self.notion.outer(rows.level(sizes, levels, self.budget))

    def holds(self, rows: Tuples, sizes: Counts, levels: Levels) -> bool:
        return self.lost(rows, sizes, levels) <= self.budget

    def lost(self, rows: Tuples, sizes: Counts, levels: Levels) -> int:
        assert self.bound is not None
        return rows.below(sizes, levels, self.notion.threshold(self.bound))

    def share(self, rows: Tuples, sizes: Counts, levels: Levels) -> float:
        return self.lost(rows, sizes, levels) / rows.records

    def curve(self, rows: Tuples, sizes: Counts, levels: Levels) -> Any:
        return rows.curve(sizes, levels)

    def one(self, question: int) -> Any:
        measured = {
            1: self.holds, 5: self.holds, 2: self.level, 6: self.level, 9: self.share, 11: self.curve,
        }[question]  # fmt: skip
        return measured(self.tuples, *self.tuples.levels(self.tuples.partition(self.tuples.full)))

    def every(self, question: int, monotone: bool) -> Walked:
        measured = {4: self.level, 8: self.level, 10: self.share, 12: self.curve}[question]
        most = MOST_CURVES if question == 12 else MOST_LISTED
        return Walk(self.tuples, measured, monotone and question != 12, self.stop, self.watch, most=most).run()

    def borders(self, monotone: bool) -> dict[str, Any]:
        """Both borders; of a notion that is not monotone, from a look at every set that could be good."""
        assert self.bound is not None
        if monotone:
            search = Search(
                self.tuples, self.notion.threshold(self.bound), self.budget, self.memory, self.stop, self.watch
            )
            return self._described(search.run())
        walked = Walk(self.tuples, self.holds, False, self.stop, self.watch, self._hopeless()).run()
        positive, negative = extremes(walked.values, len(self.tuples.names)) if walked.proven else ([], [])
        bad = [] if walked.proven else [mask for mask, good in walked.values.items() if not good]
        found = Borders(
            tuple(sorted(positive, key=by_size)), tuple(sorted(negative, key=by_size)), walked.calls, 0,
            walked.proven, tuple(bad), () if walked.proven else (self.tuples.full,),
        )  # fmt: skip
        return {**self._described(found), "calls_levelwise": self.tuples.full}

    def _hopeless(self) -> Hopeless | None:
        """A test that fails a set and all its supersets, whatever else is not monotone.

        A part of a class has no more distinct values than the class, and diversity of level l needs l of them. A
        class whose values hold a share s of the table is 1 - s or more away from the table, and so are its parts.
        """
        from shoal.kernels import partitions as kernel

        assert self.bound is not None
        if self.notion.distance != "equal":
            return None
        apart = self.notion.name == "t"
        measure = self.tuples.measure._replace(notion=kernel.SUPPORT if apart else kernel.DISTINCT)
        needed = 1 + self.notion.threshold(self.bound) if apart else self.notion.threshold(self.bound)

        def hopeless(rows: Tuples, partition: Partition) -> bool | None:
            sizes, levels = rows.levels(partition, measure)
            return False if int(sizes[levels < needed - SLACK].sum()) > self.budget else None

        return hopeless

    def _described(self, found: Borders) -> dict[str, Any]:
        def named(masks: Any) -> Sets:
            return tuple(self.tuples.named(mask) for mask in masks)

        return {
            "answer": named(found.positive), "positive_border": named(found.positive),
            "negative_border": named(found.negative), "known_bad": named(found.bad), "undecided": named(found.open),
            "calls": found.calls, "scans": found.scans, "proven": found.proven, "calls_levelwise": found.levelwise,
        }  # fmt: skip
