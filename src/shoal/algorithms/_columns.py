"""How attributes are put into the columns of a sliced release: by how much they have to do with one another."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.publishing.slices import Columns, the_sensitive


def mean_square_contingency(left: Codes, right: Codes, counts: Counts) -> float:
    """φ² of two attributes: 0 when they have nothing to do with each other, 1 when one follows from the other.

    Entry `i` says that `counts[i]` records have the values `left[i]` and `right[i]`.

    Example:
        >>> left, right = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
        >>> mean_square_contingency(left, right, np.array([1, 1, 1, 1]))
        0.0
        >>> round(mean_square_contingency(left, right, np.array([3, 1, 1, 3])), 6)
        0.25
    """
    joint = group([left, right], weights=counts)
    rows, columns = (np.bincount(codes, weights=joint.counts) for codes in joint.keys)
    least = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if least < 2:
        return 0.0
    # Σ (f − e)²/e over all cells is Σ f²/e − 1, and only cells with records have an f.
    expected = rows[joint.keys[0]] * columns[joint.keys[1]]
    total = float(np.sum(np.square(joint.counts, dtype=np.float64) / expected)) - 1.0
    return float(min(max(total / (least - 1), 0.0), 1.0))


def medoids(distances: Floats, count: int) -> Codes:
    """The medoid of each thing, of so many: PAM, which builds them one by one and swaps while the distances fall.

    Reference: L. Kaufman, P. Rousseeuw, Finding groups in data, 1990.

    Example:
        >>> distances = np.abs(np.subtract.outer([0, 1, 9, 10, 11], [0, 1, 9, 10, 11])).astype(float)
        >>> medoids(distances, 2).tolist()
        [0, 0, 3, 3, 3]
    """
    chosen: list[int] = []
    for _ in range(min(count, len(distances))):
        left = [thing for thing in range(len(distances)) if thing not in chosen]
        chosen.append(min(left, key=lambda thing: (_cost(distances, [*chosen, thing]), thing)))
    while True:
        swaps = [
            sorted([*(other for other in chosen if other != gone), come])
            for gone in chosen
            for come in range(len(distances))
            if come not in chosen
        ]
        best = min(swaps, key=lambda medoids: (_cost(distances, medoids), medoids), default=chosen)
        if _cost(distances, best) >= _cost(distances, chosen) - 1e-12:
            break
        chosen = best
    ordered = np.array(sorted(chosen))
    nearest: Codes = ordered[distances[:, ordered].argmin(axis=1)].astype(np.int32)
    nearest[ordered] = ordered
    return nearest


def _cost(distances: Floats, chosen: list[int]) -> float:
    return float(distances[:, chosen].min(axis=1).sum())


def associations(dataset: Dataset, bins: int) -> tuple[tuple[str, ...], Floats]:
    """The quasi-identifiers and, last, the sensitive attribute, and φ² between any two; numbers with more values than
    so many `bins` are binned first, so that about equally many records are in each."""
    summary, value = dataset.summary, the_sensitive(dataset.schema)
    histogram = summary.histogram(value)
    trees = [*summary.hierarchies, histogram.hierarchy]
    columns = [*(keys[histogram.owners] for keys in summary.keys), histogram.values]
    binned = [
        _binned(codes, histogram.counts, bins) if tree is not None and _many(tree, codes, bins) else codes
        for tree, codes in zip(trees, columns, strict=True)
    ]
    matrix = np.eye(len(binned))
    for left, right in combinations(range(len(binned)), 2):
        phi = mean_square_contingency(binned[left], binned[right], histogram.counts)
        matrix[left, right] = matrix[right, left] = phi
    return (*summary.attributes, value), matrix


def _many(tree: Hierarchy, codes: Codes, bins: int) -> bool:
    return tree.ordered and len(np.unique(codes)) > bins


def _binned(codes: Codes, counts: Counts, bins: int) -> Codes:
    totals = np.bincount(codes, weights=counts)
    # The bin of a value is that of its middle record.
    middles = np.cumsum(totals) - totals / 2
    places: Codes = (middles * bins / max(float(totals.sum()), 1.0)).astype(np.int32)
    return np.minimum(places, bins - 1)[codes]


def chosen_columns(dataset: Dataset, count: int, beside: int, bins: int) -> Columns:
    """So many columns of attributes that have most to do with one another, with at most so many quasi-identifiers
    beside the sensitive attribute; what is too many goes to the nearest other column."""
    names, association = associations(dataset, bins)
    owner = medoids(1 - association, count)
    value = len(names) - 1
    others = sorted({int(each) for each in owner} - {int(owner[value])})
    crowd = [at for at in range(value) if owner[at] == owner[value]]
    crowd.sort(key=lambda at: (-association[at, value], at))
    for at in crowd[beside:]:
        owner[at] = max(others, key=lambda medoid: (association[at, medoid], -medoid)) if others else -1
    owner[[*crowd[:beside], value]] = len(names)
    columns = [tuple(names[at] for at in np.flatnonzero(owner == each)) for each in dict.fromkeys(owner.tolist())]
    return tuple(sorted(columns, key=lambda column: names[value] in column))
