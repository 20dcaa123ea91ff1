"""Borders of tables with more attributes, by either search, against the share that every set needs (question 10)."""

from __future__ import annotations

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import summarize
from shoal.diagnosis import borders
from shoal.diagnosis.questions import ask

MODELS = [
    (shoal.KAnonymity(k=1), st.integers(1, 12)),
    (shoal.DistinctLDiversity(l=1), st.integers(1, 5)),
    (shoal.EntropyLDiversity(l=1), st.sampled_from([1.5, 2.0, 2.7, 3.0])),
    (shoal.FrequencyLDiversity(l=1), st.sampled_from([1.5, 2.0, 3.0])),
    (shoal.models.RecursiveLDiversity(c=2.0, l=1), st.integers(1, 4)),
    (shoal.TCloseness(t=1), st.sampled_from([0.1, 0.2, 0.4])),
    (shoal.TCloseness(t=1, distance="ordered"), st.sampled_from([0.05, 0.1, 0.3])),
    (shoal.models.BetaLikeness(beta=1), st.sampled_from([0.5, 1.0, 3.0])),
]


@pytest.mark.parametrize(("model", "bounds"), MODELS, ids=lambda each: type(each).__name__)
@settings(max_examples=count(5, 30), deadline=None)
@given(
    seed=st.integers(0, 10**6), wide=st.sampled_from([3, 16]), delta=st.sampled_from([None, 0.02, 0.3]), data=st.data()
)
def test_borders_are_the_extremes_of_all_sets(model, bounds, seed, wide, delta, data):
    generator = np.random.default_rng(seed)
    records, names = int(generator.integers(20, 300)), [f"q{j}" for j in range(generator.integers(5, 9))]
    columns = [np.minimum(generator.geometric(0.5, records) - 1, 5).astype(np.int32) for _ in names]
    sensitive = generator.integers(0, 5, records).astype(np.int32)
    classes = summarize(names, columns, [6] * len(names), [("s", sensitive, 5, None)])
    before, borders.WIDE = borders.WIDE, wide
    try:
        # The second question finds what the first one left behind.
        for bound in (data.draw(bounds), data.draw(bounds)):
            given = {} if delta is None else {"delta": delta}
            found = ask(classes, model, names, question=3 if delta is None else 7, bound=bound, **given)
            budget = 0 if delta is None else int(delta * records + 1e-9)
            shares = ask(classes, model, names, question=10, bound=bound, delta="ask").answer
            good = {frozenset(chosen) for chosen, share in shares.items() if round(share * records) <= budget}
            bad = {frozenset(chosen) for chosen in shares} - good
            assert {frozenset(chosen) for chosen in found.positive_border} == {
                chosen for chosen in good if not any(chosen < other for other in good)
            }
            assert {frozenset(chosen) for chosen in found.negative_border} == {
                chosen for chosen in bad if not any(other < chosen for other in bad)
            }
    finally:
        borders.WIDE = before
