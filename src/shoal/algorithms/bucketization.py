"""Bucketization of any partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from pydantic import InstanceOf
from typing_extensions import Doc

from shoal.algorithms._eligibility import check_no_identity, check_one_sensitive
from shoal.algorithms._partition import partition, without_cells
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Bucketization(Algorithm):
    """Takes the classes of another algorithm and publishes the quasi-identifiers as they are, with the number of the
    class, and apart from them how often each class has each sensitive value.

    Who has which value of a class is not told. Anatomy publishes the same two tables, of groups drawn at random; here
    the members of a class are alike. What has been printed as an example of overlapping slicing is this: rows as
    they were, and the sensitive values shuffled inside each class.

    Does not protect against being found: the quasi-identifiers are published as they are, so k-anonymity and its kin
    cannot be asked for.

    Reference: X. Xiao, Y. Tao, Anatomy: simple and effective privacy preservation, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm="bucketization", seed=1)
        >>> release.frame.columns, release.view.groups().sizes.tolist()
        (['age', 'group'], [2, 2])
    """

    base: Annotated[InstanceOf[Algorithm], Doc("the algorithm that makes the classes")] = field(
        default_factory=Mondrian
    )

    examples: ClassVar[Examples] = ({}, {"base": KMember()})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        check_no_identity(policy, "bucketization")
        check_one_sensitive(dataset, "bucketization")
        plan, facts = partition(self.base, dataset, policy, run)
        generator = np.random.default_rng(policy.seed)
        shown = without_cells(plan.keys, plan.owners, generator, by_record=plan.by_record)
        return Recoding(shown, form="two-table", facts=facts)
