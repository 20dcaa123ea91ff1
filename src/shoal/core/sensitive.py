"""What the models of sensitive attributes share: each attribute on its own, the worst class decides."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts import Model
from shoal.core.finding import Finding
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Schema
from shoal.errors import ParameterError, SchemaError

SLACK = 1e-12
"""How far rounding may carry a level past its bound, as a share of a bound above 1. What is a tie by the definition
keeps the bound; whatever else this lets through differs from a tie by less than anyone can use."""

Levels = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(Model):
    """A model that gives every class a level, by the counts of its sensitive values, and bounds it.

    Every sensitive attribute is judged on its own unless one is named; all of them must keep the bound. Under a
    strict schema each is judged among the people of a class who agree on the other ones. The
    population is that of the whole original table, also of the records that a release leaves out, so that leaving
    records out never changes what is true of the other classes.
    """

    column: Annotated[
        str | None, Doc("the sensitive attribute that it is about; by default every one there is, each on its own")
    ] = None

    suppression_monotone: ClassVar[bool] = True
    level: ClassVar[str]
    """The name of the level, which is the name of the finding."""
    how: ClassVar[str]
    """How the level of a table is computed."""
    more_is_safer: ClassVar[bool]
    """Whether the bound is the least level a class may have, or the greatest."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """What the level of every class is held against."""

    @abstractmethod
    def levels(self, histogram: Histogram) -> Levels:
        """The level that each class has."""

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        """Which levels keep the bound."""
        slack = SLACK * max(abs(self.bound), 1.0)
        kept: NDArray[np.bool_] = levels >= self.bound - slack if self.more_is_safer else levels <= self.bound + slack
        return kept

    def histograms(self, classes: Classes) -> tuple[Histogram, ...]:
        """The sensitive attributes that it is about."""
        if self.column is not None:
            return (classes.histogram(self.column),)
        if not classes.sensitive:
            raise SchemaError(f"{type(self).__name__} needs a sensitive attribute and the schema names none; name one")
        return classes.sensitive

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        verdict: NDArray[np.bool_] = classes.sizes >= self.least
        for histogram in self.histograms(classes):
            verdict &= histogram.whole(self.keeps(self.levels(histogram.parts)))
        return verdict

    def judge_convex(
        self, classes: Classes, shares: Callable[[Levels], Levels]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Judges by levels that are convex in the shares of a class: then no split of a class makes the level lower
        on average, and `shares` of its records have to go before the rest can keep the bound."""
        holds: NDArray[np.bool_] = classes.sizes >= self.least
        lost = np.zeros(len(classes), dtype=np.int64)
        for histogram in self.histograms(classes):
            levels = self.levels(histogram.parts)
            kept = histogram.whole(self.keeps(levels))
            gone = np.where(kept, 0, 1)
            if histogram.contexts is None:
                # A little less than the share, so that rounding never asks for a record too many.
                gone = np.where(kept, 0, np.maximum(1, np.ceil(classes.sizes * shares(levels) - 1e-6))).astype(np.int64)
            lost = np.maximum(lost, gone)
            holds &= kept
        return holds, lost

    def measure(self, classes: Classes) -> Finding:
        worst = {}
        for histogram in self.histograms(classes):
            levels = self.levels(histogram.parts)
            extreme = levels.min if self.more_is_safer else levels.max
            worst[histogram.column] = extreme().item() if len(levels) else 0
        value = min(worst.values()) if self.more_is_safer else max(worst.values())
        return Finding(
            name=self.level, value=value, bound=self.bound, holds=bool(self.holds(classes).all()), how=self.how,
            detail=worst if len(worst) > 1 else {},
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChosenValuesModel(SensitiveModel):
    """A model that may be about some sensitive values only.

    Whoever writes a policy spells the values; a manifest, which must not show any, holds their places in the
    hierarchy instead. Neither appears in a message, a finding or the model's printed form.
    """

    values: Annotated[
        tuple[str, ...], Doc("the sensitive values that it is about; by default all")
    ] = field(default=(), repr=False)  # fmt: skip
    leaves: Annotated[
        tuple[int, ...], Doc("the same by their places in the hierarchy of the column, as a manifest holds them")
    ] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.leaves, default=0) < 0:
            raise ParameterError(f"{type(self).__name__}: leaves: places count from 0 up")

    def concealed(self, schema: Schema) -> Self:
        if not self.values:
            return self
        names = [name for name in schema.sensitive if self.column in (None, name)]
        if len(names) != 1:
            raise _ambiguous(schema.sensitive)
        hierarchy = schema[names[0]].hierarchy
        return replace(self, column=names[0], values=(), leaves=self._places(names[0], hierarchy))

    def histograms(self, classes: Classes) -> tuple[Histogram, ...]:
        found = super().histograms(classes)
        if len(found) > 1 and (self.values or self.leaves):
            raise _ambiguous([histogram.column for histogram in found])
        return found

    def chosen(self, histogram: Histogram) -> NDArray[np.bool_]:
        """For each value, whether the model is about it."""
        if not self.values and not self.leaves:
            return np.ones(len(histogram.population), dtype=np.bool_)
        places = self._places(histogram.column, histogram.hierarchy)
        if max(places) >= len(histogram.population):
            raise ParameterError(f"column {histogram.column!r} has fewer values than a chosen place says")
        mask = np.zeros(len(histogram.population), dtype=np.bool_)
        mask[list(places)] = True
        return mask

    def _places(self, column: str, hierarchy: Hierarchy | None) -> tuple[int, ...]:
        known = hierarchy.leaf_of if hierarchy else {}
        unknown = sum(value not in known for value in self.values)
        if unknown:
            raise ParameterError(
                f"{type(self).__name__}: {unknown} of {len(self.values)} chosen values are not in column {column!r}"
            )
        return tuple(sorted({*self.leaves, *(known[value] for value in self.values)}))


def _ambiguous(columns: Any) -> SchemaError:
    named = ", ".join(repr(name) for name in columns)
    return SchemaError(
        f"values are chosen of one sensitive attribute; name it with column, there are {named or 'none'}"
    )
