"""How much of a class can be published at most: against every choice of records from it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import Classes, Histogram
from shoal.core.hierarchy import Hierarchy
from shoal.core.sensitive import SensitiveModel
from shoal.kernels.publishable import fewest, judged

TREE = Hierarchy.from_paths("s", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
EXACT = [
    shoal.TCloseness(t=0.0),
    shoal.TCloseness(t=0.2),
    shoal.TCloseness(t=0.55),
    shoal.TCloseness(t=0.1, distance="ordered"),
    shoal.TCloseness(t=0.25, distance="ordered"),
    shoal.TCloseness(t=0.15, distance="hierarchical"),
    shoal.TCloseness(t=0.4, distance="hierarchical"),
    shoal.models.RecursiveLDiversity(c=0.6, l=1),
    shoal.models.RecursiveLDiversity(c=0.7, l=2),
    shoal.models.RecursiveLDiversity(c=2, l=2),
    shoal.models.RecursiveLDiversity(c=3, l=3),
    shoal.FrequencyLDiversity(l=1.5),
    shoal.FrequencyLDiversity(l=3),
    shoal.DistinctLDiversity(l=3),
    shoal.EntropyLDiversity(l=1.4),
    shoal.EntropyLDiversity(l=2),
    shoal.EntropyLDiversity(l=3.2),
]


def classes_of(rows: list[tuple[int, ...]], population: list[int]) -> Classes:
    """Classes with such counts of the four values."""
    starts = np.cumsum([0, *(sum(count > 0 for count in row) for row in rows)])
    values = [value for row in rows for value, count in enumerate(row) if count]
    counts = [count for row in rows for count in row if count]
    histogram = Histogram(
        "s", starts.astype(np.int64), np.array(values, np.int32), np.array(counts, np.int64),
        np.array(population, np.int64), TREE,
    )  # fmt: skip
    sizes = np.array([sum(row) for row in rows], np.int64)
    return Classes((), np.zeros((0, len(rows)), np.int32), sizes, (histogram,), (), sum(population))


@pytest.mark.parametrize("model", EXACT, ids=repr)
@settings(max_examples=count(13, 120), deadline=None)
@given(
    counts=st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any),
    others=st.lists(st.integers(0, 9), min_size=4, max_size=4),
)
def test_no_choice_from_a_class_is_larger(model: SensitiveModel, counts: list[int], others: list[int]) -> None:
    """Whatever a release keeps of a class, its parts together are one of these choices."""
    population = [own + other for own, other in zip(counts, others, strict=True)]
    choices = [choice for choice in product(*(range(count + 1) for count in counts)) if sum(choice)]
    every = classes_of(choices, population)
    holding = every.sizes[model.holds(every)]
    greatest = int(holding.max(initial=0))
    whole = classes_of([tuple(counts)], population)
    holds, lost = model.judge(whole)
    kept = sum(counts) - int(lost[0])
    assert holds[0] == model.holds(whole)[0]
    assert kept >= greatest
    measure = model.bounding(whole.sensitive[0])
    assert int(holding.min(initial=99)) >= fewest(measure, float(model.threshold))
    histogram = whole.sensitive[0]
    for least in (1, 3, 8):
        _, most = judged(histogram.starts, histogram.values, histogram.counts, measure, float(model.threshold), least)
        assert most[0] == (kept if kept >= least else 0)
    if isinstance(model, shoal.models.RecursiveLDiversity | shoal.FrequencyLDiversity):
        assert kept == greatest


@settings(max_examples=count(20, 200), deadline=None)
@given(
    counts=st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any),
    others=st.lists(st.integers(0, 200), min_size=4, max_size=4),
    t=st.sampled_from([0.05, 0.1, 0.2, 0.35, 0.6]),
    distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
)
def test_distances_as_a_linear_programme(counts: list[int], others: list[int], t: float, distance: str) -> None:
    """The most records that can stay, as shares of records: a linear programme says the same for values on their own
    and along a hierarchy, and no more along an order, where sets of ranks are looked at one by one."""
    from scipy.optimize import linprog

    population = np.array(counts) + np.array(others)
    priors = population / population.sum()
    model = shoal.TCloseness(t=t, distance=distance)
    whole = classes_of([tuple(counts)], population.tolist())
    holds, lost = model.judge(whole)
    if distance == "equal":
        sets, heights = [[0], [1], [2], [3]], 1
    elif distance == "hierarchical":
        sets, heights = [[0], [1], [2], [3], [0, 1], [2, 3]], 2
    else:
        ranks = [value for value in range(4) if population[value]]
        firsts = [ranks[: at + 1] for at in range(len(ranks) - 1)]
        sets, heights = [*firsts, *([rank for rank in ranks if rank not in first] for first in firsts)], len(firsts)
    # Kept records of each value, then what each set has too many: these together within the distance.
    rows = [
        [float(value in chosen) - priors[chosen].sum() for value in range(4)]
        + [-float(at == other) for other in range(len(sets))]
        for at, chosen in enumerate(sets)
    ]
    rows.append([-t * heights] * 4 + [1.0] * len(sets))
    solved = linprog([-1.0] * 4 + [0.0] * len(sets), A_ub=rows, b_ub=[0.0] * len(rows),
                     bounds=[(0, count) for count in counts] + [(0, None)] * len(sets))  # fmt: skip
    assert solved.status == 0
    kept, greatest = sum(counts) - int(lost[0]), -solved.fun
    # A class that is out by less than rounding allows breaks the model, so one record of it goes in any case.
    assert kept >= min(int(greatest + 1e-7), sum(counts) - (not holds[0]))
    if not holds[0] and distance != "ordered":
        assert kept <= greatest + 1e-3
