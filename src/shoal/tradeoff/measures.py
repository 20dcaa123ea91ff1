"""Definitions of privacy and of utility: each gives a release a share between 0 (nothing) and 1 (all).

Utility is the ten-fold accuracy of a learner on the release, how well declared analyses survive, or 1 less a loss.
Privacy is the share of suppressed cells, as the work that asked for the balance has it, or 1 less a risk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from shoal import registry
from shoal.api.learning import learner, learner_names
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.formatting import enumerated
from shoal.core.release import Release
from shoal.core.schema import WITHHELD
from shoal.diagnosis.exposure import exposure
from shoal.errors import NotDefined, ParameterError, alternatives, unknown_columns
from shoal.job import plugins
from shoal.tradeoff.sweep_result import Definition
from shoal.utility.analyses import Analysis
from shoal.utility.classification import LabelledRecords, check_target, majority, of_dataset, of_release, ten_fold

RISKS = ("highest-risk", "average-risk")
PRIVACY, GAINS = "suppression-share", ("privacy-loss",)
"""Metrics that tell of privacy: the share of what is hidden, and losses, of which 1 less the loss is taken."""
ANALYSES = "analyses"


@dataclass(frozen=True)
class TradeoffMeasure(ABC):
    """One definition of privacy or of utility, as a share of a release."""

    definition: Definition

    @property
    def name(self) -> str:
        return self.definition.name

    @abstractmethod
    def of(self, data: Dataset, release: Release) -> float:
        """The share that a release has; raises `NotDefined` with the reason where it has none."""


@dataclass(frozen=True)
class Accuracy(TradeoffMeasure):
    """How often a learner names the target of a record that it was not trained on: ten-fold, on the release itself.

    Generalized values are names to it, means are numbers. Where the target is itself generalized, what counts is its
    published value. The records of a class share their cells and stand in training and test folds alike, so this is
    an upper estimate of what the learner can tell about new people. `shoal evaluate` tests on held-out records too.
    """

    target: str
    spec: Any

    def of(self, data: Dataset, release: Release) -> float:
        numeric = _table(data, self.target).numeric
        return ten_fold(learner(self.spec)[1], of_release(release, self.target, numeric))

    def original(self, data: Dataset) -> float:
        """The same on the table as it is, without what is dropped."""
        return ten_fold(learner(self.spec)[1], _table(data, self.target))


@lru_cache(maxsize=1)
def _table(data: Dataset, target: str) -> LabelledRecords:
    """The table as learners see it; a sweep asks for it again and again."""
    return of_dataset(data, target)


@dataclass(frozen=True)
class Survival(TradeoffMeasure):
    """How well declared analyses survive, on average: a query by 1 less its relative error, a regression by the
    overlap of its confidence intervals. One that cannot be done on the release counts 0."""

    analyses: tuple[Analysis, ...]

    def of(self, data: Dataset, release: Release) -> float:
        return sum(self._share(each, data, release) for each in self.analyses) / len(self.analyses)

    @staticmethod
    def _share(analysis: Analysis, data: Dataset, release: Release) -> float:
        value = analysis.measured(data, release).value
        if not isinstance(value, (int, float)):
            return 0.0
        return min(max(value if analysis.terms else 1.0 - value, 0.0), 1.0)


@dataclass(frozen=True)
class MetricShare(TradeoffMeasure):
    """The share that a metric says, or what it leaves where it is a `loss`."""

    metric: Metric
    loss: bool = True

    def of(self, data: Dataset, release: Release) -> float:
        share = _share(self.metric, data, release)
        return 1.0 - share if self.loss else share


@dataclass(frozen=True)
class Safety(TradeoffMeasure):
    """1 less the chance that somebody who is known to be in the table is found, counted in people."""

    def of(self, data: Dataset, release: Release) -> float:
        return 1.0 - float(exposure(release.in_people(release.view.people()))[self.name].value)


def privacy(spec: str | Metric, columns: Sequence[str] = ()) -> TradeoffMeasure:
    """A definition of privacy by its name: the share of suppressed cells, a risk, or Li and Li's privacy loss. The
    share counts cells of all quasi-identifiers, or of some `columns`, unless the definition itself names others.

    Example:
        >>> [privacy(name).definition.words for name in ("suppression-share", "highest-risk")]
        ['share of suppressed cells', '1 − highest risk']
    """
    if isinstance(spec, str) and spec in RISKS:
        return Safety(Definition(name=spec, words=f"1 − {spec.replace('-', ' ')}", heading=f"1 − {spec}"))
    metric = _metric(spec, "privacy", RISKS, (PRIVACY, *GAINS))
    if registry.name_of(metric) != PRIVACY:
        return _left(metric)
    if not metric.parameters()["columns"]:
        metric = replace(cast(Any, metric), columns=tuple(columns))
    name, chosen = plugins.written(metric), metric.parameters()
    words = f"share of suppressed{' or missing' if chosen['missing'] == 'suppressed' else ''} cells"
    if chosen["columns"]:
        words += f" of {enumerated(chosen['columns'])}"
    return MetricShare(Definition(name=name, words=words, heading=name), metric, loss=False)


def check_columns(data: Dataset, privacies: Iterable[TradeoffMeasure], columns: Sequence[str]) -> None:
    """Refuses columns that are no quasi-identifiers, and such as no definition of privacy counts."""
    named = [each.metric.parameters().get("columns", ()) for each in privacies if isinstance(each, MetricShare)]
    unknown = [name for names in (*named, columns) for name in names if name not in data.schema.quasi]
    if unknown:
        raise unknown_columns(unknown, data.schema.quasi)
    if columns and tuple(columns) not in named:
        raise ParameterError(
            f"only {PRIVACY} counts the cells of columns; name it as privacy, or leave the columns out"
        )


def _left(metric: Metric) -> TradeoffMeasure:
    """What is left when a loss is taken off."""
    name = plugins.written(metric)
    return MetricShare(Definition(name=name, words=f"1 − {name}", heading=f"1 − {name}"), metric)


def utility(spec: Any, target: str | None, analyses: Sequence[Analysis] = ()) -> TradeoffMeasure:
    """A definition of utility: a learner (`decision-stump`, `c45`, a classifier of scikit-learn), the declared
    analyses, or a metric that is a share of what was lost.

    Example:
        >>> [utility(name, "salary").definition.words for name in ("naive-bayes", "gcp")]
        ['accuracy of naive-bayes on salary', '1 − gcp']
    """
    if spec == ANALYSES:
        if not analyses:
            raise ParameterError("no analyses are declared; declare them in the job file, or with --analysis")
        words = "how well the declared analyses survive"
        return Survival(Definition(name=ANALYSES, words=words, heading=ANALYSES, decides=True), tuple(analyses))
    named = plugins.parse_spec(spec)[0] if isinstance(spec, str) else ""
    if isinstance(spec, Metric) or named in registry.names("metrics"):
        return _left(_metric(spec, "utility", (), registry.names("metrics")))
    if isinstance(spec, str) and named not in learner_names() and not named.startswith("sklearn."):
        there = alternatives(named, [*learner_names(), ANALYSES, *registry.names("metrics")])
        raise ParameterError(f"there is no such definition of utility; {there}")
    if target is None:
        raise ParameterError("a learner needs the column that it learns: name the target")
    name = spec if isinstance(spec, str) else learner(spec)[0]
    words = f"accuracy of {name} on {target}"
    return Accuracy(Definition(name=name, words=words, heading=name, learned=True), target, spec)


def _metric(spec: str | Metric, what: str, others: Iterable[str], metrics: Iterable[str]) -> Metric:
    name = registry.name_of(spec) if isinstance(spec, Metric) else plugins.parse_spec(spec)[0]
    if name not in metrics:
        raise ParameterError(f"there is no such definition of {what}; {alternatives(name, [*others, *metrics])}")
    metric: Metric = plugins.plugin("metrics", spec)
    return metric


def _share(metric: Metric, data: Dataset, release: Release) -> float:
    finding = metric.score(data, release)
    if not isinstance(finding.value, (int, float)):
        raise NotDefined(finding.how or f"{finding.name} has no value")
    if finding.unit not in ("share", "bits") or not -1e-9 <= finding.value <= 1 + 1e-9:
        raise NotDefined(f"{finding.name} is no share between 0 and 1, so it has no place on a curve")
    return float(min(max(finding.value, 0.0), 1.0))


def guessing_share(release: Release, target: str) -> float | None:
    """How often whoever always names the most frequent published value of the target is right."""
    try:
        records = of_release(release, target, ())
    except NotDefined:
        return None
    return majority(records, records) if any(value is not None for value in records.target) else None


def checked_target(data: Dataset, target: str) -> None:
    """Refuses a target that there is not, is dropped, or of which nothing can be learned."""
    if target not in data.schema.names:
        raise unknown_columns([target], data.schema.names)
    if data.schema[target].role in WITHHELD:
        raise ParameterError(f"the target {target!r} is not published; name another column")
    check_target(_table(data, target), target)
