"""Sampling: a random part of the people is published, as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Sampling(Algorithm):
    """Leaves out people at random, as many as the suppression budget allows, and publishes the others as they are.

    It is simple random sampling without replacement: everybody is published with the same probability, which the facts
    of the recoding tell (`inclusion`), and so is every set of so many people. Where a column names the person, all
    records of somebody are published or none; where one names the household, all records of its members. So many are
    drawn that the budget holds whoever is drawn, which leaves out fewer where some people have many more records.

    What it gives is doubt: somebody who stands alone in the sample need not stand alone in the population, and nobody
    is known to be in it at all. It lowers the average risk to about the share that is published.

    Does not protect against: whoever knows that a person is in the sample, for whom nothing has changed; and people who
    are unique in the population, who are found whenever they are drawn, with certainty. Two samples of one table
    together show more people than each. It claims no privacy model. To promise one, anonymize the sample: read it as a
    table of its own.

    Reference: L. Willenborg, T. de Waal, Elements of statistical disclosure control, 2001, chapter 1; C. Skinner,
    C. Marsh, S. Openshaw, C. Wymer, Disclosure control for census microdata, 1994.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": range(20, 60)}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=Sampling(), suppression=0.75)
        >>> len(release.frame), release.recoding.facts["inclusion"]
        (10, 0.25)
    """

    claims: ClassVar[bool] = False
    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({},)

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        summary, budget = dataset.summary, policy.budget(dataset.records)
        units, sizes = _units(dataset, policy.seed)
        # However unlucky the draw, no more records are left out than may be.
        out = int(np.searchsorted(np.cumsum(np.sort(sizes)[::-1]), budget, side="right"))
        if not 0 < out < len(sizes):
            raise ParameterError(
                "sampling leaves out as many people as suppression (--suppression) allows, which is "
                f"{'everybody' if out else 'nobody'}; give the share of the records to leave out, such as 0.9"
            )
        left_out = np.zeros(len(sizes), np.bool_)
        left_out[np.random.default_rng(policy.seed).permutation(len(sizes))[:out]] = True
        run.report(0.5, "drawing people")
        exact = Recoding.at_levels(summary, (0,) * len(summary.hierarchies), np.zeros(len(summary), np.bool_)).planned
        classes = np.repeat(exact.classes, summary.sizes)
        plan = replace(exact, classes=classes, withheld=left_out[units], by_record=True)
        sampled = len(sizes) - out
        return Recoding(plan, facts={"units": len(sizes), "sampled": sampled, "inclusion": sampled / len(sizes)})


def _units(dataset: Dataset, seed: int) -> tuple[Codes, Counts]:
    """What is drawn as one, and how many records each has: a household, else a person, else a record. Units are
    numbered, records as a plan orders them."""
    column = dataset.schema.household or dataset.schema.person
    if column is None:
        return np.arange(dataset.records, dtype=np.int32), np.ones(dataset.records, np.int64)
    owners = dataset.table.listing(dataset.schema.quasi, (column,), seed)[0]
    _, units, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    return units.astype(np.int32), sizes
