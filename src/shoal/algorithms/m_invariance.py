"""m-invariance (Xiao and Tao, 2007): groups whose values stay the same from release to release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._clustering import outputs
from shoal.algorithms._eligibility import (
    as_categories,
    check_no_identity,
    check_one_sensitive,
    eligible_counts,
    wanted_variety,
)
from shoal.algorithms._records import Records
from shoal.algorithms.anatomy import drawn
from shoal.core.classes import summarize
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.release_history import History
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError

LOOKED_AT = 256
"""Records of a value that are compared when one is taken; of a more frequent value, so many are drawn."""

Signature = tuple[int, ...]
"""The different values of a group, ascending."""


@dataclass(frozen=True, kw_only=True)
class MInvariance(Algorithm):
    """Publishes groups of at least m records, all with different values, such that everybody's group shows the same set
    of values in every release, as long as the person is in the table. Whoever lays all releases beside one another, and
    knows who came and left when, still finds each of these values equally likely: 1/m at most.

    People who stay are put together by the values that their groups had. Where such a value is lacking, a newcomer who
    has it fills the place, if enough different newcomers are left for groups of their own, and else a counterfeit: the
    group shows a value that none of its people has. How many it has is published, which ones they are is not. Other
    newcomers form groups as Anatomy draws them. The groups of a set of values are put together so that the
    quasi-identifiers of a group are near one another.

    It needs a ledger to know the earlier releases; without one, or with an empty one, it makes the first release. m is
    what the policy's models ask for unless it is given. A person whose value changes counts as a newcomer only where
    people are told apart by their values; else the change is refused.

    Does not protect against being found: the quasi-identifiers are published as they are, so k-anonymity and its kin
    cannot be asked for. Counterfeits make counts too high.

    Reference: X. Xiao, Y. Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=MInvariance(), seed=1)
        >>> release.view.groups().sizes.tolist()
        [2, 2]
    """

    m: Annotated[int | None, Ge(2), Doc("how many different values a group has at least")] = None

    examples: ClassVar[Examples] = ({}, {"m": 2})

    def remembering(self, dataset: Dataset, history: History) -> Dataset:
        for name in dataset.schema.sensitive:
            dataset = dataset.remembering(
                name, [text for each in history.releases if name in each.values for text in each.values[name].texts]
            )
        return dataset

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        check_no_identity(policy, "m-invariance")
        check_one_sensitive(dataset, "m-invariance")
        policy.check_apart("m-invariance")
        least = max(self.m or 2, wanted_variety(policy))
        (values,) = dataset.listing(policy.seed)
        buckets = _signatures(dataset, policy, values, least)
        staying = np.zeros(len(values), dtype=np.bool_)
        for bucket in buckets.values():
            for members in bucket.values():
                staying[members] = True
        came = np.flatnonzero(~staying)
        survivors = len(values) - len(came)
        generator = np.random.default_rng(policy.seed)
        came = _balanced(buckets, values, came, least, generator)
        withheld = _with_newcomers(buckets, values, came, least, policy.budget(len(values)), generator, run)
        owners, fakes = _split(Records.of(dataset, policy, outputs(dataset, "interval", ())), buckets, generator, run)
        # The numbers are published, so they must not tell in which order the groups were made.
        count = int(max(owners.max(initial=-1), fakes.groups.max(initial=-1))) + 1
        if not count:
            raise InfeasibleError("everybody would have to be left out", {"records": len(values), "least": least})
        numbers = generator.permutation(count).astype(np.int32)
        owners = np.where(owners >= 0, numbers[owners], np.int32(-1)).astype(np.int32)
        fakes = Counterfeits(numbers[fakes.groups], fakes.leaves)
        _check_groups(dataset, policy, values, owners, fakes, least)
        plan = Plan(dataset.summary.keys, owners, owners < 0, np.zeros((0, count), np.int32), (), True)
        counts = {"groups": count, "stayed": survivors, "counterfeits": len(fakes), "withheld": withheld}
        facts = {**counts, **as_categories(dataset)}
        return Recoding(plan, form="counterfeited", facts=facts, counterfeits=fakes)


def _check_groups(
    dataset: Dataset, policy: Policy, values: Codes, owners: Codes, fakes: Counterfeits, least: int
) -> None:
    """Raises where groups of different values do not satisfy the policy, as most models but l-diversity may ask for."""
    histogram = dataset.summary.histogram()
    groups = np.concatenate([owners[owners >= 0], fakes.groups])
    leaves = np.concatenate([values[owners >= 0], fakes.leaves]).astype(np.int32)
    count = int(groups.max(initial=-1)) + 1
    sensitive = (histogram.column, leaves, len(histogram.population), histogram.hierarchy)
    classes = summarize(["group"], [groups], [count], [sensitive])
    judged = replace(classes, sensitive=(classes.sensitive[0].compared(histogram),), records=dataset.records)
    broken = int((~policy.holds(judged)).sum())
    if broken:
        raise InfeasibleError(
            f"with {least} different sensitive values each {broken:,} of {count:,} groups break the policy; "
            "m-invariance aims at shares of 1/m in a group, so ask for frequency-l-diversity alone or for a greater m",
            {"least": least, "groups": count, "broken": broken},
        )


Buckets = dict[Signature, dict[int, list[int]]]
"""For each set of values the records that have each of them."""


def _signatures(dataset: Dataset, policy: Policy, values: Codes, least: int) -> Buckets:
    """The records that were published before, by the values that their groups had last."""
    history = policy.history
    buckets: Buckets = {}
    if history is None or not history.releases:
        return buckets
    (name,) = dataset.schema.sensitive
    tree = dataset.schema[name].hierarchy
    assert tree is not None
    _, _, groups = history.places(dataset, policy.seed)
    waiting = np.ones(len(values), dtype=np.bool_)
    for release, places in zip(reversed(history.releases), groups[::-1], strict=True):
        spread = release.values.get(name)
        chosen = np.flatnonzero(waiting & (places >= 0))
        if spread is None or not len(chosen):
            continue
        waiting[chosen] = False
        leaves = np.array(tree.leaves(list(spread.texts)), np.int64)[spread.values]
        starts = np.searchsorted(spread.owners, np.arange(len(spread.sizes) + 1))
        signatures = {
            group: tuple(sorted(leaves[starts[group] : starts[group + 1]].tolist()))
            for group in np.unique(places[chosen]).tolist()
        }
        if any(len(signature) < least for signature in signatures.values()):
            raise ParameterError(
                f"{release.name} has groups of fewer than {least} different values, and these cannot change any more; "
                "ask for less, or begin a new series with people who were not published before"
            )
        order = chosen[np.lexsort([values[chosen], places[chosen]])]
        for record in order.tolist():
            signature, value = signatures[int(places[record])], int(values[record])
            if value not in signature:
                raise ParameterError(
                    "somebody's sensitive value is not among those of the person's group in an earlier release: it has "
                    "changed, and m-invariance is for values that stay; leave such records out"
                )
            buckets.setdefault(signature, {}).setdefault(value, []).append(record)
    return dict(sorted(buckets.items()))


def _balanced(
    buckets: Buckets, values: Codes, came: NDArray[np.int64], least: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Fills what buckets lack with newcomers as long as the others can form groups by themselves; who is left."""
    free = {
        value: generator.permutation(came[values[came] == value]).tolist() for value in np.unique(values[came]).tolist()
    }
    counts = {value: len(records) for value, records in free.items()}
    total = len(came)
    for signature, bucket in buckets.items():
        height = max(len(records) for records in bucket.values())
        for value in signature:
            while len(bucket.get(value, ())) < height and counts.get(value, 0):
                others = max((count for each, count in counts.items() if each != value), default=0)
                if max(others, counts[value] - 1) * least > total - 1 and max(counts.values()) * least <= total:
                    break
                bucket.setdefault(value, []).append(free[value].pop())
                counts[value] -= 1
                total -= 1
    return np.sort(np.array([record for records in free.values() for record in records], np.int64))


