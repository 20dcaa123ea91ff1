"""NIST's k-marginal score (Collaborative Research Cycle, 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined, ParameterError
from shoal.utility.expected import Expected
from shoal.utility.published_cells import of_dataset, of_release

WHOLE = 1000


@dataclass(frozen=True, kw_only=True)
class KMarginal(Metric):
    """How well the joint distributions of pairs of columns survive, from 0 to 1,000: 1,000 is a table with the same
    ones. For every pair of quasi-identifiers and sensitive attributes the absolute differences of the shares of value
    combinations are added up, from 0 to 2; the score is (2 − their mean) × 500. With `group`, every pair is counted
    together with that column.

    Numbers with more than `bins` values are cut at percentiles of the original table. A cell that stands for several
    values stands for each of them alike; a value that the original lacks counts as a difference. Values are taken as
    they stand in the file, so that synthetic and perturbed tables of any tool can be compared.

    Does not look at more than two columns together (with `group`, three), or at single records. Left-out records do
    not count. A random sample of a table scores less than 1,000, and a small one much less.

    Reference: C. Task and others, SDNist: benchmark data and evaluation tools for data synthesizers, NIST, 2023.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["job"])
        >>> shoal.metrics.KMarginal().score(data, shoal.anonymize(data, shoal.KAnonymity(k=4))).value
        500.0
    """

    bins: Annotated[int, Ge(2), Doc("percentiles into which numbers with more values are cut")] = 20
    group: Annotated[str | None, Doc("a column, such as an area, with which every pair is counted together")] = None

    quick: ClassVar[bool] = False
    flawless: ClassVar[float] = float(WHOLE)
    examples: ClassVar[Examples] = ({}, {"bins": 5})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        names = (*dataset.schema.quasi, *dataset.schema.sensitive)
        if self.group is not None and self.group not in names:
            raise ParameterError(f"{type(self).__name__}: group: name a quasi-identifier or a sensitive attribute")
        others = [name for name in names if name != self.group]
        if len(others) < 2:
            raise NotDefined("there are no two columns with a role that could be looked at together")
        differences = {
            " and ".join(pair): float(np.abs(before - after).sum() + 1 - after.sum())
            for pair, before, after in self._joints(dataset, release, names, others)
        }
        mean = float(np.mean(list(differences.values())))
        together = "pairs of columns" if self.group is None else f"pairs of columns by {self.group}"
        return Finding(
            name="k-marginal", value=(2 - mean) * WHOLE / 2,
            detail={name: (2 - each) * WHOLE / 2 for name, each in differences.items()},
            how=f"1,000 less 500 times the mean difference of the joint distributions of {together} (NIST)",
        )  # fmt: skip

    def _joints(
        self, dataset: Dataset, release: Release, names: tuple[str, ...], others: list[str]
    ) -> list[tuple[tuple[str, str], Floats, Floats]]:
        """Each pair with its shares in the table and in the release."""
        table, starts = of_dataset(dataset, names, self.bins)
        pairs = list(combinations(others, 2))
        try:
            release.view.distributions()
        except NotDefined:
            published = of_release(release, starts)
            if self.group is None:
                return [(pair, table.joint(*pair), published.joint(*pair)) for pair in pairs]
            by = self.group
            return [(pair, table.joint_by(by, *pair), published.joint_by(by, *pair)) for pair in pairs]
        if self.group is not None:
            raise NotDefined("the columns stand in several tables, and three of them are not put together")
        expected = Expected.of_release(release, names)
        return [(pair, table.joint(*pair), expected.joint(pair, (starts[pair[0]], starts[pair[1]]))) for pair in pairs]
