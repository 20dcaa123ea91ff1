"""Any partition, published in another form."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.policy import Policy
from shoal.core.recoding import Plan
from shoal.core.run import Run
from shoal.errors import ParameterError


def partition(base: Algorithm, dataset: Dataset, policy: Policy, run: Run) -> tuple[Plan, dict[str, Any]]:
    """The classes that an algorithm decides on, and its facts."""
    if not base.claims:
        raise ParameterError(
            f"base: {type(base).__name__} makes no classes; take an algorithm that does, such as mondrian"
        )
    recoding = base.search(dataset, policy, run)
    if recoding.plan is None:
        raise ParameterError(f"base: {type(base).__name__} makes no classes that could be published otherwise")
    return recoding.plan, {"base": dict(recoding.facts)}


def without_cells(keys: Codes, owners: Codes, generator: np.random.Generator, *, by_record: bool) -> Plan:
    """A plan of numbered groups whose quasi-identifiers are published as they are; a negative owner is withheld.

    The numbers are published, so they must not tell in which order the groups were made.
    """
    count = int(owners.max(initial=-1)) + 1
    numbers = generator.permutation(count).astype(np.int32)
    shown = np.where(owners >= 0, numbers[owners], np.int32(-1)).astype(np.int32)
    return Plan(keys, shown, shown < 0, np.zeros((0, count), np.int32), (), by_record)
