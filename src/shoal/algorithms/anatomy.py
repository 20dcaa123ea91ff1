"""Anatomy (Xiao and Tao, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._eligibility import as_categories, check_no_identity, check_one_sensitive, eligible_counts
from shoal.algorithms._partition import without_cells
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError

REPORTED = 2048
"""Groups that are drawn between two reports."""


@dataclass(frozen=True, kw_only=True)
class Anatomy(Algorithm):
    """Draws one record from each of the l largest buckets of equal sensitive values to form a group, again and again,
    and publishes two tables: the quasi-identifiers as they are with a group number, and the values of each group.

    In every group all records have different values, so that whoever finds a person's group guesses the value right
    with probability 1/l at most. l is what the policy's models ask for. A table in which a value is too frequent has
    no such groups: records of such values are withheld, as few as possible, if the suppression allows; which of them is
    left to chance, and only their total is told. Numbers in the sensitive column are categories; put them into bins
    first if close numbers mean the same. Missing values are one value.

    Does not protect against being found: the quasi-identifiers are published as they are, so k-anonymity and its kin
    cannot be asked for. Groups are drawn at random, so neighbours in a group have nothing in common.

    Reference: X. Xiao, Y. Tao, Anatomy: simple and effective privacy preservation, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=Anatomy(), seed=1)
        >>> release.frames["sensitive"]["count"].to_list(), release.frame.columns
        ([1, 1, 1, 1], ['age', 'group'])
    """

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        check_no_identity(policy, "Anatomy")
        check_one_sensitive(dataset, "Anatomy")
        least = policy.least
        (codes,) = dataset.listing(policy.seed)
        counts = dataset.summary.sensitive[0].population
        eligible = eligible_counts(counts, least, policy.budget(dataset.records))
        generator = np.random.default_rng(policy.seed)
        groups = drawn(codes, eligible, least, generator, run)
        plan = without_cells(dataset.summary.keys, groups, generator, by_record=True)
        broken = int((~policy.holds(dataset.partitioned(plan.owners, plan.count, seed=policy.seed))).sum())
        if broken:
            raise InfeasibleError(
                f"with {least} different sensitive values each {broken:,} of {plan.count:,} groups break the policy; "
                "Anatomy aims at shares of 1/l in a group, so ask for frequency-l-diversity alone or for a greater l",
                {"least": least, "groups": plan.count, "broken": broken},
            )
        facts = {"groups": plan.count, "withheld": dataset.records - int(eligible.sum()), **as_categories(dataset)}
        return Recoding(plan, form="two-table", facts=facts)


def drawn(codes: Codes, eligible: Counts, least: int, generator: np.random.Generator, run: Run) -> Codes:
    """The group of each record; -1 for those that are withheld."""
    buckets = _buckets(codes, eligible, generator)
    fullest = [(-len(bucket), value) for value, bucket in buckets.items()]
    heapify(fullest)
    groups: Codes = np.full(len(codes), -1, dtype=np.int32)
    count, total = 0, int(eligible.sum())
    run.report(0.0, "drawing groups")
    while len(fullest) >= least:
        if count % REPORTED == 0:
            run.report(count * least / total, "drawing groups")
        for _, value in [heappop(fullest) for _ in range(least)]:
            groups[buckets[value].pop()] = count
            if buckets[value]:
                heappush(fullest, (-len(buckets[value]), value))
        count += 1
    _place_rest(groups, codes, [bucket[0] for bucket in buckets.values() if bucket], count, generator)
    return groups


def _buckets(codes: Codes, eligible: Counts, generator: np.random.Generator) -> dict[int, list[Any]]:
    """The records of each value in random order, as many as can stay."""
    order = generator.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    starts = np.append(0, np.cumsum(np.bincount(codes, minlength=len(eligible))))
    return {
        value: order[starts[value] : starts[value] + eligible[value]].tolist()
        for value in np.flatnonzero(eligible).tolist()
    }


def _place_rest(groups: Codes, codes: Codes, rest: list[int], count: int, generator: np.random.Generator) -> None:
    """Puts each record that is left, all of different values, into a random group that lacks its value."""
    for record in rest:
        has: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        has[groups[(codes == codes[record]) & (groups >= 0)]] = True
        groups[record] = generator.choice(np.flatnonzero(~has))
