"""Evaluating: what a release lost, and the risk that is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.api.learning import DEFAULT, learner
from shoal.api.opening import open_release
from shoal.api.reading import check_dataset
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding, Findings
from shoal.core.policy import Policy
from shoal.core.release import Release
from shoal.diagnosis.exposure import exposure, linked
from shoal.diagnosis.household_exposure import released_household_exposure
from shoal.diagnosis.survey_risk import survey_risk
from shoal.errors import NotDefined, ParameterError, PluginError, UnknownValuesError
from shoal.job import plugins
from shoal.publishing.columns import ReleasedColumn, published_columns
from shoal.publishing.reference import reference
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.storage.files import received
from shoal.utility.analyses import Analysis, all_parsed
from shoal.utility.classification import accuracies


def evaluate(
    data: Dataset,
    release: Release | str | Path,
    *metrics: Metric | str,
    analyses: Iterable[Analysis | str | Mapping[str, Any]] = (),
    target: str | None = None,
    learners: Iterable[Any] = (DEFAULT,),
    held_out: Any = None,
    baselines: bool = True,
) -> Findings:
    """What a release lost (every metric unless some are named), the models of its policy, and the risk that is left.

    The release may be a file of any tool, as long as its values are raw values, labels of the hierarchies, or
    intervals such as `[20-29]`. Values that the table lacks, as synthetic tables have them, are measured by
    `k-marginal` and `unique-exact-matches`. What the form of the release does not allow to be measured has no value and
    says why.

    Args:
        data: the table that the release was made from.
        release: the release, or its file.
        metrics: what is measured, as metrics or as text such as `"utility-loss:minsup=0.1"`; everything by default.
        analyses: counts, sums, means and regressions that must survive, such as `"mean(hours) where age >= 40"` or
            `"linear(hours ~ age + sex)"`; they come first.
        target: a column that classifiers predict.
        learners: the classifiers: `"decision-stump"` (the default), `"c45"`, `"naive-bayes"`, a path such as
            `"sklearn.svm.SVC"`, or a classifier as scikit-learn has them.
        held_out: records that the release was not made from, as a path, a frame or a dataset with the same columns:
            what is learned from the release is tested on them, recoded in the same way.
        baselines: whether each figure is also told of the table as it is, and of one with everything hidden.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> findings = shoal.evaluate(data, shoal.anonymize(data, shoal.KAnonymity(k=5)), "gcp")
        >>> 0 < findings["gcp"].value < 0.1
        True
        >>> findings = shoal.evaluate(data, "release.csv", "gcp", analyses=["count where age >= 40"])  # doctest: +SKIP
    """
    check_dataset(data)
    analysis_list = all_parsed(analyses)
    for analysis in analysis_list:
        analysis.columns(data.schema.names)
    classifiers = [learner(each) for each in ([learners] if isinstance(learners, str) else learners)]
    if held_out is not None and target is None:
        raise ParameterError("held-out records are for classifiers: name the column that they predict as target")
    opened = release if isinstance(release, Release) else open_release(release, data)
    data = opened.table_of(data)
    measures, broken = (
        ([plugins.plugin("metrics", metric) for metric in metrics], []) if metrics else every_plugin("metrics")
    )
    beside = references(data, opened.policy) if baselines else {}
    scores = [*(_between(metric, data, opened, beside) for metric in measures), *broken]
    answers = [_analyse(analysis, data, opened, baselines) for analysis in analysis_list]
    if target is not None:
        others = None if held_out is None else _read_likewise(opened, held_out)
        for name, classifier in classifiers:
            answers += accuracies(data, opened, target, classifier, name, others)
    named = {finding.name for finding in scores}
    risk = [finding for finding in policy_and_risk(data, opened) if finding.name not in named]
    return Findings((*answers, *scores, *risk))


def policy_and_risk(data: Dataset, release: Release) -> Findings:
    """The models of a release's policy, as they hold in it, and the risk that is left; nothing about what it lost."""
    left_out = Finding(name="suppressed", value=release.suppressed, how="records that were left out", unit="records")
    policy_findings = release.verify(release.policy, as_far_as_known=True) if release.policy else Findings((left_out,))
    named = {finding.name for finding in policy_findings}
    return Findings((*policy_findings, *(finding for finding in _risk(data, release) if finding.name not in named)))


