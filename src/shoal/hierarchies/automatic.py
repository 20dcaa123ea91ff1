"""A sensible hierarchy for a column that has none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.hierarchies.dates import Dates
from shoal.hierarchies.intervals import Intervals
from shoal.hierarchies.masking import Masking, narrowest_step

NARROWEST = 1e-290
"""Below this a width has too few digits left to be divided by."""


@dataclass(frozen=True, kw_only=True)
class Automatic(Builder):
    """Numbers get intervals of a round width that doubles, dates calendar levels, codes of one length masking
    from the right, and anything else its values and the top.

    A hierarchy that knows what the values mean is better; `shoal hierarchy` writes this one for editing.

    Example:
        >>> from shoal.core.schema import Kind
        >>> ages = Values.of("age", Kind.NUMERIC, [str(age) for age in range(17, 91)])
        >>> [level.tolist() for level in Automatic().build(ages).labels[4:]]
        [['[0-39]', '[40-79]', '[80-119]'], ['[0-79]', '[80-159]'], ['*']]
    """

    finest: Annotated[int, Ge(2), Doc("about how many intervals the first level of a numeric column has")] = 16

    examples: ClassVar[Examples] = ({}, {"finest": 4})

    def build(self, values: Values) -> Hierarchy:
        return replace(self._built(values), automatic=True)

    def _built(self, values: Values) -> Hierarchy:
        if values.calendar is not None and len(values.texts) > 2:
            return Dates().build(values)
        if values.numbers is not None and len(values.numbers) > 2:
            return self._numeric(values)
        lengths = {len(text) for text in values.texts}
        if (
            len(values.texts) > 2
            and len(lengths) == 1
            and lengths != {1}
            and all(_is_code(text) for text in values.texts)
        ):
            return Masking(step=narrowest_step(values)).build(values)
        return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)

    def _numeric(self, values: Values) -> Hierarchy:
        assert values.numbers is not None
        spread = float(values.numbers[-1]) - float(values.numbers[0])
        rough = max(spread / self.finest, float(abs(values.numbers).max()) / 2**50)  # narrower ones would be torn
        if not NARROWEST < rough < math.inf:
            return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
        unit = 10.0 ** math.floor(math.log10(rough))
        width = next(step * unit for step in (1, 2, 5, 10) if step * unit >= rough)
        if bool((values.numbers == values.numbers.round()).all()):
            width = max(2.0, round(width))
        return Intervals(width=width).build(values)


def _is_code(text: str) -> bool:
    return any(character.isdigit() for character in text) and " " not in text
