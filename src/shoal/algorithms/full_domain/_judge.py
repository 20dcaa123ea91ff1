"""Judging the classes of a node: which of them have to go, and which no specialization can save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._groupings import Demand, Grouping, Groupings
from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import Model
from shoal.core.grouping import Counts
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.sensitive import SensitiveModel

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure

_Compiled = tuple[int, "Measure", float]


class ClassVerdicts(NamedTuple):
    """The classes that cannot be published, and how many records of each class can be in a specialization at most."""

    broken: NDArray[np.bool_]
    keepable: Counts


class Judge:
    """A policy as a search over the lattice reads it."""

    def __init__(self, policy: Policy, groupings: Groupings) -> None:
        self.policy, self.groupings = policy, groupings
        records = groupings.summary.records
        # Leaving everything out is no release, whatever the policy allows.
        self.budget = min(policy.budget(records), records - 1)
        # Somebody may be in several classes: these do not add up when they merge, and shares may rise.
        self.people = groupings.summary.people is not None
        models = tuple(model for model in policy.models if self.people or not model.by_size)
        # Where people also agree on other sensitive attributes, records that join a class can break any model.
        strict = any(histogram.contexts is not None for histogram in groupings.summary.sensitive)
        self.sure_models = tuple(
            model for model in models if model.growth_monotone and (not strict or not model.needs_sensitive)
        )
        self.unsure_models = tuple(model for model in models if model not in self.sure_models)
        self.by_keys = any(model.margins for model in policy.models)
        self.settled = all(model.suppression_monotone for model in policy.models)
        self.compiled = self._compiled(models)
        self.least = self._least()
        self.asked = self._asked()

    def _compiled(self, models: Sequence[Model]) -> list[_Compiled] | None:
        """The compiled levels of models, with the place of the sensitive attribute and the worst level that keeps the
        bound; None when one of them has to be asked otherwise."""
        compiled: list[_Compiled] = []
        summary = self.groupings.summary
        for model in models:
            if self.people or not isinstance(model, SensitiveModel) or type(model).judge is not SensitiveModel.judge:
                return None
            for histogram in model.histograms(summary):
                measure = model.bounding(histogram)
                if measure is None:
                    return None
                compiled.append((summary.sensitive.index(histogram), measure, float(model.threshold)))
        return compiled

    def _least(self) -> int:
        """A size that every published class has, also because of the values that it needs."""
        from shoal.kernels.publishable import fewest

        needed = (int(fewest(measure, threshold)) for _, measure, threshold in self.compiled or ())
        return max(self.policy.least, *needed, 1)

    def _asked(self) -> Demand | None:
        """What one look at a node answers; None where it takes more."""
        if self.compiled is None or len(self.compiled) > 1 or not self.settled:
            return None
        return Demand(self.least, self.budget, self.compiled[0] if self.compiled else None)

    @property
    def monotone(self) -> bool:
        """Whether every generalization of a node that satisfies the policy satisfies it too.

        With records left out that takes models that a class cannot lose by growing.
        """
        merging = not self.people and all(model.merge_monotone for model in self.policy.models)
        return not self.unsure_models or (merging and self.settled and self.budget == 0)

    def judge(self, grouping: Grouping, node: Node) -> ClassVerdicts:
        """What becomes of the classes of a node."""
        sizes, shown = grouping.sizes, node if self.by_keys else None
        if self.compiled is not None:
            holds, keepable = self._by_levels(grouping, self.compiled)
            broken = ~holds
        else:
            classes = self.groupings.classes(grouping, shown)
            broken = np.zeros(len(sizes), dtype=np.bool_)
            keepable = sizes
            for model in self.sure_models:
                broken = broken | ~model.holds(classes)
            keepable = np.where(broken, 0, keepable)
            for model in self.unsure_models:
                holds, lost = model.judge(classes)
                broken = broken | ~holds
                if model.suppression_monotone and not self.people:
                    keepable = np.minimum(keepable, sizes - lost)
        small = sizes < self.least
        # Fewer records than every published class has cannot be published either.
        keepable = np.where(keepable < self.least, 0, keepable)
        broken = broken | small
        if not self.settled:
            broken = self._settle(self.groupings.classes(grouping, shown), broken)
        return ClassVerdicts(broken, keepable)

    def _by_levels(self, grouping: Grouping, compiled: Sequence[_Compiled]) -> tuple[NDArray[np.bool_], Counts]:
        """The same by compiled levels alone."""
        from shoal.kernels.publishable import judged

        holds = np.ones(len(grouping.sizes), dtype=np.bool_)
        keepable = grouping.sizes
        rolled: dict[int, Histogram] = {}
        for at, measure, threshold in compiled:
            if at not in rolled:
                base = grouping.base
                rolled[at] = self.groupings.rolled(base.sensitive[at], grouping, base.histograms[at])
            here = rolled[at]
            fine, most = judged(here.starts, here.values, here.counts, measure, threshold, self.least)
            holds &= fine
            keepable = np.minimum(keepable, most)
        return holds, keepable

    def _settle(self, classes: Classes, broken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Leaving classes out may break others: goes on until what is left satisfies the policy."""
        while not broken.all():
            published = np.flatnonzero(~broken)
            index = np.full(len(broken), -1, dtype=np.int32)
            index[published] = np.arange(len(published), dtype=np.int32)
            holds = self.policy.holds(classes.rolled(index, classes.keys[:, published]))
            if holds.all():
                break
            broken = broken.copy()
            broken[published[~holds]] = True
        return broken
