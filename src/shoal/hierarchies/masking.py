"""Masking of characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Len
from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError

MOST_LEVELS, MOST_CHARACTERS = 256, 2 * 10**8
"""What the labels of all levels may come to; more would fill the memory before anybody chose among them."""


@dataclass(frozen=True, kw_only=True)
class Masking(Builder):
    """Characters are replaced by a symbol from one side, some more at each level; then the top.

    Values of different lengths are aligned at the side where masking begins, so that the same level hides
    the same positions.

    Example:
        >>> from shoal.core.schema import Kind
        >>> codes = Values.of("zip", Kind.CATEGORICAL, ["53715", "53710", "53706"])
        >>> Masking().build(codes).labels[1].tolist()
        ['5370*', '5371*']
    """

    side: Annotated[Literal["right", "left"], Doc("where masking begins")] = "right"
    step: Annotated[int, Ge(1), Doc("how many more characters each level masks")] = 1
    symbol: Annotated[str, Len(1, 1), Doc("what stands for a masked character")] = "*"

    examples: ClassVar[Examples] = ({}, {"side": "left", "step": 2, "symbol": "#"})

    def build(self, values: Values) -> Hierarchy:
        longest = max((len(text) for text in values.texts), default=0)
        least = narrowest_step(values)
        if self.step < least:
            raise HierarchyError(
                f"column {values.column!r} has codes of up to {longest:,} characters, too many to mask {self.step} "
                f"at a time; take a step of at least {least:,}"
            )
        paths = [[text] for text in values.texts]
        for masked in range(self.step, longest, self.step):
            for path in paths:
                text = path[0]
                hidden = self.symbol * min(masked, len(text))
                path.append(
                    text[: len(text) - len(hidden)] + hidden if self.side == "right" else hidden + text[len(hidden) :]
                )
        return Hierarchy.from_paths(values.column, [[*path, TOP] for path in paths])


def narrowest_step(values: Values) -> int:
    """The smallest step that keeps masking within bounds."""
    longest = max((len(text) for text in values.texts), default=0)
    characters = sum(len(text) for text in values.texts)
    levels = min(MOST_LEVELS, max(1, MOST_CHARACTERS // max(1, characters)))
    return max(1, -(-longest // levels))
