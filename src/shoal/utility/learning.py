"""What learners share: scikit-learn's interface, and cross-validation with WEKA's folds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shoal.core.forks import few_threads
from shoal.core.hierarchy import Floats
from shoal.errors import InputError, ParameterError
from shoal.utility.examples import Attribute, Examples, attributes_of, class_codes, rows_of

Ints = NDArray[np.int64]


class Learner(ABC):
    """A classifier that is trained by `fit` and asked by `predict`. Its parameters are the fields of its dataclass."""

    attributes_: tuple[Attribute, ...]
    classes_: NDArray[Any]

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Learns from examples, none of whose classes is missing."""

    @abstractmethod
    def shares(self, rows: Floats) -> Floats:
        """How likely each class is for each row."""

    def fit(self, table: Any, target: Any) -> Self:
        """Learns from a frame or a matrix and the class of each record; records without a class do not count."""
        attributes, rows = attributes_of(table)
        classes, labels = class_codes(target)
        if len(labels) != len(rows):
            raise InputError(f"there are {len(rows):,} records and {len(labels):,} classes")
        self.attributes_, self.classes_ = attributes, np.array(classes)
        self.n_features_in_ = len(attributes)
        known = labels >= 0
        self.learn(Examples(attributes, rows[known], classes, labels[known]))
        return self

    def predict_proba(self, table: Any) -> Floats:
        """How likely each of `classes_` is for each record."""
        if not hasattr(self, "attributes_"):
            raise InputError("the learner is not trained yet; call fit first")
        return self.shares(rows_of(self.attributes_, table))

    def predict(self, table: Any) -> NDArray[Any]:
        """The most likely class of each record; of equally likely ones the first."""
        shares = self.predict_proba(table)
        classes: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return classes

    def score(self, table: Any, target: Any) -> float:
        """The share of the records whose class is predicted."""
        return float(np.mean(self.predict(table) == np.asarray(target)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **values: Any) -> Self:
        """The same learner with other parameters."""
        unknown = set(values) - set(self.get_params())
        if unknown:
            raise ParameterError(f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}")
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )


class JavaRandom:
    """java.util.Random, so that folds and draws are WEKA's.

    Example:
        >>> random = JavaRandom(1)
        >>> [random.below(10) for _ in range(5)]
        [5, 8, 7, 3, 4]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state >> (48 - bits)

    def below(self, bound: int) -> int:
        """A whole number from 0 to less than a bound."""
        if bound & (bound - 1) == 0:
            return (bound * self._next(31)) >> 31
        while True:
            bits = self._next(31)
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:
                return value

    def shuffled(self, items: Ints) -> Ints:
        """The items in the order that WEKA's randomize gives them."""
        order = items.copy()
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[[last, other]] = order[[other, last]]
        return order


def folds(labels: Ints, count: int = 10, seed: int = 1) -> Iterator[tuple[Ints, Ints]]:
    """Training and test records of each fold: shuffled, dealt so that each fold has every class in proportion."""
    order = JavaRandom(seed).shuffled(np.arange(len(labels))).tolist()
    place = 1
    while place < len(order):  # equal classes are brought together, by exchanges as WEKA makes them
        wanted = labels[order[place - 1]]
        for other in range(place, len(order)):
            if labels[order[other]] == wanted:
                order[place], order[other] = order[other], order[place]
                place += 1
        place += 1
    dealt = np.array([order[place] for start in range(count) for place in range(start, len(order), count)])
    size, more = divmod(len(dealt), count)
    for fold in range(count):
        first = fold * size + min(fold, more)
        last = first + size + (fold < more)
        yield np.concatenate([dealt[:first], dealt[last:]]), dealt[first:last]


def person_folds(labels: Ints, people: NDArray[Any], count: int = 10, seed: int = 1) -> Iterator[tuple[Ints, Ints]]:
    """Training and test records of each fold, dealt by people: nobody has records in both. A person counts for the
    class of the first record."""
    persons, firsts, whose = np.unique(people, return_index=True, return_inverse=True)
    if len(persons) < count:
        raise InputError(f"{len(persons)} people are too few for {count} folds")
    for _, test in folds(labels[firsts], count, seed):
        asked = np.isin(whose, test)
        yield np.flatnonzero(~asked), np.flatnonzero(asked)


class Estimated(Learner):
    """A classifier of scikit-learn as a learner of tables with names: each name is a column of its own that is 0 or 1,
    numbers count from their mean in standard deviations, and a missing one is the mean. What the classifier draws at
    random follows from the seed 1."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @few_threads()
    def learn(self, examples: Examples) -> None:
        from sklearn.base import clone

        self._examples = examples
        present = [column[~np.isnan(column)] for column in examples.rows.T]
        self._scales = [(float(each.mean()), float(each.std()) or 1.0) if len(each) else (0.0, 1.0) for each in present]
        self._model = clone(self.estimator)
        if self._model.get_params().get("random_state", 0) is None:
            self._model.set_params(random_state=1)
        self._model.fit(self._matrix(examples.rows), examples.labels)

    @few_threads()
    def shares(self, rows: Floats) -> Floats:
        shares = np.zeros((len(rows), len(self._examples.classes)))
        shares[np.arange(len(rows)), self._model.predict(self._matrix(rows))] = 1.0
        return shares

    def _matrix(self, rows: Floats) -> Floats:
        columns = []
        for attribute, column, (mean, spread) in zip(self._examples.attributes, rows.T, self._scales, strict=True):
            if attribute.values is None:
                columns.append(np.nan_to_num((column - mean) / spread)[:, None])
            else:
                columns.append((column[:, None] == np.arange(len(attribute.values))).astype(np.float64))
        return np.hstack(columns)


def cross_validated(learner: Learner, table: Any, target: Any, *, count: int = 10, seed: int = 1) -> float:
    """The share of the records whose class is predicted when they are left out, fold by fold, as WEKA counts it."""
    attributes, rows = attributes_of(table)
    classes, labels = class_codes(target)
    known = labels >= 0
    rows, labels = rows[known], labels[known]
    if len(labels) < count:
        raise InputError(f"{len(labels)} records are too few for {count} folds")
    return share_predicted(learner, Examples(attributes, rows, classes, labels), folds(labels, count, seed))


def share_predicted(learner: Learner, examples: Examples, dealt: Iterable[tuple[Ints, Ints]]) -> float:
    """The share of the examples whose class is predicted, each time from those of the other folds."""
    rows, labels, hits = examples.rows, examples.labels, 0
    for training, test in dealt:
        learner.learn(Examples(examples.attributes, rows[training], examples.classes, labels[training]))
        hits += int((learner.shares(rows[test]).argmax(axis=1) == labels[test]).sum())
    return hits / len(labels)
