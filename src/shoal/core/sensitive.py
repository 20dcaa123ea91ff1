"""What the models of sensitive attributes share: each attribute on its own, the worst class decides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import SLACK, Levels, Model
from shoal.core.finding import Finding
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Schema
from shoal.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(Model):
    """A model that gives every class a level by the counts of its sensitive values.

    Every sensitive attribute is judged on its own unless one is named; all of them must keep the bound. Under a
    strict schema each is judged among the people of a class who agree on the other ones. The
    population is that of the whole original table, also of the records that a release leaves out, so that leaving
    records out never changes what is true of the other classes.

    A model says what its level is by `kernel` or `compiled`, if a kernel has it, or by `levels_of`.
    """

    column: Annotated[
        str | None, Doc("the sensitive attribute that it is about; by default every one there is, each on its own")
    ] = None

    suppression_monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    @property
    def floor(self) -> int:
        """How many records, or people where they are known, a class must have, whatever the bound on its level is."""
        return 1

    @property
    def variety(self) -> int:
        # A least size that is not asked for as such follows from different values.
        return self.least if self.floor == 1 else 1

    def variety_among(self, histogram: Histogram) -> int:
        """How many different values every class has at least that satisfies it, knowing how frequent each is in the
        whole table."""
        return self.variety

    kernel: ClassVar[str | None] = None
    """The kernel's kind of level, where it takes nothing but the shares of values in the whole table."""

    kernel_ceiling: ClassVar[str | None] = None
    """The same of `ceiling`."""

    def compiled(self, histogram: Histogram) -> Measure | None:
        """The kernel's kind of level, with what it takes; None when `levels_of` is written otherwise."""
        return _measure(self.kernel, histogram)

    def ceiling(self, histogram: Histogram) -> Measure | None:
        """A compiled level that bounds the level of every part of a class from the safe side, where one is known: what
        it fails, no split of the class saves."""
        return _measure(self.kernel_ceiling, histogram)

    def levels_of(self, histogram: Histogram) -> Levels:
        """The level of each class of a histogram, which has no contexts."""
        from shoal.kernels.levels import by_class

        levels: Levels = by_class(histogram.starts, histogram.values, histogram.counts, self.compiled(histogram))
        if histogram.members is not None and self.more_is_safer:
            # Fewer than l people who have l values between them are no l people to choose among.
            levels = np.minimum(levels, histogram.members)
        return levels

    def levels(self, classes: Classes) -> Levels:
        worse = np.minimum if self.more_is_safer else np.maximum
        levels = np.full(len(classes), np.inf if self.more_is_safer else -np.inf)
        for histogram in self.histograms(classes):
            parts = self.levels_of(histogram.parts)
            if histogram.contexts is None:
                levels = worse(levels, parts)
            else:
                worse.at(levels, histogram.homes, parts)
        if self.floor > 1:
            levels[classes.headcounts < self.floor] = -np.inf if self.more_is_safer else np.inf
        return levels

    def histograms(self, classes: Classes) -> tuple[Histogram, ...]:
        """The sensitive attributes that it is about."""
        if classes.people is not None:
            self.check_people()
        if self.column is not None:
            return (classes.histogram(self.column),)
        if not classes.sensitive:
            raise SchemaError(f"{type(self).__name__} needs a sensitive attribute and the schema names none; name one")
        return classes.sensitive

    def bounding(self, histogram: Histogram) -> Measure | None:
        """The compiled level by which `judge` tells how much of a class can be published at most; None when there is
        none, or when records of the other sensitive values or people who have several values make it say too much."""
        own = type(self).levels_of is not SensitiveModel.levels_of
        return None if own or not plain(histogram) else self.compiled(histogram)

    def judge(self, classes: Classes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        from shoal.kernels.publishable import judged

        holds = np.ones(len(classes), dtype=np.bool_)
        staying = classes.sizes
        for histogram in self.histograms(classes):
            measure = self.bounding(histogram)
            if measure is None:
                return super().judge(classes)
            threshold, shown = float(self.threshold), (histogram.starts, histogram.values, histogram.counts)
            verdicts, most = judged(*shown, measure, threshold, 1)
            holds &= verdicts
            staying = np.minimum(staying, most)
        small = classes.sizes < self.floor
        return holds & ~small, np.where(small, classes.sizes, classes.sizes - staying)

    def figures(self, histogram: Histogram) -> Levels:
        """What is reported of each class of a histogram: its level, unless that is made of more than one figure."""
        return self.levels_of(histogram)

    def measure(self, classes: Classes) -> Finding:
        worst = {
            histogram.column: self.readable(self.worst(self.figures(histogram.parts)))
            for histogram in self.histograms(classes)
        }
        value = min(worst.values()) if self.more_is_safer else max(worst.values())
        return Finding(
            name=self.level, value=value, bound=self.bound, holds=bool(self.holds(classes).all()),
            how=self.explanation(classes), unit=self.unit, claim=self.claim, detail=worst if len(worst) > 1 else {},
        )  # fmt: skip


def _measure(kind: str | None, histogram: Histogram) -> Measure | None:
    from shoal.kernels import levels

    return None if kind is None else levels.Measure(getattr(levels, kind), histogram.priors)


def fewest(shares: NDArray[np.float64], whole: float) -> int:
    """How many of some shares add up to so much at least, the greatest first; all where that is not enough.

    Example:
        >>> fewest(np.array([0.2, 0.5, 0.3]), 0.7), fewest(np.array([0.2, 0.5, 0.3]), 0.1)
        (2, 1)
    """
    sums = np.cumsum(np.sort(shares)[::-1])
    return min(int(np.searchsorted(sums, whole - SLACK)) + 1, len(sums))


def plain(histogram: Histogram) -> bool:
    """Whether it counts records, those of a class all together."""
    return histogram.contexts is None and histogram.people is None and histogram.members is None


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
        histograms = super().histograms(classes)
        if len(histograms) > 1 and (self.values or self.leaves):
            raise _ambiguous([histogram.column for histogram in histograms])
        return histograms

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
        leaves = hierarchy.leaves(self.values) if hierarchy else [None] * len(self.values)
        unknown = leaves.count(None)
        if unknown:
            raise ParameterError(
                f"{type(self).__name__}: {unknown} of {len(self.values)} chosen values are not in column {column!r}"
            )
        return tuple(sorted({*self.leaves, *(leaf for leaf in leaves if leaf is not None)}))


@dataclass(frozen=True, kw_only=True)
class SubsetModel(ChosenValuesModel):
    """A model of a research subset, whose people have one of the chosen values."""

    identity: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.values and not self.leaves:
            raise ParameterError(
                f"{type(self).__name__}: say with values what marks the records of the research subset"
            )

    def members(self, histogram: Histogram) -> NDArray[np.int64]:
        """How many people of the subset each class has."""
        return histogram.total(np.where(self.chosen(histogram)[histogram.values], histogram.counts, 0))


def _ambiguous(columns: Any) -> SchemaError:
    named = ", ".join(repr(name) for name in columns)
    return SchemaError(
        f"values are chosen of one sensitive attribute; name it with column, there are {named or 'none'}"
    )
