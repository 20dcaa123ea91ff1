"""Intervals of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt
from typing_extensions import Doc

from shoal.core.contracts import Builder
from shoal.core.hierarchy import TOP, Floats, Hierarchy, spelled
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError


@dataclass(frozen=True, kw_only=True)
class Intervals(Builder):
    """Intervals of equal width, wider at each level, until one is left; then the top.

    Whole numbers give closed intervals (`[20-24]`), others half-open ones (`[20-25)`). Values below `bottom`
    or from `top` on are coded as one interval each at every level (`<18`, `≥90`).

    Example:
        >>> from shoal.core.schema import Kind
        >>> ages = Values.of("age", Kind.NUMERIC, [str(age) for age in range(17, 91)])
        >>> Intervals(width=5, origin=0).build(ages).labels[1][:3].tolist()
        ['[15-19]', '[20-24]', '[25-29]']
    """

    width: Annotated[float, Gt(0), Doc("the width of the intervals at level 1")]
    factor: Annotated[int, Ge(2), Doc("how many times wider each further level is")] = 2
    levels: Annotated[int | None, Ge(1), Doc("how many levels of intervals; by default until one interval is left")] = (
        None
    )
    origin: Annotated[float, Doc("where an interval begins")] = 0.0
    bottom: Annotated[float | None, Doc("values below this are one value (bottom coding)")] = None
    top: Annotated[float | None, Doc("values from this on are one value (top coding)")] = None

    examples: ClassVar[Examples] = (
        {"width": 5.0},
        {"width": 2.5, "factor": 3, "levels": 2, "origin": 1.0, "bottom": 20.0, "top": 60.0},
    )

    def build(self, values: Values) -> Hierarchy:
        if values.numbers is None:
            raise HierarchyError(f"column {values.column!r} is {values.kind}; intervals need a numeric one")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise HierarchyError(f"the hierarchy of column {values.column!r}: bottom must be below top")
        edges = [edge for edge in (self.width, self.origin, self.bottom, self.top) if edge is not None]
        if not all(math.isfinite(edge) for edge in edges):
            raise HierarchyError(f"the hierarchy of column {values.column!r}: width, origin and bounds must be finite")
        numbers = values.numbers
        whole = all(float(edge).is_integer() for edge in edges) and bool(np.all(numbers == np.floor(numbers)))
        rows, labels, bounds = [np.arange(len(numbers))], [values.texts], [(numbers, numbers)]
        width = float(self.width)
        while len(rows) - 1 < (self.levels or 64):
            codes, names, limits = self._level(numbers, width, whole)
            if len(names) <= 1 and len(rows) > 1 and self.levels is None:
                break
            if len(rows) > 1 and np.array_equal(codes, rows[-1]) and self.levels is None:
                break
            rows.append(codes)
            labels.append(names)
            bounds.append(limits)
            width *= self.factor
        rows.append(np.zeros(len(numbers), dtype=np.int64))
        labels.append(np.array([TOP], dtype=object))
        bounds.append((numbers[:1], numbers[-1:]))
        return Hierarchy(
            values.column, np.ascontiguousarray(np.array(rows, dtype=np.int32)), tuple(labels), numbers, tuple(bounds)
        )

    def _level(
        self, numbers: Floats, width: float, whole: bool
    ) -> tuple[np.ndarray, np.ndarray, tuple[Floats, Floats]]:
        cells = np.floor((numbers - self.origin) / width)
        if self.bottom is not None:
            cells = np.where(numbers < self.bottom, -math.inf, cells)
        if self.top is not None:
            cells = np.where(numbers >= self.top, math.inf, cells)
        distinct, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        last = np.append(first[1:], len(numbers)) - 1
        lower, upper = self.origin + distinct * width, self.origin + (distinct + 1) * width - (1 if whole else 0)
        if self.bottom is not None:
            lower = np.maximum(lower, self.bottom)
        if self.top is not None:
            upper = np.minimum(upper, self.top - (1 if whole else 0))
        close = "]" if whole else ")"
        names = [
            f"[{spelled(low)}-{spelled(high)}{close}" if np.isfinite(low + high) else ""
            for low, high in zip(lower, upper, strict=True)
        ]
        if self.bottom is not None and distinct[0] == -math.inf:
            names[0], lower[0], upper[0] = f"<{spelled(self.bottom)}", numbers[first[0]], numbers[last[0]]
        if self.top is not None and distinct[-1] == math.inf:
            names[-1], lower[-1], upper[-1] = f"≥{spelled(self.top)}", numbers[first[-1]], numbers[last[-1]]
        return codes, np.array(names, dtype=object), (lower, upper)
