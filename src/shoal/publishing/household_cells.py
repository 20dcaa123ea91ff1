"""Household variables in a release: all members of a household show the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.codebook import Codebook
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.households import differing_households
from shoal.core.recoding import Plan, Recoding
from shoal.errors import ParameterError


def with_consistent_households(data: Dataset, recoding: Recoding, seed: int) -> Recoding:
    """A recoding that publishes each household variable alike for all members of a household.

    What members of a household show could else be laid side by side: where one is in the north or the centre and
    another in the centre or the south, both are in the centre. A level for the whole column is alike by nature. Where
    local recoding is not, the classes that share a household are published with one cell, which covers all of theirs;
    cells only become coarser, so classes stay or merge. Single hidden cells, multisets that differ, and a perturbation
    that tells members apart, are refused.
    """
    if data.schema.household is None or recoding.form not in ("generalized", "multisets", "perturbed"):
        return recoding
    plan = recoding.plan
    if plan is not None and recoding.form == "multisets":
        if data.household_variables:
            _check_multisets(data, plan, seed)
        return recoding
    if plan is None:
        _check_changes(data, recoding, seed)
        return recoding
    names, classes = data.household_variables, None
    for name in names:
        at = data.schema.quasi.index(name)
        if len(plan.codebooks[at]) == 1 or recoding.levels is not None:
            continue
        classes = classes or data.partitioned(plan.owners, plan.count, seed=seed)
        differing = len(differing_households(classes, plan.cells[at]))
        if differing and name in recoding.facts.get("hidden", {}):
            # To hide it in all of them would hide what a stratum shows, and leave what is linked to it.
            raise ParameterError(
                f"household variable {name!r} would be hidden of some members of {differing:,} households and shown of "
                f"others; let cell-suppression never hide it (strata={name}), or take a full-domain algorithm such as "
                "optimal"
            )
        if differing:
            plan, widened = _covered(plan, at, classes, data.hierarchies[at], recoding.hulls.get(name))
            facts = {**recoding.facts, "households": {**recoding.facts.get("households", {}), name: widened}}
            # Ends of a range may now be those of another class of the household.
            hulls = {other: hull for other, hull in recoding.hulls.items() if other != name}
            recoding = replace(recoding, plan=plan, facts=facts, hulls=hulls)
    return recoding


def consistency_notes(recoding: Recoding) -> Iterator[str]:
    """Sentences on what became coarser so that households show the same."""
    for name, widened in recoding.facts.get("households", {}).items():
        groups = "1 group was" if widened == 1 else f"{widened:,} groups were"
        yield (
            f"{groups} made coarser in household variable {name!r}, so that all members of a household show the same. "
            "A full-domain algorithm such as optimal needs no such step."
        )


def _covered(plan: Plan, at: int, classes: Classes, tree: Hierarchy, hull: str | None) -> tuple[Plan, int]:
    """A plan whose classes that share a household have one cell in an attribute, and how many became coarser."""
    assert classes.households is not None
    together, book, cells = _linked(classes.households, plan.count), plan.codebooks[at], plan.cells[at]
    low, high = np.full(plan.count, tree.size, np.int32), np.full(plan.count, -1, np.int32)
    np.minimum.at(low, together, book.low[cells])
    np.maximum.at(high, together, book.high[cells])
    low, high = low[together], high[together]
    wider = (low < book.low[cells]) | (high > book.high[cells])
    if hull is None:  # neither a mean nor a cell of a grid covers others but by hiding all
        mixed = np.isin(together, together[wider])
        wider = mixed & ~((book.low[cells] == 0) & (book.high[cells] == tree.size - 1))
        book, top = _with_top(book, tree)
        codes = np.where(mixed, np.int32(top), cells)
    else:
        if hull == "hierarchy":
            low, high = tree.widen(low, high)
        high = np.where(tree.spans_missing(low, high), np.int32(tree.size - 1), high)
        ranges = group([low, high], [tree.size, tree.size], index=True)
        book, codes = Codebook.of_ranges(tree, *ranges.keys, interval=hull == "interval"), ranges.index
    books = tuple(book if place == at else each for place, each in enumerate(plan.codebooks))
    chosen = plan.cells.copy()
    chosen[at] = codes
    return replace(plan, cells=chosen, codebooks=books), int(np.sum(wider & plan.published))


def _linked(households: Histogram, count: int) -> Codes:
    """A number for each of so many classes, the same for those that a chain of households connects."""
    from shoal.kernels.worlds import components

    owners, homes = (np.ascontiguousarray(each, np.int32) for each in (households.owners, households.values))
    parts, _ = components(owners, homes, count, len(households.population))
    return np.unique(parts[:count], return_inverse=True)[1].astype(np.int32)


def _with_top(book: Codebook, tree: Hierarchy) -> tuple[Codebook, int]:
    """A codebook with an entry for a hidden value, and the place of that."""
    hidden = np.flatnonzero(book.labels == TOP)
    if len(hidden):
        return book, int(hidden[0])
    top = Codebook.at_level(tree, tree.height)
    parts: dict[str, Any] = {
        name: np.append(getattr(book, name), getattr(top, name))
        for name in ("labels", "low", "high", "levels", "lengths")
    }
    return replace(book, **parts, raw=False), len(book)


def _check_multisets(data: Dataset, plan: Plan, seed: int) -> None:
    """Refuses multisets of a household variable that differ inside a household."""
    classes = data.partitioned(plan.owners, plan.count, seed=seed)
    for name in data.household_variables:
        at = data.schema.quasi.index(name)
        shown = np.unique(plan.codebooks[at].labels[plan.cells[at]].astype(str), return_inverse=True)[1]
        differing = len(differing_households(classes, shown.astype(np.int32)))
        if differing:
            raise ParameterError(
                f"household variable {name!r} would differ inside {differing:,} households, because multisets count "
                "its values class by class; take a generalizing algorithm, or leave the household column out"
            )


def _check_changes(data: Dataset, recoding: Recoding, seed: int) -> None:
    """Refuses new values of a household variable that differ inside a household."""
    changed = [name for name in data.household_variables if name in recoding.changed]
    for name in changed:
        (homes,) = data.table.listing((), (str(data.schema.household),), seed)
        values = np.asarray(recoding.changed[name])
        texts = np.array([str(value) for value in values.tolist()], object)
        codes = np.unique(texts, return_inverse=True)[1]
        pairs = group([homes, codes.astype(np.int32)])
        differing = int(np.sum(np.bincount(pairs.keys[0]) > 1))
        if differing:
            raise ParameterError(
                f"household variable {name!r} would differ inside {differing:,} households, because its values are "
                "changed record by record; perturb other columns, or leave the household column out"
            )
