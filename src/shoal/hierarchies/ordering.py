"""Groups of neighbours in an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError


@dataclass(frozen=True, kw_only=True)
class Ordering(Builder):
    """Values in an order, joined with their neighbours: `fanout` values at level 1, as many groups at level 2.

    For ordinal attributes (severity, education) and as a tree over any order that means something.

    Example:
        >>> from shoal.core.schema import Kind
        >>> sizes = Values.of("size", Kind.CATEGORICAL, ["S", "M", "L", "XL"])
        >>> Ordering(order=["S", "M", "L", "XL"]).build(sizes).labels[1].tolist()
        ['S – M', 'L – XL']
    """

    order: Annotated[tuple[str, ...], Doc("the values in order; by default their natural order")] = field(
        default=(), repr=False
    )
    fanout: Annotated[int, Ge(2), Doc("how many neighbours are joined at each level")] = 2

    examples: ClassVar[Examples] = ({}, {"fanout": 3}, {"order": ("Male", "Female")})

    def build(self, values: Values) -> Hierarchy:
        ordered = list(self.order) or values.texts.tolist()
        if len(set(ordered)) < len(ordered):
            raise HierarchyError(f"the hierarchy of column {values.column!r}: the order names values twice")
        if len(ordered) < 2:
            return Hierarchy.from_paths(values.column, [[text, TOP] for text in ordered])
        paths = [[text] for text in ordered]
        size = self.fanout
        while size < len(ordered):
            for place, path in enumerate(paths):
                first = place // size * size
                last = min(first + size, len(ordered)) - 1
                path.append(ordered[first] if first == last else f"{ordered[first]} – {ordered[last]}")
            size *= self.fanout
        return Hierarchy.from_paths(values.column, [[*path, TOP] for path in paths])
