"""Effort: million steps of work, about a second of one processor core each, told before anything is tried.

Figures were measured on tables of 300 to 300,000 records. What is counted in steps is the same on every machine.
"""

from __future__ import annotations

from math import comb, log2, sqrt

from shoal.core.dataset import Dataset
from shoal.core.policy import Policy

MILLION = 1e6
JUDGING = 0.2
"""Steps that a verdict takes for each record and each of its sensitive values."""
MARGIN = 0.02
"""Steps that the margins of a set of columns take for each distinct tuple."""
SMALL = 25
"""The least size of classes up to which it does not count how large they are."""
VERDICTS = 15
"""Verdicts until every cluster holds, where clusters merge; and for each doubling of the parts, where parts are cut."""


def cells(dataset: Dataset) -> float:
    """Million cells of the distinct tuples."""
    return max(len(dataset.summary), 1) * len(dataset.hierarchies) / MILLION


def is_judged(dataset: Dataset, policy: Policy) -> bool:
    """Whether some model looks at more than the size of a class, as all do where people have several records."""
    return dataset.schema.person is not None or any(not model.by_size for model in policy.models)


def judging(dataset: Dataset, policy: Policy) -> float:
    """One verdict on all classes: whatever is counted in a class is sorted."""
    if not is_judged(dataset, policy):
        return 0.0
    schema, sets = dataset.schema, 0.0
    for model in policy.models:
        sets += sum(comb(len(schema.quasi), size) for size in model.margins)
    sorts = len(schema.sensitive) * (len(schema.sensitive) if schema.strict else 1) + (schema.person is not None)
    return (JUDGING * dataset.records * max(sorts, 1) + MARGIN * len(dataset.summary) * sets) / MILLION


def cutting(dataset: Dataset, policy: Policy) -> float:
    """Mondrian's cuts."""
    doublings = log2(len(dataset.summary) + 2)
    return 0.02 * cells(dataset) * doublings + VERDICTS * judging(dataset, policy)


def growing(dataset: Dataset, things: int | None = None) -> float:
    """Clusters that grow by the cheapest of so many things, distinct tuples unless it is said."""
    count = float(len(dataset.summary) if things is None else things)
    return float(0.5 * cells(dataset) * count**0.3)


def merging(dataset: Dataset, policy: Policy) -> float:
    """Clusters that merge until they keep what their sizes do not say."""
    return growing(dataset) / 2 + VERDICTS * judging(dataset, policy) if is_judged(dataset, policy) else 0.0


def refining(dataset: Dataset, policy: Policy, rebuildings: int) -> float:
    """A refinement that rebuilds so many times for each record."""
    return 6 * cells(dataset) * sqrt(policy.least) + rebuildings * rebuilding(cells(dataset), policy.least)


def rebuilding(million_cells: float, least: int) -> float:
    """One rebuilding for each record, where classes are small; and where they are large, as many as put every record
    into the pool as often."""
    return 0.55 * million_cells * sqrt(least)


def larger(least: int) -> float:
    """How many times that, one rebuilding for each record takes: a rebuilding compares the records of a few classes
    with one another."""
    return max(1.0, least / SMALL)
