"""Definitions of privacy and of utility: each gives a release a share between 0 (nothing) and 1 (all).

Utility is the ten-fold accuracy of a learner on the release, or 1 less a loss. Privacy is the share of suppressed
cells, as the work that asked for the balance has it, or 1 less a risk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal import job, registry
from shoal.core.balance import Definition
from shoal.core.contracts import Metric
from shoal.core.dataset import Dataset
from shoal.core.examples import labelled
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.learning import Learner, cross_validated
from shoal.core.release import Release
from shoal.diagnosis.exposure import exposure
from shoal.errors import InputError, NotDefined, ParameterError, alternatives, unknown_columns
from shoal.learners.c45 import C45
from shoal.learners.decision_stump import DecisionStump
from shoal.learners.naive_bayes import NaiveBayes

FOLDS = 10
LEARNERS: dict[str, tuple[Callable[[], Learner], str]] = {
    "stump": (DecisionStump, "a decision stump"),
    "c4.5": (C45, "C4.5"),
    "naive-bayes": (NaiveBayes, "naive Bayes"),
}
RISKS = ("highest-risk", "average-risk")
PRIVACY, GAINS = "suppression-share", ("privacy-loss",)
"""Metrics that tell of privacy: the share of what is hidden, and losses, of which 1 less the loss is taken."""


class Measure(ABC):
    """One definition of privacy or of utility; `words` say what its share is the share of."""

    name: str
    learned: ClassVar[bool] = False

    @property
    @abstractmethod
    def words(self) -> str: ...

    @property
    def definition(self) -> Definition:
        """As a result holds it."""
        return Definition(name=self.name, words=self.words, heading=self.heading, learned=self.learned)

    @property
    def heading(self) -> str:
        """In a few letters."""
        return self.name

    @abstractmethod
    def of(self, data: Dataset, release: Release) -> float:
        """The share that a release has; raises `NotDefined` with the reason where it has none."""


@dataclass(frozen=True)
class Accuracy(Measure):
    """How often a learner names the target of a record that it was not trained on: ten-fold, on the release itself.

    Generalized values are names to it, means are numbers. Where the target is itself generalized, what counts is its
    published value. The records of a class share their cells and stand in training and test folds alike, so this is
    an upper estimate of what the learner can tell about new people.
    """

    name: str
    target: str
    learned: ClassVar[bool] = True

    @property
    def words(self) -> str:
        return f"accuracy of {LEARNERS[self.name][1]} on {self.target}"

    def of(self, data: Dataset, release: Release) -> float:
        return self.scored(*_examples(release, self.target))

    def scored(self, table: Any, target: Any) -> float:
        """The same of any table and its target."""
        try:
            return cross_validated(LEARNERS[self.name][0](), table, target, count=FOLDS)
        except InputError as reason:
            raise NotDefined(str(reason)) from None


@dataclass(frozen=True)
class Kept(Measure):
    """What is left when a loss is taken off: 1 less a metric that is a share."""

    name: str
    metric: Metric

    @property
    def words(self) -> str:
        return f"1 − {self.name}"

    @property
    def heading(self) -> str:
        return self.words

    def of(self, data: Dataset, release: Release) -> float:
        return 1.0 - _share(self.metric, data, release)


@dataclass(frozen=True)
class Hidden(Measure):
    """The share of suppressed cells."""

    name: str
    metric: Metric

    @property
    def words(self) -> str:
        return "share of suppressed cells"

    def of(self, data: Dataset, release: Release) -> float:
        return _share(self.metric, data, release)


@dataclass(frozen=True)
class Safety(Measure):
    """1 less the chance that somebody who is known to be in the table is found, counted in people."""

    name: str

    @property
    def words(self) -> str:
        return f"1 − {self.name.replace('-', ' ')}"

    @property
    def heading(self) -> str:
        return f"1 − {self.name}"

    def of(self, data: Dataset, release: Release) -> float:
        return 1.0 - float(exposure(release.in_people(release.view.people()))[self.name].value)


def privacy(spec: str | Metric) -> Measure:
    """A definition of privacy by its name: the share of suppressed cells, a risk, or Li and Li's privacy loss.

    Example:
        >>> [privacy(name).words for name in ("suppression-share", "highest-risk")]
        ['share of suppressed cells', '1 − highest risk']
    """
    if isinstance(spec, str) and spec in RISKS:
        return Safety(spec)
    metric = _metric(spec, "privacy", RISKS, (PRIVACY, *GAINS))
    name = job.written(metric)
    return Hidden(name, metric) if registry.name_of(metric) == PRIVACY else Kept(name, metric)


def utility(spec: str | Metric, target: str | None) -> Measure:
    """A definition of utility by its name: a learner, or a metric that is a share of what was lost.

    Example:
        >>> utility("stump", "salary").words, utility("gcp", None).words
        ('accuracy of a decision stump on salary', '1 − gcp')
    """
    if isinstance(spec, str) and spec in LEARNERS:
        if target is None:
            raise ParameterError(f"{LEARNERS[spec][1]} needs the column that it learns: name the target")
        return Accuracy(spec, target)
    metric = _metric(spec, "utility", LEARNERS, registry.names("metrics"))
    return Kept(job.written(metric), metric)


def _metric(spec: str | Metric, what: str, others: Iterable[str], metrics: Iterable[str]) -> Metric:
    name = registry.name_of(spec) if isinstance(spec, Metric) else job.parse_spec(spec)[0]
    if name not in metrics:
        raise ParameterError(f"there is no such definition of {what}; {alternatives(name, [*others, *metrics])}")
    made: Metric = job.plugin("metrics", spec)
    return made


def _share(metric: Metric, data: Dataset, release: Release) -> float:
    found = metric.score(data, release)
    if not isinstance(found.value, (int, float)):
        raise NotDefined(found.how or f"{found.name} has no value")
    if found.unit not in ("share", "bits") or not -1e-9 <= found.value <= 1 + 1e-9:
        raise NotDefined(f"{found.name} is no share between 0 and 1, so it has no place on a curve")
    return float(min(max(found.value, 0.0), 1.0))


def _examples(release: Release, target: str) -> tuple[Any, Any]:
    """The main table without its target, and the target, as a learner takes them."""
    import narwhals as nw

    if target not in release.published.names:
        raise NotDefined(f"this form does not publish {target!r} beside the other columns")
    frame = nw.from_native(release.frame, eager_only=True)
    if len(frame.columns) < 2:
        raise NotDefined("there is no column beside the target to learn from")
    return frame.drop(target).to_native(), frame[target].to_native()


def majority(release: Release, target: str) -> float | None:
    """How often whoever always names the most frequent published value of the target is right."""
    try:
        labels = labelled(_examples(release, target)[1])[1]
    except (NotDefined, InputError):
        return None
    known = labels[labels >= 0]
    return float(np.bincount(known).max() / len(known)) if len(known) else None


def original(data: Dataset, learner: Accuracy, seed: int) -> float:
    """The accuracy of a learner on the table as it is: what a release cannot be expected to beat."""
    columns = {name: _values(hierarchy, codes) for name, (hierarchy, codes) in data.shown(seed).items()}
    target = columns.pop(learner.target)
    return learner.scored(pl.DataFrame(columns), pl.Series(target))


def _values(hierarchy: Hierarchy, codes: Codes) -> list[Any]:
    leaves = hierarchy.labels[0].tolist() if hierarchy.values is None else hierarchy.values.tolist()
    if hierarchy.missing:
        leaves[0] = None
    return [leaves[code] for code in codes.tolist()]


def check_target(data: Dataset, target: str) -> None:
    """Refuses a target that there is not, is dropped, or of which nothing can be learned."""
    if target not in data.schema.names:
        raise unknown_columns([target], data.schema.names)
    if target in data.schema.identifiers:
        raise ParameterError(f"the target {target!r} is an identifier, which is not published; name another column")
    values = data.knowing([target]).group((target,))
    hierarchy = data.knowing([target]).schema[target].hierarchy
    assert hierarchy is not None
    missing = int(values.sizes[values.keys[0] == 0].sum()) if hierarchy.missing else 0
    known, distinct = data.records - missing, len(values) - bool(missing)
    if distinct < 2:
        raise ParameterError(
            f"the target {target!r} has {'no value' if distinct == 0 else 'only one value'}, so there is nothing to "
            "learn; name a column with a few different values"
        )
    if distinct >= known:
        raise ParameterError(
            f"the target {target!r} has as many values as records ({known:,}), so none of them can be learned from "
            "other records; name a column with a few different values"
        )
    if known < FOLDS:
        raise ParameterError(f"the target {target!r} is known for {known} records, which are too few for {FOLDS} folds")
