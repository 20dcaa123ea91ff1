"""NIST's unique exact matches (Collaborative Research Cycle, 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.formatting import percent
from shoal.core.grouping import Counts, group
from shoal.core.release import Release
from shoal.errors import NotDefined

FEW = 50
"""Multiplicities beyond which half of a table as good as never has exactly one."""


@dataclass(frozen=True, kw_only=True)
class UniqueExactMatches(Metric):
    """How many of the people who are unique in the table occur in the release exactly as they are, as a share of the
    unique ones. Unique is who has a combination of all quasi-identifiers and sensitive attributes, as far as the
    release has them in one table, that nobody else has.

    A match does not prove that the person's record was published: some combinations turn up again by chance. The
    detail says how many: `chance` is the share of the unique people of a random half of the table who are met in the
    other half, among people whom nothing connects with them. A release that matches no more than that tells no more
    than a sample of other people would.

    Does not look at cells that stand for several values, at records that are nearly equal, or at what a match teaches.

    Reference: C. Task and others, SDNist: benchmark data and evaluation tools for data synthesizers, NIST, 2023.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [1, 2, 3, 3], "sex": list("ffff")}), quasi=["age", "sex"])
        >>> finding = shoal.metrics.UniqueExactMatches().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2)))
        >>> finding.value, finding.detail
        (0.0, {'unique': 2, 'matched': 0, 'chance': 0.3333333333333333})
    """

    quick: ClassVar[bool] = False
    flawless: ClassVar[float] = 1.0

    def score(self, dataset: Dataset, release: Release) -> Finding:
        published = release.published
        names = tuple(name for name in (*dataset.schema.quasi, *dataset.schema.sensitive) if name in published.names)
        if not names:
            raise NotDefined("the main table of the release has no column with a role")
        people = dataset.knowing(names).table.group(names, (), person=dataset.schema.person)
        rows = published.group(names, ())
        leaves = []
        for name, keys in zip(names, rows.keys, strict=True):
            low, high = release.hierarchy_of(name).parse_all(published.labels(name))
            leaves.append(np.where(low == high, low, -1)[keys].astype(np.int32))
        whole = np.flatnonzero(np.min(leaves, axis=0) >= 0)
        unique = people.keys[:, people.headcounts == 1]
        matched = _common(unique, np.stack(leaves)[:, whole])
        count, by_chance = unique.shape[1], chance(people.headcounts)
        return Finding(
            name="unique-exact-matches", value=matched / count if count else 0.0, unit="share",
            detail={"unique": count, "matched": matched, "chance": by_chance},
            how="unique people of the table whose values, in all columns with a role, occur in the release exactly "
            f"(NIST); {percent(by_chance)} would by chance",
        )  # fmt: skip


def _common(unique: np.ndarray, rows: np.ndarray) -> int:
    """How many of some distinct combinations occur among others."""
    both = np.concatenate([unique, rows], axis=1)
    tuples = group(list(both), index=True).index
    return int(np.isin(tuples[: unique.shape[1]], tuples[unique.shape[1] :]).sum())


def chance(multiplicities: Counts) -> float:
    """The share of the unique people of a random half of a table who are met in the other half, expected over all
    halves: of m people who share a combination, exactly one is in a half with probability m / 2^m.

    Example:
        >>> chance(np.array([1, 1, 2]))
        0.3333333333333333
    """
    few = multiplicities[multiplicities <= FEW].astype(np.float64)
    alone = few / 2**few
    return float(alone[few > 1].sum() / alone.sum()) if len(few) else 0.0
