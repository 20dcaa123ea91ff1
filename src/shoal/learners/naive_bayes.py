"""Naive Bayes for numbers and names, as WEKA's NaiveBayes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.hierarchy import Floats
from shoal.utility.examples import Examples
from shoal.utility.learning import Learner

_LEAST = 1e-75


@dataclass
class NaiveBayes(Learner):
    """Attributes are taken as independent within a class: names by their counts plus one, numbers by a normal
    distribution that is read at the precision of the column (the mean step between its different values).

    What is missing tells nothing.

    Reference: G. John, P. Langley, Estimating continuous distributions in Bayesian classifiers, 1995 (WEKA's
    NaiveBayes).

    Example:
        >>> import polars
        >>> table = polars.DataFrame({"age": [20, 30, 60, 70], "sex": ["f", "m", "m", "f"]})
        >>> NaiveBayes().fit(table, ["no", "no", "yes", "yes"]).predict(table).tolist()
        ['no', 'no', 'yes', 'yes']
    """

    def learn(self, examples: Examples) -> None:
        classes, labels = len(examples.classes), examples.labels
        counts = np.bincount(labels, minlength=classes) + 1.0
        self._priors = counts / counts.sum()
        self._names: dict[int, Floats] = {}
        self._normals: dict[int, tuple[float, Floats, Floats]] = {}
        for place, attribute in enumerate(examples.attributes):
            column = examples.rows[:, place]
            known = ~np.isnan(column)
            if attribute.values is not None:
                cells = column[known].astype(np.int64) * classes + labels[known]
                table = np.bincount(cells, minlength=len(attribute.values) * classes).reshape(-1, classes) + 1.0
                self._names[place] = table / table.sum(axis=0)
                continue
            values = np.unique(column[known])
            precision = float((values[-1] - values[0]) / (len(values) - 1)) if len(values) > 1 else 0.01
            means, deviations = np.zeros(classes), np.full(classes, precision / 6)
            for label in range(classes):
                own = np.rint(column[known & (labels == label)] / precision) * precision
                if len(own):
                    means[label] = own.sum() / len(own)
                    spread = np.sqrt(abs((own * own).sum() - means[label] * own.sum()) / len(own))
                    if spread > 1e-10:
                        deviations[label] = max(precision / 6, spread)
            self._normals[place] = precision, means, deviations

    def shares(self, rows: Floats) -> Floats:
        scores = np.tile(self._priors, (len(rows), 1))
        for place in range(rows.shape[1]):
            known = ~np.isnan(rows[:, place])
            scores[known] *= np.maximum(_LEAST, self._likelihood(place, rows[known, place]))
            most = scores.max(axis=1)
            scores[(most > 0) & (most < _LEAST)] *= 1 / _LEAST  # before it underflows
        totals = scores.sum(axis=1, keepdims=True)
        return scores / np.where(totals > 0, totals, 1)

    def _likelihood(self, place: int, column: Floats) -> Floats:
        if place in self._names:
            return self._names[place][column.astype(np.int64)]
        precision, means, deviations = self._normals[place]
        values = (np.rint(column / precision) * precision)[:, None]
        low, high = ((values - means + sign * precision / 2) / deviations for sign in (-1, 1))
        return _normal(high) - _normal(low)


def _normal(values: Floats) -> Floats:
    """The standard normal distribution function."""
    import math

    probabilities: Floats = np.vectorize(lambda value: 0.5 * math.erfc(-value / math.sqrt(2)), otypes=[np.float64])(
        values
    )
    return probabilities
