"""Non-uniform entropy (De Waal and Willenborg, 1999; Gionis and Tassa, 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release
from shoal.publishing.decision import sizes_of
from shoal.utility.objective import CellObjective, CellTerms


@dataclass(frozen=True, kw_only=True)
class Entropy(CellObjective):
    """How many bits it takes to say which raw values the published ones were, over all quasi-identifier cells.

    A record costs log2(b/a) in an attribute, where `a` records have its raw value and `b` its published one. Records
    that are left out cost, besides, the bits that tell their published values apart. In a release that is not
    full-domain a published range costs the entropy that the table's values have in it, and a left-out record costs
    the entropy of the whole attribute.

    Does not see how far apart the merged values are, and treats attributes as if they had nothing to do with one
    another.

    Reference: A. Gionis, T. Tassa, k-anonymization with minimal loss of information, 2009.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"sex": ["F", "F", "M", "M"]}), quasi=["sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="optimal")
        >>> shoal.metrics.Entropy().score(data, release).value
        4.0
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        costs = tuple(
            _bits(tree, np.bincount(keys, weights=summary.sizes, minlength=tree.size).astype(np.float64))
            for tree, keys in zip(summary.hierarchies, summary.keys, strict=True)
        )
        count = len(costs)
        return CellTerms(costs, np.zeros(count), np.ones(count), count * weights, left_out="entropy")

    def score(self, dataset: Dataset, release: Release) -> Finding:
        cells, sizes = release.view.cells(), release.view.people().sizes
        total = 0.0
        for at, counts in enumerate(dataset.occurring):
            occurring = counts.astype(np.float64)
            total += float(_inside(occurring, cells.low[at], cells.high[at]) @ sizes)
            total += _left_out(dataset, release, at, occurring)
        how = "bits that the published quasi-identifier cells lack, summed over the records"
        return Finding(name="entropy", value=total, how=how, unit="bits")


def _left_out(dataset: Dataset, release: Release, at: int, occurring: Floats) -> float:
    """What the records that are left out cost in an attribute.

    Where it is known what they would have been published as, that and the bits that tell those values apart; else
    the entropy of the whole attribute.
    """
    plan = release.recoding.plan if release.recoding else None
    if release.suppressed == 0:
        return 0.0
    if plan is None or plan.by_record or int(plan.classes.min()) < 0 or not len(plan.cells):
        whole = _inside(occurring, np.array([0]), np.array([len(occurring) - 1]))
        return float(whole[0]) * release.suppressed
    book = plan.codebooks[at]
    gone = np.bincount(
        plan.cells[at][plan.classes[plan.withheld]], weights=sizes_of(dataset, plan)[plan.withheld], minlength=len(book)
    )
    published = float(_inside(occurring, book.low, book.high) @ gone)
    gone = gone[gone > 0]
    return published + float(gone @ np.log2(gone.sum() / gone))


def _bits(hierarchy: Hierarchy, occurring: Floats) -> Floats:
    """For each level and leaf that occurs, log2(b/a)."""
    costs = np.zeros(hierarchy.codes.shape)
    present = occurring > 0
    for level, codes in enumerate(hierarchy.codes):
        merged = np.bincount(codes, weights=occurring)[codes]
        costs[level, present] = np.log2(merged[present] / occurring[present])
    return costs


def _inside(occurring: Floats, low: NDArray[Any], high: NDArray[Any]) -> Floats:
    """The entropy, in bits, of the table's values inside each range of leaves."""
    logs = np.log2(occurring, out=np.zeros(len(occurring)), where=occurring > 0)
    records = np.append(0.0, np.cumsum(occurring))
    known = np.append(0.0, np.cumsum(occurring * logs))
    inside = np.maximum(records[high + 1] - records[low], 1.0)
    bits: Floats = np.maximum(0.0, np.log2(inside) - (known[high + 1] - known[low]) / inside)
    return bits
