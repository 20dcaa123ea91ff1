"""Decision stump: a tree of one split, as WEKA's DecisionStump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.hierarchy import Floats
from shoal.utility.examples import Examples
from shoal.utility.learning import Ints, Learner


@dataclass
class DecisionStump(Learner):
    """One split in three branches: one value against the rest, or up to a threshold and above it; missing apart.

    The split of least class entropy is taken, the first one of equals. Where no training value is missing, the third
    branch predicts what the whole table has.

    Reference: I. Witten, E. Frank, Data Mining, 2005 (WEKA's DecisionStump).

    Example:
        >>> import polars
        >>> table = polars.DataFrame({"age": [20, 30, 60, 70], "sex": ["f", "m", "m", "f"]})
        >>> DecisionStump().fit(table, ["no", "no", "yes", "yes"]).predict(table).tolist()
        ['no', 'no', 'yes', 'yes']
    """

    def learn(self, examples: Examples) -> None:
        best, self._attribute, self._point, self._nominal = np.inf, -1, 0.0, False
        classes = len(examples.classes)
        everyone = np.bincount(examples.labels, minlength=classes).astype(np.float64)
        self._shares = np.tile(everyone, (3, 1))
        for place, attribute in enumerate(examples.attributes):
            column = examples.rows[:, place]
            if attribute.values is None:
                split = _numeric(column, examples.labels, classes)
            else:
                split = _nominal(column, examples.labels, classes, len(attribute.values))
            entropy, point, counts = split
            if entropy < best or self._attribute < 0:
                best, self._attribute, self._point, self._nominal = entropy, place, point, attribute.nominal
                self._shares = counts
        sums = self._shares.sum(axis=1)
        self._shares[sums == 0] = self._shares[2]
        totals = self._shares.sum(axis=1, keepdims=True)
        self._shares = self._shares / np.where(totals > 0, totals, 1)

    def shares(self, rows: Floats) -> Floats:
        column = rows[:, self._attribute]
        branch = np.where(column == self._point if self._nominal else column <= self._point, 0, 1)
        chosen: Floats = self._shares[np.where(np.isnan(column), 2, branch)]
        return chosen


def _entropies(counts: Floats) -> Floats:
    """The class entropy given the branches, of each `counts[s, branch, class]`.

    Added up in WEKA's order, because what is equal but for rounding decides between splits.
    """

    def term(values: Floats) -> Floats:
        products: Floats = np.where(values < 1e-6, 0.0, values * np.log(np.where(values < 1e-6, 1.0, values)))
        return products

    sums, total = np.zeros(len(counts)), np.zeros(len(counts))
    for branch in counts.transpose(1, 2, 0):
        size = np.zeros(len(counts))
        for each in branch:
            sums, size = sums + term(each), size + each
        sums, total = sums - term(size), total + size
    entropies: Floats = -sums / (np.where(total > 0, total, 1) * np.log(2))
    return entropies


def _best(counts: Floats) -> tuple[float, int]:
    entropies = _entropies(counts)
    place = int(np.argmin(entropies))
    return float(entropies[place]), place


def _nominal(column: Floats, labels: Ints, classes: int, values: int) -> tuple[float, float, Floats]:
    codes = np.where(np.isnan(column), values, column).astype(np.int64)
    table = np.bincount(codes * classes + labels, minlength=(values + 1) * classes).reshape(-1, classes)
    table = table.astype(np.float64)
    everyone, missing = table.sum(axis=0), table[values]
    if not values:
        return np.inf, 0.0, np.stack([missing, missing, everyone])
    counts = np.stack([table[:values], everyone - missing - table[:values], np.tile(missing, (values, 1))], axis=1)
    entropy, place = _best(counts)
    chosen = counts[place].copy()
    if not missing.any():
        chosen[2] = everyone
    return entropy, float(place), chosen


def _numeric(column: Floats, labels: Ints, classes: int) -> tuple[float, float, Floats]:
    known = ~np.isnan(column)
    missing = np.bincount(labels[~known], minlength=classes).astype(np.float64)
    order = np.argsort(column[known], kind="stable")
    values = column[known][order]
    table = np.zeros((len(values), classes))
    table[np.arange(len(values)), labels[known][order]] = 1
    below = np.cumsum(table, axis=0)
    everyone = below[-1] if len(below) else np.zeros(classes)
    cuts = np.flatnonzero(values[:-1] < values[1:])
    if not len(cuts):
        chosen = np.stack([np.zeros(classes), everyone, missing])
        entropy, point = np.inf, np.inf
    else:
        counts = np.stack([below[cuts], everyone - below[cuts], np.tile(missing, (len(cuts), 1))], axis=1)
        entropy, place = _best(counts)
        chosen, point = counts[place].copy(), float((values[cuts[place]] + values[cuts[place] + 1]) / 2)
    if not missing.any():
        chosen[2] = everyone
    return entropy, point, chosen
