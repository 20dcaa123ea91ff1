"""What cases draw, counted, so that whoever runs the fuzzer sees what it covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.fuzz.case import Case, Given
from tests.fuzz.running import Outcome

ORDER = (
    "ended", "form", "perturbation", "algorithm", "model", "people", "sensitive columns", "ledger", "joint check",
    "question", "bounds", "engine", "front end", "input", "output", "hierarchy", "values", "type", "pseudonyms",
)  # fmt: skip
"""What is counted, in the order in which it is shown."""


def counted(case: Case, outcome: Outcome) -> Counter[tuple[str, str]]:
    """What a case drew, and what was seen of it when it ran."""
    return Counter(_drawn(case)) + outcome.seen + Counter([("ended", outcome.state)])


def _drawn(case: Case) -> Iterator[tuple[str, str]]:
    for step in case.steps or (case,):
        yield "algorithm", step.algorithm[0]
    yield "engine", case.engine
    yield "front end", "command" if case.command else "library"
    yield "input", case.container
    yield "output", case.ending
    yield "pseudonyms", str(case.pseudonyms or "none")
    yield "people", "one record each" if case.person is None else "several records"
    yield "households", "none" if case.household is None else "named"
    yield "weights", "none" if case.weight is None else "dropped" if case.weights is None else case.weights
    sensitive = len(case.named("sensitive"))
    yield "sensitive columns", f"{sensitive}{' strict' if case.strict and sensitive > 1 else ''}"
    if case.steps:
        yield "ledger", "series"
    for column in case.columns:
        if column.role in ("quasi", "sensitive"):
            yield "values", column.family
            yield "type", str(column.type).partition("<")[0]
        if column.role == "quasi":
            given = column.hierarchy
            named = f"given as {given.how}" if isinstance(given, Given) else (given or "automatic").partition(":")[0]
            yield "hierarchy", named


def table(found: Counter[tuple[str, str]]) -> str:
    """The counts as lines, one for each thing that is counted."""
    kinds = [*ORDER, *sorted({kind for kind, _ in found} - set(ORDER))]
    lines = []
    for kind in kinds:
        entries = sorted(((name, count) for (each, name), count in found.items() if each == kind and count),
                         key=lambda entry: (-entry[1], entry[0]))  # fmt: skip
        if entries:
            lines.append(f"{kind:18} " + ", ".join(f"{name} {count:,}" for name, count in entries))
    return "\n".join(lines)
