"""What attacks share that estimate true values from perturbed ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Estimation(Attack):
    """An attack that estimates the numbers that records had."""

    within: Annotated[float, Gt(0), Doc("how far off an estimate may be, in standard deviations of the column")] = 0.1
    threshold: Annotated[
        Share, Doc("the share of its values that are found above which a record counts as exposed")
    ] = 0.5

    knowledge: ClassVar[str]
    """What the attacker knows."""

    @abstractmethod
    def estimates(self, before: Floats, after: Floats, run: Run) -> tuple[Floats, dict[str, Any]]:
        """The estimates of standardized numbers, records by columns, and what is worth knowing of them. What they had
        `before` is there for what the attacker knows about the perturbation, not about records."""

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        _, before, after = PerturbedColumns.of(dataset, release).standardize()
        run.check()
        estimates, detail = self.estimates(before, after, run)
        shares, records = self._near(estimates - before).mean(axis=1), dataset.records
        return self.attempt_over(
            np.append(shares, np.zeros(records - len(shares))),
            hits=float(shares.sum()),
            baseline=float(self._near(before).mean(axis=1).sum()) / records,  # everybody has the mean, which is 0 here
            knew=self.knowledge,
            meaning=f"how often a true value is within {self.within:g} standard deviations of the estimate",
            lower_bound=True,
            detail={
                "rmse": float(np.sqrt(((estimates - before) ** 2).mean())),
                "noise": float(np.sqrt(((after - before) ** 2).mean())),
                **detail,
                "columns": before.shape[1],
            },
        )

    def _near(self, errors: Floats) -> NDArray[np.bool_]:
        """Which estimates are near enough."""
        return np.abs(errors) <= self.within
