"""k-means as WEKA's SimpleKMeans, over all columns, with the adjustment stage of one-pass k-means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._adjustment import adjusted
from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._records import Records, numbered
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.utility.learning import JavaRandom


@dataclass(frozen=True, kw_only=True)
class SimpleKMeans(ClusteringAlgorithm):
    """WEKA's SimpleKMeans with ⌊n/k⌋ clusters, then clusters above k give up their farthest records, which go to the
    closest cluster below k.

    Numbers are scaled to the range of the table, names are equal or one apart, a missing value is the mean or the
    most frequent name. It clusters on every column that is published, as WEKA does with every column of its file. It
    is here to repeat experiments that were made with WEKA.

    The clusters are not those that WEKA has for the same file. WEKA draws its first centres by row number, and here
    records stand in an order that follows from their content, so that no release depends on the order of a file. For
    WEKA's own clusters of rows in their order, call the function `simple_k_means` of this module.

    Does not protect against more than the models of the policy do. Clustering on all columns brings people together
    whose sensitive values are alike, so classes are less diverse than they could be: to publish, use `k-member` or
    the default, or ask for l-diversity beside k.

    Reference: WEKA's SimpleKMeans (I. Witten, E. Frank, Data Mining, 2005); the adjustment: J.-L. Lin, M.-C. Wei, An
    efficient clustering method for k-anonymization, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64], "sex": ["F", "M", "F", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=SimpleKMeans(numeric="mean"), seed=1)
        >>> sorted(release.frame["age"])
        [21.5, 21.5, 62.5, 62.5]
    """

    columns: Annotated[Literal["all", "quasi"], Doc("cluster on all published columns, or on quasi-identifiers")] = (
        "all"
    )
    iterations: Annotated[int, Ge(1), Doc("rounds of k-means at most")] = 500

    in_blocks: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"columns": "quasi", "numeric": "mean"})

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        rows, nominal, values = _rows(records, self.columns == "all")
        clusters = len(records) // records.policy.least
        watch = run.part(between=(0.0, 0.8))
        owners, rounds = simple_k_means(rows, nominal, values, clusters, records.policy.seed, self.iterations, watch)
        adjusting = run.part(between=(0.8, 1.0))
        return adjusted(records, numbered(owners), generator, adjusting), {"iterations": rounds}


def simple_k_means(
    rows: Floats, nominal: NDArray[np.bool_], values: Codes, clusters: int, seed: int, iterations: int, run: Run
) -> tuple[Codes, int]:
    """The cluster of each row, as WEKA numbers them, and how many rounds there were. What is missing is not-a-number;
    `nominal` attributes have the places of as many `values`."""
    from shoal.kernels.simple_k_means import assign, scaled

    rows = _filled(rows, nominal, values)
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    firsts, numbers = _distinct(rows, nominal, values)
    records = scaled(rows[firsts], nominal, low, width)
    centres = scaled(rows[_drawn(numbers.tolist(), clusters, seed)], nominal, low, width)
    owners = np.full(len(firsts), -1, np.int32)
    nearest, moved = owners.copy(), np.ones(centres.shape[1], dtype=np.bool_)
    middles, sizes = np.empty((len(moved), len(nominal))), np.zeros(len(moved), np.int64)
    for done in range(1, iterations + 1):
        before = nearest.copy()
        assign(records, centres, moved, nominal, nearest, run.flag)
        run.report(1 - 1 / (1 + done), "k-means")
        if np.array_equal(nearest, owners):
            break
        owners = nearest
        _renew(middles, sizes, rows, numbers, before, owners, nominal, values)
        kept = sizes > 0  # empty clusters vanish
        middles, sizes = middles[kept], sizes[kept]
        earlier, centres = centres[:, kept], scaled(middles, nominal, low, width)
        nearest, moved = (np.cumsum(kept, dtype=np.int32) - 1)[owners], (centres != earlier).any(axis=0)
    return owners[numbers], done


def _renew(
    middles: Floats, sizes: NDArray[np.int64], rows: Floats, numbers: NDArray[np.int64], before: Codes, owners: Codes,
    nominal: NDArray[np.bool_], values: Codes,
) -> None:  # fmt: skip
    """The means and sizes of clusters that gained or lost rows: all others keep theirs, which would be added up from
    the same rows in the same order."""
    from shoal.kernels.simple_k_means import means

    changed, other = sizes == 0, before != owners
    changed[before[other]] = True
    changed[owners[other]] = True
    if changed.all():
        middles[:], sizes[:] = means(rows, owners[numbers], len(sizes), nominal, values)
        return
    some = np.flatnonzero(changed[owners][numbers])
    places = (np.cumsum(changed, dtype=np.int32) - 1)[owners[numbers[some]]]
    middles[changed], sizes[changed] = means(rows[some], places, int(changed.sum()), nominal, values)


def _distinct(rows: Floats, nominal: NDArray[np.bool_], values: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One row of each kind, alike ones near one another, and which of these each row equals."""
    narrow = nominal & (values <= np.iinfo(np.int16).max)  # such numbers are sorted digit by digit
    columns = [column.astype(np.int16) if few else column for column, few in zip(rows.T, narrow, strict=True)]
    order = np.lexsort(columns)
    fresh = np.zeros(len(rows), np.bool_)
    fresh[0] = True
    for column in columns:
        ordered = column[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(fresh) - 1
    return order[fresh], numbers


def _drawn(kinds: Sequence[Hashable], clusters: int, seed: int) -> list[int]:
    """The rows where clusters begin: drawn without replacement, none of the kind of an earlier one."""
    random, order, drawn, beginnings = JavaRandom(seed), list(range(len(kinds))), set[Hashable](), list[int]()
    for last in range(len(kinds) - 1, -1, -1):
        at = random.below(last + 1)
        row = order[at]
        if kinds[row] not in drawn:
            drawn.add(kinds[row])
            beginnings.append(row)
        order[last], order[at] = row, order[last]
        if len(beginnings) == clusters:
            break
    return beginnings


def _filled(rows: Floats, nominal: NDArray[np.bool_], values: Codes) -> Floats:
    """Missing numbers as the mean, missing names as the most frequent one."""
    filled = rows.copy()
    for place, column in enumerate(filled.T):
        lacking = np.isnan(column)
        if not lacking.any():
            continue
        known = column[~lacking]
        if not len(known):
            column[:] = 0.0
        elif nominal[place]:
            column[lacking] = np.argmax(np.bincount(known.astype(np.int64), minlength=int(values[place])))
        else:
            column[lacking] = np.add.accumulate(known)[-1] / len(known)  # added up one by one, as WEKA does
    return filled


def _rows(records: Records, every: bool) -> tuple[Floats, NDArray[np.bool_], Codes]:
    """The columns of the records as WEKA sees them: numbers, or places of names."""
    shown = records.dataset.encoded_columns(records.policy.seed)
    chosen = [entry for name, entry in shown.items() if every or name in records.dataset.schema.quasi]
    rows = np.empty((len(records), len(chosen)))
    for place, (hierarchy, codes) in enumerate(chosen):
        leaves = np.arange(hierarchy.size, dtype=np.float64) if hierarchy.values is None else hierarchy.values.copy()
        if hierarchy.missing:
            leaves[0] = np.nan
        rows[:, place] = leaves[codes]
    nominal = np.array([hierarchy.values is None for hierarchy, _ in chosen])
    return rows, nominal, np.array([hierarchy.size for hierarchy, _ in chosen], np.int32)
