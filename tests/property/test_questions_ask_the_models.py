"""Every question, for every model there is, against what the model itself says of each set of attributes.

Tables have two sensitive attributes; under a strict schema each is judged among those who agree on the other one.
Bounds are levels that occur, so that ties come up all the time.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from counts import LONG, count
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import registry
from shoal.core.classes import Classes, joined, summarize
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import allowed
from shoal.diagnosis.questions import ask
from shoal.errors import ParameterError

TREE = Hierarchy.from_paths(
    "disease", [("cancer", "grave", "*"), ("flu", "mild", "*"), ("hiv", "grave", "*"), ("cold", "mild", "*")]
)
EXAMPLES = [
    pytest.param(registry.make("models", name, dict(values)), strict, id=f"{name}-{number}-{strict}")
    for name in registry.names("models")
    for number, values in enumerate(registry.find("models", name).examples)
    for strict in (False, True)
    if LONG or strict == (number % 2 == 1) or len(registry.find("models", name).examples) == 1
]
"""Every day the examples of a model take turns at being asked under a strict schema."""
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)),
    min_size=1, max_size=24,
)  # fmt: skip
NAMES = ("q0", "q1", "q2")
SETS = [chosen for size in (1, 2, 3) for chosen in combinations(range(3), size)]


def grouped(rows: list[tuple[int, ...]], chosen: tuple[int, ...], strict: bool) -> Classes:
    """The classes of a set of attributes, from the rows."""
    table = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    sensitive = {"other": ("other", table[3], 2, None), "disease": ("disease", table[4], 4, TREE)}

    def summary(others: tuple[str, ...], names: tuple[str, ...]) -> Classes:
        columns = [*(table[place] for place in chosen), *(sensitive[other][1] for other in others)]
        radices = [*(3 for _ in chosen), *(sensitive[other][2] for other in others)]
        names_of = [*(NAMES[place] for place in chosen), *others]
        return summarize(names_of, columns, radices, [sensitive[name] for name in names])

    plain = summary((), tuple(sensitive))
    return joined(plain, lambda others, name: summary(others, (name,))) if strict else plain


@pytest.mark.parametrize(("example", "strict"), EXAMPLES)
@settings(max_examples=count(3, 12), deadline=None)
@given(rows=ROWS, delta=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]), data=st.data())
def test_questions_say_what_the_model_says(example: Any, strict: bool, rows: Any, delta: float, data: Any) -> None:
    model = replace(example, column="disease") if hasattr(example, "column") else example
    sign = 1 if model.more_is_safer else -1
    sizes, levels = {}, {}
    for chosen in SETS:
        classes = grouped(rows, chosen, strict)
        sizes[chosen], levels[chosen] = classes.sizes, sign * model.levels(classes).astype(float)
    wanted = data.draw(st.sampled_from(sorted({level for found in levels.values() for level in found.tolist()})))
    with suppress(ParameterError):  # some levels cannot be asked for
        model = replace(model, **{model.asks: model.readable(sign * wanted)})
    budget = allowed(delta, len(rows))
    lost = {}
    for chosen in SETS:
        classes = grouped(rows, chosen, strict)
        kept = model.holds(classes)
        assert kept.tolist() == model.keeps(sign * levels[chosen]).tolist()
        lost[chosen] = int(sizes[chosen][~kept].sum())
    everything = grouped(rows, (0, 1, 2), strict)

    def asked(question: int, names: tuple[str, ...] = NAMES, **given: Any) -> Any:
        return ask(everything, model, names, question=question, sensitive="disease", **given)

    def best(chosen: tuple[int, ...], spent: int) -> float:
        """The best level that is left when the worst classes are left out."""
        ranked = sorted(zip(levels[chosen].tolist(), sizes[chosen].tolist(), strict=True))
        gone = 0
        for level, size in ranked:
            gone += size
            if gone > spent:
                return level
        return math.inf

    def told(level: float) -> float:
        if level == -math.inf and sign > 0:
            return 0.0
        return max(0.0, sign * level)

    def named(chosen: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(NAMES[place] for place in chosen)

    for chosen in data.draw(st.lists(st.sampled_from(SETS), min_size=1, max_size=2)):
        names = named(chosen)
        assert asked(1, names).answer is (lost[chosen] == 0)
        assert asked(5, names, delta=delta).answer is (lost[chosen] <= budget)
        assert asked(9, names, delta="ask").answer == lost[chosen] / len(rows)
        assert asked(2, names).answer == pytest.approx(told(best(chosen, 0)), abs=1e-9)
        assert asked(6, names, delta=delta).answer == pytest.approx(told(best(chosen, budget)), abs=1e-9)
        for level, share in asked(11, names, delta="ask").answer:
            worse = levels[chosen] < sign * level - 1e-9 if math.isfinite(level) else np.zeros(0, np.bool_)
            if math.isfinite(level) and level > 0:
                assert share == pytest.approx(sizes[chosen][worse].sum() / len(rows))
    if not model.merge_monotone or model.whole_table:
        with pytest.raises(ParameterError, match="cannot be asked about sets"):
            asked(3)
        return
    every, after, shares = asked(4).answer, asked(8, delta=delta).answer, asked(10, delta="ask").answer
    for chosen in SETS:
        assert every[named(chosen)] == pytest.approx(told(best(chosen, 0)), abs=1e-9)
        assert after[named(chosen)] == pytest.approx(told(best(chosen, budget)), abs=1e-9)
        assert shares[named(chosen)] == lost[chosen] / len(rows)
    for question, spent, more in ((3, 0, {}), (7, budget, {"delta": delta})):
        found = asked(question, **more)
        good = {chosen for chosen in SETS if lost[chosen] <= spent}
        bad = set(SETS) - good
        assert found.proven
        assert set(found.positive_border) == {named(x) for x in good if not any(set(x) < set(y) for y in good)}
        assert set(found.negative_border) == {named(x) for x in bad if not any(set(y) < set(x) for y in bad)}
