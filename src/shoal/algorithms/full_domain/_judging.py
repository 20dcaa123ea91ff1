"""Judging the classes of a node: which of them have to go, and which no specialization can save."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._groupings import Grouping, Groupings
from shoal.core.classes import Classes
from shoal.core.policy import Policy


class Judgement(NamedTuple):
    """The classes that cannot be published, those of them no part of which can be published either, and how many
    records of the others have to go, however they are split."""

    broken: NDArray[np.bool_]
    sure: NDArray[np.bool_]
    unsure: int


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
        strict = any(held.contexts is not None for held in groupings.summary.sensitive)
        self.sure_models = tuple(
            model for model in models if model.growth_monotone and (not strict or not model.needs_sensitive)
        )
        self.unsure_models = tuple(model for model in models if model not in self.sure_models)
        self.settled = all(model.suppression_monotone for model in policy.models)

    @property
    def by_size(self) -> bool:
        """Whether only the sizes of classes count."""
        return not self.sure_models and not self.unsure_models

    @property
    def monotone(self) -> bool:
        """Whether every generalization of a node that satisfies the policy satisfies it too.

        With records left out that takes models that a class cannot lose by growing.
        """
        merging = not self.people and all(model.merge_monotone for model in self.policy.models)
        return not self.unsure_models or (merging and self.settled and self.budget == 0)

    def judge(self, found: Grouping) -> Judgement:
        """What becomes of the classes of a node."""
        sure = found.sizes < self.policy.least
        if self.by_size:
            return Judgement(sure, sure, 0)
        classes = self.groupings.classes(found)
        for model in self.sure_models:
            sure = sure | ~model.holds(classes)
        broken = sure
        lost = np.zeros(len(sure), dtype=np.int64)
        for model in self.unsure_models:
            holds, gone = model.judge(classes)
            broken = broken | ~holds
            if model.suppression_monotone and not self.people:
                lost = np.maximum(lost, gone)
        return Judgement(broken if self.settled else self._settle(classes, broken), sure, int(lost[~sure].sum()))

    def _settle(self, classes: Classes, broken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Leaving classes out may break others: goes on until what is left satisfies the policy."""
        while not broken.all():
            kept = np.flatnonzero(~broken)
            index = np.full(len(broken), -1, dtype=np.int32)
            index[kept] = np.arange(len(kept), dtype=np.int32)
            holds = self.policy.holds(classes.rolled(index, np.zeros((0, len(kept)), np.int32)))
            if holds.all():
                break
            broken = broken.copy()
            broken[kept[~holds]] = True
        return broken