def columns(data: Dataset, release: Release | str | Path) -> tuple[ReleasedColumn, ...]:
    """What a release shows of each column of its table, and the share of the column's detail that it lost.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex"])
        >>> columns = {column.name: column for column in shoal.columns(data, shoal.anonymize(data, "k-anonymity:k=5"))}
        >>> columns["sex"].words, 0 < columns["age"].lost < 0.1
        ('as it was', True)
    """
    check_dataset(data)
    opened = release if isinstance(release, Release) else open_release(release, data)
    return published_columns(opened.table_of(data), opened)


def every_plugin(family: str) -> tuple[list[Any], list[Finding]]:
    """Each plug-in of a family that needs no parameter; of those that break their contract, the rule in their place."""
    instances, broken = [], []
    for name in registry.names(family):
        try:
            if registry.complete(family, name):
                instances.append(registry.make(family, name, {}))
        except PluginError as reason:
            broken.append(Finding(name=name, value=None, how=str(reason)))
    return instances, broken


def quick_metrics() -> list[Metric]:
    """The metrics by which every release is measured when it is made."""
    return [metric for metric in every_plugin("metrics")[0] if metric.quick]


def references(data: Dataset, policy: Policy | None, names: Sequence[str] = ()) -> dict[str, Release]:
    """What a release is compared with: the table as it is, and one that hides every quasi-identifier, each with the
    sensitive columns and those that are named. They are for measuring alone."""
    form = registry.make("forms", "generalized", {})
    return {
        name: reference(data, form, policy, hidden=name == "hidden", names=names) for name in ("original", "hidden")
    }


def _between(metric: Metric, data: Dataset, release: Release, beside: Mapping[str, Release]) -> Finding:
    """A metric of a release, with that of other releases beside it."""
    finding = score(metric, data, release)
    if finding.value is None or not metric.compared:
        return finding
    known = (*data.schema.quasi, *data.schema.sensitive)
    if beside and not set(metric.further_columns) <= set(known):
        beside = references(data, release.policy, (*known, *metric.further_columns))
    constants = {} if metric.flawless is None else {"original": metric.flawless}
    others = {
        name: constants[name] if name in constants else score(metric, data, other).value
        for name, other in beside.items()
    }
    return replace(finding, baselines={name: value for name, value in others.items() if value is not None})


def _analyse(analysis: Analysis, data: Dataset, release: Release, baselines: bool) -> Finding:
    """How an analysis survived, and how it does in the table itself and where everything is hidden."""
    finding = analysis.measured(data, release)
    if not baselines:
        return finding
    others = references(data, None, analysis.columns(data.schema.names))
    return replace(finding, baselines={name: analysis.measured(data, other).value for name, other in others.items()})


def _read_likewise(release: Release, held_out: Any) -> Dataset:
    """Held-out records, with the roles and the hierarchies of a release."""
    source = held_out.table.source if isinstance(held_out, Dataset) else release.engine.open(received(held_out))
    return ReusableRecoding.shown_by(release).read(source, release.engine)


def score(metric: Metric, data: Dataset, release: Release) -> Finding:
    try:
        return metric.score(data, release)
    except NotDefined as reason:
        return Finding(name=registry.name_of(metric), value=None, how=f"not defined: {reason}")


def _risk(data: Dataset, release: Release) -> Findings:
    try:
        models = release.policy.models if release.policy else ()
        required_size = max((model.least for model in models if model.identity), default=None)
        classes = release.in_people(release.view.people())
        findings = exposure(classes, required_size)
        if classes.weights is None and release.schema.weight is not None:
            with suppress(NotDefined):  # without the plan, nobody knows what a class weighs
                findings = Findings((*findings, *survey_risk(release.weighted())))
        findings = Findings((*findings, *released_household_exposure(data, release, classes)))
        if classes.people is None or release.schema.person not in release.published.names:
            return findings
        return Findings((*findings, linked(classes.people)))
    except (NotDefined, UnknownValuesError) as reason:  # a file of another tool may have values of its own
        return Findings((Finding(name="k", value=None, how=f"not defined: {reason}"),))
