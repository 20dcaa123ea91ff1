"""Comparing: what each algorithm loses under each policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from shoal import registry
from shoal.api.anonymizing import anonymize
from shoal.api.evaluating import score
from shoal.api.reading import check_dataset
from shoal.core import seeds
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import CancelledError, NotDefined, ParameterError, ShoalError
from shoal.job import plugins
from shoal.utility.comparison import ALGORITHMS, METRICS, Compared, Comparison

ModelSet = Model | str | Sequence[Model | str]
"""A model, or several that must hold together."""


def compare(
    data: Dataset,
    *models: ModelSet,
    k: Iterable[int] = (),
    algorithms: Iterable[Algorithm | str] = ALGORITHMS,
    metrics: Iterable[Metric | str] = METRICS,
    suppression: float = 0.0,
    objective: Metric | str | None = None,
    seed: int | None = None,
    run: Run | None = None,
) -> Comparison:
    """What each algorithm loses under each policy, in the order given; nothing is published.

    Every algorithm is tried with every one of the models, each time with k-anonymity for every k. Each release is made
    and verified as `anonymize` does it, measured and dropped. Where there is none, the row has the reason. The same
    seed gives the same figures, seconds apart.

    Args:
        data: the table.
        models: the policies to compare; several models that must hold together are given as one list.
        k: the k to compare, beside each of the models.
        algorithms: the anonymizers.
        metrics: the losses to measure.
        suppression: the share of the records that may be left out.
        objective: the loss to minimize, where an algorithm takes one.
        seed: of every release; drawn by default.
        run: receives progress, and can stop the work.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.haberman(), quasi=["age", "operation-year"])
        >>> result = shoal.compare(data, k=[2, 400], algorithms=["mondrian", "k-member"], metrics=["gcp"], seed=1)
        >>> [(row.algorithm, row.k, row.reason is None) for row in result]
        [('mondrian', 2, True), ('mondrian', 400, False), ('k-member', 2, True), ('k-member', 400, False)]
    """
    check_dataset(data)
    run = run or Run()
    measures = [plugins.plugin("metrics", metric) for metric in metrics]
    methods = [plugins.plugin("algorithms", algorithm) for algorithm in algorithms]
    model_sets = [[entry] if isinstance(entry, str | Model) else list(entry) for entry in models] or [[]]
    beside = [tuple(plugins.plugin("models", model) for model in entry) for entry in model_sets]
    by_size: dict[int | None, tuple[Model, ...]] = {
        size: (registry.make("models", "k-anonymity", {"k": size}),) for size in k
    }
    by_size = by_size or {None: ()}
    if not methods or not (all(beside) or None not in by_size):
        raise ParameterError("name what to compare: an algorithm, and a privacy model or some k")
    if seed is None:
        seed = seeds.drawn()
    combinations = list(product(methods, beside, by_size))
    rows = []
    for number, (method, others, size) in enumerate(combinations):
        row = Compared(
            algorithm=plugins.written(method),
            models=" + ".join(plugins.written(model.concealed(data.schema)) for model in others),
            k=size, losses=dict.fromkeys(map(plugins.written, measures)), seconds=0.0,
        )  # fmt: skip
        share = number / len(combinations), (number + 1) / len(combinations)
        run.report(share[0], f"comparing {row.algorithm}, {number + 1} of {len(combinations)}")
        part = run.part(between=share)
        try:
            release = anonymize(
                data, *by_size[size], *others, algorithm=method, suppression=suppression, objective=objective,
                seed=seed, repeatable=True, run=part,
            )  # fmt: skip
        except CancelledError:
            raise
        except ShoalError as error:
            rows.append(replace(row, seconds=round(part.elapsed, 3), reason=str(error)))
        else:
            rows.append(_with_losses(replace(row, seconds=round(part.elapsed, 3)), data, release, measures))
    run.report(1.0, "compared")
    return Comparison(tuple(rows), data.records, seed)


def _with_losses(row: Compared, data: Dataset, release: Release, measures: Sequence[Metric]) -> Compared:
    """A row with what its release lost; what that form of release does not tell has its reason."""
    findings = [score(metric, data, release) for metric in measures]
    scores = dict(zip(row.losses, findings, strict=True))
    unknown = [f"{name}: {finding.how}" for name, finding in scores.items() if finding.value is None]
    try:
        classes = len(release.classes)
    except NotDefined:
        classes = None
    return replace(
        row,
        losses={name: finding.as_dict()["value"] for name, finding in scores.items()},
        classes=classes,
        suppressed=release.suppressed,
        chosen=release.recoding.facts.get("chosen") if release.recoding is not None else None,
        reason="; ".join(unknown) or None,
    )
