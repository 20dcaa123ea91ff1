"""Non-uniform entropy (De Waal and Willenborg, 1999; Gionis and Tassa, 2009)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.objective import CellObjective, CellTerms
from shoal.core.recoding import ByLevel
from shoal.core.release import Release


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
        >>> shoal.Entropy().score(data, release).value
        4.0
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        trees = zip(summary.hierarchies, summary.keys, strict=True)
        costs = tuple(_bits(tree, _occurring(keys, summary.sizes, tree.size)) for tree, keys in trees)
        count = len(costs)
        return CellTerms(costs, np.zeros(count), np.ones(count), count * weights, left_out="entropy")

    def score(self, dataset: Dataset, release: Release) -> Finding:
        full = isinstance(release.recoding, ByLevel)
        return Finding(
            name="entropy", value=_by_level(dataset, release) if full else _by_range(dataset, release),
            how="bits that the published quasi-identifier cells lack, summed over the records",
        )  # fmt: skip


def _occurring(keys: Counts, sizes: Counts, leaves: int) -> Floats:
    return np.bincount(keys, weights=sizes, minlength=leaves).astype(np.float64)


def _bits(hierarchy: Hierarchy, occurring: Floats) -> Floats:
    """For each level and leaf that occurs, log2(b/a)."""
    costs = np.zeros(hierarchy.codes.shape)
    present = occurring > 0
    for level, codes in enumerate(hierarchy.codes):
        merged = np.bincount(codes, weights=occurring)[codes]
        costs[level, present] = np.log2(merged[present] / occurring[present])
    return costs


def _by_level(dataset: Dataset, release: Release) -> float:
    recoding, summary = release.recoding, dataset.summary
    assert isinstance(recoding, ByLevel)
    gone = recoding.suppressed
    total = 0.0
    for tree, keys, level in zip(summary.hierarchies, summary.keys, recoding.levels, strict=True):
        occurring = _occurring(keys, summary.sizes, tree.size)
        total += float(_bits(tree, occurring)[level] @ occurring)
        left_out = np.bincount(tree.codes[level][keys[gone]], weights=summary.sizes[gone])
        left_out = left_out[left_out > 0]
        total += float(left_out @ np.log2(left_out.sum() / left_out)) if len(left_out) else 0.0
    return total


def _by_range(dataset: Dataset, release: Release) -> float:
    summary, sizes = dataset.summary, release.classes.sizes
    total = 0.0
    for tree, keys, low, high in zip(summary.hierarchies, summary.keys, *release.ranges, strict=True):
        occurring = _occurring(keys, summary.sizes, tree.size)
        logs = np.log2(occurring, out=np.zeros(tree.size), where=occurring > 0)
        records = np.append(0.0, np.cumsum(occurring))
        inner = np.append(0.0, np.cumsum(occurring * logs))

        def entropy(first: Counts, last: Counts, records: Floats = records, inner: Floats = inner) -> Floats:
            inside = records[last + 1] - records[first]
            known = np.log2(inside, out=np.zeros(len(inside)), where=inside > 0)
            return np.where(inside > 0, known - (inner[last + 1] - inner[first]) / np.maximum(inside, 1.0), 0.0)

        whole = entropy(np.array([0]), np.array([tree.size - 1]))[0]
        total += float(entropy(low, high) @ sizes) + float(whole) * release.suppressed
    return total
