"""Intervals of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError
from shoal.parsing.labels import LARGEST, are_numbers, spelled


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
        if values.numbers is None or values.calendar is not None:
            raise HierarchyError(f"column {values.column!r} is {values.kind}; intervals need a numeric one")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise HierarchyError(f"the hierarchy of column {values.column!r}: bottom must be below top")
        edges = [edge for edge in (self.width, self.origin, self.bottom, self.top) if edge is not None]
        where = f"the hierarchy of column {values.column!r}"
        if not are_numbers(np.array(edges)):
            raise HierarchyError(f"{where}: width, origin and bounds must be finite, and not beyond {LARGEST:g}")
        numbers: NDArray[Any] = values.numbers
        even = all(float(edge).is_integer() for edge in edges)
        if bool(np.any(np.abs(numbers) >= 2**53)):  # floating point would put some into the next interval
            if not even:
                raise HierarchyError(f"{where}: numbers from 2**53 on need a whole width, origin, bottom and top")
            numbers = np.array([Fraction(Decimal(text)) for text in values.texts], dtype=object)
        whole = even and bool(np.all(numbers % 1 == 0))
        rows, labels = [np.arange(len(numbers))], [values.texts]
        bounds = [(values.numbers, values.numbers)]
        width: float = int(self.width) if even else float(self.width)
        while len(rows) - 1 < (self.levels or 64):
            if width > 4 * LARGEST:
                raise HierarchyError(f"{where}: level {len(rows)} would be wider than any number; ask for fewer levels")
            codes, names, limits = self._level(numbers, width, whole, where)
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
        bounds.append((values.numbers[:1], values.numbers[-1:]))
        codes = np.ascontiguousarray(np.array(rows, dtype=np.int32))
        return Hierarchy(values.column, codes, tuple(labels), values.numbers, tuple(bounds))

    def _level(
        self, numbers: NDArray[Any], width: float, whole: bool, where: str
    ) -> tuple[np.ndarray, np.ndarray, tuple[Floats, Floats]]:
        origin: float = self.origin
        bottom, top = self.bottom, self.top
        if isinstance(width, int):
            origin = int(origin)
            bottom, top = (None if edge is None else int(edge) for edge in (bottom, top))
        exact = numbers.dtype == object
        with np.errstate(over="ignore"):
            cells = (numbers - origin) // width if exact else np.floor((numbers - origin) / width)
        if not exact and not bool(np.all(np.abs(cells) < 2**53)):
            raise HierarchyError(f"{where}: the width is too narrow for numbers of this size")
        if bottom is not None:
            cells = np.where(numbers < bottom, -math.inf, cells)
        if top is not None:
            cells = np.where(numbers >= top, math.inf, cells)
        distinct, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        last = np.append(first[1:], len(numbers)) - 1
        lower, upper = origin + distinct * width, origin + (distinct + 1) * width - (1 if whole else 0)
        if bottom is not None:
            lower = np.maximum(lower, bottom)
        if top is not None:
            upper = np.minimum(upper, top - (1 if whole else 0))
        close = "]" if whole else ")"
        names = [
            f"[{spelled(low)}-{spelled(high)}{close}" if abs(low) < math.inf and abs(high) < math.inf else ""
            for low, high in zip(lower, upper, strict=True)
        ]
        if bottom is not None and distinct[0] == -math.inf:
            names[0], lower[0], upper[0] = f"<{spelled(bottom)}", numbers[first[0]], numbers[last[0]]
        if top is not None and distinct[-1] == math.inf:
            names[-1], lower[-1], upper[-1] = f"≥{spelled(top)}", numbers[first[-1]], numbers[last[-1]]
        return codes, np.array(names, dtype=object), (lower.astype(np.float64), upper.astype(np.float64))