def _with_newcomers(
    buckets: Buckets, values: Codes, came: NDArray[np.int64], least: int, budget: int, generator: np.random.Generator,
    run: Run,
) -> int:  # fmt: skip
    """Puts newcomers into groups as Anatomy draws them; returns how many have to wait for a later release."""
    if not len(came):
        return 0
    codes = values[came]
    counts = np.bincount(codes).astype(np.int64)
    if len(came) <= budget and np.count_nonzero(counts) < least:
        return len(came)  # too few different ones for a single group
    eligible = eligible_counts(counts, least, budget)
    groups = drawn(codes, eligible, least, generator, run)
    if not bool(np.all(np.bincount(groups[groups >= 0]) >= least)):
        raise InfeasibleError(f"no groups of {least} different values can be formed", {"least": least})
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    edges = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0)).tolist()
    for begin, end in zip(edges, [*edges[1:], len(order)], strict=True):
        members = order[begin:end]
        bucket = buckets.setdefault(tuple(sorted(codes[members].tolist())), {})
        for member in members.tolist():
            bucket.setdefault(int(codes[member]), []).append(int(came[member]))
    return int((groups < 0).sum())


def _split(records: Records, buckets: Buckets, generator: np.random.Generator, run: Run) -> tuple[Codes, Counterfeits]:
    """The group of each record, one record of each value of a bucket, and the values that nobody has there."""
    from shoal.kernels.bundles import Pools, bundle

    owners = np.full(len(records), -1, dtype=np.int32)
    groups, leaves, first = [], [], 0
    for at, (signature, bucket) in enumerate(buckets.items()):
        # The most frequent values first: the kernel takes of the first ones where the others are used up.
        order = sorted(signature, key=lambda value: (-len(bucket.get(value, ())), value))
        sizes: Counts = np.array([len(bucket.get(value, ())) for value in order], np.int64)
        height = int(sizes[0])
        widths = (sizes[None] > np.arange(height)[:, None]).sum(axis=1)
        members = np.array([record for value in order for record in bucket.get(value, ())], np.int64)
        points = records.points[records.tuples[members]]
        pools = Pools(members, points, np.cumsum(sizes) - sizes, sizes.copy())
        seed = int(generator.integers(2**31))
        bundle(pools, widths, records.costs, LOOKED_AT, owners, first, seed, run.flag)
        for value, size in zip(order, sizes.tolist(), strict=True):
            groups.append(first + np.arange(size, height))
            leaves.append(np.full(height - size, value))
        first += height
        run.report((at + 1) / len(buckets), "splitting into groups")
    if not groups:
        return owners, Counterfeits(np.zeros(0, np.int32), np.zeros(0, np.int32))
    return owners, Counterfeits(np.concatenate(groups).astype(np.int32), np.concatenate(leaves).astype(np.int32))
