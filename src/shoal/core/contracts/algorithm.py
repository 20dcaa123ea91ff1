"""What an algorithm must offer: a recoding that satisfies a policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.dataset import Dataset
from shoal.core.displacement import Displacement
from shoal.core.parameters import Parametrized
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.release_history import History
from shoal.core.run import Run
from shoal.core.schema import Schema


class Algorithm(Parametrized, ABC):
    """An anonymizer: decides how a table is recoded so that a policy holds."""

    counts_people: ClassVar[bool] = False
    """Whether it keeps models that count people, of whom some have several records."""

    claims: ClassVar[bool] = True
    """Whether what it makes satisfies a policy, which then needs a model; a perturbation claims nothing."""

    in_blocks: ClassVar[bool] = False
    """Whether it recodes a block of a table as it would a table: each class on its own, published as ranges."""

    keeps_margins: ClassVar[bool] = False
    """Whether it keeps models that look across classes (`Model.margins`) as they are. Any other algorithm is given
    models that imply them and judge each class by itself."""

    extras: ClassVar[Mapping[str, str]] = {}
    """Optional packages that it imports, and the extra that installs each; they are looked for before any work."""

    def simplified(self, policy: Policy) -> Policy:
        """The policy as it keeps it, which implies the one that is asked for."""
        return policy if self.keeps_margins else policy.by_class()

    @property
    def by_record(self) -> bool:
        """Whether it works on records one by one, not on distinct tuples, so that many records take it long."""
        return False

    @property
    def unverified(self) -> bool:
        """Whether what it makes need not satisfy the policy that it aims at. It is published only when that is allowed
        by name, and claims nothing."""
        return False

    def ghosts(self, schema: Schema) -> Mapping[str, tuple[str, ...]]:
        """Columns that are no quasi-identifiers, each with those with which it is hidden: wherever a cell of one is."""
        return {}

    def remembering(self, dataset: Dataset, history: History) -> Dataset:
        """The table with what it must know of earlier releases, such as values that nobody has now."""
        return dataset

    @property
    def seed_protects(self) -> bool:
        """Whether whoever finds its seed undoes it: values were changed at random, or choices were drawn so that nobody
        can repeat them. Such a seed is mixed with randomness of the operating system."""
        return any(isinstance(part, Algorithm) and part.seed_protects for part in vars(self).values())

    def displacement(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> Displacement | None:
        """How far it moves numbers, records by columns before and after, as whoever knows the algorithm does; None
        where that says nothing about whose record is whose."""
        return None

    def effort(self, dataset: Dataset, policy: Policy) -> float | None:
        """Million steps that the search takes, about a second of one processor core each, as far as the shape of the
        table and the models tell; None where it does not suit the policy, or does not say. The default tries it only
        where it can afford it."""
        return None

    @abstractmethod
    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        """The recoding; raises `InfeasibleError` when no release satisfies the policy."""
